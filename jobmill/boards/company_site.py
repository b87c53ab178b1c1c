"""Reads a company's site: the pages on which companies describe themselves, and careers pages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from jobmill.catalog import urls
from jobmill.catalog.company_pages import CompanyPage
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid, OutsideError, RetryLater
from jobmill.outside.postponing_fetch import find_wait
from jobmill.outside.request import Fetch, FetchFailure, FetchResult, Ok, Request, Truncated
from jobmill.plain_text import read_word_list
from jobmill.sandbox import read_untrusted

from . import company_board, url_detection
from .adapters import PLATFORM_RULES
from .board_crawler import describe_failure
from .name_matching import OwnerNames, is_same_name, squash_name

_HOST_IN_TEXT = re.compile(
    r"(?:@|https?://|\bwww\.)((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})\b", re.IGNORECASE
)
_MAX_TEXT_LENGTH = 50_000
_MIN_LABEL_LENGTH, _MIN_PREFIX_LENGTH = 4, 5
_AFFIX = re.compile(
    r"^(?:get|join|try|use|go|my|the)|(?:hq|inc|app|labs|group|tech|global|corp|careers|jobs)$"
)
_SHARED_DOMAINS = read_word_list("jobmill.boards", "shared_domains.txt")
"""Domains that many companies use: of mail providers, aggregators and networks."""
PATHS = ("/about", "/about-us", "/company", "/careers", "")
"""In the order in which they are requested; the home page comes last."""
MAX_PAGE_LENGTH = 1_000_000
MAX_CAREERS_LINKS = 2
_PERMANENT_CAUSES = ("refused", "robots", "no_browser")
_KNOWN_PATH = re.compile(
    r"/(?:about|about-us|company|careers|jobs|index\.\w+|home)/?$", re.IGNORECASE
)
_NOT_FOUND = re.compile(r"<title[^>]{0,200}>[^<]{0,100}?(?:\b404\b|not found)", re.IGNORECASE)


def website_of(posting: Posting) -> str | None:
    """The company's site: the one that the posting names, or its page's host if that bears the
    company's name."""
    if posting.company_url and url_detection.detect_board(posting.company_url) is None:
        return posting.company_url
    if not posting.company or posting.via:
        return None
    links = (url for url in (posting.url, posting.apply_url) if url)
    return next((site for url in links if (site := _site_of_company(url, posting.company))), None)


def _site_of_company(url: str, company: str) -> str | None:
    # A platform's host is not the company's site, even if the token in it is the company's name.
    parts = url_detection.split_url(url)
    if parts is None or url_detection.detect_board(url) is not None:
        return None
    names = OwnerNames.of(url, None).names
    if not any(is_same_name(name, squash_name(company)) for name in names):
        return None
    return f"{parts.scheme}://{urlsplit(url).netloc}"


def find_site(company: str, links: Iterable[str], texts: Iterable[str]) -> str | None:
    """The company's site by links and e-mail addresses: one whose domain is the company's name, and
    never that of a platform, an aggregator or a mail provider."""
    hosts = [parts.netloc for link in links if (parts := url_detection.split_url(link))]
    for text in texts:
        hosts += (match[1].lower() for match in _HOST_IN_TEXT.finditer(text[:_MAX_TEXT_LENGTH]))
    name = squash_name(company)
    return next((f"https://{urls.domain(f'https://{host}')}" for host in dict.fromkeys(hosts)
                 if _bears_name(host, name)), None)  # fmt: skip


def _bears_name(host: str, name: str) -> bool:
    """Whether the host's domain is the company's name, perhaps with a usual affix or without the last
    words of the name."""
    try:
        domain = urls.domain(f"https://{host}")
    except Invalid:
        return False
    if domain in _SHARED_DOMAINS or url_detection.may_name_board(host):
        return False
    label = squash_name(domain.partition(".")[0])
    if len(label) < _MIN_LABEL_LENGTH:
        return label == name != ""
    return bool(name) and (
        label == name
        or _AFFIX.sub("", label) == name
        or (len(label) >= _MIN_PREFIX_LENGTH and name.startswith(label))
    )


def page_urls(website: str) -> tuple[str, ...]:
    """The pages to request, whichever page of the site is given."""
    parts = urlsplit(website.strip())
    path = _KNOWN_PATH.sub("", parts.path.rstrip("/"))
    home = f"{parts.scheme}://{parts.netloc}{path}"
    return tuple(f"{home}{page or '/'}" for page in PATHS)


async def read_site(fetch: Fetch, website: str, company: str) -> list[CompanyPage]:
    """The distinct pages of a site; OutsideError where there are none, RetryLater where the host wants
    us to wait for the first of them."""
    reader = _SiteReader(fetch)
    for url in page_urls(website):
        await reader.read(url)
        if reader.is_unreachable:
            break
    if not reader.pages:
        raise reader.error(website)
    await reader.follow_careers_links(company)
    return reader.pages


SITE_CPU_SECONDS = 5.0
"""For all pages of a site together."""


class _SiteReader:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._seen: set[str] = set()
        """Canonical URLs and content hashes of pages."""
        self._failures: list[FetchResult] = []
        self.pages: list[CompanyPage] = []

    async def read(self, url: str) -> None:
        answer = await self._fetch(Request(url, page=True, max_bytes=4 * MAX_PAGE_LENGTH))
        wait = find_wait(answer)
        if wait and not self.pages:
            raise RetryLater(describe_failure(answer)[1], wait)
        html = _html(answer)
        if html is None:
            self._failures.append(answer)
            return
        # A single-page site sends the same page for every URL.
        keys = {_canonical(answer.url), hashlib.sha256(html.encode()).hexdigest()}
        if not keys & self._seen:
            self.pages.append(CompanyPage(answer.url, html))
        self._seen |= keys

    async def follow_careers_links(self, company: str) -> None:
        """Read linked careers pages, until a page leads to a board."""
        links = await read_untrusted(
            company_board.careers_links_of_site, self.pages, cpu_seconds=SITE_CPU_SECONDS
        )
        for link in _first_links(links, MAX_CAREERS_LINKS, exclude=self._seen):
            board = await read_untrusted(
                company_board.find_company_board, self.pages, company, cpu_seconds=SITE_CPU_SECONDS
            )
            if board and board.token:
                return
            await self.read(link)

    @property
    def is_unreachable(self) -> bool:
        """Whether the site itself does not answer, so that further pages need not be requested."""
        return not self.pages and any(map(_is_unreachable, self._failures))

    def error(self, website: str) -> OutsideError:
        """Why there is no page; the reason of the home page counts."""
        last = self._failures[-1]
        # That a name does not resolve may be a problem of our network: it is retried.
        permanent = not isinstance(last, FetchFailure) or last.cause in _PERMANENT_CAUSES
        no_page = isinstance(last, Ok | Truncated)
        detail = "it sent no page" if no_page else describe_failure(last)[1]
        return OutsideError(f"no page of {website} could be read: {detail}", permanent=permanent)


def _is_unreachable(answer: FetchResult) -> bool:
    if not isinstance(answer, FetchFailure):
        return False
    return answer.cause in ("refused", "unresolved")


def _html(answer: FetchResult) -> str | None:
    """The page as text that PostgreSQL accepts; None for anything but a page."""
    if isinstance(answer, Truncated):
        answer = Ok(answer.url, answer.body, answer.content_type, answer.charset)
    if not isinstance(answer, Ok):
        return None
    kind = answer.content_type.lower()
    text = answer.text[:MAX_PAGE_LENGTH].replace("\x00", "")
    if (kind and "html" not in kind) or not text.strip() or _NOT_FOUND.search(text[:20_000]):
        return None
    return text


def _canonical(url: str) -> str:
    return PLATFORM_RULES.canonical(url) if url.startswith("http") else url


def _first_links(links: Iterable[str], limit: int, *, exclude: set[str]) -> list[str]:
    return [link for link in dict.fromkeys(links) if _canonical(link) not in exclude][:limit]

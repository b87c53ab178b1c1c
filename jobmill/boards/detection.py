"""Finds the board behind a URL: by the address, the page, one link further, a guess that holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.company_names import same_company
from jobmill.errors import OutsideError
from jobmill.extract.page import nesting_limit
from jobmill.outside.request import Fetch, FetchResult, Ok, Request, Truncated

from . import response_reader, url_detection
from .adapters import BY_NAME
from .board_crawler import explain
from .html_detection import from_page
from .name_matching import Names, about_work
from .platform import Page
from .url_detection import FEED, GENERIC, Found, from_url

__all__ = ["Found", "detect", "discover", "from_page", "from_url"]

_FEED_PATH = re.compile(r"(?:\.(?:rss|atom|xml)|/(?:rss|feed)(?:/[\w.-]{0,50})?)/?$", re.IGNORECASE)
_FEED_QUERY = re.compile(r"\b(?:format|feed|type)=(?:rss|atom)\b", re.IGNORECASE)
_FEED_ROOT = re.compile(r"<(?:rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_LOCATION = re.compile(r"<loc>\s{0,20}([^<\s]{1,1000})")
_MOST_HOPS = 3
_MOST_SLUGS = 2
_MOST_READ = 50
_LISTED = 3
_MOST_LISTED = 10_000
# Boards that a company's name may lead to, and that say whose they are.
GUESSED = ("greenhouse", "lever", "ashby", "workable", "recruitee", "smartrecruiters",
            "teamtailor", "personio", "bamboohr", "breezy")  # fmt: skip


def detect(url: str, html: str | None = None, *, company: str | None = None) -> Found | None:
    """The likeliest board of a URL and, if it is at hand, of its page; None where there is none."""
    by_address = from_url(url)
    if by_address and by_address.token:
        return by_address
    if html is None:
        return by_address or _feed_by_address(url)
    if _is_feed(html):
        return Found(FEED, url, "high", "the content is a feed", {"url": url}, url=url)
    found = from_page(url, html, company=company)
    if by_address:
        return next((one for one in found if one.platform == by_address.platform), by_address)
    return found[0] if found else None


async def discover(fetch: Fetch, url: str, *, company: str | None = None) -> Found | None:
    """The likeliest board of a company's site, looking further until something is sure enough;
    OutsideError says why the site could not be looked at."""
    first = detect(url)
    if first and first.token and first.platform != FEED:
        return first
    page = await _open(fetch, url)
    if not isinstance(page, _Site):
        if first:
            return first
        raise OutsideError(f"{url} could not be looked at: {explain(page)[1]}")
    seen = [_look(page, company)]
    if not _enough(seen[-1]):
        seen += await _hop(fetch, page, company)
    if not _enough(seen[-1]):
        seen.append(await _guess(fetch, page, company))
    if not _enough(seen[-1]):
        seen.append(await _listed(fetch, page))
    return _best([*seen, first]) or _generic(page)


@dataclass(frozen=True, slots=True)
class _Site:
    """A page as it was opened."""

    url: str
    text: str

    @property
    def domain(self) -> str:
        parts = url_detection.split(self.url)
        return parts.netloc.removeprefix("www.") if parts else ""


def _enough(found: Found | None) -> bool:
    return bool(found and found.token and found.platform != GENERIC and found.confidence != "low")


def _best(seen: Iterable[Found | None]) -> Found | None:
    """What is enough, else what has a token, else the first hint."""
    known = [one for one in seen if one]
    with_token = [one for one in known if one.token]
    return next((one for one in known if _enough(one)), next(iter([*with_token, *known]), None))


def _is_feed(text: str) -> bool:
    head = text[:2000].lstrip("\ufeff \t\r\n")
    return head.startswith("<") and bool(_FEED_ROOT.search(head)) and "<html" not in head.lower()


def _feed_by_address(url: str) -> Found | None:
    parts = url_detection.split(url)
    if parts is None or "sitemap" in parts.path.lower():
        return None
    if not _FEED_PATH.search(parts.path) and not _FEED_QUERY.search(parts.query):
        return None
    return Found(FEED, url, "medium", "the address looks like a feed", {"url": url}, url=url)


async def _open(fetch: Fetch, url: str) -> _Site | FetchResult:
    """The page, or how the site answered instead."""
    answer = await fetch(Request(url, page=True))
    match answer:
        case Ok():
            return _Site(answer.url, answer.text)
        case Truncated():
            return _Site(answer.url, answer.body.decode("utf-8", "replace"))
        case _:
            return answer


def _look(page: _Site, company: str | None) -> Found | None:
    found = detect(page.url, page.text, company=company)
    if found and from_url(page.url) == found:
        return replace(found, evidence=f"the page leads to {found.evidence}")
    return found


async def _hop(fetch: Fetch, page: _Site, company: str | None) -> list[Found | None]:
    """What the pages say that this one calls its careers."""
    seen: list[Found | None] = []
    for link in _careers_links(page)[:_MOST_HOPS]:
        further = await _open(fetch, link)
        found = _look(further, company) if isinstance(further, _Site) else None
        seen.append(found and replace(found, evidence=f"on {link[:200]}: {found.evidence}"))
        if _enough(found):
            break
    return seen


def _careers_links(page: _Site) -> list[str]:
    """Links about work on the same site, or to one that the company calls so."""
    links: dict[str, None] = {}
    html = nesting_limit.truncate_deep_html(page.text.encode("utf-8", "replace"))
    for node in LexborHTMLParser(html).css("a[href]"):
        words = node.text(strip=True)[:100]
        href = urljoin(page.url, (node.attributes.get("href") or "").strip()).partition("#")[0]
        web = urlsplit(href).scheme in {"http", "https"}
        if web and about_work(urlsplit(href).path, words) and href != page.url:
            links[href] = None
    return list(links)


async def _guess(fetch: Fetch, page: _Site, company: str | None) -> Found | None:
    """A board under the company's name, if its postings show that it is the company's."""
    # A number is the address of a machine, not the name of a company.
    names = Names.of(page.url, company).names
    slugs = [name for name in names if name.isascii() and not name.isdigit()]
    for slug in sorted(slugs, key=len, reverse=True)[:_MOST_SLUGS]:
        for name in GUESSED:
            found = await _try(fetch, name, slug, page, company)
            if found:
                return found
    return None


async def _try(
    fetch: Fetch, name: str, slug: str, page: _Site, company: str | None
) -> Found | None:
    platform = BY_NAME[name]
    found = url_detection.board(name, slug, "", "medium")
    if platform.first is None or found is None or found.config is None:
        return None
    config = platform.config.model_validate(found.config)
    request = platform.first(config)
    answer = await fetch(request)
    if not isinstance(answer, Ok):
        return None
    try:
        tie = _tie(
            response_reader.read(platform, answer.body, request, config), page.domain, company
        )
    except OutsideError:
        return None
    return replace(found, evidence=f"guessed from the name; {tie}") if tie else None


def _tie(board: Page, domain: str, company: str | None) -> str:
    """What shows that a board is the company's; nothing if its name is all they share."""
    for posting in board.postings[:_MOST_READ]:
        if same_company(posting.company, company):
            return "the board bears the company's name"
        hosts = {urlsplit(url).hostname or "" for url in (posting.url, posting.apply_url) if url}
        if any(host == domain or host.endswith(f".{domain}") for host in hosts):
            return "its postings lead to the company's site"
        if domain and re.search(rf"\b{re.escape(domain)}\b", posting.description or ""):
            return "its postings name the company's site"
    return ""


async def _listed(fetch: Fetch, page: _Site) -> Found | None:
    """The company's own postings, where its sitemap lists some."""
    answer = await fetch(Request(f"https://{page.domain}/sitemap.xml"))
    if not isinstance(answer, Ok):
        return None
    urls: list[str] = _LOCATION.findall(answer.text)
    paths = {url: urlsplit(url).path for url in urls[:_MOST_LISTED]}
    postings = [url for url, path in paths.items() if about_work(path) and "/" in path.strip("/")]
    if len(postings) < _LISTED:
        return None
    home = postings[0].rstrip("/").rpartition("/")[0]
    evidence = f"the sitemap lists {len(postings)} pages about work"
    return Found(GENERIC, home, "low", evidence, url=home)


def _generic(page: _Site) -> Found | None:
    """The page itself, if it is about work; else the one that it calls its careers."""
    home = page.url if about_work(page.url) else next(iter(_careers_links(page)), None)
    if home is None:
        return None
    return Found(GENERIC, home, "low", "a page about work", url=home)

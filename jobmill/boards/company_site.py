"""Visits a company's site: the five pages on which companies speak of themselves, and its careers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from jobmill.boards import company_board
from jobmill.catalog.company_pages import CompanyPage
from jobmill.errors import OutsideError
from jobmill.outside.request import Fetch, FetchFailure, FetchResult, Ok, Request, Truncated

from .adapters import PLATFORM_RULES
from .board_crawler import explain

PATHS = ("/about", "/about-us", "/company", "/careers", "")
"""In the order in which they are asked; the home page comes last."""
LONGEST = 1_000_000
"""Letters of a page that are kept."""
MOST_HOPS = 2
_FOREVER = ("refused", "robots", "no_browser")
"""Causes that another try does not change."""
_NO_NAME = "cannot be resolved"
_OWN_PAGE = re.compile(
    r"/(?:about|about-us|company|careers|jobs|index\.\w+|home)/?$", re.IGNORECASE
)
_NOT_FOUND = re.compile(r"<title[^>]{0,200}>[^<]{0,100}?(?:\b404\b|not found)", re.IGNORECASE)


def addresses(website: str) -> tuple[str, ...]:
    """The pages of a site that are asked, whichever of them the site is known by."""
    parts = urlsplit(website.strip())
    path = _OWN_PAGE.sub("", parts.path.rstrip("/"))
    home = f"{parts.scheme}://{parts.netloc}{path}"
    return tuple(f"{home}{page or '/'}" for page in PATHS)


async def visit(fetch: Fetch, website: str, company: str) -> list[CompanyPage]:
    """The pages that answered, each once; OutsideError where none did."""
    visitor = _Visitor(fetch)
    for url in addresses(website):
        await visitor.ask(url)
        if visitor.is_hopeless:
            break
    if not visitor.pages:
        raise visitor.complaint(website)
    await visitor.follow(company)
    return visitor.pages


class _Visitor:
    """One visit: what was kept, and how the rest answered."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._seen: set[str] = set()
        self._failed: list[FetchResult] = []
        self.pages: list[CompanyPage] = []

    async def ask(self, url: str) -> None:
        answer = await self._fetch(Request(url, page=True, max_bytes=4 * LONGEST))
        html = _html(answer)
        if html is None:
            self._failed.append(answer)
            return
        # A site of one page answers every address with it.
        marks = {_canonical(answer.url), hashlib.sha256(html.encode()).hexdigest()}
        if not marks & self._seen:
            self.pages.append(CompanyPage(answer.url, html))
        self._seen |= marks

    async def follow(self, company: str) -> None:
        """One hop further, where no page so far leads to a board."""
        links = (link for page in self.pages for link in company_board.careers_links(page))
        for link in _first_of(links, MOST_HOPS, without=self._seen):
            found = company_board.find(self.pages, company)
            if found and found.token:
                return
            await self.ask(link)

    @property
    def is_hopeless(self) -> bool:
        """Whether the site itself is not there: its other pages need not be asked."""
        return not self.pages and any(map(_is_away, self._failed))

    def complaint(self, website: str) -> OutsideError:
        """Why there is nothing; the home page's reason counts."""
        last = self._failed[-1]
        # A name that cannot be resolved may be our own trouble: that is tried again.
        permanent = not isinstance(last, FetchFailure) or last.cause in _FOREVER
        why = "it shows no page" if isinstance(last, Ok | Truncated) else explain(last)[1]
        return OutsideError(f"no page of {website} answered: {why}", permanent=permanent)


def _is_away(answer: FetchResult) -> bool:
    if not isinstance(answer, FetchFailure):
        return False
    return answer.cause == "refused" or _NO_NAME in answer.detail


def _html(answer: FetchResult) -> str | None:
    """The page as text that a database takes; None for anything but a page."""
    if isinstance(answer, Truncated):
        answer = Ok(answer.url, answer.body, answer.content_type, answer.charset)
    if not isinstance(answer, Ok):
        return None
    kind = answer.content_type.lower()
    text = answer.text[:LONGEST].replace("\x00", "")
    if (kind and "html" not in kind) or not text.strip() or _NOT_FOUND.search(text[:20_000]):
        return None
    return text


def _canonical(url: str) -> str:
    return PLATFORM_RULES.canonical(url) if url.startswith("http") else url


def _first_of(links: Iterable[str], most: int, *, without: set[str]) -> list[str]:
    return [link for link in dict.fromkeys(links) if _canonical(link) not in without][:most]

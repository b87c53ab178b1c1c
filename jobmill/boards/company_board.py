"""Finds the board that a company's pages lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog import urls
from jobmill.catalog.company_analyses import CompanyBoard
from jobmill.catalog.company_pages import CompanyPage
from jobmill.errors import Invalid
from jobmill.extract.page import nesting_limit

from . import url_detection
from .detection import detect
from .html_detection import from_page
from .name_matching import about_work
from .url_detection import FEED, GENERIC, Found

_ORDER = ("high", "medium", "low")
_MOST_LINKS = 1_000
_LONGEST_LABEL = 40


def find(pages: Sequence[CompanyPage], company: str) -> CompanyBoard | None:
    """The surest board of all pages; where there is none, the page that is about work."""
    found = [one for page in pages for one in _on(page, company)]
    boards = [one for one in found if one.type != GENERIC]
    if boards:
        # A token is worth more than a platform of which we do not know the board.
        return min(boards, key=lambda one: (one.token is None, _ORDER.index(one.confidence)))
    return next(iter(found), None) or _generic(pages)


def careers_links(page: CompanyPage) -> list[str]:
    """Where a page sends those who look for work there."""
    links: dict[str, None] = {}
    html = nesting_limit.truncate_deep_html(page.html.encode("utf-8", "replace"))
    for node in LexborHTMLParser(html).css("a[href]")[:_MOST_LINKS]:
        words = " ".join(node.text().split())
        href = _absolute(page.url, node.attributes.get("href") or "")
        path = urlsplit(href).path if href else ""
        named = len(words) <= _LONGEST_LABEL and about_work(path, words)
        if href and named and _is_address(href):
            links[href] = None
    return list(links)


def _absolute(url: str, href: str) -> str | None:
    try:
        full = urljoin(url, href.strip()).partition("#")[0]
        urlsplit(full)
    except ValueError:
        return None
    return full if full.startswith(("http://", "https://")) else None


def _is_address(url: str) -> bool:
    """Whether it can be asked and kept: a page may link to anything."""
    try:
        urls.parse(url)
    except Invalid:
        return False
    return True


def _on(page: CompanyPage, company: str) -> list[CompanyBoard]:
    """What a page and its address give away, the likeliest first."""
    by_address = url_detection.from_url(page.url)
    if by_address:
        # We were sent to the board itself.
        here = detect(page.url, page.html, company=company) or by_address
        return [_board(page, replace(here, evidence=f"the site leads to {here.evidence}"))]
    return [_board(page, one) for one in from_page(page.url, page.html, company=company)]


def _board(page: CompanyPage, found: Found) -> CompanyBoard:
    own_feed = found.platform == FEED and found.token and _same_site(found.url, page.url)
    return CompanyBoard(
        url=found.url or page.url,
        type=found.platform,
        # A feed of postings on the company's own site is as good as any board.
        confidence="high" if own_feed else found.confidence,
        evidence=f"on {page.url[:200]}: {found.evidence}",
        token=found.token,
    )


def _same_site(one: str, other: str) -> bool:
    first, second = ((urlsplit(url).hostname or "").removeprefix("www.") for url in (one, other))
    return first == second or first.endswith(f".{second}")


def _generic(pages: Sequence[CompanyPage]) -> CompanyBoard | None:
    """The page that is about work, else the one that a page calls so."""
    own = [page.url for page in pages if about_work(urlsplit(page.url).path)]
    named = (link for page in pages for link in careers_links(page))
    url = next(iter(own), None) or next(named, None)
    return CompanyBoard(url, GENERIC, "low", f"a page about work: {url[:200]}") if url else None

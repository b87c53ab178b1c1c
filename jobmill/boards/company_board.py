"""Finds the board that a company's pages lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.company_analyses import CompanyBoard
from jobmill.catalog.company_pages import CompanyPage
from jobmill.extract import html_tree
from jobmill.extract.page import nesting_limit

from . import url_detection
from .detection import detect_likeliest_board
from .html_detection import detect_boards
from .name_matching import is_about_jobs
from .url_detection import FEED, GENERIC, DetectedBoard

_BEST_FIRST = ("high", "medium", "low")
_MAX_LINKS = 1_000
_MAX_LABEL_LENGTH = 40


def find_company_board(pages: Sequence[CompanyPage], company: str) -> CompanyBoard | None:
    """The most certain board of all pages; without one, the page that is about jobs."""
    candidates = [board for page in pages for board in _boards(page, company)]
    boards = [board for board in candidates if board.type != GENERIC]
    if boards:
        # A token is worth more than a platform without one.
        return min(
            boards, key=lambda board: (board.token is None, _BEST_FIRST.index(board.confidence))
        )
    return next(iter(candidates), None) or _generic(pages)


def careers_links_of_site(pages: Sequence[CompanyPage]) -> list[str]:
    return [link for page in pages for link in careers_links(page)]


def careers_links(page: CompanyPage) -> list[str]:
    """The links of a page that are about jobs."""
    links: dict[str, None] = {}
    html = nesting_limit.truncate_deep_html(page.html.encode("utf-8", "replace"))
    for href, node in html_tree.find_links(LexborHTMLParser(html), page.url, _MAX_LINKS):
        label = " ".join(node.text().split())
        if len(label) <= _MAX_LABEL_LENGTH and is_about_jobs(urlsplit(href).path, label):
            links[href] = None
    return list(links)


def _boards(page: CompanyPage, company: str) -> list[CompanyBoard]:
    """The boards of a page and its URL, the likeliest first."""
    by_url = url_detection.detect_board(page.url)
    if by_url:
        # The site redirected to the board itself.
        board = detect_likeliest_board(page.url, page.html, company=company) or by_url
        return [_board(page, replace(board, evidence=f"the site leads to {board.evidence}"))]
    boards = detect_boards(page.url, page.html, company=company)
    return [_board(page, board) for board in boards]


def _board(page: CompanyPage, detected: DetectedBoard) -> CompanyBoard:
    own_feed = detected.platform == FEED and detected.token and _same_site(detected.url, page.url)
    return CompanyBoard(
        url=detected.url or page.url,
        type=detected.platform,
        # A feed of postings on the company's own site is as certain as a board.
        confidence="high" if own_feed else detected.confidence,
        evidence=f"on {page.url[:200]}: {detected.evidence}",
        token=detected.token,
    )


def _same_site(url: str, site: str) -> bool:
    first, second = (
        (urlsplit(address).hostname or "").removeprefix("www.") for address in (url, site)
    )
    return first == second or first.endswith(f".{second}")


def _generic(pages: Sequence[CompanyPage]) -> CompanyBoard | None:
    """The first page that is about jobs, else the first one that a page links to as such."""
    about_jobs = [page.url for page in pages if is_about_jobs(urlsplit(page.url).path)]
    url = next(iter(about_jobs), None) or next(iter(careers_links_of_site(pages)), None)
    return CompanyBoard(url, GENERIC, "low", f"a page about jobs: {url[:200]}") if url else None

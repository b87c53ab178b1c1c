"""Finds the board behind a URL: by the URL, the page, careers links, the company's name or the sitemap."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.company_names import same_company
from jobmill.errors import OutsideError
from jobmill.extract import html_tree
from jobmill.extract.page import nesting_limit
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.request import Fetch, FetchResult, Ok, Request, Truncated
from jobmill.sandbox import ReaderStopped, read_untrusted

from . import url_detection
from .adapters import PLATFORMS
from .board_crawler import describe_failure
from .html_detection import detect_boards
from .name_matching import OwnerNames, is_about_jobs
from .platform import BoardPage, Platform
from .readable_board import read_response
from .url_detection import FEED, GENERIC, DetectedBoard, detect_board

T = TypeVar("T")

_FEED_PATH = re.compile(r"(?:\.(?:rss|atom|xml)|/(?:rss|feed)(?:/[\w.-]{0,50})?)/?$", re.IGNORECASE)
_FEED_QUERY = re.compile(r"\b(?:format|feed|type)=(?:rss|atom)\b", re.IGNORECASE)
_FEED_ROOT = re.compile(r"<(?:rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_LOCATION = re.compile(r"<loc>\s{0,20}([^<\s]{1,1000})")
_MAX_CAREERS_LINKS = 3
_MAX_GUESSED_TOKENS = 2
_MAX_CHECKED_POSTINGS = 50
_MIN_SITEMAP_POSTINGS = 3
_MAX_SITEMAP_URLS = 10_000
_GUESSED_PLATFORMS = tuple(platform for platform in PLATFORMS if platform.guessable)


def detect_likeliest_board(
    url: str, html: str | None = None, *, company: str | None = None
) -> DetectedBoard | None:
    """The likeliest board by the URL and, if it is given, the page; None where there is none."""
    by_url = detect_board(url)
    if by_url and by_url.token:
        return by_url
    if html is None:
        return by_url or _feed_by_url(url)
    if _is_feed(html):
        return DetectedBoard(FEED, url, "high", "the content is a feed", {"url": url}, url=url)
    boards = detect_boards(url, html, company=company)
    if by_url:
        return next((board for board in boards if board.platform == by_url.platform), by_url)
    return boards[0] if boards else None


async def discover_board(
    fetch: Fetch, url: str, *, company: str | None = None
) -> DetectedBoard | None:
    """The likeliest board of a company's site. Further places are tried until a board is certain
    enough. OutsideError says why the site could not be read."""
    by_url = detect_likeliest_board(url)
    if by_url and by_url.token and by_url.platform != FEED:
        return by_url
    page = await _open(fetch, url)
    if not isinstance(page, _SitePage):
        if by_url:
            return by_url
        raise OutsideError(f"{url} could not be read: {describe_failure(page)[1]}")
    boards = [await _read_or_none(_detect_on_page, page, company)]
    if not _is_certain(boards[-1]):
        boards += await _follow_careers_links(fetch, page, company)
    if not _is_certain(boards[-1]):
        boards.append(await _guess(fetch, page, company))
    if not _is_certain(boards[-1]):
        boards.append(await _search_sitemap(fetch, page))
    return _best([*boards, by_url]) or await read_untrusted(_generic_page, page)


async def _read_or_none(function: Callable[..., T | None], *arguments: object) -> T | None:
    """What a reader finds; None where it was stopped, since other places may still name the board."""
    with suppress(ReaderStopped):
        return await read_untrusted(function, *arguments)
    return None


@dataclass(frozen=True, slots=True)
class _SitePage:
    url: str
    """After redirects."""
    text: str

    @property
    def domain(self) -> str:
        parts = url_detection.split_url(self.url)
        return parts.netloc.removeprefix("www.") if parts else ""


def _is_certain(board: DetectedBoard | None) -> bool:
    return bool(board and board.token and board.platform != GENERIC and board.confidence != "low")


def _best(boards: Iterable[DetectedBoard | None]) -> DetectedBoard | None:
    """The first that is certain, else the first with a token, else the first."""
    detected = [board for board in boards if board]
    with_token = [board for board in detected if board.token]
    certain = (board for board in detected if _is_certain(board))
    return next(certain, next(iter([*with_token, *detected]), None))


def _is_feed(text: str) -> bool:
    head = text[:2000].lstrip("\ufeff \t\r\n")
    return head.startswith("<") and bool(_FEED_ROOT.search(head)) and "<html" not in head.lower()


def _feed_by_url(url: str) -> DetectedBoard | None:
    parts = url_detection.split_url(url)
    if parts is None or "sitemap" in parts.path.lower():
        return None
    if not _FEED_PATH.search(parts.path) and not _FEED_QUERY.search(parts.query):
        return None
    return DetectedBoard(FEED, url, "medium", "the URL looks like a feed", {"url": url}, url=url)


async def _open(fetch: Fetch, url: str) -> _SitePage | FetchResult:
    """The page, or the answer of a site that did not send one."""
    answer = await fetch(Request(url, page=True))
    match answer:
        case Ok():
            return _SitePage(answer.url, answer.text)
        case Truncated():
            return _SitePage(answer.url, answer.body.decode("utf-8", "replace"))
        case _:
            return answer


def _detect_on_page(page: _SitePage, company: str | None) -> DetectedBoard | None:
    board = detect_likeliest_board(page.url, page.text, company=company)
    if board and detect_board(page.url) == board:
        return replace(board, evidence=f"the page leads to {board.evidence}")
    return board


async def _follow_careers_links(
    fetch: Fetch, page: _SitePage, company: str | None
) -> list[DetectedBoard | None]:
    """The boards of the pages that this page links to as its careers."""
    boards: list[DetectedBoard | None] = []
    links = await _read_or_none(_careers_links, page) or []
    for link in links[:_MAX_CAREERS_LINKS]:
        linked = await _open(fetch, link)
        board = None
        if isinstance(linked, _SitePage):
            board = await _read_or_none(_detect_on_page, linked, company)
        boards.append(board and replace(board, evidence=f"on {link[:200]}: {board.evidence}"))
        if _is_certain(board):
            break
    return boards


def _careers_links(page: _SitePage) -> list[str]:
    """Links about jobs, on the same site or elsewhere."""
    links: dict[str, None] = {}
    html = nesting_limit.truncate_deep_html(page.text.encode("utf-8", "replace"))
    for href, node in html_tree.find_links(LexborHTMLParser(html), page.url):
        label = node.text(strip=True)[:100]
        if is_about_jobs(urlsplit(href).path, label) and href != page.url:
            links[href] = None
    return list(links)


async def _guess(fetch: Fetch, page: _SitePage, company: str | None) -> DetectedBoard | None:
    """A board with the company's name as its token, if its postings show that it is the company's."""
    names = OwnerNames.of(page.url, company).names
    # Digits are an IP address, not the name of a company.
    tokens = [name for name in names if name.isascii() and not name.isdigit()]
    for token in sorted(tokens, key=len, reverse=True)[:_MAX_GUESSED_TOKENS]:
        for platform in _GUESSED_PLATFORMS:
            board = await _try(fetch, platform, token, page, company)
            if board:
                return board
    return None


async def _try(
    fetch: Fetch, platform: Platform, token: str, page: _SitePage, company: str | None
) -> DetectedBoard | None:
    board = url_detection.board_from_token(platform.name, token, "", "medium")
    if platform.first_request is None or board is None or board.config is None:
        return None
    config = platform.config.model_validate(board.config)
    request = platform.first_request(config)
    answer = await fetch(request)
    if not isinstance(answer, Ok):
        return None
    try:
        content = await read_response(platform, config, answer.body, request)
    except OutsideError:
        return None
    proof = _proof_of_ownership(content, page.domain, company)
    return replace(board, evidence=f"guessed from the name; {proof}") if proof else None


def _proof_of_ownership(board: BoardPage, domain: str, company: str | None) -> str:
    """Why a board is the company's; empty where they share nothing but the name."""
    for posting in board.postings[:_MAX_CHECKED_POSTINGS]:
        if same_company(posting.company, company):
            return "the board has the company's name"
        links = (url_detection.split_url(url) for url in (posting.url, posting.apply_url) if url)
        hosts = {parts.netloc for parts in links if parts}
        if any(host == domain or host.endswith(f".{domain}") for host in hosts):
            return "its postings lead to the company's site"
        if domain and re.search(rf"\b{re.escape(domain)}\b", posting.description or ""):
            return "its postings name the company's site"
    return ""


async def _search_sitemap(fetch: Fetch, page: _SitePage) -> DetectedBoard | None:
    """The page above the postings that the site's sitemap lists."""
    answer = await fetch(Request(f"https://{page.domain}/sitemap.xml"))
    if not isinstance(answer, Ok):
        return None
    return await _read_or_none(_read_sitemap, answer.text)


def _read_sitemap(text: str) -> DetectedBoard | None:
    urls: list[str] = _LOCATION.findall(text)
    paths = {url: urlsplit(url).path for url in urls[:_MAX_SITEMAP_URLS] if absolute_url(url, url)}
    postings = [
        url for url, path in paths.items() if is_about_jobs(path) and "/" in path.strip("/")
    ]
    if len(postings) < _MIN_SITEMAP_POSTINGS:
        return None
    parent = postings[0].rstrip("/").rpartition("/")[0]
    evidence = f"the sitemap lists {len(postings)} pages about jobs"
    return DetectedBoard(GENERIC, parent, "low", evidence, url=parent)


def _generic_page(page: _SitePage) -> DetectedBoard | None:
    """The page itself, if it is about jobs; else the first one that it links to as its careers."""
    url = page.url if is_about_jobs(page.url) else next(iter(_careers_links(page)), None)
    if url is None:
        return None
    return DetectedBoard(GENERIC, url, "low", "a page about jobs", url=url)

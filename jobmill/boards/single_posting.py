"""Reads the posting at a URL: from its board where the board is known, else from its page."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from jobmill.catalog import posting_merge, urls
from jobmill.catalog.listings import is_minimal
from jobmill.catalog.platform_rules import PostingKey
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import Source, SourceId
from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.errors import Conflict, Invalid, OutsideError, Unavailable
from jobmill.extract.page import page_reader
from jobmill.extract.page.page_reader import PageReading
from jobmill.outside.request import WAIT_CAUSES, Fetch, FetchFailure, Ok, PageGone, Request
from jobmill.sandbox import read_untrusted

from . import board_crawler, url_detection
from .adapters import BY_NAME, PLATFORM_RULES
from .readable_board import ReadableBoard, board_at_url, board_of_source

# Structured data is no reason to render a page.
_SCRIPT = re.compile(rb"<script(?![^>]{0,200}json)", re.IGNORECASE)
PERMANENT_CAUSES = ("refused", "robots", "redirects", "auth")
"""Failures that a retry does not change."""


@dataclass(frozen=True, slots=True)
class ReadPosting:
    posting: Posting
    method: str
    """`source:greenhouse`, `board:greenhouse`, `json-ld`, `microdata`, `state` or `text`, with
    `browser:` in front if the page was rendered; two with a plus between them where a page completed
    what a source shows."""
    source_id: SourceId | None = None


@dataclass(frozen=True, slots=True)
class ClosedPosting:
    """The posting does not exist, or no longer exists."""

    reason: str


@dataclass(frozen=True, slots=True)
class UnclearPage:
    """A page that was read but not understood; a language model may understand it."""

    url: str
    html: str
    posting: Posting | None
    """The few fields that were understood."""
    render_problem: str | None = None
    """Why the page, which has scripts, could not be rendered."""


PostingResult: TypeAlias = ReadPosting | ClosedPosting | UnclearPage


async def read_posting(
    db: Database, fetch: Fetch, url: str, environ: Mapping[str, str]
) -> PostingResult:
    """The posting at a URL; OutsideError where its site could not be read."""
    async with db.transaction() as tx:
        source = await url_detection.find_source(tx, url)
        now = await server_time(tx)
    from_board = await _read_from_board(fetch, url, source, environ)
    if from_board is None:
        return await _read_page(fetch, url, now)
    posting = from_board.posting
    republished = PLATFORM_RULES.ids(posting.platform).aggregator
    if not posting_merge.shows_part(posting, republished=republished):
        return from_board
    return await _read_rest(fetch, url, from_board, now)


async def _read_rest(
    fetch: Fetch, url: str, listed: ReadPosting, now: dt.datetime
) -> ReadPosting | ClosedPosting:
    """A posting that its source shows in part, completed from its page where that can be read."""
    try:
        page = await _read_page(fetch, url, now)
    except OutsideError:
        return listed
    if isinstance(page, ClosedPosting):
        return page
    if isinstance(page, UnclearPage) or not posting_merge.is_same_job(listed.posting, page.posting):
        return listed
    posting, _ = posting_merge.merge_page(listed.posting, page.posting)
    return replace(listed, posting=posting, method=f"{listed.method}+{page.method}")


async def read_page_of_listing(
    db: Database, fetch: Fetch, url: str, environ: Mapping[str, str]
) -> PostingResult:
    """As `read_posting`, for a listing whose source shows it in part: the list of the source is not
    read again, only the posting at its board, or its page."""
    async with db.transaction() as tx:
        source = await url_detection.find_source(tx, url)
        now = await server_time(tx)
    key = PLATFORM_RULES.posting_key(url)
    platform = BY_NAME.get(key.platform) if key else None
    if platform and platform.detail_request:
        source = source if source and source.source_type == platform.name else None
        from_board = await _read_from_board(fetch, url, source, environ)
        if from_board:
            return from_board
    return await _read_page(fetch, url, now)


async def _read_from_board(
    fetch: Fetch, url: str, source: Source | None, environ: Mapping[str, str]
) -> ReadPosting | None:
    """The posting as its board shows it, whether or not the board is a source."""
    try:
        board = board_of_source(source, environ) if source else board_at_url(url, environ)
    except (Conflict, Invalid, Unavailable):
        # The board cannot be read, but the page may.
        return None
    posting = await _find_on_board(fetch, board, url) if board else None
    if posting and source:
        # Some platforms do not name the company.
        posting = replace(posting, company=posting.company or source.company_name)
    if board is None or posting is None or not is_minimal(posting):
        return None
    origin = "source" if source else "board"
    return ReadPosting(posting, f"{origin}:{board.platform.name}", source.id if source else None)


async def _find_on_board(fetch: Fetch, board: ReadableBoard, url: str) -> Posting | None:
    """The posting by its id, where the platform supports that, else from the board's first page."""
    key = PLATFORM_RULES.posting_key(url)
    if key and board.platform.detail_request and board.platform.name == key.platform:
        stub = Posting(
            "", url, platform=key.platform, board=key.board, vendor_id=key.id, partial=True
        )
        try:
            posting = await board_crawler.complete_posting(fetch, board, stub)
        except OutsideError:
            return None
        return posting if posting.title else None
    crawled = await board_crawler.crawl_first_page(fetch, board)
    matches = [posting for posting in crawled.postings.values() if _is_at(posting, url, key)]
    if len(matches) != 1:
        return None
    return await board_crawler.complete_posting(fetch, board, matches[0])


def _is_at(posting: Posting, url: str, key: PostingKey | None) -> bool:
    if key and key.id == posting.vendor_id:
        return True
    canonical = PLATFORM_RULES.canonical
    return bool(posting.url) and canonical(posting.url) == canonical(url)


async def _read_page(fetch: Fetch, url: str, now: dt.datetime) -> PostingResult:
    answer = await fetch(Request(url, page=True))
    match answer:
        case PageGone(status=status):
            return ClosedPosting(f"the page does not exist (status {status})")
        case Ok():
            result = await _extract(answer, now)
            if isinstance(result, UnclearPage) and _SCRIPT.search(answer.body):
                return await _read_rendered(fetch, url, result, now)
            return result
        case _:
            permanent = not isinstance(answer, FetchFailure) or answer.cause in PERMANENT_CAUSES
            detail = board_crawler.describe_failure(answer)[1]
            raise OutsideError(f"{url} could not be read: {detail}", permanent=permanent)


async def _read_rendered(
    fetch: Fetch, url: str, page: UnclearPage, now: dt.datetime
) -> PostingResult:
    """The posting that the scripts of a page show; `page` is what it says without them."""
    answer = await fetch(Request(url, page=True, render=True))
    if isinstance(answer, FetchFailure) and answer.cause in WAIT_CAUSES:
        raise OutsideError(f"{url} could not be read: {answer.detail}")
    if not isinstance(answer, Ok):
        return replace(page, render_problem=board_crawler.describe_failure(answer)[1])
    rendered = await _extract(answer, now)
    if isinstance(rendered, ReadPosting):
        return replace(rendered, method=f"browser:{rendered.method}")
    if isinstance(rendered, UnclearPage) and rendered.posting is None:
        return replace(rendered, posting=page.posting)
    return rendered


async def _extract(answer: Ok, now: dt.datetime) -> PostingResult:
    extracted = await read_untrusted(_read_posting_page, answer.body, answer.url, now)
    if extracted.closed:
        return ClosedPosting("the page says that the job is closed")
    posting = extracted.posting and _with_own_url(extracted.posting, answer.url)
    if posting and extracted.method and is_minimal(posting):
        return ReadPosting(posting, extracted.method)
    return UnclearPage(answer.url, answer.text, posting)


def _read_posting_page(body: bytes, url: str, now: dt.datetime) -> PageReading:
    # A person or a source named the URL as that of a posting.
    return page_reader.read_posting(body, url, expected=True, now=now)


def _with_own_url(posting: Posting, page: str) -> Posting:
    """The posting with the URL that it states, if that is on the page's domain, else with the page's:
    a page must not pose as one of another site."""
    try:
        same_domain = urls.domain(posting.url) == urls.domain(page)
    except Invalid:
        same_domain = False
    return posting if same_domain else replace(posting, url=page)

"""Crawls a board from its first request to its last posting."""

from __future__ import annotations

import datetime as dt
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

from jobmill.catalog import company_names, listings, posting_identity
from jobmill.catalog.crawl_results import CrawlResult, Outcome, PageCall, SeenPosting
from jobmill.catalog.listings import ListingState
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.outside.request import (
    WAIT_CAUSES,
    Fetch,
    FetchFailure,
    FetchResult,
    NotModified,
    Ok,
    PageGone,
    Request,
    Truncated,
    Validators,
)

from .adapters import PLATFORM_RULES
from .platform import BoardPage, Config
from .readable_board import ReadableBoard

MAX_PAGES = 1_000
MAX_CHARACTERS = 50_000_000
"""Text of one crawl, which stays in memory until it is saved; the largest boards have a fifth of this."""
MAX_DETAILS = 300
"""Details read in one crawl. The next crawl reads more, so that one large board does not delay others."""
MAX_CONSECUTIVE_DETAIL_FAILURES = 3
"""After this many failures in a row, the remaining details wait for the next crawl."""

FindListings: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, ListingState]]]
"""Finds the listings that have these identities."""


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    pages: int
    postings: int
    total: int | None
    details: int = 0
    details_needed: int = 0


ReportProgress: TypeAlias = Callable[[CrawlProgress], None]


@dataclass(slots=True)
class Crawl:
    """The state of a crawl."""

    calls: int = 0
    pages: int = 0
    read: int = 0
    stubs: int = 0
    characters: int = 0
    """Of the texts of all postings."""
    total: int | None = None
    postings: dict[str, Posting] = field(default_factory=dict[str, Posting])
    """By identity."""
    page_calls: list[PageCall] = field(default_factory=list[PageCall])
    truncated: bool = False
    unchanged: bool = False
    failure: str | None = None
    detail: str | None = None
    validators: Validators = field(default_factory=Validators)

    @property
    def outcome(self) -> Outcome:
        if self.unchanged:
            return "unchanged"
        if self.failure in WAIT_CAUSES and not self.postings:
            return "held"
        if self.failure:
            return "partial" if self.postings else "failed"
        short = self.total is not None and self.read < self.total
        return "truncated" if self.truncated or short else "complete"

    def add_page(self, page: BoardPage) -> bool:
        """Add the postings of a page; False if it only repeats earlier pages."""
        self.pages += 1
        self.truncated |= page.truncated
        if self.total is None:
            self.total = page.total
        before = len(self.postings)
        for posting in page.postings:
            self._add(posting)
            self.characters += len(posting.description or "") + len(posting.requirements or "")
        self.stubs += page.stubs
        if page.postings and len(self.postings) == before:
            # Without a total from the site, further pages might have had more postings.
            self.truncated |= bool(page.next) and self.total is None
            return False
        self.read += len(page.postings) + page.stubs
        return True

    def _add(self, posting: Posting) -> None:
        key = posting_identity.identity(posting, PLATFORM_RULES)
        earlier = self.postings.setdefault(key, posting)
        if earlier.title != posting.title and not posting.vendor_id:
            # Two postings with the same URL: their content distinguishes them, and neither is lost.
            posting = replace(posting, vendor_id=posting_identity.text_digest(posting))
            self.postings.setdefault(posting_identity.identity(posting, PLATFORM_RULES), posting)

    def fail(self, cause: str, detail: str) -> None:
        self.failure, self.detail = cause, detail


async def crawl_first_page(fetch: Fetch, board: ReadableBoard) -> Crawl:
    return await _crawl_pages(fetch, board, lambda _: None, max_pages=1)


async def complete_posting(fetch: Fetch, board: ReadableBoard, posting: Posting) -> Posting:
    """The posting with its full text, or unchanged where the board has no more."""
    if not board.has_detail(posting):
        return posting
    answer = await fetch(board.with_keys(board.detail_request(posting)))
    detail = await _read_detail(board, answer, posting)
    return detail if isinstance(detail, Posting) else posting


async def crawl(
    fetch: Fetch,
    board: ReadableBoard,
    find_listings: FindListings,
    *,
    started_at: dt.datetime,
    report: ReportProgress = lambda _: None,
) -> CrawlResult:
    """Crawl the whole board, and read the details of postings that are new or have changed."""
    crawled = await _crawl_pages(fetch, board, report)
    postings = {
        key: posting
        for key, posting in crawled.postings.items()
        if _is_of_brand(posting, board.config)
    }
    listings_by_identity = await find_listings(list(postings))
    seen_postings, complete = await _read_details(
        fetch, board, crawled, postings, listings_by_identity, report
    )
    # The first page's validators say nothing about other pages. And if a detail is missing, the site
    # must not answer "unchanged" next time: the posting would stay incomplete.
    validators = crawled.validators if complete and crawled.pages == 1 else Validators()
    return CrawlResult(
        started_at=started_at,
        outcome=crawled.outcome,
        postings=seen_postings,
        calls=crawled.calls,
        pages=crawled.page_calls,
        stubs=crawled.stubs,
        failure=crawled.failure,
        detail=crawled.detail,
        vendor=board.shared_platform,
        inventory=board.platform.inventory,
        may_be_empty=board.platform.allow_empty,
        validators=validators,
    )


def _is_of_brand(posting: Posting, config: Config) -> bool:
    """Whether a posting on a group's board is of the configured brand."""
    brand: str | None = getattr(config, "brand", None)
    # Some platforms have no field for the company; groups then use the department for it.
    company = posting.company or posting.department
    if brand is None or company is None:
        return True
    return company_names.company_key(company) == company_names.company_key(brand)


async def _crawl_pages(
    fetch: Fetch, board: ReadableBoard, report: ReportProgress, max_pages: int = MAX_PAGES
) -> Crawl:
    """Read page after page, until there are no more, nothing new comes, or a request fails."""
    crawled = Crawl()
    first = board.first_request()
    queue = deque([first])
    requested: set[str] = set()
    while queue and not crawled.failure:
        request = queue.popleft()
        parameters = page_parameters(board.without_keys(first), board.without_keys(request))
        page_key = json.dumps(parameters, sort_keys=True)
        if page_key in requested:
            continue
        if crawled.pages >= max_pages or crawled.characters >= MAX_CHARACTERS:
            crawled.truncated = True
            break
        requested.add(page_key)
        page = await _fetch_page(fetch, board, request, crawled)
        count = 0 if crawled.unchanged else None if page is None else len(page.postings)
        crawled.page_calls.append(PageCall(parameters, count))
        if page is not None and crawled.add_page(page):
            queue.extend(page.next)
        report(CrawlProgress(crawled.pages, len(crawled.postings), crawled.total))
    return crawled


def page_parameters(first: Request, request: Request) -> dict[str, Any]:
    """The parameters in which a request differs from the first one; None for those it leaves out.

    Requests that differ in more than the order have different results, unless a site moves a
    parameter from the URL to the body.
    """
    before, after = _parameters(first), _parameters(request)
    removed: dict[str, Any] = dict.fromkeys(sorted(before.keys() - after.keys()))
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    return changed | removed


def _parameters(request: Request) -> dict[str, Any]:
    parts = urlsplit(request.url)
    parameters: dict[str, list[Any]] = {
        "at": [parts._replace(query="").geturl()],
        "method": [request.method],
    }
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        parameters.setdefault(name, []).append(text)
    for name, value in _body_parameters(request).items():
        # Keep it apart from a URL parameter of the same name.
        in_url = parameters.get(name)
        parameters[name] = [*in_url, {"body": value}] if in_url else [value]
    return {name: values[0] if len(values) == 1 else values for name, values in parameters.items()}


def _body_parameters(request: Request) -> dict[str, Any]:
    body = request.json
    if isinstance(body, dict):
        return cast(dict[str, Any], body)
    return {} if body is None else {"body": body}


async def _fetch_page(
    fetch: Fetch, board: ReadableBoard, request: Request, crawled: Crawl
) -> BoardPage | None:
    """The page; None where the crawl ends here, for the reason that `crawled` then has."""
    is_first = crawled.calls == 0
    answer = await fetch(board.with_keys(request), board.validators if is_first else None)
    crawled.calls += _was_sent(answer)
    if isinstance(answer, Ok):
        if is_first:
            crawled.validators = answer.validators
        return await _read_page(board, request, answer, crawled)
    if isinstance(answer, NotModified):
        crawled.unchanged = True
    else:
        crawled.fail(*describe_failure(answer))
    return None


async def _read_page(
    board: ReadableBoard, request: Request, answer: Ok, crawled: Crawl
) -> BoardPage | None:
    try:
        # Links in a page are relative to its URL after redirects.
        request = replace(request, url=answer.url) if request.page else request
        return await board.read(answer.body, request)
    except OutsideError as error:
        crawled.fail("unreadable", str(error))
        return None


def describe_failure(answer: FetchResult) -> tuple[str, str]:
    """The cause of a failed request, as a code and in words."""
    match answer:
        case FetchFailure(cause=cause, detail=detail):
            return cause, detail
        case PageGone(status=status):
            return "gone", f"not found (status {status})"
        case Truncated(limit=limit):
            return "unreadable", f"the response is longer than {limit / 1e6:.0f} MB"
        case _:
            return "unreadable", "the response is empty"


async def _read_details(
    fetch: Fetch,
    board: ReadableBoard,
    crawled: Crawl,
    postings: Mapping[str, Posting],
    listings_by_identity: Mapping[str, ListingState],
    report: ReportProgress,
) -> tuple[list[SeenPosting], bool]:
    """The postings, with the details of new and changed ones; and whether every detail could be read."""
    seen_postings = {
        key: SeenPosting(posting, listings.listed_hash(posting))
        for key, posting in postings.items()
    }
    keys = [
        key
        for key, item in seen_postings.items()
        if board.has_detail(item.posting) and _is_changed(item, listings_by_identity.get(key))
    ]
    # New postings first: details that always fail must not block the others.
    keys.sort(key=lambda key: key in listings_by_identity)
    failures = done = 0
    gone: list[str] = []
    for key in keys[:MAX_DETAILS]:
        if failures >= MAX_CONSECUTIVE_DETAIL_FAILURES:
            break
        answer = await fetch(board.with_keys(board.detail_request(seen_postings[key].posting)))
        crawled.calls += _was_sent(answer)
        posting = await _read_detail(board, answer, seen_postings[key].posting)
        failures = failures + 1 if isinstance(posting, str) else 0
        if posting is None:
            gone.append(key)
        elif isinstance(posting, Posting):
            seen_postings[key] = replace(seen_postings[key], posting=posting)
            done += 1
        report(CrawlProgress(crawled.pages, len(postings), crawled.total, done, len(keys)))
    # Where every detail is missing, their URLs have changed; the postings are still open.
    if done or len(gone) < MAX_CONSECUTIVE_DETAIL_FAILURES:
        for key in gone:
            del seen_postings[key]
    incomplete = any(key in seen_postings and seen_postings[key].posting.partial for key in keys)
    return list(seen_postings.values()), not incomplete


def _is_changed(posting: SeenPosting, listing: ListingState | None) -> bool:
    return listing is None or listing.partial or listing.listed_hash != posting.listed_hash


def _was_sent(answer: FetchResult) -> bool:
    return not isinstance(answer, FetchFailure) or answer.sent


async def _read_detail(
    board: ReadableBoard, answer: FetchResult, posting: Posting
) -> Posting | str | None:
    """The complete posting; None where it no longer exists; a text where it could not be read."""
    if isinstance(answer, PageGone):
        return None
    if not isinstance(answer, Ok):
        return describe_failure(answer)[1]
    try:
        return await board.read_detail(answer.body, posting)
    except OutsideError as error:
        return str(error)

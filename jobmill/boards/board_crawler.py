"""The loop that fetches: walks a source from its first request to its last posting."""

from __future__ import annotations

import datetime as dt
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from jobmill.catalog import company_names, listings, posting_identity
from jobmill.catalog.listings import ListingState
from jobmill.catalog.posting import Posting
from jobmill.catalog.source_runs import CrawlResult, Outcome, PageCall, SeenPosting
from jobmill.errors import OutsideError
from jobmill.outside.request import (
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

from . import api_keys, pagination, response_reader
from .adapters import PLATFORM_RULES
from .platform import Config, Page, Platform

MOST_PAGES = 1_000
MOST_DETAILS = 300
"""Details read in one run; the rest waits for the next, so that one large board holds up no other."""
DETAIL_FAILURES = 3
"""After so many details in a row that failed, the others wait for the next run."""

Remember: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, ListingState]]]
"""What we know already of the postings that have these identities."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a walk has come."""

    pages: int
    postings: int
    total: int | None
    details: int = 0
    details_wanted: int = 0


Tell: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Target:
    """What is walked, and with what."""

    platform: Platform
    config: Config
    environ: Mapping[str, str] = field(repr=False)
    validators: Validators | None = None

    @property
    def vendor(self) -> str | None:
        return self.platform.name if self.platform.vendor else None

    @property
    def keys(self) -> tuple[str, ...]:
        return api_keys.names(self.platform, self.config)

    def ask(self, request: Request) -> Request:
        return api_keys.fill(request, self.keys, self.environ)

    def beyond(self, first: Request, request: Request) -> dict[str, Any]:
        """What a page asks otherwise than the first; no key, should a site write it into its links."""
        shown = [api_keys.hide(one, self.keys, self.environ) for one in (first, request)]
        return pagination.beyond(*shown)


@dataclass(slots=True)
class Walk:
    """What a walk has seen so far."""

    calls: int = 0
    pages: int = 0
    read: int = 0
    stubs: int = 0
    total: int | None = None
    postings: dict[str, Posting] = field(default_factory=dict[str, Posting])
    asked_for: list[PageCall] = field(default_factory=list[PageCall])
    truncated: bool = False
    unchanged: bool = False
    failure: str | None = None
    detail: str | None = None
    validators: Validators = field(default_factory=Validators)

    @property
    def outcome(self) -> Outcome:
        if self.unchanged:
            return "unchanged"
        if self.failure == "rate_limited" and not self.postings:
            return "held"
        if self.failure:
            return "partial" if self.postings else "failed"
        short = self.total is not None and self.read < self.total
        return "truncated" if self.truncated or short else "complete"

    def take(self, page: Page) -> bool:
        """Keep what a page holds; False if it only repeats what others held."""
        self.pages += 1
        self.truncated |= page.truncated
        if self.total is None:
            self.total = page.total
        before = len(self.postings)
        for posting in page.postings:
            self._keep(posting)
        self.stubs += page.stubs
        if page.postings and len(self.postings) == before:
            # Where the site does not say how many there are, nobody knows what would have followed.
            self.truncated |= bool(page.next) and self.total is None
            return False
        self.read += len(page.postings) + page.stubs
        return True

    def _keep(self, posting: Posting) -> None:
        key = posting_identity.identity(posting, PLATFORM_RULES)
        known = self.postings.setdefault(key, posting)
        if known.title != posting.title and not posting.vendor_id:
            # Two that name one page: they are told apart by what they say, and none is lost.
            posting = replace(posting, vendor_id=posting_identity.outline_hash(posting))
            self.postings.setdefault(posting_identity.identity(posting, PLATFORM_RULES), posting)

    def fail(self, cause: str, detail: str) -> None:
        self.failure, self.detail = cause, detail


async def look(fetch: Fetch, target: Target) -> Walk:
    """The first page only."""
    return await _walk(fetch, target, lambda _: None, most_pages=1)


async def whole(fetch: Fetch, target: Target, posting: Posting) -> Posting:
    """The posting in full, if it can be had; else as it is."""
    if target.platform.detail is None or not posting.partial:
        return posting
    found = await _detail(fetch, target, posting)
    return found if isinstance(found, Posting) else posting


async def harvest(
    fetch: Fetch,
    target: Target,
    remember: Remember,
    *,
    started_at: dt.datetime,
    tell: Tell = lambda _: None,
) -> CrawlResult:
    """Walk the whole source, and read the details that we do not know yet."""
    walk = await _walk(fetch, target, tell)
    wanted = {key: one for key, one in walk.postings.items() if _is_wanted(one, target.config)}
    known = await remember(list(wanted))
    seen, whole = await _with_details(fetch, target, walk, wanted, known, tell)
    # The first page's validators say nothing of the others, and a posting whose detail is still
    # missing would stay so if the site said "unchanged" next time.
    validators = walk.validators if whole and walk.pages == 1 else Validators()
    return CrawlResult(
        started_at=started_at,
        outcome=walk.outcome,
        postings=seen,
        calls=walk.calls,
        pages=walk.asked_for,
        stubs=walk.stubs,
        failure=walk.failure,
        detail=walk.detail,
        vendor=target.vendor,
        inventory=target.platform.inventory,
        may_be_empty=target.platform.allow_empty,
        validators=validators,
    )


def _is_wanted(posting: Posting, config: Config) -> bool:
    """Whether it is of the brand that was asked for, on a board that a group shares."""
    brand: str | None = getattr(config, "brand", None)
    # Some vendors have no field for the company; groups then write it as the department.
    named = posting.company or posting.department
    if brand is None or named is None:
        return True
    return company_names.company_key(named) == company_names.company_key(brand)


async def _walk(fetch: Fetch, target: Target, tell: Tell, most_pages: int = MOST_PAGES) -> Walk:
    """Page after page, until there is no more, nothing new comes, or something fails."""
    assert target.platform.first is not None
    walk = Walk()
    first = target.platform.first(target.config)
    ahead = deque([first])
    asked: set[str] = set()
    while ahead and not walk.failure:
        request = ahead.popleft()
        page_of = target.beyond(first, request)
        name = json.dumps(page_of, sort_keys=True)
        if name in asked:
            continue
        if walk.pages >= most_pages:
            walk.truncated = True
            break
        asked.add(name)
        page = await _ask(fetch, target, request, walk)
        count = 0 if walk.unchanged else None if page is None else len(page.postings)
        walk.asked_for.append(PageCall(page_of, count))
        if page is not None and walk.take(page):
            ahead.extend(page.next)
        tell(Progress(walk.pages, len(walk.postings), walk.total))
    return walk


async def _ask(fetch: Fetch, target: Target, request: Request, walk: Walk) -> Page | None:
    """One page; None where the walk ends here, and the walk then knows why."""
    first = walk.calls == 0
    walk.calls += 1
    answer = await fetch(target.ask(request), target.validators if first else None)
    if isinstance(answer, Ok):
        if first:
            walk.validators = answer.validators
        return _read(target, request, answer, walk)
    if isinstance(answer, NotModified):
        walk.unchanged = True
    else:
        walk.fail(*explain(answer))
    return None


def _read(target: Target, request: Request, answer: Ok, walk: Walk) -> Page | None:
    try:
        # Links in a page are relative to where it came from in the end.
        asked = replace(request, url=answer.url) if request.page else request
        return response_reader.read(target.platform, answer.body, asked, target.config)
    except OutsideError as error:
        walk.fail("unreadable", str(error))
        return None


def explain(answer: FetchResult) -> tuple[str, str]:
    """The cause of a failed answer, and in words what happened."""
    match answer:
        case FetchFailure(cause=cause, detail=detail):
            return cause, detail
        case PageGone(status=status):
            return "gone", f"it is not there (status {status})"
        case Truncated(limit=limit):
            return "unreadable", f"the answer is longer than {limit / 1e6:.0f} MB"
        case _:
            return "unreadable", "the answer has nothing to read"


async def _with_details(
    fetch: Fetch,
    target: Target,
    walk: Walk,
    postings: Mapping[str, Posting],
    known: Mapping[str, ListingState],
    tell: Tell,
) -> tuple[list[SeenPosting], bool]:
    """The postings, with the details of those that are new or changed; and whether all have theirs."""
    seen = {key: SeenPosting(one, listings.listed_hash(one)) for key, one in postings.items()}
    todo = [key for key in seen if _lacks_detail(target, seen[key], known.get(key))]
    # What is new comes first: details that fail every time must not stand before all others.
    todo.sort(key=lambda key: key in known)
    failed = done = 0
    gone: list[str] = []
    for key in todo[:MOST_DETAILS]:
        if failed >= DETAIL_FAILURES:
            break
        walk.calls += 1
        posting = await _detail(fetch, target, seen[key].posting)
        failed = failed + 1 if isinstance(posting, str) else 0
        if posting is None:
            gone.append(key)
        elif isinstance(posting, Posting):
            seen[key] = replace(seen[key], posting=posting)
            done += 1
        tell(Progress(walk.pages, len(postings), walk.total, done, len(todo)))
    # Where no detail is there at all, it is the way to them that is gone, not the postings.
    if done or len(gone) < DETAIL_FAILURES:
        for key in gone:
            del seen[key]
    missing = any(key in seen and seen[key].posting.partial for key in todo)
    return list(seen.values()), not missing


def _lacks_detail(target: Target, seen: SeenPosting, known: ListingState | None) -> bool:
    if target.platform.detail is None or not seen.posting.partial:
        return False
    return known is None or known.partial or known.listed_hash != seen.listed_hash


async def _detail(fetch: Fetch, target: Target, posting: Posting) -> Posting | str | None:
    """The posting in full; None where it is gone; in words, why it could not be read."""
    assert target.platform.detail is not None
    request = target.platform.detail(posting, target.config)
    answer = await fetch(target.ask(request))
    if isinstance(answer, PageGone):
        return None
    if not isinstance(answer, Ok):
        return explain(answer)[1]
    try:
        return response_reader.read_detail(target.platform, answer.body, posting, target.config)
    except OutsideError as error:
        return str(error)

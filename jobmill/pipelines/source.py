"""Crawl a source: one item reads it from the first page to the last."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from jobmill.boards import source_reader
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import crawl_results, source_health, sources
from jobmill.catalog.crawl_results import CrawlResult, SavedRun
from jobmill.catalog.sources import SourceId
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from jobmill.matching import excluded_companies
from jobmill.outside.postponing_fetch import find_wait
from jobmill.outside.request import Fetch, FetchFailure, FetchResult, Request, Validators
from jobmill.pipelines import judging
from jobmill.queue import Block, Filter, Finish, ItemId, Move, NewItem, Postpone, Skip, Work
from jobmill.rotation import call_outcomes, calls, planner, targets
from jobmill.rotation.calls import EarlierCall
from jobmill.tools import Tools

KIND = "source"
MISSING_KEY_HOLD = dt.timedelta(hours=1)
"""How long the rotation leaves out a source with a missing API key. Its blocked item checks sooner
and continues once the key is set."""

EXCLUDED_HOLD = dt.timedelta(days=1)
"""How long the rotation leaves out a source whose company a stop list excludes."""


def new_item(
    id: int, *, window: dt.timedelta | None = None, delay: dt.timedelta = dt.timedelta()
) -> NewItem:
    """The item that crawls a source; only one is live at a time. With a window, the crawl is
    skipped if the same request was made within it."""
    window_data = {} if window is None else {"window": window.total_seconds()}
    return NewItem(KIND, "scrape", f"source:{id}", data={"source": id, **window_data}, delay=delay)


async def scrape(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Crawl the source and save the result in the transaction that settles the item."""
    id: int = work.data["source"]
    recorder = HostWaitRecorder(tools.fetch)
    try:
        if excluded := await find_exclusion(tools, id):
            return await _leave_out(tools, id, excluded)
        earlier_call = await _claim_call(tools, work)
        if earlier_call:
            return _skip(
                id, earlier_call.description, not_before=earlier_call.called_at + _window(work)
            )
        crawl = await _run(replace(tools, fetch=recorder), id, environ)
    except Unavailable as error:
        return Block("key", str(error), save=partial(_hold, id=id, item=work.id, why=str(error)))
    except (Conflict, NotFound) as error:
        return _skip(id, str(error))
    save = partial(save_crawl, id=id, crawl=crawl, item=work.id, retry_after=recorder.retry_after)
    if crawl.outcome == "held" and recorder.wait:
        if not crawl.calls:
            # Nothing was sent: the target keeps its turn, and there is nothing to learn from.
            return Postpone(recorder.wait, crawl.detail)
        if "window" not in work.data:
            return Postpone(recorder.wait, crawl.detail, save=save)
    # Source health handles failed crawls and the next run repeats them: no retry here.
    end = Skip if crawl.outcome in ("failed", "held") else Finish
    return end(_format_summary(crawl), save=save)


async def _run(tools: Tools, id: int, environ: Mapping[str, str]) -> CrawlResult:
    """Crawl the source; a config that cannot be used counts as a failure of the source."""
    try:
        return await source_reader.crawl_source(tools, id, environ)
    except Invalid as error:
        async with tools.db.transaction() as tx:
            at = await planner.clock(tx)
        return CrawlResult(at, "failed", failure="unreadable", detail=str(error))


async def find_exclusion(tools: Tools, id: int) -> str | None:
    """Why the stop lists exclude the company of a source."""
    async with tools.db.transaction() as tx:
        source = await sources.get(tx, id)
        return await excluded_companies.find_exclusion(
            tx, PLATFORM_RULES, names=[source.company_name, source.token], urls=[source.url]
        )


async def _leave_out(tools: Tools, id: int, why: str) -> Filter:
    """End the turn of an excluded source without a request."""
    async with tools.db.transaction() as tx:
        not_before = await planner.clock(tx) + EXCLUDED_HOLD
    return Filter(why, save=partial(targets.release, ids=[id], why=why, not_before=not_before))


def _skip(id: int, why: str, *, not_before: dt.datetime | None = None) -> Skip:
    return Skip(why, save=partial(targets.release, ids=[id], why=why, not_before=not_before))


async def _hold(tx: Tx, *, id: int, item: ItemId, why: str) -> None:
    """Release the target until its item can continue. No request was made, so this counts neither
    as a call nor as a failure."""
    await source_health.record_problem(tx, SourceId(id), "auth", why)
    not_before = await planner.clock(tx) + MISSING_KEY_HOLD
    await targets.release(tx, ids=[id], why=why, not_before=not_before)
    await calls.release_claim(tx, id, item=item)


class HostWaitRecorder:
    """Wraps fetch and remembers for how long the host, or its rate limit, wants us to wait."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self.wait: dt.timedelta | None = None
        self.retry_after: dt.timedelta | None = None
        """As stated; a response may ask us to slow down without saying for how long."""

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        answer = await self._fetch(request, validators)
        self.wait = find_wait(answer) or self.wait
        if isinstance(answer, FetchFailure) and answer.retry_after:
            self.retry_after = answer.retry_after
        return answer


async def _claim_call(tools: Tools, work: Work) -> EarlierCall | None:
    """Claim the call, or return the same call made earlier within the item's window. Raises
    `Conflict` if the source is no longer in the rotation."""
    if "window" not in work.data:
        return None
    async with tools.db.transaction() as tx:
        at = await planner.clock(tx)
        id: int = work.data["source"]
        source = await sources.get(tx, id)
        if source.status != "active" and source.retry_at is None:
            raise Conflict(
                f"source {id} ({source.name}) is {source.status}, so the rotation does not read it"
            )
        target = await targets.find(tx, id)
        if target and target.status == "paused":
            raise Conflict(f"source {id} ({source.name}) was paused in the rotation")
        return await calls.claim_signature(tx, id, item=work.id, window=_window(work), at=at)


def _window(work: Work) -> dt.timedelta:
    return dt.timedelta(seconds=work.data["window"])


async def save_crawl(
    tx: Tx,
    *,
    id: int,
    crawl: CrawlResult,
    item: ItemId | None = None,
    retry_after: dt.timedelta | None = None,
) -> SavedRun:
    """Save a crawl, queue its new and changed listings for judging, and schedule the source's next
    turn."""
    saved = await crawl_results.save(tx, id, crawl, PLATFORM_RULES)
    at = await planner.clock(tx)
    await call_outcomes.record_outcome(
        tx, id, crawl, saved, at=at, item=item, retry_after=retry_after
    )
    await judging.add_listings(tx, [*saved.added, *saved.changed], parent=item)
    return saved


def _format_summary(crawl: CrawlResult) -> str:
    detail = f": {crawl.detail}" if crawl.detail else ""
    postings = "posting" if len(crawl.postings) == 1 else "postings"
    calls = "call" if crawl.calls == 1 else "calls"
    return f"{crawl.outcome}, {len(crawl.postings)} {postings} in {crawl.calls} {calls}{detail}"

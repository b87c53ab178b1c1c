"""Runs a source: one item walks it from its first page to its last."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from jobmill.boards import source_run
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import source_health, source_runs, sources
from jobmill.catalog.source_runs import CrawlResult, SavedRun
from jobmill.catalog.sources import SourceId
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from jobmill.outside.request import Fetch, FetchFailure, FetchResult, Request, Validators
from jobmill.pipelines import judging
from jobmill.queue import Block, Finish, ItemId, Move, NewItem, Skip, Work
from jobmill.rotation import call_outcomes, calls, planner, targets
from jobmill.rotation.calls import EarlierCall
from jobmill.tools import Tools

KIND = "source"
HOLD = dt.timedelta(hours=1)
"""How long no run chooses a source whose key is missing; its item looks again sooner, and goes on
when the key is there."""


def new_item(id: int, *, window: dt.timedelta | None = None) -> NewItem:
    """The item that runs a source; there is one at a time, however often it is asked for. With a
    window, it does not ask what was asked within it."""
    asked = {} if window is None else {"window": window.total_seconds()}
    return NewItem(KIND, "scrape", f"source:{id}", data={"source": id, **asked})


async def scrape(tools: Tools, environ: Mapping[str, str], work: Work) -> Move:
    """Walk the source; what it showed is kept together with the end of the item."""
    id: int = work.data["source"]
    ear = RetryAfterRecorder(tools.fetch)
    try:
        asked = await _asked(tools, work)
        if asked:
            return _skip(id, asked.description, not_before=asked.called_at + _window(work))
        harvest = await _run(replace(tools, fetch=ear), id, environ)
    except Unavailable as error:
        return Block("key", str(error), save=partial(_hold, id=id, item=work.id, why=str(error)))
    except (Conflict, NotFound) as error:
        return _skip(id, str(error))
    # What a source could not show is its health's business, and the next run's: no retry here.
    end = Skip if harvest.outcome in ("failed", "held") else Finish
    save = partial(save_harvest, id=id, harvest=harvest, item=work.id, retry_after=ear.retry_after)
    return end(_words(harvest), save=save)


async def _run(tools: Tools, id: int, environ: Mapping[str, str]) -> CrawlResult:
    """What the source showed; a config that cannot be asked with is a failure of the source."""
    try:
        return await source_run.crawl_source(tools, id, environ)
    except Invalid as error:
        async with tools.db.transaction() as tx:
            at = await planner.clock(tx)
        return CrawlResult(at, "failed", failure="unreadable", detail=str(error))


def _skip(id: int, why: str, *, not_before: dt.datetime | None = None) -> Skip:
    return Skip(why, save=partial(targets.release, ids=[id], why=why, not_before=not_before))


async def _hold(tx: Tx, *, id: int, item: ItemId, why: str) -> None:
    """It was not asked, and is not chosen while its item waits; that costs no call and is no failure."""
    await source_health.record_problem(tx, SourceId(id), "auth", why)
    not_before = await planner.clock(tx) + HOLD
    await targets.release(tx, ids=[id], why=why, not_before=not_before)
    await calls.release_claim(tx, id, item=item)


class RetryAfterRecorder:
    """A way to the network that remembers for how long somebody asked us to wait."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self.retry_after: dt.timedelta | None = None

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        answer = await self._fetch(request, validators)
        if isinstance(answer, FetchFailure) and answer.retry_after:
            self.retry_after = answer.retry_after
        return answer


async def _asked(tools: Tools, work: Work) -> EarlierCall | None:
    """Who has asked the same within the window, if the item has one; Conflict if the source may not
    take turns any more."""
    if "window" not in work.data:
        return None
    async with tools.db.transaction() as tx:
        at = await planner.clock(tx)
        id: int = work.data["source"]
        source = await sources.get(tx, id)
        if source.status != "active" and source.retry_at is None:
            raise Conflict(f"source {id} ({source.name}) is {source.status}: it takes no turns")
        return await calls.claim_signature(tx, id, item=work.id, window=_window(work), at=at)


def _window(work: Work) -> dt.timedelta:
    return dt.timedelta(seconds=work.data["window"])


async def save_harvest(
    tx: Tx,
    *,
    id: int,
    harvest: CrawlResult,
    item: ItemId | None = None,
    retry_after: dt.timedelta | None = None,
) -> SavedRun:
    """What a run saw; what it shows anew or otherwise than before is to be judged, and the source's
    next turn follows from it."""
    saved = await source_runs.save(tx, id, harvest, PLATFORM_RULES)
    at = await planner.clock(tx)
    await call_outcomes.record_outcome(
        tx, id, harvest, saved, at=at, item=item, retry_after=retry_after
    )
    await judging.add_listings(tx, [*saved.added, *saved.changed], parent=item)
    return saved


def _words(harvest: CrawlResult) -> str:
    told = f": {harvest.detail}" if harvest.detail else ""
    postings = "posting" if len(harvest.postings) == 1 else "postings"
    calls = "call" if harvest.calls == 1 else "calls"
    return f"{harvest.outcome}, {len(harvest.postings)} {postings} in {harvest.calls} {calls}{told}"

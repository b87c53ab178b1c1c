"""Records the outcome of a call and updates its target and platform."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, replace
from typing import Any

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.crawl_results import CrawlResult, SavedRun
from jobmill.db import Tx, fetch_value, optional_time
from jobmill.outside.request import WAIT_CAUSES

from . import call_gaps, calls, epoch_times, platform_state, targets
from .calls import CallRecord
from .platform_state import PlatformState
from .policies import eligibility, interval_policy, yield_model
from .targets import Target, TargetStatus

INTERVAL_RULES = interval_policy.IntervalRules()
YIELD_RULES = yield_model.YieldRules()
MIN_PAGE_CAP = 10
"""A search that returns as many results as last time, some of them new, probably shows only its
newest results. Below this count it may be a coincidence."""
PROBE_BACKOFF_FACTOR = 3
"""A target whose call put its platform on hold waits this many times longer than the hold, so that
another target makes the probe."""


def read_outcome(
    crawl: CrawlResult,
    saved: SavedRun,
    retry_after: dt.timedelta | None = None,
    *,
    page_cap: int | None = None,
) -> dict[str, Any]:
    """Convert a run to the outcome that policies learn from; duplicates do not count as new."""
    counts = saved.counts
    full = page_cap is not None and counts.seen >= page_cap
    posted = [sighting.posting.posted_at for sighting in crawl.postings]
    return {
        "status": _status(crawl, saved),
        "returned": counts.seen,
        "new": counts.added - counts.duplicates,
        "fresh": counts.added,
        "truncated": crawl.outcome == "truncated" or full,
        "retry_after_s": retry_after.total_seconds() if retry_after else None,
        "posted": [at.timestamp() for at in posted if at],
    }


def _status(crawl: CrawlResult, saved: SavedRun) -> str:
    if crawl.outcome == "unchanged":
        return "not_modified"
    if crawl.failure == "gone":
        return "gone"
    # A platform's incident is not the target's fault; the incident holds the target.
    if crawl.failure in WAIT_CAUSES or saved.failure_effect.incident:
        return "rate_limited"
    return "error" if crawl.failure else "ok"


async def record_outcome(
    tx: Tx,
    source_id: int,
    crawl: CrawlResult,
    saved: SavedRun,
    *,
    at: dt.datetime,
    item: int | None = None,
    retry_after: dt.timedelta | None = None,
) -> None:
    """Record the call and what it teaches, in the transaction that saves the run.

    The queue runs one item per source at a time, so the claims on the target and on the signature
    belong to the `item` that ends. A run without an item leaves both claims alone.
    """
    target = await targets.find(tx, source_id, lock=True)
    claimed = [] if item is None else [source_id]
    if saved.run_id is None or target is None:
        # Saved before, overtaken by a newer run, or not in the rotation.
        await targets.release(tx, ids=claimed)
        return
    if crawl.outcome == "held" and not crawl.calls:
        # The platform is on hold: no request was made and there is nothing to learn.
        await calls.release_claim(tx, source_id, item=item)
        await targets.release(tx, ids=claimed, why=crawl.detail)
        return
    target = replace(target, page_cap=await _page_cap(tx, target, crawl, saved))
    outcome = read_outcome(crawl, saved, retry_after, page_cap=target.page_cap)
    await _record_call(tx, target, crawl, saved, outcome["status"], item)
    target = target if item is None else replace(target, queued_at=None)
    # That our network was lost says nothing about the platform.
    was_called = crawl.calls > 0 and crawl.failure != "offline"
    await _learn(tx, target, outcome, at, saved, was_called=was_called)


async def _page_cap(tx: Tx, target: Target, crawl: CrawlResult, saved: SavedRun) -> int | None:
    """The most results that the target shows, as far as its answers tell."""
    shown, fresh = saved.counts.seen, saved.counts.added
    if crawl.outcome == "truncated" and shown:
        return max(shown, target.page_cap or 0)
    if crawl.outcome != "complete" or target.kind != "slice":
        return target.page_cap
    if target.page_cap and shown > target.page_cap:
        # It was not a limit, or no longer is one.
        return None
    rolls = (
        fresh
        and shown >= MIN_PAGE_CAP
        and shown == await calls.last_result_count(tx, target.source_id)
    )
    return target.page_cap or (shown if rolls else None)


async def _record_call(
    tx: Tx, target: Target, crawl: CrawlResult, saved: SavedRun, answer: str, item: int | None
) -> None:
    call = CallRecord(
        source_id=target.source_id,
        platform=target.platform,
        run_id=target.run_id if target.queued_at and item is not None else None,
        item=item,
        called_at=crawl.started_at,
        answer=answer,
        detail=crawl.detail,
        requests=crawl.calls,
        result_count=saved.counts.seen,
        new=saved.counts.added - saved.counts.duplicates,
        duplicates=saved.counts.duplicates,
        pages=crawl.pages,
    )
    await calls.record_call(tx, call)


async def _learn(
    tx: Tx,
    target: Target,
    outcome: dict[str, Any],
    at: dt.datetime,
    saved: SavedRun,
    *,
    was_called: bool,
) -> None:
    """Update the target; without a request the platform learns nothing."""
    # If another save holds the platform's row, only the target learns. Outcomes that close the
    # platform wait for the row.
    ours = await platform_state.lock_platform(
        tx, target.platform, wait=outcome["status"] not in yield_model.GOOD_STATUSES
    )
    platform = ours or (await platform_state.load_all(tx)).get(target.platform)
    average = platform.average if platform else yield_model.PlatformAverage()
    now = at.timestamp()
    shared, incident = (
        is_shared_service(target.platform) and was_called,
        saved.failure_effect.incident,
    )
    excused = platform is not None and shared and platform.open_count > 0
    state, average = yield_model.learn(
        target.yield_state,
        outcome,
        now,
        kind=target.kind,
        page_cap=target.page_cap,
        platform=average,
        rules=YIELD_RULES,
        excused=excused,
    )
    turn = interval_policy.learn(
        target.interval_state, outcome, now, kind=target.kind, rules=INTERVAL_RULES
    )
    if outcome["status"] == "rate_limited" and not shared:
        state, turn = _wait_as_asked(state, turn, outcome, now)
    if incident:
        state, turn = _wait_behind_others(
            state, turn, now, await _held_until(tx, target.platform, at)
        )
    state = call_gaps.apply_to_yield(target, state, outcome)
    turn = call_gaps.apply_to_interval(target, turn)
    await _save(tx, target, state, turn)
    if ours:
        trouble = _next_breaker_state(ours, outcome, now, shared and not incident)
        await platform_state.save_state(tx, ours.name, average, trouble)


def is_shared_service(platform: str) -> bool:
    """Whether the sources of a platform share one service; company sites do not."""
    adapter = BY_NAME.get(platform)
    return adapter is not None and adapter.is_shared_service


def _next_breaker_state(
    platform: PlatformState, outcome: dict[str, Any], now: float, counts: bool
) -> eligibility.BreakerState:
    """Update the health of the platform; incidents are stored elsewhere."""
    if not counts:
        return platform.breaker
    return eligibility.after_outcome(platform.breaker, outcome, now, YIELD_RULES.breaker)


def _wait_as_asked(
    state: yield_model.YieldState,
    turn: interval_policy.IntervalState,
    outcome: dict[str, Any],
    now: float,
) -> tuple[yield_model.YieldState, interval_policy.IntervalState]:
    """A company site that asks for patience is left alone for as long as it says."""
    wait = outcome["retry_after_s"] or YIELD_RULES.breaker.hold_first
    until = now + min(wait, YIELD_RULES.breaker.hold_most)
    return (
        replace(state, called_at=now, blocked_until=max(state.blocked_until, until)),
        replace(turn, next_allowed_at=max(turn.next_allowed_at, until)),
    )


async def _held_until(tx: Tx, platform: str, at: dt.datetime) -> float:
    until = await fetch_value(
        tx, optional_time, "SELECT held_until FROM catalog.incident WHERE vendor = %s", [platform]
    )
    return (until or at).timestamp()


def _wait_behind_others(
    state: yield_model.YieldState,
    turn: interval_policy.IntervalState,
    now: float,
    held_until: float,
) -> tuple[yield_model.YieldState, interval_policy.IntervalState]:
    """Let another target probe the platform: a broken target would keep it on hold forever."""
    until = held_until + PROBE_BACKOFF_FACTOR * max(held_until - now, 0.0)
    return (
        replace(state, blocked_until=max(state.blocked_until, until)),
        replace(turn, next_allowed_at=max(turn.next_allowed_at, until)),
    )


async def _save(
    tx: Tx, target: Target, state: yield_model.YieldState, turn: interval_policy.IntervalState
) -> None:
    price = await fetch_value(tx, float, "SELECT price FROM rotation.call_allowance") or 0.0
    due_at = yield_model.due_at(state, price, target.added_at.timestamp(), YIELD_RULES)
    await tx.execute(
        """
        UPDATE rotation.target
           SET queued_at = %(queued_at)s, skip_reason = NULL, page_cap = %(page_cap)s, status = %(status)s,
               last_called_at = %(called_at)s,
               min_interval = make_interval(secs => %(interval)s),
               next_allowed_at = %(next_allowed_at)s, last_success_at = %(last_success_at)s,
               fail_count = %(fail_count)s, new_jobs_last = %(new_last)s,
               consecutive_empty_runs = %(empty_runs)s, new_listings = %(new_listings)s, observed_days = %(observed_days)s,
               entries = %(entries)s, entry_days = %(entry_days)s, span = %(span)s, new_per_day = %(new_per_day)s,
               loss_rate = %(loss_rate)s, health = %(health)s, failures = %(failures)s,
               last_ok_at = %(last_ok_at)s, blocked_until = %(blocked_until)s, due_at = %(due_at)s,
               price = %(price)s
         WHERE source_id = %(id)s
        """,
        {
            **asdict(turn),
            **asdict(state),
            "id": target.source_id,
            "queued_at": target.queued_at,
            "page_cap": target.page_cap,
            "status": _next_status(target, turn),
            "called_at": epoch_times.to_datetime(state.called_at),
            "next_allowed_at": epoch_times.to_datetime(turn.next_allowed_at),
            "last_success_at": epoch_times.to_datetime(turn.last_success_at),
            "last_ok_at": epoch_times.to_datetime(state.last_ok_at),
            "blocked_until": epoch_times.to_datetime(state.blocked_until),
            "due_at": epoch_times.to_datetime(due_at),
            "price": price,
        },
    )


def _next_status(target: Target, turn: interval_policy.IntervalState) -> TargetStatus:
    """Bad after too many failures, active again after a success; a paused target stays paused."""
    if target.status == "paused":
        return "paused"
    worked = turn.last_success_at != target.interval_state.last_success_at
    given_up = target.status == "bad" and not worked
    return "bad" if given_up or interval_policy.is_bad(turn, INTERVAL_RULES) else "active"

"""What a run of a source means for its turn: success, failure, patience, and what was learnt."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.source_runs import CrawlResult, SavedRun
from jobmill.db import Tx, fetch_value, optional_time

from . import calls, platform_state, targets, timestamps
from .calls import Call
from .platform_state import Standing
from .policies import eligibility, interval_policy, yield_model
from .targets import Status, Target

SEED = interval_policy.Rules()
YIELD = yield_model.Rules()
LEAST_CAP = 10
"""A search or feed that shows as many as the last time and new ones among them shows the newest so
many; with fewer than this it may be chance."""
STAND_BACK = 3
"""So many times as long as its vendor is held, one whose call had it held lets others go first."""


def read(
    harvest: CrawlResult,
    saved: SavedRun,
    retry_after: dt.timedelta | None = None,
    *,
    page_cap: int | None = None,
) -> dict[str, Any]:
    """A run as policies see it; only what is new after duplicates counts as new."""
    counts = saved.counts
    full = page_cap is not None and counts.seen >= page_cap
    posted = [one.posting.posted_at for one in harvest.seen]
    return {
        "status": _status(harvest, saved),
        "returned": counts.seen,
        "new": counts.added - counts.duplicates,
        "fresh": counts.added,
        "truncated": harvest.outcome == "truncated" or full,
        "retry_after_s": retry_after.total_seconds() if retry_after else None,
        "posted": [at.timestamp() for at in posted if at],
    }


def _status(harvest: CrawlResult, saved: SavedRun) -> str:
    if harvest.outcome == "unchanged":
        return "not_modified"
    if harvest.failure == "gone":
        return "gone"
    # When the vendor is in trouble its target has done nothing wrong; the incident holds it.
    if harvest.failure == "rate_limited" or saved.failure_effect.incident:
        return "rate_limited"
    return "error" if harvest.failure else "ok"


async def record(
    tx: Tx,
    source_id: int,
    harvest: CrawlResult,
    saved: SavedRun,
    *,
    at: dt.datetime,
    item: int | None = None,
    retry_after: dt.timedelta | None = None,
) -> None:
    """Keep the call, and what it teaches; to be called in the transaction that saved the run.

    The queue runs one item of a source at a time, so the `item` that ends is the one the claims on the
    target and on its question wait for. A run without an item leaves both to the item that has them.
    """
    target = await targets.find(tx, source_id, lock=True)
    claimed = [] if item is None else [source_id]
    if saved.run_id is None or target is None:
        # Saved before, overtaken by a newer run, or a source that takes no turns.
        await targets.release(tx, ids=claimed)
        return
    if harvest.outcome == "held" and not harvest.calls:
        # Its vendor is held: nobody was asked, and nothing was learnt.
        await calls.forget(tx, source_id, item=item)
        await targets.release(tx, ids=claimed, why=harvest.detail)
        return
    target = replace(target, page_cap=await _page_cap(tx, target, harvest, saved))
    outcome = read(harvest, saved, retry_after, page_cap=target.page_cap)
    await _note(tx, target, harvest, saved, outcome["status"], item)
    target = target if item is None else replace(target, queued_at=None)
    await _learn(tx, target, outcome, at, saved, asked=harvest.calls > 0)


async def _page_cap(tx: Tx, target: Target, harvest: CrawlResult, saved: SavedRun) -> int | None:
    """How many the target shows at most, as far as its answers tell."""
    seen, fresh = saved.counts.seen, saved.counts.added
    if harvest.outcome == "truncated" and seen:
        return max(seen, target.page_cap or 0)
    if harvest.outcome != "complete" or target.kind != "slice":
        return target.page_cap
    if target.page_cap and seen > target.page_cap:
        # It was no limit, or is none any more.
        return None
    rolls = fresh and seen >= LEAST_CAP and seen == await calls.last_count(tx, target.source_id)
    return target.page_cap or (seen if rolls else None)


async def _note(
    tx: Tx, target: Target, harvest: CrawlResult, saved: SavedRun, answer: str, item: int | None
) -> None:
    call = Call(
        source_id=target.source_id,
        platform=target.platform,
        run_id=target.run_id if target.queued_at and item is not None else None,
        item=item,
        called_at=harvest.started_at,
        answer=answer,
        detail=harvest.detail,
        requests=harvest.calls,
        result_count=saved.counts.seen,
        new=saved.counts.added - saved.counts.duplicates,
        duplicates=saved.counts.duplicates,
        pages=harvest.pages,
    )
    await calls.record(tx, call)


async def _learn(
    tx: Tx,
    target: Target,
    outcome: dict[str, Any],
    at: dt.datetime,
    saved: SavedRun,
    *,
    asked: bool,
) -> None:
    """What the outcome teaches; where nobody was asked it is the target's own, not its platform's."""
    # While another save has the platform, the target learns and the average does without; what
    # shuts the platform is never left out.
    ours = await platform_state.lock(
        tx, target.platform, wait=outcome["status"] not in yield_model.GOOD
    )
    standing = ours or (await platform_state.standings(tx)).get(target.platform)
    average = standing.average if standing else yield_model.Platform()
    now = at.timestamp()
    shared, incident = is_shared(target.platform) and asked, saved.failure_effect.incident
    excused = standing is not None and shared and standing.opened > 0
    state, average = yield_model.learn(
        target.yields,
        outcome,
        now,
        kind=target.kind,
        page_cap=target.page_cap,
        platform=average,
        rules=YIELD,
        excused=excused,
    )
    turn = interval_policy.learn(target.seed, outcome, now, kind=target.kind, rules=SEED)
    if outcome["status"] == "rate_limited" and not shared:
        state, turn = _patient(state, turn, outcome, now)
    if incident:
        state, turn = _behind(state, turn, now, await _held_until(tx, target.platform, at))
    state, turn = _spaced(target, state, turn)
    await _keep(tx, target, state, turn)
    if ours:
        trouble = _trouble(ours, outcome, now, shared and not incident)
        await platform_state.keep(tx, ours.name, average, trouble)


def is_shared(platform: str) -> bool:
    """Whether its sources stand or fall together; sites of their own do not."""
    known = BY_NAME.get(platform)
    return known is not None and known.vendor


def _trouble(
    standing: Standing, outcome: dict[str, Any], now: float, counts: bool
) -> eligibility.Trouble:
    """What the outcome says of the platform; an incident is kept elsewhere."""
    if not counts:
        return standing.trouble
    return eligibility.after(standing.trouble, outcome, now, YIELD.breaker)


def _patient(
    state: yield_model.State, turn: interval_policy.State, outcome: dict[str, Any], now: float
) -> tuple[yield_model.State, interval_policy.State]:
    """A site of its own that asks for patience is left alone for as long as it says."""
    wait = outcome["retry_after_s"] or YIELD.breaker.hold_first
    until = now + min(wait, YIELD.breaker.hold_most)
    return (
        replace(state, called_at=now, gate_at=max(state.gate_at, until)),
        replace(turn, next_allowed_at=max(turn.next_allowed_at, until)),
    )


async def _held_until(tx: Tx, vendor: str, at: dt.datetime) -> float:
    until = await fetch_value(
        tx, optional_time, "SELECT held_until FROM catalog.incident WHERE vendor = %s", [vendor]
    )
    return (until or at).timestamp()


def _behind(
    state: yield_model.State, turn: interval_policy.State, now: float, held_until: float
) -> tuple[yield_model.State, interval_policy.State]:
    """Another finds out whether the vendor is well: one that is broken itself would hold it for ever."""
    until = held_until + STAND_BACK * max(held_until - now, 0.0)
    return (
        replace(state, gate_at=max(state.gate_at, until)),
        replace(turn, next_allowed_at=max(turn.next_allowed_at, until)),
    )


def _spaced(
    target: Target, state: yield_model.State, turn: interval_policy.State
) -> tuple[yield_model.State, interval_policy.State]:
    """Not sooner than its platform wants to be asked again."""
    platform = BY_NAME.get(target.platform)
    if not platform or not platform.every or state.called_at is None:
        return state, turn
    least = state.called_at + platform.every.total_seconds()
    return (
        replace(state, gate_at=max(state.gate_at, least)),
        replace(turn, next_allowed_at=max(turn.next_allowed_at, least)),
    )


async def _keep(
    tx: Tx, target: Target, state: yield_model.State, turn: interval_policy.State
) -> None:
    price = await fetch_value(tx, float, "SELECT price FROM rotation.call_allowance") or 0.0
    due_at = yield_model.due_at(state, price, target.known_at.timestamp(), YIELD)
    await tx.execute(
        """
        UPDATE rotation.target
           SET queued_at = %(queued_at)s, held = NULL, page_cap = %(page_cap)s, status = %(status)s,
               last_called_at = %(called_at)s,
               min_interval = make_interval(secs => %(interval)s),
               next_allowed_at = %(next_allowed_at)s, last_success_at = %(last_success_at)s,
               fail_count = %(fail_count)s, new_jobs_last = %(new)s,
               consecutive_empty_runs = %(empty_runs)s, found = %(found)s, looked = %(looked)s,
               shown = %(shown)s, shown_days = %(shown_days)s, span = %(span)s, rho = %(rho)s,
               d = %(d)s, health = %(health)s, failures = %(failures)s,
               last_ok_at = %(last_ok_at)s, gate_at = %(gate_at)s, due_at = %(due_at)s,
               price = %(price)s
         WHERE source_id = %(id)s
        """,
        {
            "id": target.source_id,
            "queued_at": target.queued_at,
            "page_cap": target.page_cap,
            "status": _standing_of(target, turn),
            "called_at": timestamps.moment(state.called_at),
            "interval": turn.interval,
            "next_allowed_at": timestamps.moment(turn.next_allowed_at),
            "last_success_at": timestamps.moment(turn.last_success_at),
            "fail_count": turn.fail_count,
            "new": turn.new_last,
            "empty_runs": turn.empty_runs,
            "found": state.found,
            "looked": state.looked,
            "shown": state.shown,
            "shown_days": state.shown_days,
            "span": state.span,
            "rho": state.rho,
            "d": state.d,
            "health": state.health,
            "failures": state.failures,
            "last_ok_at": timestamps.moment(state.last_ok_at),
            "gate_at": timestamps.moment(state.gate_at),
            "due_at": timestamps.moment(due_at),
            "price": price,
        },
    )


def _standing_of(target: Target, turn: interval_policy.State) -> Status:
    """Bad after too many failures, well again after a success; what a person paused stays so."""
    if target.status == "paused":
        return "paused"
    worked = turn.last_success_at != target.seed.last_success_at
    given_up = target.status == "bad" and not worked
    return "bad" if given_up or interval_policy.is_bad(turn, SEED) else "active"

"""Plans one run of the rotation: how many calls may be made, which targets, and their claims."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.db import Tx, fetch_single, fetch_value, optional_time
from jobmill.db.clock import server_time

from . import call_gaps, expired_claims, platform_state, target_selection, targets
from .platform_state import PlatformCapacity
from .policies import call_value, yield_model
from .target_selection import RunLimits, SelectionRequest, TargetRef, YieldChoice
from .targets import PolicyName, Target, TargetKind

Trigger: TypeAlias = Literal["schedule", "manual"]

_DAY = dt.timedelta(days=1)
_INTERVAL_POLICY_PERIOD = dt.timedelta(hours=1)
"""The interval policy limits targets per run, not runs per hour; a schedule makes one run an hour.
"""

REPRICED_PER_CALL = 50
"""Due times that a run recomputes per allowed call when the price has fallen."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run should do."""

    policy: PolicyName = "yield"
    trigger: Trigger = "schedule"
    limits: RunLimits = field(default_factory=RunLimits)
    per_day: float = 1_200
    platforms: Sequence[str] = ()
    """Only these platforms; empty: all."""
    kind: TargetKind | None = None
    max_calls: int | None = None
    """Maximum calls of a manual run."""
    sources: Sequence[int] = ()
    """Exactly these sources, due or not; empty: the due ones."""


@dataclass(frozen=True, slots=True)
class ClaimedTarget:
    """A claimed target."""

    source_id: int
    repeat_window: dt.timedelta | None
    """The same request is not repeated within this time; None: repeat it anyway."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run chose."""

    run_id: int | None
    """None if there was nothing to do."""
    claimed: list[ClaimedTarget]
    skipped: dict[str, str]
    """Platforms that accept no calls now, with the reason."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What the policy chose; nothing of it is stored yet."""

    ids: list[int]
    allowance: CallAllowance
    """With the next price and the quota of overdue targets after this choice."""
    choice: YieldChoice | None
    """None for the interval policy and named sources."""


@dataclass(frozen=True, slots=True)
class CallAllowance:
    """The allowance of calls and the current price of a call."""

    price: float
    balance: float
    refilled_at: dt.datetime
    overdue_quota: float


async def start_run(
    tx: Tx, request: RunRequest, at: dt.datetime, environ: Mapping[str, str]
) -> RunPlan:
    """Choose and claim the next targets; concurrent runs never claim the same target."""
    # Always the first lock: two runs that each change several targets must not deadlock.
    allowance = refill_allowance(await _lock_allowance(tx), at, request.per_day)
    capacity = await _prepare(tx, request, at, environ)
    selection = Selection([], allowance, None)
    if await _is_time(tx, request, allowance, at):
        selection = await _choose(
            tx, SelectionRequest(at, capacity.remaining, request.limits), request, allowance
        )
    await _put_off_cheap(tx, selection, at)
    is_manual = request.trigger == "manual" and not request.sources
    run_id = await _insert_run(tx, request, at, capacity) if selection.ids or is_manual else None
    taken = await _claim_targets(tx, selection.ids, run_id, at)
    await _save_allowance(tx, spend_allowance(selection.allowance, len(taken), request.per_day))
    await platform_state.mark_probed(tx, sorted({target.platform for target in taken}), at)
    await _save_chosen_count(tx, run_id, len(taken))
    claimed = [
        ClaimedTarget(
            target.source_id,
            None if request.sources else call_gaps.repeat_window(target, request.policy),
        )
        for target in taken
    ]
    return RunPlan(run_id, claimed, dict(capacity.unavailable))


@dataclass(frozen=True, slots=True)
class RunPreview:
    """What a run would call now, and which platforms it could call."""

    ids: list[int]
    capacity: PlatformCapacity


@asynccontextmanager
async def preview_run(
    tx: Tx, request: RunRequest, at: dt.datetime, environ: Mapping[str, str]
) -> AsyncGenerator[RunPreview]:
    """The targets that a manual run would claim now, in its order: the same code chooses them. What
    it writes is seen inside the block only, and no lock is kept after it."""
    request = replace(request, trigger="manual")
    async with tx.transaction(force_rollback=True):
        # The same first lock as a run, for the same reason.
        allowance = refill_allowance(await _lock_allowance(tx), at, request.per_day)
        capacity = await _prepare(tx, request, at, environ)
        async with tx.transaction(force_rollback=True):
            selection = await _choose(
                tx, SelectionRequest(at, capacity.remaining, request.limits), request, allowance
            )
            ids = await _claimable(tx, selection.ids)
        yield RunPreview(ids, capacity)


async def _prepare(
    tx: Tx, request: RunRequest, at: dt.datetime, environ: Mapping[str, str]
) -> PlatformCapacity:
    """Take in changed sources, correct wrong times, and count what each platform accepts."""
    await targets.sync_changed_sources(tx)
    await expired_claims.release_and_correct(tx, at)
    return _requested_platforms(
        await platform_state.remaining_calls(tx, at, environ), request, environ
    )


async def clock(tx: Tx) -> dt.datetime:
    """The database server's time in UTC, the same for all schedulers."""
    return await server_time(tx)


def refill_allowance(allowance: CallAllowance, at: dt.datetime, per_day: float) -> CallAllowance:
    """Add the calls accumulated since then, at most one hour's worth, so downtime does not end in a
    burst."""
    since = max(at - allowance.refilled_at, dt.timedelta())
    balance = min(allowance.balance + per_day * (since / _DAY), _calls_per_hour(per_day))
    return replace(allowance, balance=balance, refilled_at=at)


def spend_allowance(allowance: CallAllowance, calls: int, per_day: float) -> CallAllowance:
    """Subtract the calls; manual runs put the schedule into debt for an hour at most."""
    return replace(allowance, balance=max(allowance.balance - calls, -_calls_per_hour(per_day)))


def _calls_per_hour(per_day: float) -> float:
    return max(1.0, per_day / 24)


def _requested_platforms(
    capacity: PlatformCapacity, request: RunRequest, environ: Mapping[str, str]
) -> PlatformCapacity:
    """Drop the platforms that were not requested; a requested one that is disabled says why."""

    def wanted(name: str) -> bool:
        named = not request.platforms or name in request.platforms
        return named and request.kind in (None, targets.kind_of(name))

    left = {name: calls for name, calls in capacity.remaining.items() if wanted(name)}
    shut = {name: why for name, why in capacity.unavailable.items() if wanted(name)}
    for name in request.platforms:
        if name not in capacity.remaining and (why := platform_state.why_disabled(name, environ)):
            shut[name] = why
    return PlatformCapacity(left, shut, capacity.opens_at)


async def _is_time(tx: Tx, request: RunRequest, allowance: CallAllowance, at: dt.datetime) -> bool:
    """Whether calls may be made now: always for a manual run, at the allowed rate for a schedule."""
    if request.trigger == "manual":
        return True
    if request.policy == "yield":
        return allowance.balance >= 1
    # Another run may have committed while this one waited for the lock.
    last = await fetch_value(
        tx,
        optional_time,
        "SELECT max(started_at) FROM rotation.run WHERE trigger = 'schedule' AND started_at <= %s",
        [at + _INTERVAL_POLICY_PERIOD],
    )
    return last is None or at - last >= _INTERVAL_POLICY_PERIOD


async def _choose(
    tx: Tx, question: SelectionRequest, request: RunRequest, allowance: CallAllowance
) -> Selection:
    """What to call now; all it writes are the due times that a lower price brings forward."""
    if request.sources:
        named = await targets.by_ids(tx, request.sources)
        free = (
            target for target in named if target.queued_at is None and target.status != "paused"
        )
        places = [TargetRef(target.source_id, target.platform) for target in free]
        return Selection(question.capacity().take(places, len(places)), allowance, None)
    if request.policy == "seed":
        return await _choose_by_interval(tx, question, request, allowance)
    return await _choose_by_yield(tx, question, request, allowance)


def _overdue_quota(allowance: CallAllowance, calls: int) -> float:
    """The share of calls for targets that would otherwise never be called."""
    fair = yield_model.YieldRules().stale_share * calls
    return min(allowance.overdue_quota + fair, max(1.0, 2 * fair))


async def _choose_by_interval(
    tx: Tx, question: SelectionRequest, request: RunRequest, allowance: CallAllowance
) -> Selection:
    capacity = question.capacity()
    most = sum(capacity.remaining.values()) if request.max_calls is None else request.max_calls
    overdue_quota = _overdue_quota(allowance, min(most, sum(capacity.remaining.values())))
    bad = await target_selection.retryable_bad(tx, question)
    first = capacity.take(bad, min(int(overdue_quota), most))
    due = capacity.take(
        await target_selection.choose_by_interval(tx, question, capacity), most - len(first)
    )
    rest = [candidate for candidate in bad if candidate.source_id not in first]
    spare = capacity.take(rest, min(target_selection.MAX_BAD_RETRIES, most - len(first) - len(due)))
    return Selection(
        [*first, *due, *spare], replace(allowance, overdue_quota=overdue_quota - len(first)), None
    )


async def _choose_by_yield(
    tx: Tx, question: SelectionRequest, request: RunRequest, allowance: CallAllowance
) -> Selection:
    if request.trigger == "manual" and request.max_calls is None:
        return await _choose_all_due(tx, question, request, allowance)
    budget = request.max_calls or 0
    if request.trigger == "schedule":
        budget = int(max(allowance.balance, 0))
    if budget <= 0:
        return Selection([], allowance, None)
    await _bring_forward(tx, allowance.price, REPRICED_PER_CALL * budget, question.at)
    chosen, overdue_quota = await _choose_most_valuable(tx, question, allowance, budget)
    price = call_value.next_price(allowance.price, chosen.lowest)
    return Selection(
        chosen.ids, replace(allowance, price=price, overdue_quota=overdue_quota), chosen
    )


async def _choose_all_due(
    tx: Tx, question: SelectionRequest, request: RunRequest, allowance: CallAllowance
) -> Selection:
    """All that is due within the limits of a run; if that is little, also the most valuable of the
    others. The price does not change, since no budget was set."""
    await _bring_forward(
        tx, allowance.price, REPRICED_PER_CALL * request.limits.companies, question.at
    )
    budget = question.capacity().total
    chosen, overdue_quota = await _choose_most_valuable(
        tx, question, allowance, budget, only_due=True
    )
    if len(chosen.ids) < request.limits.companies:
        budget = min(budget, request.limits.companies)
        chosen, overdue_quota = await _choose_most_valuable(tx, question, allowance, budget)
    return Selection(chosen.ids, replace(allowance, overdue_quota=overdue_quota), chosen)


async def _choose_most_valuable(
    tx: Tx,
    question: SelectionRequest,
    allowance: CallAllowance,
    budget: int,
    *,
    only_due: bool = False,
) -> tuple[YieldChoice, float]:
    """The choice, and the quota of overdue targets after it."""
    overdue_quota = _overdue_quota(allowance, min(budget, question.capacity().total))
    bad = await target_selection.retryable_bad(tx, question)
    quota = min(int(overdue_quota), budget)
    chosen = await target_selection.choose_by_yield(
        tx, question, budget=budget, quota=quota, bad=bad, only_due=only_due
    )
    return chosen, overdue_quota - chosen.overdue_count


async def _put_off_cheap(tx: Tx, selection: Selection, at: dt.datetime) -> None:
    """Postpone due targets that are not worth the new price, or they block others in the next run."""
    if selection.choice is None:
        return
    price = selection.allowance.price
    least = call_value.NEAR_PRICE * price
    cheap = [id for id, worth in selection.choice.value_unchosen().items() if worth < least]
    await _put_off(tx, await targets.by_ids(tx, cheap) if cheap else [], price, at)


async def _bring_forward(tx: Tx, price_now: float, most: int, at: dt.datetime) -> None:
    """Bring forward targets that were postponed at a price that has fallen since."""
    old = await target_selection.outdated_due_times(tx, price_now, most)
    await _put_off(tx, [target for target in old if target.new_per_day is not None], price_now, at)
    # The value of a first call does not grow, so these may be worth the price now.
    silent = {
        target.source_id: max(at, target.blocked_until or at)
        for target in old
        if target.new_per_day is None
    }
    if silent:
        await targets.set_due_times(tx, silent, price_now)


async def _put_off(tx: Tx, postponed: Sequence[Target], price_now: float, at: dt.datetime) -> None:
    """Postpone targets until they are worth the price."""
    if postponed:
        now, rules = at.timestamp(), yield_model.YieldRules()
        due = {
            target.source_id: yield_model.reconsider_at(target.yield_state, price_now, now, rules)
            for target in postponed
        }
        moments = {id: dt.datetime.fromtimestamp(when, dt.UTC) for id, when in due.items()}
        await targets.set_due_times(tx, moments, price_now)


async def _lock_allowance(tx: Tx) -> CallAllowance:
    return await fetch_single(
        tx,
        CallAllowance,
        "SELECT price, balance, refilled_at, overdue_quota FROM rotation.call_allowance FOR UPDATE",
    )


async def _save_allowance(tx: Tx, allowance: CallAllowance) -> None:
    await tx.execute(
        "UPDATE rotation.call_allowance SET price = %s, balance = %s, refilled_at = %s, overdue_quota = %s",
        [allowance.price, allowance.balance, allowance.refilled_at, allowance.overdue_quota],
    )


async def _insert_run(
    tx: Tx, request: RunRequest, at: dt.datetime, capacity: PlatformCapacity
) -> int | None:
    return await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.run (trigger, policy, started_at, chosen, skipped)
        VALUES (%s, %s, %s, 0, %s) RETURNING id
        """,
        [request.trigger, request.policy, at, Jsonb(dict(capacity.unavailable))],
    )


async def _save_chosen_count(tx: Tx, run_id: int | None, chosen: int) -> None:
    await tx.execute("UPDATE rotation.run SET chosen = %s WHERE id = %s", [chosen, run_id])


async def _claimable(tx: Tx, ids: Sequence[int]) -> list[int]:
    """Those of the targets that `_claim_targets` would claim, keeping their order."""
    cursor = await tx.execute(
        """
        SELECT source_id FROM rotation.target
          JOIN catalog.source ON source.id = source_id
           AND (source.status = 'active'
                OR target.status = 'bad' AND source.status = 'disabled')
         WHERE source_id = ANY (%s) AND target.status <> 'paused' AND queued_at IS NULL
        """,
        [list(ids)],
    )
    free = {id for (id,) in await cursor.fetchall()}
    return [id for id in ids if id in free]


async def _claim_targets(
    tx: Tx, ids: Sequence[int], run_id: int | None, at: dt.datetime
) -> list[Target]:
    """Claim the targets that may still run and are unclaimed, keeping their order."""
    cursor = await tx.execute(
        """
        WITH free AS MATERIALIZED (
            SELECT source_id FROM rotation.target
              JOIN catalog.source ON source.id = source_id
               AND (source.status = 'active'
                    OR target.status = 'bad' AND source.status = 'disabled')
             WHERE source_id = ANY (%(ids)s) AND target.status <> 'paused' AND queued_at IS NULL
               FOR UPDATE OF target SKIP LOCKED
        )
        UPDATE rotation.target AS target SET queued_at = %(at)s, run_id = %(run)s
          FROM free WHERE target.source_id = free.source_id
        RETURNING target.source_id
        """,
        {"ids": list(ids), "at": at, "run": run_id},
    )
    taken = await targets.by_ids(tx, [id for (id,) in await cursor.fetchall()])
    order = {id: n for n, id in enumerate(ids)}
    return sorted(taken, key=lambda target: order[target.source_id])

"""The reports on the rotation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from jobmill.db import Tx
from jobmill.rotation import platform_state, rotation_status, target_overview
from jobmill.rotation.due_targets import list_due, next_due_at
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.target_selection import RunLimits

from .helpers import DAY, HOUR, KEYS, NOW, answer, make_target, put


async def test_ages_count_every_active_target_once(tx: Tx) -> None:
    for last in (None, None, NOW + HOUR, NOW - HOUR, NOW - 7 * HOUR, NOW - 2 * DAY, NOW - 99 * DAY):
        await make_target(tx, last_success_at=last)
    await make_target(tx, status="paused")
    counts = {age.age: age.targets for age in await rotation_status.target_ages(tx, NOW)}
    assert counts == {
        "never": 2,
        "under 6 hours": 2,
        "under a day": 1,
        "under 3 days": 1,
        "under a week": 0,
        "under 30 days": 0,
        "older": 1,
    }


async def due(tx: Tx, policy: Any, **options: Any) -> list[int]:
    platform = options.pop("platform", None)
    request = RunRequest(policy, platforms=[platform] if platform else [])
    return [target.source for target in (await list_due(tx, request, NOW, {}, **options)).targets]


STATE: dict[str, Any] = {"new_per_day": 1.0, "loss_rate": 0.05, "last_ok_at": NOW - 9 * DAY}


async def test_due_under_yield_is_in_the_order_of_a_run_then_queued_then_by_moment(tx: Tx) -> None:
    moment = await make_target(tx, due_at=NOW - 2 * HOUR, **STATE)
    rich = await make_target(tx, due_at=NOW - HOUR, **(STATE | {"new_per_day": 90.0}))
    queued = await make_target(tx, "lever", queued_at=NOW, **STATE)
    soon = await make_target(tx, due_at=NOW + HOUR, blocked_until=NOW + HOUR, **STATE)
    await make_target(tx, status="bad", next_allowed_at=NOW + DAY)
    assert await due(tx, "yield") == [rich, moment, queued]
    assert await due(tx, "yield", ahead=HOUR) == [rich, moment, queued, soon]
    assert await due(tx, "yield", platform="lever") == [queued]
    assert await due(tx, "yield", limit=1) == [rich]


async def test_due_under_seed_is_by_priority_then_by_the_last_success(tx: Tx) -> None:
    old = await make_target(tx, last_success_at=NOW - 3 * DAY)
    never = await make_target(tx)
    queued = await make_target(tx, "lever", queued_at=NOW)
    first = await make_target(tx, priority=99, last_success_at=NOW - DAY)
    soon = await make_target(tx, next_allowed_at=NOW + HOUR, last_success_at=NOW - 2 * DAY)
    assert await due(tx, "seed") == [first, never, old, queued]
    assert await due(tx, "seed", ahead=HOUR) == [first, never, old, queued, soon]
    assert await due(tx, "seed", limit=1) == [first]
    assert await due(tx, "seed", platform="greenhouse") == [first, never, old]


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_a_source_that_may_not_run_is_not_due(tx: Tx, policy: Any) -> None:
    id = await make_target(tx)
    await tx.execute("UPDATE catalog.source SET status = 'rejected' WHERE id = %s", [id])
    assert await due(tx, policy) == []


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_the_next_due_time_is_never_in_the_past_of_what_cannot_run(
    tx: Tx, policy: Any
) -> None:
    """A missing key, a pause, a hold and a used-up limit."""
    request = RunRequest(policy)
    keyless = await make_target(tx, "jooble")
    paused = await make_target(tx, status="paused", paused_by_person=True)
    assert await next_due_at(tx, request, NOW, {}) is None
    held = await make_target(tx, "lever")
    await tx.execute(
        "INSERT INTO catalog.incident (vendor, cause, detail, held_until) "
        "VALUES ('lever', 'transient', 'x', %s)",
        [NOW + 2 * HOUR],
    )
    assert await next_due_at(tx, request, NOW, {}) == NOW + 2 * HOUR
    limited = await make_target(tx, "ashby")
    await answer(tx, limited, NOW - HOUR / 2, new=1)
    await put(tx, limited, blocked_until=None, due_at=NOW - HOUR, next_allowed_at=None)
    await platform_state.set_limits(tx, "ashby", per_hour=1, per_day=None)
    assert await next_due_at(tx, request, NOW, {}) == NOW + HOUR / 2
    rows = await target_overview.list_targets(tx, NOW, policy, {})
    assert {row.source: row.due_at for row in rows} == {
        keyless: None,
        paused: None,
        held: NOW + 2 * HOUR,
        limited: NOW + HOUR / 2,
    }
    free = await make_target(tx)
    assert await next_due_at(tx, request, NOW, {}) == NOW
    assert await due(tx, policy) == [free]


MOMENTS = some.sampled_from([None, -90 * 24, -25, -1, 0, 1, 30])
TARGETS = some.fixed_dictionaries(
    {
        "platform": some.sampled_from(["greenhouse", "lever", "jooble", "careerjet", "rss"]),
        "status": some.sampled_from(["active", "active", "active", "active", "paused", "bad"]),
        "priority": some.sampled_from([10, 50, 90]),
        "health": some.sampled_from([1.0, 0.3]),
        "rate": some.sampled_from([None, 0.1, 4.0, 40.0]),
        "source": some.sampled_from(["active", "active", "active", "disabled", "rejected"]),
        "called": MOMENTS,
        "gate": MOMENTS,
        "due": some.sampled_from([-90 * 24, -1, 0, 1, 99 * 24]),
        "queued": some.sampled_from([None, None, None, -1, -7, 99]),
        "price": some.sampled_from([0.0, 0.0, 50.0]),
    }
)


async def make_random_target(tx: Tx, drawn: dict[str, Any]) -> None:
    def moment(hours: int | None) -> Any:
        return None if hours is None else NOW + hours * HOUR

    called = moment(drawn["called"])
    rate = drawn["rate"] if called else None
    id = await make_target(
        tx,
        drawn["platform"],
        status=drawn["status"],
        priority=drawn["priority"],
        health=drawn["health"],
        new_per_day=rate,
        loss_rate=None if rate is None else 0.1,
        last_ok_at=called if rate else None,
        last_called_at=called,
        last_success_at=called,
        blocked_until=moment(drawn["gate"]),
        next_allowed_at=moment(drawn["gate"]),
        due_at=moment(drawn["due"]),
        queued_at=moment(drawn["queued"]),
        price=drawn["price"],
        added_at=NOW - 90 * DAY,
    )
    reason = "by a person" if drawn["source"] == "disabled" else None
    await tx.execute(
        "UPDATE catalog.source SET status = %s, disabled_reason = %s WHERE id = %s",
        [drawn["source"], reason, id],
    )


@settings(max_examples=25)
@given(
    drawn=some.lists(TARGETS, max_size=12),
    policy=some.sampled_from(["yield", "seed"]),
    later=some.sampled_from([-49, 0, 1, 400]),
    limits=some.sampled_from([RunLimits(), RunLimits(2, 1), RunLimits(1, 3, {"lever": 2})]),
    max_calls=some.sampled_from([None, None, 1, 3]),
    overdue_quota=some.sampled_from([0.0, 1.5]),
    per_hour=some.sampled_from([None, 0, 1]),
)
async def test_what_is_due_is_what_a_run_claims_in_its_order(
    tx: Tx,
    drawn: list[dict[str, Any]],
    policy: Any,
    later: int,
    limits: RunLimits,
    max_calls: int | None,
    overdue_quota: float,
    per_hour: int | None,
) -> None:
    await tx.rollback()
    at = NOW + later * HOUR
    for target in drawn:
        await make_random_target(tx, target)
    await platform_state.set_limits(tx, "lever", per_hour=per_hour, per_day=None)
    await tx.execute(
        "UPDATE rotation.call_allowance SET overdue_quota = %s, refilled_at = %s, price = 0.5",
        [overdue_quota, NOW],
    )
    request = RunRequest(policy, "manual", limits, max_calls=max_calls)
    listed = await list_due(tx, request, at, KEYS, ahead=DAY, limit=1_000)
    again = await list_due(tx, request, at, KEYS, limit=1_000)
    listed_now = [target.source for target in again.targets if not target.queued]
    planned = await start_run(tx, request, at, KEYS)
    claimed = [target.source_id for target in planned.claimed]
    assert listed_now == claimed
    assert [target.source for target in listed.targets[: len(claimed)]] == claimed
    assert all(
        target.due_at and target.due_at >= at for target in listed.targets if not target.queued
    )
    assert again.unavailable == planned.skipped

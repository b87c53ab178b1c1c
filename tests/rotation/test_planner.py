"""How many calls a run makes, and which of them go to neglected targets."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from typing import Any

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.rotation import planner, platform_state, target_selection, targets
from jobmill.rotation.planner import CallAllowance, RunRequest, start_run
from jobmill.rotation.target_selection import RunLimits

from .helpers import DAY, HOUR, KEYS, NOW, answer, make_target

POLICIES = pytest.mark.parametrize("policy", ["seed", "yield"])


@pytest.mark.parametrize(
    ("balance", "calls", "left"), [(0, 3, -3), (10, 3, 7), (0, 11, -10), (-10, 50, -10)]
)
def test_no_run_is_in_debt_for_more_than_an_hour(balance: float, calls: int, left: float) -> None:
    allowance = CallAllowance(1.0, balance, NOW, 0.0)
    assert planner.spend_allowance(allowance, calls, per_day=240).balance == left


async def test_runs_by_hand_leave_the_schedule_an_hours_debt_at_most(tx: Tx) -> None:
    for _ in range(90):
        await make_target(tx)
    await tx.execute("UPDATE rotation.call_allowance SET balance = 0, refilled_at = %s", [NOW])
    by_hand = RunRequest(trigger="manual", per_day=240, limits=RunLimits(30, 30))
    for _ in range(2):
        assert len((await start_run(tx, by_hand, NOW, {})).claimed) == 30
    assert await fetch_value(tx, float, "SELECT balance FROM rotation.call_allowance") == -10
    schedule = RunRequest(per_day=240)
    assert (await start_run(tx, schedule, NOW + HOUR, {})).claimed == []
    assert len((await start_run(tx, schedule, NOW + 2 * HOUR, {})).claimed) == 10


@pytest.mark.parametrize(("back", "calls"), [(HOUR / 360_000, 0), (HOUR / 2, 0), (2 * HOUR, 1)])
async def test_of_two_schedules_that_meet_one_makes_the_seeds_run(
    tx: Tx, back: dt.timedelta, calls: int
) -> None:
    """The waiting run read the clock earlier; a difference of hours means a wrong clock."""
    for _ in range(2):
        await make_target(tx)
    request = RunRequest("seed", limits=RunLimits(1, 1))
    assert len((await start_run(tx, request, NOW, {})).claimed) == 1
    assert len((await start_run(tx, request, NOW - back, {})).claimed) == calls


async def crowd(tx: Tx, *, active: int, bad: int, platform: str = "greenhouse") -> None:
    for _ in range(active):
        await make_target(tx, platform)
    for _ in range(bad):
        await make_target(tx, platform, status="bad", next_allowed_at=NOW - HOUR)


async def standings(tx: Tx, planned: planner.RunPlan) -> Counter[str]:
    claimed = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
    return Counter(target.status for target in claimed)


@POLICIES
async def test_bad_targets_count_within_the_limits_of_a_run(tx: Tx, policy: Any) -> None:
    await crowd(tx, active=2, bad=5)
    await crowd(tx, active=2, bad=5, platform="jooble")
    limits = RunLimits(companies=4, slices=3)
    planned = await start_run(tx, RunRequest(policy, "manual", limits, max_calls=100), NOW, KEYS)
    claimed = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
    assert Counter(target.platform for target in claimed) == {"greenhouse": 4, "jooble": 3}
    assert Counter(target.status for target in claimed) == {"active": 4, "bad": 3}


async def test_bad_targets_count_within_the_pace(tx: Tx) -> None:
    await crowd(tx, active=3, bad=5)
    await tx.execute("UPDATE rotation.call_allowance SET balance = 3, refilled_at = %s", [NOW])
    assert len((await start_run(tx, RunRequest(per_day=240), NOW, {})).claimed) == 3


@POLICIES
async def test_bad_targets_get_their_share_of_runs_that_others_would_use_up(
    tx: Tx, policy: Any
) -> None:
    """Fifteen of a hundred calls, four a run."""
    await crowd(tx, active=60, bad=12)
    request = RunRequest(policy, "manual", RunLimits(4, 4))
    tried = [(await standings(tx, await start_run(tx, request, NOW, {})))["bad"] for _ in range(15)]
    assert 7 <= sum(tried) <= 9
    assert max(tried) == 1


async def test_room_that_slices_may_not_use_goes_to_boards(tx: Tx) -> None:
    rich: Any = {
        "new_per_day": 5e3,
        "loss_rate": 0.05,
        "last_ok_at": NOW - DAY,
        "last_called_at": NOW - DAY,
    }
    for _ in range(6):
        await make_target(tx, "jooble", **rich)
        await make_target(tx)
    planned = await start_run(
        tx, RunRequest("yield", "manual", RunLimits(50, 2), max_calls=6), NOW, KEYS
    )
    claimed = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
    assert Counter(target.platform for target in claimed) == {"jooble": 2, "greenhouse": 4}


@pytest.mark.parametrize("kind", ["rests", "gone"])
async def test_boards_that_never_answered_stand_in_nobodys_way(tx: Tx, kind: str) -> None:
    """Neither while they rest, nor when they might be tried again and are not worth it."""
    gate = NOW + DAY if kind == "rests" else NOW - 2 * DAY
    for _ in range(target_selection.EVALUATED_PER_PLATFORM + 10):
        await make_target(
            tx, health=0.001, failures=3, blocked_until=gate, due_at=gate, priority=99
        )
    old: Any = {"last_ok_at": NOW - 9 * DAY, "last_called_at": NOW - 9 * DAY, "loss_rate": 0.05}
    rich = await make_target(tx, new_per_day=50.0, due_at=NOW - HOUR, **old)
    await tx.execute("UPDATE rotation.call_allowance SET price = 5")
    called: list[int] = []
    for _ in range(2):
        planned = await start_run(tx, RunRequest(trigger="manual", max_calls=1), NOW, {})
        called += [target.source_id for target in planned.claimed]
    assert rich in called


LIMITS = pytest.mark.parametrize(
    "limits", [{"per_hour": None, "per_day": 3}, {"per_hour": 3, "per_day": None}]
)


@LIMITS
async def test_queued_calls_count_against_the_limit_of_a_platform(tx: Tx, limits: Any) -> None:
    ids = [await make_target(tx) for _ in range(6)]
    await platform_state.set_limits(tx, "greenhouse", **limits)
    await answer(tx, ids[0], NOW - HOUR / 2)
    one_call = RunRequest(trigger="manual", max_calls=1)
    for calls in (1, 1, 0):
        assert len((await start_run(tx, one_call, NOW, {})).claimed) == calls
    room = await platform_state.remaining_calls(tx, NOW, {})
    assert (room.remaining, list(room.unavailable)) == ({}, ["greenhouse"])


@LIMITS
async def test_runs_at_once_do_not_overdraw_the_limit_of_a_platform(
    database: Database, limits: Any
) -> None:
    async with database.transaction() as tx:
        for _ in range(24):
            await make_target(tx)
        await platform_state.set_limits(tx, "greenhouse", **limits)

    async def run() -> int:
        async with database.transaction() as tx:
            return len(
                (await start_run(tx, RunRequest(trigger="manual", max_calls=2), NOW, {})).claimed
            )

    claims = await asyncio.gather(*(run() for _ in range(6)))
    assert sum(claims) == 3


async def test_a_source_that_was_turned_off_meanwhile_is_not_claimed(tx: Tx) -> None:
    """Another transaction holds its row, so the run has not noticed the change."""
    off, on = await make_target(tx), await make_target(tx)
    await tx.execute("UPDATE catalog.source SET status = 'rejected' WHERE id = %s", [off])
    await tx.execute("DELETE FROM rotation.changed_source")
    planned = await start_run(tx, RunRequest(trigger="manual"), NOW, {})
    assert [target.source_id for target in planned.claimed] == [on]


async def test_a_price_that_fell_brings_boards_that_never_answered_back(tx: Tx) -> None:
    later: dt.datetime = NOW + 20 * DAY
    id = await make_target(tx, health=0.5, blocked_until=NOW - DAY, due_at=later, price=50.0)
    poor: Any = {
        "new_per_day": 0.01,
        "loss_rate": 0.05,
        "last_ok_at": NOW - DAY,
        "last_called_at": NOW - DAY,
    }
    await make_target(tx, due_at=NOW + DAY, **poor)
    await tx.execute("UPDATE rotation.call_allowance SET price = 1")
    planned = await start_run(tx, RunRequest(trigger="manual", max_calls=1), NOW, {})
    assert [target.source_id for target in planned.claimed] == [id]

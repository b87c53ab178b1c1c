"""Wrong clocks and lost items leave nothing behind that blocks a target."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from jobmill.db import Tx
from jobmill.rotation import calls, platform_state, target_selection, targets
from jobmill.rotation.planner import RunRequest, clock, start_run
from jobmill.rotation.targets import PolicyName

from .helpers import DAY, HOUR, NOW, answer, failed, make_target, put

YEAR = 365 * DAY
POLICIES = pytest.mark.parametrize("policy", ["seed", "yield"])


async def claimed(tx: Tx, policy: PolicyName, at: dt.datetime) -> list[int]:
    planned = await start_run(tx, RunRequest(policy, "manual"), at, {})
    return [target.source_id for target in planned.claimed]


@POLICIES
@pytest.mark.parametrize("ahead", [3 * DAY, YEAR])
@pytest.mark.parametrize("facts", [{"new": 1}, failed(), failed("gone")])
async def test_a_call_under_a_clock_that_was_ahead_does_not_silence_its_target(
    tx: Tx, policy: Any, ahead: dt.timedelta, facts: Any
) -> None:
    id = await make_target(tx)
    assert await claimed(tx, policy, NOW + ahead) == [id]
    await answer(tx, id, NOW + ahead, **facts)
    assert await claimed(tx, policy, NOW) == [id]
    await answer(tx, id, NOW, new=1)
    assert await claimed(tx, policy, NOW + HOUR) == []


async def test_a_failure_after_a_good_call_of_next_year_is_soon_made_up_for(tx: Tx) -> None:
    id = await make_target(tx)
    await answer(tx, id, NOW + YEAR, new=90)
    assert await claimed(tx, "yield", NOW) == [id]
    target = await answer(tx, id, NOW, **failed())
    assert target.due_at == target.blocked_until == NOW + HOUR / 2


@POLICIES
async def test_a_slot_that_was_given_back_until_next_year_is_not_lost(tx: Tx, policy: Any) -> None:
    id = await make_target(tx, last_called_at=NOW - DAY)
    await targets.release(tx, ids=[id], not_before=NOW + YEAR)
    assert await claimed(tx, policy, NOW) == [id]


@POLICIES
async def test_a_target_that_became_bad_next_year_is_tried_again(tx: Tx, policy: Any) -> None:
    id = await make_target(tx, fail_count=4)
    later = NOW + YEAR
    target = await answer(tx, id, later, **failed())
    assert (target.status, target.next_allowed_at) == ("bad", later + 30 * DAY)
    assert await claimed(tx, policy, NOW) == [id]


async def test_whose_success_is_dated_next_year_is_not_the_last_in_line(tx: Tx) -> None:
    await make_target(tx, last_success_at=NOW - 3 * DAY)
    wrong = await make_target(tx, last_success_at=NOW + YEAR, last_called_at=NOW + YEAR)
    planned = await start_run(tx, RunRequest("seed", "manual", max_calls=1), NOW, {})
    assert [target.source_id for target in planned.claimed] == [wrong]


@POLICIES
async def test_a_claim_of_next_year_is_void_and_uses_up_no_limit(tx: Tx, policy: Any) -> None:
    id = await make_target(tx, queued_at=NOW + YEAR)
    await platform_state.set_limits(tx, "greenhouse", per_hour=1, per_day=1)
    assert await claimed(tx, policy, NOW) == [id]


@POLICIES
async def test_a_call_of_next_year_uses_up_no_limit(tx: Tx, policy: Any) -> None:
    called, other = await make_target(tx), await make_target(tx)
    await answer(tx, called, NOW + YEAR, new=1)
    await platform_state.set_limits(tx, "greenhouse", per_hour=2, per_day=2)
    assert sorted(await claimed(tx, policy, NOW)) == [called, other]


@POLICIES
@pytest.mark.parametrize("back", [HOUR, DAY, 2 * DAY])
async def test_a_clock_that_is_set_back_a_little_makes_nothing_early(
    tx: Tx, policy: Any, back: dt.timedelta
) -> None:
    called, waiting = await make_target(tx), await make_target(tx)
    await answer(tx, called, NOW, new=1)
    await put(tx, waiting, queued_at=NOW)
    assert await claimed(tx, policy, NOW - back) == []


@POLICIES
async def test_the_longest_wait_that_there_is_is_believed(tx: Tx, policy: Any) -> None:
    await make_target(
        tx, blocked_until=NOW + 30 * DAY, next_allowed_at=NOW + 30 * DAY, due_at=NOW + 30 * DAY
    )
    assert await claimed(tx, policy, NOW) == []


async def test_a_question_that_was_asked_next_year_may_be_asked(tx: Tx) -> None:
    id = await make_target(tx)
    assert await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW + YEAR) is None
    assert await calls.claim_signature(tx, id, item=2, window=DAY, at=NOW) is None
    # A clock that is a little behind is no reason to ask twice.
    assert await calls.claim_signature(tx, id, item=3, window=DAY, at=NOW - DAY) is not None


SPRING = dt.datetime(2026, 3, 28, 20, tzinfo=dt.UTC)
AUTUMN = dt.datetime(2026, 10, 24, 20, tzinfo=dt.UTC)
CLOCKS_CHANGE = pytest.mark.parametrize("at", [SPRING, AUTUMN])
"""In the night of a clock change: a local day then has 23 or 25 hours."""


@pytest.fixture
async def berlin(tx: Tx) -> Tx:
    await tx.execute("SET LOCAL timezone TO 'Europe/Berlin'")
    return tx


@CLOCKS_CHANGE
async def test_a_window_is_as_long_when_clocks_change(berlin: Tx, at: dt.datetime) -> None:
    id = await make_target(berlin)
    assert await calls.claim_signature(berlin, id, item=1, window=DAY, at=at) is None
    early = await calls.claim_signature(berlin, id, item=2, window=DAY, at=at + DAY - HOUR / 2)
    assert early is not None
    assert await calls.claim_signature(berlin, id, item=2, window=DAY, at=at + DAY) is None


async def test_moments_that_are_reckoned_with_are_in_utc(berlin: Tx) -> None:
    """A day after another moment of a local zone is one of its days, of 23 or 25 hours."""
    id = await make_target(berlin)
    await calls.claim_signature(berlin, id, item=1, window=DAY, at=NOW)
    earlier = await calls.claim_signature(berlin, id, item=2, window=DAY, at=NOW)
    assert earlier
    assert earlier.called_at.tzinfo == (await clock(berlin)).tzinfo == dt.UTC


@CLOCKS_CHANGE
async def test_a_day_of_calls_is_as_long_when_clocks_change(berlin: Tx, at: dt.datetime) -> None:
    id = await make_target(berlin)
    await answer(berlin, id, at, new=1)
    await platform_state.set_limits(berlin, "greenhouse", per_hour=None, per_day=1)
    assert (await platform_state.remaining_calls(berlin, at + DAY - HOUR / 2, {})).remaining == {}
    assert (await platform_state.remaining_calls(berlin, at + DAY, {})).remaining == {
        "greenhouse": 1
    }


@CLOCKS_CHANGE
@POLICIES
async def test_nobody_is_called_early_or_late_when_clocks_change(
    berlin: Tx, policy: Any, at: dt.datetime
) -> None:
    id = await make_target(berlin)
    await answer(berlin, id, at, new=1)
    wait = DAY if policy == "seed" else 6 * HOUR
    assert await claimed(berlin, policy, at + wait - HOUR / 60) == []
    assert await claimed(berlin, policy, at + wait) == [id]


@CLOCKS_CHANGE
async def test_nobody_waits_longer_or_less_long_when_clocks_change(
    berlin: Tx, at: dt.datetime
) -> None:
    """One that is worth nothing is owed a call after thirty days."""
    poor: Any = {"new_per_day": 1e-9, "loss_rate": 0.05, "last_ok_at": at, "last_called_at": at}
    id = await make_target(berlin, due_at=at + 60 * DAY, added_at=at, **poor)
    room = target_selection.SelectionRequest(
        at + 30 * DAY - HOUR / 2, {"greenhouse": 1}, target_selection.RunLimits()
    )
    assert (
        await target_selection.choose_by_yield(berlin, room, budget=1, quota=1)
    ).overdue_count == 0
    room = replace(room, at=at + 30 * DAY)
    chosen = await target_selection.choose_by_yield(berlin, room, budget=1, quota=1)
    assert (chosen.ids, chosen.overdue_count) == ([id], 1)


async def test_a_lost_claim_says_so(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    await platform_state.set_limits(tx, "greenhouse", per_hour=0, per_day=None)
    await start_run(tx, RunRequest(trigger="manual"), NOW + targets.CLAIM_LIFETIME, {})
    cursor = await tx.execute(
        "SELECT queued_at, skip_reason FROM rotation.target WHERE source_id = %s", [id]
    )
    assert await cursor.fetchone() == (None, "its item was lost")

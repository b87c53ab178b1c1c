"""SQL chooses the same targets as the policies, on random tables."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pytest

from jobmill.catalog import sources
from jobmill.catalog.source_health import FailureEffect
from jobmill.db import Tx
from jobmill.rotation import epoch_times, expired_claims, platform_state, target_selection, targets
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.policies import eligibility
from jobmill.rotation.policies.interval_policy import IntervalPolicy, IntervalRules
from jobmill.rotation.policies.yield_model import YieldRules
from jobmill.rotation.policies.yield_policy import YieldPolicy
from jobmill.rotation.target_selection import RunLimits, SelectionRequest
from jobmill.rotation.targets import PolicyName
from tests.catalog.helpers import make_source

from .helpers import DAY, HOUR, KEYS, NOW, answer, failed, make_target, make_targets, put

PLATFORMS = ("greenhouse", "lever", "ashby", "jooble", "reed")


def some(random: random.Random, *values: Any) -> Any:
    return random.choice(values)


def ago(random: random.Random, most_days: float) -> dt.datetime | None:
    # Whole hours, so that there are ties.
    return some(random, None, NOW - HOUR * random.randrange(1, int(most_days * 24)))


async def a_table(tx: Tx, random: random.Random, size: int) -> None:
    rows: list[tuple[int, dict[str, Any]]] = []
    for _ in range(size):
        ok = ago(random, 40)
        is_known = ok is not None and random.random() < 0.8
        rate: dict[str, Any] = {
            "new_per_day": random.choice([0.1, 0.5, 4.0]),
            "loss_rate": random.choice([0.05, 2]),
        }
        id = await make_source(tx, source_type=random.choice(PLATFORMS))
        columns: dict[str, Any] = {
            "due_at": NOW - DAY,
            "priority": some(random, 90, 50, 50),
            "status": some(random, "active", "active", "active", "paused", "bad"),
            "last_success_at": ok,
            "next_allowed_at": some(random, None, NOW - HOUR, NOW, NOW + HOUR),
            "last_called_at": ok,
            "last_ok_at": ok if is_known else None,
            **(rate if is_known else {}),
            "health": random.choice([1.0, 0.5]),
            "blocked_until": some(random, None, NOW - HOUR, NOW, NOW + HOUR),
            "added_at": NOW - HOUR * random.randrange(24, 80 * 24),
        }
        if random.random() < 0.2:
            columns |= wrong_clock(random, is_known)
        rows.append((id, columns))
    await targets.sync_changed_sources(tx)
    for id, columns in rows:
        await put(tx, id, **columns)


def wrong_clock(random: random.Random, is_known: bool) -> dict[str, Any]:
    """What a clock notes that is ahead: a call, only how long to wait, or when the target came."""
    later = NOW + some(random, 3, 20, 400) * DAY
    far = max(later, NOW + 40 * DAY)
    return some(
        random,
        {
            "last_called_at": later,
            "last_success_at": later,
            "last_ok_at": later if is_known else None,
        }
        | dict.fromkeys(["blocked_until", "next_allowed_at", "due_at"], later + DAY),
        dict.fromkeys(["blocked_until", "next_allowed_at", "due_at"], far),
        {"added_at": later},
    )


async def all_active(tx: Tx) -> list[targets.Target]:
    cursor = await tx.execute("SELECT source_id FROM rotation.target WHERE status = 'active'")
    return await targets.by_ids(tx, [id for (id,) in await cursor.fetchall()])


def plain(target: targets.Target) -> dict[str, Any]:
    return {
        "id": target.source_id,
        "kind": target.kind,
        "source": target.platform,
        "page_cap": target.page_cap,
        "priority": target.priority,
    }


def note(policy: IntervalPolicy | YieldPolicy, gates_at: dict[int, float]) -> None:
    """Tell the policy when each target was called and may be called again."""
    for id, blocked_until in gates_at.items():
        called_at = policy.states[id].called_at
        policy.pool.set_times(policy.pool.index_by_id[id], called_at, blocked_until)


@pytest.mark.parametrize("number", range(8))
async def test_interval_selection_in_sql_chooses_what_the_policy_chooses(
    tx: Tx, number: int
) -> None:
    fate = random.Random(number)
    await a_table(tx, fate, 60)
    most, slices = fate.choice([(3, 4), (50, 50), (1, 20)])
    left = {name: fate.choice([0, 2, 100]) for name in PLATFORMS}
    open_now = {name: room for name, room in left.items() if room}

    policy = IntervalPolicy(IntervalRules(companies_per_run=most, slices_per_run=slices))
    active = await all_active(tx)
    policy.states.update({place.source_id: place.interval_state for place in active})
    policy.bind([plain(place) for place in active], {}, NOW.timestamp())
    note(policy, {place.source_id: place.interval_state.next_allowed_at for place in active})
    expected = policy.choose(NOW.timestamp(), 10_000, left)

    await expired_claims.release_and_correct(tx, NOW)
    request = SelectionRequest(NOW, open_now, RunLimits(most, slices))
    places = await target_selection.choose_by_interval(tx, request, request.capacity())
    chosen = [place.source_id for place in places]
    assert set(chosen) == set(expected)
    assert len(chosen) == len(set(chosen))


@pytest.mark.parametrize("number", range(12))
async def test_yield_on_the_table_chooses_what_its_policy_chooses(tx: Tx, number: int) -> None:
    fate = random.Random(number)
    await a_table(tx, fate, 60)
    await tx.execute(
        "UPDATE rotation.platform SET new_listings = 30, observed_days = 90 WHERE name = 'jooble'"
    )
    budget = fate.choice([1, 5, 20, 40])
    left = {name: fate.choice([0, 2, 100]) for name in PLATFORMS}
    rules = YieldRules(stale_share=fate.choice([0.0, 0.1, 0.3]))

    policy = YieldPolicy(rules)
    active = await all_active(tx)
    for target in active:
        policy.states[target.source_id] = target.yield_state
        # The policy counts how long one waits from when it was bound.
        policy.bind([plain(target)], {}, target.added_at.timestamp())
    for name, standing in (await platform_state.load_all(tx)).items():
        policy.platforms[name, targets.kind_of(name)] = standing.average
    policy.bind([plain(target) for target in active], {}, NOW.timestamp())
    note(policy, {target.source_id: target.yield_state.blocked_until for target in active})
    expected = policy.choose(NOW.timestamp(), budget, left)

    await expired_claims.release_and_correct(tx, NOW)
    fair = rules.stale_share * budget
    chosen = await target_selection.choose_by_yield(
        tx,
        SelectionRequest(
            NOW, {name: room for name, room in left.items() if room}, RunLimits(1000, 1000)
        ),
        budget=budget,
        quota=int(min(fair, max(1.0, 2 * fair))),
        rules=rules,
    )
    assert chosen.ids == expected


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_what_may_not_run_is_passed_over_and_blocks_nobody(tx: Tx, policy: Any) -> None:
    first = [await make_target(tx, priority=99) for _ in range(5)]
    await put(tx, first[0], status="paused")
    await put(tx, first[1], status="bad")
    await put(tx, first[2], queued_at=NOW - HOUR)
    await sources.disable(tx, first[3], "by hand")
    await sources.reject(tx, first[4], "not wanted")
    await make_target(tx, "lever", priority=99)
    await tx.execute(
        "INSERT INTO catalog.incident (vendor, cause, detail, held_until) "
        "VALUES ('lever', 'transient', 'x', %s)",
        [NOW + HOUR],
    )
    await make_target(tx, "jooble", priority=99)
    free = await make_target(tx)
    request = RunRequest(policy, "manual", RunLimits(1, 1), max_calls=1)
    planned = await start_run(tx, request, NOW, {})
    assert [target.source_id for target in planned.claimed] == [free]
    assert "has problems" in planned.skipped["lever"]
    assert "JOOBLE_API_KEY" in planned.skipped["jooble"]


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_what_is_claimed_is_not_chosen_again_until_its_claim_is_void(
    tx: Tx, policy: Any
) -> None:
    id = await make_target(tx)
    request = RunRequest(policy, "manual")
    assert [target.source_id for target in (await start_run(tx, request, NOW, {})).claimed] == [id]
    assert (await start_run(tx, request, NOW + HOUR, {})).claimed == []
    later = await start_run(tx, request, NOW + targets.CLAIM_LIFETIME, {})
    assert [target.source_id for target in later.claimed] == [id]


async def test_limits_for_a_run_and_a_platform_hold(tx: Tx) -> None:
    for name in ("greenhouse", "lever", "ashby", "jooble", "reed"):
        await make_targets(tx, 6, name)
    await platform_state.set_limits(tx, "ashby", per_hour=2, per_day=None)
    limits = RunLimits(5, 7, {"greenhouse": 3})
    for policy in ("seed", "yield"):
        await tx.execute("UPDATE rotation.target SET queued_at = NULL")
        planned = await start_run(
            tx, RunRequest(policy, "manual", limits, max_calls=100), NOW, KEYS
        )
        claimed = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
        names = [target.platform for target in claimed]
        assert {name: names.count(name) for name in ("greenhouse", "lever", "ashby")} == {
            "greenhouse": 3,
            "lever": 5,
            "ashby": 2,
        }
        assert names.count("jooble") + names.count("reed") == 7


async def test_a_platforms_hour_and_day_are_never_overdrawn(tx: Tx) -> None:
    await make_targets(tx, 20)
    await platform_state.set_limits(tx, "greenhouse", per_hour=2, per_day=5)
    made: list[dt.datetime] = []
    for quarter in range(4 * 30):
        at = NOW + quarter * HOUR / 4
        planned = await start_run(tx, RunRequest(trigger="manual"), at, {})
        for target in planned.claimed:
            made.append(at)
            await answer(tx, target.source_id, at, new=1)
        assert sum(at - target < HOUR for target in made) <= 2
        assert sum(at - target < DAY for target in made) <= 5
    assert len(made) == 10


async def test_a_bad_target_is_tried_again_when_it_has_rested(tx: Tx) -> None:
    id = await make_target(tx, status="bad", next_allowed_at=NOW + DAY)
    assert (await start_run(tx, RunRequest(trigger="manual"), NOW, {})).claimed == []
    again = await start_run(tx, RunRequest(trigger="manual"), NOW + DAY, {})
    assert [target.source_id for target in again.claimed] == [id]


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_a_schedule_tries_bad_targets_again_though_nothing_else_is_due(
    tx: Tx, policy: PolicyName
) -> None:
    id = await make_target(tx, status="bad", next_allowed_at=NOW)
    await tx.execute("UPDATE rotation.call_allowance SET balance = 0, refilled_at = %s", [NOW])
    planned = await start_run(tx, RunRequest(policy), NOW + HOUR, {})
    assert [target.source_id for target in planned.claimed] == [id]


async def test_bad_targets_are_tried_within_the_limits_of_their_platform(tx: Tx) -> None:
    for status in ("active", "bad", "bad", "bad"):
        await make_target(tx, status=status, next_allowed_at=NOW - HOUR)
    await platform_state.set_limits(tx, "greenhouse", per_hour=2, per_day=None)
    assert len((await start_run(tx, RunRequest(trigger="manual"), NOW, {})).claimed) == 2
    assert (await start_run(tx, RunRequest(trigger="manual"), NOW, {})).claimed == []


async def test_bad_targets_are_among_the_calls_that_a_run_by_hand_may_make(tx: Tx) -> None:
    for status in ("active", "bad"):
        await make_target(tx, status=status, next_allowed_at=NOW - HOUR)
    assert (
        len((await start_run(tx, RunRequest(trigger="manual", max_calls=1), NOW, {})).claimed) == 1
    )


async def test_a_lost_claim_uses_up_no_limit_for_ever(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    await platform_state.set_limits(tx, "greenhouse", per_hour=1, per_day=1)
    request = RunRequest(trigger="manual")
    assert (await start_run(tx, request, NOW + HOUR, {})).claimed == []
    planned = await start_run(tx, request, NOW + targets.CLAIM_LIFETIME, {})
    assert [target.source_id for target in planned.claimed] == [id]


async def test_runs_by_hand_do_not_put_off_the_schedule(tx: Tx) -> None:
    id = await make_target(tx, next_allowed_at=NOW + HOUR)
    await start_run(tx, RunRequest("seed", "manual"), NOW + HOUR / 2, {})
    planned = await start_run(tx, RunRequest("seed"), NOW + HOUR, {})
    assert [target.source_id for target in planned.claimed] == [id]


@pytest.mark.parametrize("cause", ["gone", "unreadable"])
@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_dead_boards_do_not_hold_their_vendor_for_ever(
    tx: Tx, policy: PolicyName, cause: str
) -> None:
    dead, other, well = [await make_target(tx) for _ in range(3)]
    until = NOW + HOUR / 2
    await tx.execute(
        "INSERT INTO catalog.incident (vendor, cause, detail, held_until) "
        "VALUES ('greenhouse', 'gone', 'x', %s)",
        [until],
    )
    verdict = FailureEffect(counted=False, incident=True)
    await answer(tx, dead, NOW, verdict=verdict, **failed(cause))
    planned = await start_run(tx, RunRequest(policy, trigger="manual"), until, {})
    assert [target.source_id for target in planned.claimed] == [other]
    again = until + HOUR
    await tx.execute("UPDATE catalog.incident SET held_until = %s", [again])
    await answer(tx, other, until, verdict=verdict, **failed(cause))
    planned = await start_run(tx, RunRequest(policy, trigger="manual"), again, {})
    assert [target.source_id for target in planned.claimed] == [well]


async def test_a_schedule_keeps_the_pace_and_no_downtime_ends_in_a_burst(tx: Tx) -> None:
    await make_targets(tx, 80)
    await tx.execute("UPDATE rotation.call_allowance SET balance = 0, refilled_at = %s", [NOW])
    request = RunRequest(per_day=240, limits=RunLimits(100, 100))

    async def calls(at: dt.datetime) -> int:
        return len((await start_run(tx, request, at, {})).claimed)

    assert await calls(NOW) == 0
    assert await calls(NOW + HOUR / 2) == 5
    assert await calls(NOW + HOUR / 2) == 0
    assert await calls(NOW + 9 * DAY) == 10
    # A clock that was put back earns nothing, and loses nothing.
    assert await calls(NOW + DAY) == 0
    assert await calls(NOW + DAY + HOUR) == 10


async def test_an_open_breaker_lets_one_call_through(tx: Tx) -> None:
    await make_targets(tx, 3)
    shut = eligibility.BreakerState(4, 1, (NOW + HOUR).timestamp(), NOW.timestamp())
    standing = (await platform_state.load_all(tx))["greenhouse"]
    await platform_state.save_state(tx, "greenhouse", standing.average, shut)
    request = RunRequest(trigger="manual")
    assert (await start_run(tx, request, NOW, {})).claimed == []
    assert len((await start_run(tx, request, NOW + HOUR, {})).claimed) == 1
    assert (await start_run(tx, request, NOW + HOUR, {})).claimed == []
    assert epoch_times.to_datetime(shut.blocked_until) == NOW + HOUR


@pytest.mark.parametrize("days", [5, 50])
async def test_targets_that_lost_their_worth_stand_in_nobodys_way(tx: Tx, days: int) -> None:
    """Not even those that are owed a call: they have a line of their own."""
    old = NOW - days * DAY
    state: Any = {"last_ok_at": old, "last_called_at": old, "loss_rate": 0.05}
    count = target_selection.EVALUATED_PER_PLATFORM + 10
    await make_targets(tx, count, new_per_day=0.001, due_at=NOW - 3 * DAY, **state)
    rich = await make_target(tx, new_per_day=50.0, due_at=NOW - HOUR, **state)
    request = RunRequest(trigger="manual", max_calls=1)
    await start_run(tx, request, NOW, {})
    planned = await start_run(tx, request, NOW, {})
    assert [target.source_id for target in planned.claimed] == [rich]


async def test_a_source_that_failures_disabled_is_not_forgotten(tx: Tx) -> None:
    id = await make_target(tx)
    await tx.execute(
        "UPDATE catalog.source SET status = 'disabled', disabled_reason = 'x', retry_at = %s "
        "WHERE id = %s",
        [NOW + DAY, id],
    )
    request = RunRequest(trigger="manual")
    assert (await start_run(tx, request, NOW, {})).claimed == []
    assert (await targets.get(tx, id)).status == "bad"
    assert [
        target.source_id for target in (await start_run(tx, request, NOW + DAY, {})).claimed
    ] == [id]


async def test_what_was_put_off_at_a_high_price_is_not_forgotten_when_it_falls(tx: Tx) -> None:
    old = NOW - 5 * DAY
    state: Any = {"last_ok_at": old, "last_called_at": old, "loss_rate": 0.05, "new_per_day": 1.0}
    id = await make_target(tx, due_at=NOW + 20 * DAY, price=9.0, **state)
    fair = await make_target(tx, due_at=NOW + 20 * DAY, price=0.5, **state)
    await tx.execute("UPDATE rotation.call_allowance SET price = 0.5, refilled_at = %s", [NOW])
    await start_run(tx, RunRequest(per_day=0), NOW, {})
    assert (await targets.get(tx, id)).due_at == NOW + 20 * DAY
    await start_run(tx, RunRequest(trigger="manual", platforms=["lever"]), NOW, {})
    target = await targets.get(tx, id)
    assert (target.due_at < NOW, target.price) == (True, 0.5)
    assert (await targets.get(tx, fair)).due_at == NOW + 20 * DAY

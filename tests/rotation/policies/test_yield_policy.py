"""The rules of the policy `yield`, one at a time."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill.errors import Invalid
from jobmill.rotation.policies import create_policy, yield_model
from jobmill.rotation.policies.yield_model import PlatformAverage, YieldRules, YieldState
from jobmill.rotation.policies.yield_policy import YieldPolicy, rank_by_value

from .builders import DAY, ERROR, GONE, HOUR, MINUTE, NOW, ROOM, company, next_call, ok, search

RULES = YieldRules()


def bound(*targets, **config) -> YieldPolicy:
    policy = YieldPolicy(YieldRules(**config))
    policy.bind(list(targets), {}, NOW)
    return policy


def learn(state: YieldState, outcome, now: float = NOW, **arguments) -> YieldState:
    arguments = {
        "kind": "slice",
        "page_cap": 50,
        "platform": PlatformAverage(),
        "rules": RULES,
    } | arguments
    return yield_model.learn(state, outcome, now, **arguments)[0]


def test_the_target_that_brings_more_is_called_first() -> None:
    policy = bound(company("silent"), company("busy"))
    for day in range(5):
        policy.record("silent", NOW + day * DAY, ok(0))
        policy.record("busy", NOW + day * DAY, ok(9))
    assert policy.choose(NOW + 6 * DAY, 1, ROOM) == ["busy"]


def test_the_unknown_are_explored_in_the_order_of_what_their_platform_brings() -> None:
    policy = bound(company("a1", "ashby"), company("l1"), company("a2", "ashby"), company("l2"))
    policy.record("a1", NOW, ok(0))
    policy.record("l1", NOW, ok(200))
    assert policy.choose(NOW, 9, ROOM) == ["l2", "a2"]


def test_a_higher_priority_decides_between_equal_values() -> None:
    policy = bound(company("b", priority=5), company("a", priority=9), company("c", priority=5))
    assert policy.choose(NOW, 9, ROOM) == ["a", "b", "c"]


@pytest.mark.parametrize(("target", "gap"), [(company(1), 6 * HOUR), (search(1), 24 * MINUTE)])
def test_a_target_rests_for_its_gap(target, gap: float) -> None:
    policy = bound(target)
    policy.record(1, NOW, ok(50))
    assert next_call(policy, 1, NOW, step=MINUTE) == gap


@pytest.mark.parametrize(
    ("outcome", "waits"),
    [
        (GONE, [2 * DAY, 4 * DAY, 8 * DAY, 16 * DAY, 30 * DAY, 30 * DAY]),
        (ERROR, [30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 32 * HOUR, 48 * HOUR]),
    ],
)
def test_failures_back_off_and_a_success_ends_it(outcome, waits: list[float]) -> None:
    state, gaps = YieldState(), []
    for _ in waits:
        state = learn(state, outcome)
        gaps.append(state.blocked_until - NOW)
    assert gaps == waits
    state = learn(state, ok())
    assert (state.failures, state.blocked_until, state.health) == (0, NOW + 24 * MINUTE, 1.0)


def test_a_target_that_fails_is_trusted_less_and_again_when_it_works() -> None:
    first = learn(YieldState(), ok())
    failed = learn(first, ERROR, NOW + DAY)
    assert failed.health < first.health
    assert failed.health < learn(failed, ok(), NOW + 2 * DAY).health < 1.0


def test_a_request_to_slow_down_holds_the_source_and_costs_the_target_nothing() -> None:
    policy = bound(company(1), company(2), company(3, "ashby"))
    assert policy.choose(NOW, 1, {"ashby": 0}) == [1]
    policy.record(1, NOW, {"status": "rate_limited", "retry_after_s": HOUR})
    assert policy.states[1] == YieldState()
    assert policy.choose(NOW + HOUR - 1, 9, ROOM) == [3]
    assert policy.choose(NOW + HOUR, 9, ROOM) == [1, 2]


def test_a_hold_that_a_wrong_clock_noted_is_forgotten() -> None:
    policy = bound(company(1), company(2))
    limited = {"status": "rate_limited", "retry_after_s": DAY}
    policy.record(1, NOW + 300 * DAY, limited)
    assert policy.choose(NOW, 9, ROOM) == [1, 2]


def test_the_hold_after_requests_without_a_span_doubles() -> None:
    policy, now = bound(company(1), company(2)), NOW
    for hold in (15 * MINUTE, 30 * MINUTE, HOUR):
        for id in (1, 2):
            policy.record(id, now, {"status": "rate_limited", "retry_after_s": 0})
        assert policy.pool.breakers["lever"].blocked_until == now + hold
        now += hold


def test_a_source_takes_calls_again_when_its_hour_is_over() -> None:
    policy = YieldPolicy(RULES)
    policy.bind([company(n) for n in range(9)], {"lever": {"per_hour": 2, "per_day": 5}}, NOW)
    hours = [len(policy.choose(NOW + hour * HOUR, 9, None)) for hour in (0, 0.5, 1, 2, 3, 24)]
    assert hours == [2, 0, 2, 1, 0, 2]


def test_those_that_waited_too_long_get_their_share_and_no_more() -> None:
    boards, slices = [company(n) for n in range(40)], [search(-n) for n in range(1, 21)]
    policy = bound(*boards, *slices, staleness=DAY, stale_share=0.1)
    for board in boards:
        policy.record(board["id"], NOW, ok(0))
    overdue = 0
    for turn in range(1, 11):
        now = NOW + 2 * DAY + turn * HOUR
        page = ok(20, truncated=True, oldest_at=now - 2 * HOUR)
        for slice_target in slices:
            policy.record(slice_target["id"], now - HOUR, page)
        chosen = policy.choose(now, 10, {"jooble": 10})
        overdue += sum(id >= 0 for id in chosen)
        assert len(chosen) == 10
    # A tenth of a hundred calls, and one round's share that was saved up.
    assert 10 <= overdue <= 12


def test_calls_for_a_fifth_of_all_a_day_leave_nobody_waiting_for_much_longer_than_a_month() -> None:
    """27 boards without worth, six calls a day, and slices that would take them all."""
    boards, slices = [company(n) for n in range(27)], [search(-n) for n in range(1, 4)]
    policy = bound(*boards, *slices)
    called: dict[Hashable, list[float]] = {board["id"]: [] for board in boards}
    for turn in range(6 * 160):
        now = NOW + turn * 4 * HOUR
        for id in policy.choose(now, 1, {}):
            called.get(id, []).append(now)
            rich = ok(40, truncated=True, oldest_at=now - 4 * HOUR)
            policy.record(id, now, ok(0) if id in called else rich)
    waits = [later - earlier for calls in called.values() for earlier, later in pairwise(calls)]
    assert min(map(len, called.values())) >= 3
    assert max(waits) <= 32 * DAY


def test_four_errors_in_a_row_open_the_breaker_and_one_probe_at_a_time_closes_it() -> None:
    policy = bound(*(company(n) for n in range(40)))
    for id in policy.choose(NOW, 4, ROOM):
        policy.record(id, NOW, ERROR)
    now, waits = NOW, []
    for _ in range(5):
        wait = next(
            n * MINUTE for n in range(1_000) if policy.choose(now + n * MINUTE, 9, {"x": 1})
        )
        waits.append(wait)
        now += wait
        probe = next(
            id for id, place in policy.pool.index_by_id.items() if policy.pool.called[place] == now
        )
        assert policy.choose(now + MINUTE, 9, ROOM) == []
        policy.record(probe, now, ERROR)
    assert waits == [30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 4 * HOUR]
    (probe,) = policy.choose(now + 4 * HOUR, 9, ROOM)
    policy.record(probe, now + 4 * HOUR, ok())
    assert len(policy.choose(now + 4 * HOUR, 9, ROOM)) == 9


def test_an_error_between_answers_opens_nothing() -> None:
    policy = bound(*(company(n) for n in range(20)))
    for id in range(10):
        policy.record(id, NOW, ERROR if id % 4 else GONE)
    assert len(policy.choose(NOW, 5, ROOM)) == 5


def test_a_probe_that_never_comes_back_does_not_shut_the_source_for_ever() -> None:
    policy = bound(*(company(n) for n in range(9)))
    for id in range(4):
        policy.record(id, NOW, ERROR)
    assert len(policy.choose(NOW + HOUR, 9, ROOM)) == 1
    assert len(policy.choose(NOW + 2 * HOUR, 9, ROOM)) == 1


def test_an_error_during_an_incident_is_not_the_targets() -> None:
    policy = bound(*(company(n) for n in range(9)))
    for id in range(6):
        policy.record(id, NOW, ERROR)
    assert [policy.states[id].failures for id in range(6)] == [1, 1, 1, 1, 0, 0]


def test_a_full_pages_oldest_date_says_how_fast_entries_are_pushed_out() -> None:
    page = ok(50, returned=50, truncated=True, oldest_at=NOW - DAY / 2)
    state = learn(YieldState(), page)
    assert state.loss_rate == pytest.approx(1 / 20 + 2)
    assert learn(YieldState(), ok(20)).loss_rate == pytest.approx(1 / 20)


def test_a_full_page_without_dates_on_which_all_is_unknown_doubles_the_pace() -> None:
    state = learn(YieldState(), ok(50, returned=50, truncated=True))
    later = learn(state, ok(50, returned=50, truncated=True), NOW + DAY)
    assert later.new_per_day is not None
    assert state.new_per_day is not None
    assert later.new_per_day > 1.8 * state.new_per_day
    assert later.span == pytest.approx(0.5)


def test_a_first_page_that_may_reach_back_any_time_says_next_to_nothing() -> None:
    page = ok(50, returned=50, truncated=True)
    state, platform = yield_model.learn(
        YieldState(), page, NOW, kind="slice", page_cap=50, platform=PlatformAverage(), rules=RULES
    )
    assert state.new_listings == pytest.approx(1.0)
    assert (platform.new_listings, platform.observed_days) == (0.0, 0.0)


def test_a_first_page_counts_for_ten_days_at_most() -> None:
    assert learn(YieldState(), ok(20), page_cap=None).observed_days == pytest.approx(10)


def test_a_good_call_that_a_wrong_clock_noted_counts_as_long_ago() -> None:
    policy = bound(company("silent"), company("busy"))
    policy.record("silent", NOW - DAY, ok(0))
    policy.record("busy", NOW + 300 * DAY, ok(9))
    assert policy.choose(NOW, 1, ROOM) == ["busy"]


@pytest.mark.parametrize(("called_at", "first"), [(300 * DAY, "silent"), (-DAY, "unknown")])
def test_a_wait_that_a_wrong_clock_began_is_taken_as_long(called_at: float, first: str) -> None:
    """Unless the last call, of which the right clock tells, was not long ago."""
    policy = YieldPolicy(YieldRules(stale_share=1.0))
    policy.bind([company("silent")], {}, NOW + 300 * DAY)
    policy.record("silent", NOW + called_at, ok(0))
    policy.bind([company("silent"), company("unknown")], {}, NOW)
    assert policy.choose(NOW, 1, ROOM) == [first]


def test_binding_again_does_not_make_a_wait_begin_anew() -> None:
    policy = YieldPolicy(YieldRules(stale_share=1.0, staleness=DAY))
    for day in (0, 2):
        policy.bind([company("board"), search("slice")], {}, NOW + day * DAY)
    page = ok(50, truncated=True, oldest_at=NOW + 2 * DAY - 2 * HOUR)
    policy.record("slice", NOW + 2 * DAY - HOUR, page)
    assert policy.choose(NOW + 2 * DAY, 1, ROOM) == ["board"]


def test_old_evidence_fades() -> None:
    early = late = learn(YieldState(), ok(0), kind="company", page_cap=None)
    for day in (1, 2, 3):
        early = learn(early, ok(30), NOW + day * DAY, kind="company", page_cap=None)
    now = NOW + 3 * DAY
    for call in range(1, 40):
        late = learn(late if call > 1 else early, ok(0), now + call * 9 * DAY, kind="company")
    assert early.new_per_day is not None
    assert late.new_per_day is not None
    assert early.new_per_day > 3
    assert late.new_per_day < 0.05


def test_an_unchanged_answer_is_a_good_call_that_found_nothing() -> None:
    state = learn(learn(YieldState(), ok(20)), {"status": "not_modified"}, NOW + 5 * DAY)
    assert (state.last_ok_at, state.failures) == (NOW + 5 * DAY, 0)
    assert state.new_listings < 20 < 20 + state.observed_days


def test_numbers_of_other_libraries_are_numbers() -> None:
    page = {"returned": 3, "new": 2, "fresh": 3, "oldest_at": NOW - DAY, "posted": [NOW, NOW - DAY]}
    theirs = {
        name: np.array(value) if name == "posted" else np.int64(value)
        for name, value in page.items()
    }
    assert yield_model.count_page(theirs, 3) == yield_model.count_page(page, 3)
    policy = bound(company(1), company(2))
    assert policy.choose(np.float64(NOW), np.int64(9), {"lever": np.int32(1)}) == [1]


def test_what_was_learnt_of_a_target_outlives_its_absence() -> None:
    policy = bound(company("a"), company("b"))
    policy.record("a", NOW, ok(7))
    learnt = policy.states["a"]
    policy.bind([company("b")], {}, NOW + DAY)
    assert policy.choose(NOW + DAY, 9, ROOM) == ["b"]
    policy.record("a", NOW + DAY, ok(7))
    policy.bind([company("c"), company("a")], {}, NOW + 2 * DAY)
    assert policy.states["a"] == learnt
    assert sorted(map(str, policy.choose(NOW + 2 * DAY, 9, ROOM))) == ["a", "c"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 9 * DAY), st.integers(0, 60)), max_size=40)
)
def test_all_values_at_once_are_the_values_one_by_one(calls) -> None:
    targets = [company(n) for n in range(5)] + [search(n) for n in range(5, 10)]
    policy, now = bound(*targets), NOW
    for id, wait, new in calls:
        now += wait
        full = {"returned": 50, "truncated": True} if id >= 5 and new > 50 else {}
        policy.record(id, now, ok(new, **full) if new else GONE)
    values = policy._values(np.arange(10), now + DAY)
    for place, target in enumerate(policy.pool.targets):
        value = yield_model.value_of(
            policy.states.get(target.id, YieldState()),
            now + DAY,
            kind=target.kind,
            page_cap=target.page_cap,
            platform=policy.platforms.get((target.source, target.kind), PlatformAverage()),
            rules=policy.rules,
        )
        assert values[place] == pytest.approx(value, rel=1e-9)


@given(st.lists(st.integers(0, 5), max_size=200), st.integers(1, 20))
def test_ranking_a_part_at_a_time_is_a_stable_sort(values: list[int], first: int) -> None:
    places = np.arange(len(values))
    order = list(rank_by_value(places, np.array(values, dtype=float), first))
    assert order == sorted(range(len(values)), key=lambda place: (-values[place], place))


def test_an_unknown_policy_or_a_number_that_cannot_be_right_is_refused() -> None:
    with pytest.raises(Invalid, match="there is no policy 'best'"):
        create_policy("best", {})
    with pytest.raises(Invalid, match="closing must be more than 0"):
        create_policy("yield", {"closing": 0})
    with pytest.raises(Invalid, match="company_gap must be a number"):
        create_policy("yield", {"company_gap": -1})
    with pytest.raises(Invalid, match="staleness must be a number"):
        create_policy("yield", {"staleness": math.nan})


def test_one_config_serves_both_policies() -> None:
    config = {"company_gap": HOUR, "company_interval": 3 * HOUR, "breaker_errors": 2, "note": "x"}
    for name, wait in (("yield", HOUR), ("seed", 3 * HOUR)):
        policy = create_policy(name, config)
        policy.bind([company(1)], {}, NOW)
        policy.record(1, NOW, ok())
        assert next_call(policy, 1, NOW) == wait

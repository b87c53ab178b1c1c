"""Every rule of the interval policy, with a simulated clock."""

from __future__ import annotations

import pytest

from jobmill.rotation.policies import create_policy, interval_policy
from jobmill.rotation.policies.interval_policy import IntervalRules, IntervalState

from .builders import DAY, ERROR, GONE, HOUR, NOW, ROOM, company, next_call, ok, search

RULES = IntervalRules()


def bound(*targets, **config):
    policy = create_policy("seed", config)
    policy.bind(list(targets), {}, NOW)
    return policy


def test_what_was_never_called_comes_first_then_the_stalest() -> None:
    policy = bound(company("old"), company("older"), company("never"))
    policy.record("older", NOW - 3 * DAY, ok())
    policy.record("old", NOW - 2 * DAY, ok())
    assert policy.choose(NOW, 10, ROOM) == ["never", "older", "old"]


def test_a_higher_priority_comes_before_staleness() -> None:
    policy = bound(company("never", priority=50), company("urgent", priority=90))
    policy.record("urgent", NOW - 2 * DAY, ok())
    assert policy.choose(NOW, 10, ROOM) == ["urgent", "never"]


def test_slices_go_by_staleness_whatever_their_priority() -> None:
    policy = bound(search("old", priority=1), search("older", priority=9))
    policy.record("old", NOW - 2 * DAY, ok())
    policy.record("older", NOW - 3 * DAY, ok())
    assert policy.choose(NOW, 10, ROOM) == ["older", "old"]


@pytest.mark.parametrize("status", ["ok", "not_modified"])
def test_a_company_is_called_again_a_day_after_a_success(status: str) -> None:
    policy = bound(company("a"))
    policy.record("a", NOW, {"status": status, "new": 3})
    assert next_call(policy, "a", NOW) == 24 * HOUR


@pytest.mark.parametrize(
    ("fails", "wait"),
    [(1, 2 * DAY), (2, 4 * DAY), (3, 7 * DAY), (4, 7 * DAY), (5, 30 * DAY), (9, 30 * DAY)],
)
@pytest.mark.parametrize("outcome", [ERROR, GONE, {"status": "strange"}, {}])
def test_failures_double_the_wait_up_to_a_week_and_five_make_it_bad(fails, wait, outcome) -> None:
    state = interval_policy.initial_state("company", RULES)
    for _ in range(fails):
        state = interval_policy.learn(state, outcome, NOW, kind="company", rules=RULES)
    assert (state.fail_count, state.next_allowed_at) == (fails, NOW + wait)
    assert interval_policy.is_bad(state, RULES) == (fails >= 5)


def test_a_bad_target_is_tried_again_and_a_success_forgives_it() -> None:
    policy = bound(company("a"), breaker_errors=99)
    for _ in range(5):
        policy.record("a", NOW, GONE)
    assert next_call(policy, "a", NOW) == 30 * DAY
    policy.record("a", NOW + 30 * DAY, ok())
    assert next_call(policy, "a", NOW + 30 * DAY) == 24 * HOUR


@pytest.mark.parametrize(
    ("brought", "hours"),
    [
        ([0], 12),
        ([0, 0], 12),
        ([0, 0, 0], 24),
        ([0, 0, 0, 0], 24),
        ([1], 6),
        ([5, 5], 6),
        ([1, 0, 0], 6),
        ([1, 0, 0, 0], 12),
        ([1, 0, 0, 0, 0], 24),
        ([0, 0, 1], 6),
        ([0, 0, 0, 1], 12),
        ([0, 0, 0, 1, 1], 6),
        ([0, 0, 0, 1, 0, 0], 12),
    ],
)
def test_slices_cool_after_three_empty_runs_and_warm_with_new_ones(brought, hours) -> None:
    state, now = interval_policy.initial_state("slice", RULES), NOW
    for new in brought:
        state = interval_policy.learn(state, ok(new), now, kind="slice", rules=RULES)
        now = state.next_allowed_at
    assert state.interval == hours * HOUR
    assert state.new_last == brought[-1]


def test_companies_neither_cool_nor_warm() -> None:
    state = interval_policy.initial_state("company", RULES)
    for new in (0, 0, 0, 0, 7):
        state = interval_policy.learn(state, ok(new), NOW, kind="company", rules=RULES)
    assert state.interval == 24 * HOUR


def test_the_window_of_a_signature_never_forbids_a_warm_slice_its_interval() -> None:
    policy = bound(search("a"))
    policy.record("a", NOW, ok(5))
    assert next_call(policy, "a", NOW) == 6 * HOUR


def test_an_unchanged_answer_is_an_empty_run() -> None:
    state = interval_policy.initial_state("slice", RULES)
    for _ in range(3):
        state = interval_policy.learn(
            state, {"status": "not_modified"}, NOW, kind="slice", rules=RULES
        )
    assert (state.empty_runs, state.interval, state.fail_count) == (3, 24 * HOUR, 0)


def test_a_request_to_slow_down_holds_the_source_and_costs_the_target_nothing() -> None:
    policy = bound(search("a"), search("b"), search("else", source="reed_uk"))
    limited = {"status": "rate_limited", "retry_after_s": 2 * HOUR}
    assert policy.choose(NOW, 1, {"reed_uk": 0}) == ["a"]
    policy.record("a", NOW, limited)
    assert policy.choose(NOW + HOUR, 9, ROOM) == ["else"]
    assert sorted(policy.choose(NOW + 2 * HOUR, 9, ROOM)) == ["a", "b"]
    state = interval_policy.initial_state("slice", RULES)
    assert (
        interval_policy.learn(state, limited, NOW, kind="slice", rules=RULES)
        == state
        == IntervalState(12 * HOUR)
    )


def test_a_run_takes_fifty_of_each_platform_and_fifty_slices() -> None:
    boards = [company(f"{name}{n}", source=name) for name in ("lever", "gh") for n in range(60)]
    policy = bound(*boards, *(search(n) for n in range(60)))
    chosen = policy.choose(NOW, 1_000, ROOM)
    first = [str(id)[0] for id in chosen if isinstance(id, str)]
    assert (len(chosen), first.count("l"), first.count("g")) == (150, 50, 50)


def test_a_small_budget_is_shared_in_turns_between_platforms_and_slices() -> None:
    boards = [company(f"{name}{n}", source=name) for name in ("lever", "gh") for n in range(60)]
    policy = bound(*boards, *(search(f"s{n}") for n in range(60)))
    chosen = [policy.choose(NOW + n, 1, ROOM)[0][0] for n in range(12)]
    assert [chosen.count(letter) for letter in "lgs"] == [4, 4, 4]


def test_a_source_without_room_does_not_stand_in_the_way_of_those_behind() -> None:
    full = [search(f"full{n}", source="careerjet") for n in range(80)]
    policy = bound(*full, search("free"))
    assert policy.choose(NOW, 100, {"careerjet": 0}) == ["free"]


def test_errors_across_a_vendor_hold_the_vendor() -> None:
    policy = bound(*(company(n) for n in range(9)), company("else", source="ashby"))
    for n in range(4):
        policy.record(n, NOW, ERROR)
    assert policy.choose(NOW + 60, 99, ROOM) == ["else"]
    assert len(policy.choose(NOW + HOUR, 99, ROOM)) == 1

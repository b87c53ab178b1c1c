from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.rotation.policies import call_value, yield_model
from jobmill.rotation.policies.eligibility import DAY
from jobmill.rotation.policies.yield_model import PlatformAverage, YieldRules, YieldState

from .builders import NOW

rates = st.floats(1e-4, 1e3)
losses = st.floats(1e-3, 50)
days = st.floats(0, 400)


@given(st.floats(0, 1, exclude_max=True))
def test_the_inverse_finds_where_h_reaches_a_value(y: float) -> None:
    assert call_value.gain(call_value.inverse_gain(y)) == pytest.approx(y, abs=1e-9)


@given(rates, losses, days, days)
def test_the_value_of_a_call_grows_with_time_up_to_all_that_can_lie_there(rho, d, one, two) -> None:
    sooner, later = (call_value.value_of(rho, d, 1.0, at) for at in sorted((one, two)))
    assert sooner <= later * (1 + 1e-9) <= rho / d * (1 + 1e-6)


@given(rates, losses, st.floats(0.01, 1), st.floats(1e-3, 100))
def test_a_target_is_worth_the_price_from_the_day_it_is_due(rho, d, health, price) -> None:
    due = call_value.days_until(rho, d, health, price)
    if math.isinf(due):
        assert health * rho / d <= price * (1 + 1e-9)
    else:
        assert call_value.value_of(rho, d, health, due) == pytest.approx(price, rel=1e-6, abs=1e-9)


def test_calling_at_the_price_beats_calling_more_or_less_often() -> None:
    rho, d, price = 3.0, 0.2, 2.0

    def gain(every: float) -> float:
        """New listings a day, less what the calls cost."""
        return (rho / d * (1 - math.exp(-d * every)) - price) / every

    best = call_value.days_until(rho, d, 1.0, price)
    assert gain(best) > gain(best * 0.9)
    assert gain(best) > gain(best * 1.1)


def test_a_rate_is_the_average_without_evidence_and_the_count_with_much() -> None:
    assert call_value.estimate_rate(0, 0, mean=0.3, strength=0.5) == pytest.approx(0.3)
    assert call_value.estimate_rate(2_000, 1_000, mean=0.3, strength=0.5) == pytest.approx(
        2, rel=1e-2
    )
    assert 0 < call_value.estimate_rate(0, 500, mean=0.3, strength=0.5) < 0.001


def test_the_price_follows_the_least_that_was_paid() -> None:
    assert 2.0 < call_value.next_price(2.0, 3.0) < 3.0
    assert 1.0 < call_value.next_price(2.0, 1.0) < 2.0
    assert call_value.next_price(2.0, 2.0) == pytest.approx(2.0)
    assert 0 < call_value.next_price(2.0, None) < 2.0


def test_what_was_computed_at_a_much_higher_price_is_outdated() -> None:
    assert call_value.is_outdated(2.0, 1.0)
    assert not call_value.is_outdated(1.1, 1.0)
    assert not call_value.is_outdated(1.0, 2.0)


@given(rates, losses, st.floats(0.01, 1), st.floats(1e-2, 100))
def test_a_state_is_due_when_it_is_nearly_worth_the_price(rho, d, health, price) -> None:
    state = YieldState(new_per_day=rho, loss_rate=d, health=health, called_at=NOW, last_ok_at=NOW)
    due = yield_model.due_at(state, price, NOW, YieldRules(staleness=math.inf))
    if due < NOW + 1e4 * DAY:
        value = yield_model.value_of(
            state,
            due,
            kind="company",
            page_cap=None,
            platform=PlatformAverage(),
            rules=YieldRules(),
        )
        assert value == pytest.approx(0.9 * price, rel=1e-3, abs=1e-6)


@given(rates, losses, st.floats(0.01, 1), st.floats(1e-3, 100), st.floats(0, 60))
def test_due_is_never_inside_the_gate_nor_later_than_staleness(rho, d, health, price, gate) -> None:
    rules = YieldRules()
    state = YieldState(
        new_per_day=rho,
        loss_rate=d,
        health=health,
        called_at=NOW,
        last_ok_at=NOW,
        blocked_until=NOW + gate * DAY,
    )
    due = yield_model.due_at(state, price, NOW - DAY, rules)
    assert state.blocked_until <= due <= max(state.blocked_until, NOW + rules.staleness)


def test_a_target_never_called_is_due_at_once_and_worth_its_platforms_average() -> None:
    rules, platform = YieldRules(), PlatformAverage(new_listings=400, observed_days=100)
    assert yield_model.due_at(YieldState(), 5.0, NOW, rules) == NOW
    value = yield_model.value_of(
        YieldState(), NOW, kind="company", page_cap=None, platform=platform, rules=rules
    )
    assert value == pytest.approx(platform.new_per_day("company", rules) / rules.closing)


@given(rates, losses, st.floats(0.01, 1), st.floats(1e-2, 100), st.floats(0, 90), st.floats(0, 60))
def test_what_is_too_cheap_is_looked_at_when_it_is_worth_the_price_or_in_a_month(
    rho, d, health, price, days, gate
) -> None:
    """However long it has waited: those that are owed a call are found elsewhere."""
    now, rules = NOW + days * DAY, YieldRules()
    state = YieldState(
        new_per_day=rho,
        loss_rate=d,
        health=health,
        called_at=NOW,
        last_ok_at=NOW,
        blocked_until=NOW + gate * DAY,
    )
    value = call_value.value_of(rho, d, health, days)
    look = yield_model.reconsider_at(state, price, now, rules)
    assert state.blocked_until <= look <= max(state.blocked_until, now + rules.staleness)
    if value < 0.89 * price:
        assert look > now
    if look < now + rules.staleness - 1 and look > state.blocked_until:
        assert call_value.value_of(rho, d, health, (look - NOW) / DAY) == pytest.approx(
            0.9 * price, rel=1e-3, abs=1e-6
        )


def test_one_that_never_answered_is_worth_no_more_tomorrow() -> None:
    state = YieldState(health=0.1, called_at=NOW - 9 * DAY, blocked_until=NOW - DAY)
    assert yield_model.reconsider_at(state, 5.0, NOW, YieldRules()) == NOW + 30 * DAY

"""What calls teach about a target: a storable `State`, and `learn`, which computes the next one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import call_value, eligibility
from .eligibility import DAY, HOUR, MINUTE, BreakerRules

GOOD_STATUSES = ("ok", "not_modified")
_MIN_SPAN = MINUTE / DAY
"""The minimum number of days that a page reaches back."""


@dataclass(frozen=True, slots=True)
class YieldRules:
    """The parameters of `yield`, in seconds unless named days; rates per day."""

    company_gap: float = 6 * HOUR
    slice_gap: float = 24 * MINUTE
    staleness: float = 30 * DAY
    stale_share: float = 0.15
    """Share of calls reserved for targets that waited longer than this."""
    closing: float = 1 / 20
    half_life_days: float = 45.0
    strength: float = 0.5
    """Weight of the platform's average in a target's rate, in listings."""
    company_rate: float = 0.2
    slice_rate: float = 5.0
    platform_days: float = 60.0
    """Weight of these two initial guesses in the platform's average, in days."""
    first_days: float = 10.0
    """Maximum days that a target's first page counts for, because it shows the past."""
    haste: float = 8.0
    """A first full page without dates is assumed to reach back this many times less than average,
    so that it is read again soon."""
    span_weight: float = 0.3
    gone_first: float = 2 * DAY
    gone_most: float = 30 * DAY
    gone_health: float = 0.1
    error_first: float = 30 * MINUTE
    error_most: float = 2 * DAY
    error_health: float = 0.7
    breaker: BreakerRules = field(default_factory=BreakerRules)

    @property
    def gaps(self) -> dict[str, float]:
        return {"company": self.company_gap, "slice": self.slice_gap}

    @property
    def longest_delay(self) -> float:
        """The longest postponement."""
        return max(self.staleness, self.gone_most, self.error_most, *self.gaps.values())


@dataclass(frozen=True, slots=True)
class YieldState:
    """One target; times are UTC epoch seconds."""

    new_listings: float = 0.0
    """New listings, decayed with age."""
    observed_days: float = 0.0
    """Days of postings that were examined."""
    entries: float = 0.0
    """Entries that were not on its page before."""
    entry_days: float = 0.0
    span: float | None = None
    """Days that its full page reaches back; None while the page shows everything."""
    new_per_day: float | None = None
    """New listings per day; None before the first successful call."""
    loss_rate: float | None = None
    """The share of new listings lost per day."""
    health: float = 1.0
    """The estimated probability that a call succeeds."""
    failures: int = 0
    called_at: float | None = None
    last_ok_at: float | None = None
    blocked_until: float = -math.inf


@dataclass(frozen=True, slots=True)
class PlatformAverage:
    """Pooled evidence of all targets of one kind of a source."""

    new_listings: float = 0.0
    observed_days: float = 0.0
    entries: float = 0.0
    entry_days: float = 0.0
    at: float | None = None

    def new_per_day(self, kind: str, rules: YieldRules) -> float:
        """New listings per day of an average target."""
        return self._rate(self.new_listings, self.observed_days, kind, rules)

    def entries_per_day(self, kind: str, rules: YieldRules) -> float:
        """Entries per day that appear on an average page."""
        return self._rate(self.entries, self.entry_days, kind, rules)

    def loss_rate(self, kind: str, page_cap: int | None, rules: YieldRules) -> float:
        """The share of new listings that an average target loses per day."""
        return rules.closing + (self.entries_per_day(kind, rules) / page_cap if page_cap else 0.0)

    def _rate(self, count: float, days: float, kind: str, rules: YieldRules) -> float:
        guess = rules.slice_rate if kind == "slice" else rules.company_rate
        return (count + guess * rules.platform_days) / (days + rules.platform_days)


@dataclass(frozen=True, slots=True)
class PageCounts:
    """The answer to a successful call."""

    new: float
    fresh: float
    returned: float
    full: bool
    oldest_at: float | None


def count_page(outcome: Mapping[str, Any], page_cap: int | None) -> PageCounts:
    """Read an outcome and fill in missing values."""
    new = eligibility.as_count(outcome.get("new"))
    returned = eligibility.as_count(outcome.get("returned"), new)
    truncated = outcome.get("truncated")
    if truncated is None:
        truncated = page_cap is not None and returned >= page_cap
    fresh = eligibility.as_count(outcome.get("fresh"), new)
    return PageCounts(
        new, fresh, returned, bool(truncated) and returned > 0, _oldest_at(outcome, returned)
    )


def _oldest_at(outcome: Mapping[str, Any], returned: float) -> float | None:
    oldest = eligibility.as_number(outcome.get("oldest_at"))
    if oldest is not None and math.isfinite(oldest):
        return oldest
    posted = outcome.get("posted")
    dates = [eligibility.as_number(at) for at in posted] if posted is not None else []
    valid_dates = [at for at in dates if at is not None and math.isfinite(at)]
    # Dates of only some entries do not determine the oldest.
    return min(valid_dates) if valid_dates and len(valid_dates) >= returned else None


def learn(
    state: YieldState,
    outcome: Mapping[str, Any],
    now: float,
    *,
    kind: str,
    page_cap: int | None,
    platform: PlatformAverage,
    rules: YieldRules,
    excused: bool = False,
) -> tuple[YieldState, PlatformAverage]:
    """The target and its platform after a call; `excused` if the source itself is in trouble."""
    status = outcome.get("status")
    if status == "rate_limited":
        return state, platform
    if status not in GOOD_STATUSES:
        return _after_failure(state, status == "gone", now, rules, excused), platform
    days = eligibility.elapsed(state.last_ok_at, now) / DAY
    if status == "not_modified":
        covered_days = call_value.observed_days(rules.closing, days)
        look = _Observation(0.0, 0.0, covered_days, min(days, 1 / rules.closing), state.span)
    else:
        mean, strength = platform.entries_per_day(kind, rules), rules.strength
        phi = call_value.estimate_rate(
            state.entries, state.entry_days, mean=mean, strength=strength
        )
        look = _observe(count_page(outcome, page_cap), now, days, phi, rules)
    platform = _update_average(platform, look, now, rules)
    return _after_success(state, look, now, kind, platform, rules), platform


def _after_failure(
    state: YieldState, gone: bool, now: float, rules: YieldRules, excused: bool
) -> YieldState:
    if excused and not gone:
        return replace(state, called_at=now, blocked_until=now + rules.error_first)
    failures = state.failures + 1
    if gone:
        wait, trust = (
            eligibility.doubled_delay(rules.gone_first, failures, rules.gone_most),
            rules.gone_health,
        )
    else:
        wait = eligibility.doubled_delay(rules.error_first, failures, rules.error_most)
        trust = rules.error_health
    health = max(state.health * trust, 1e-6)
    return replace(state, failures=failures, health=health, called_at=now, blocked_until=now + wait)


@dataclass(frozen=True, slots=True)
class _Observation:
    """What a call counted, and over how many days of postings."""

    new: float
    fresh: float
    days: float
    fresh_days: float
    span: float | None
    target_weight: float = 1.0
    """Weight for the target."""
    platform_weight: float = 1.0
    """Weight for the platform."""
    resets_target: bool = False
    """Whether it contradicts the previous estimate, which is then discarded."""


def _observe(
    page: PageCounts, now: float, days: float, phi: float, rules: YieldRules
) -> _Observation:
    """Evidence from a page about the days since the last successful call."""
    if page.full and page.oldest_at is None and page.fresh >= page.returned:
        return _observe_overflow(page, days, phi, rules)
    span = _span(page, now, days, phi) if page.full else None
    reach = days if span is None else min(days, span)
    covered_days = call_value.observed_days(rules.closing, reach)
    counts = min(1.0, rules.first_days / covered_days) if days == math.inf else 1.0
    return _Observation(
        page.new, page.fresh, covered_days, min(reach, 1 / rules.closing), span, counts
    )


def _observe_overflow(page: PageCounts, days: float, phi: float, rules: YieldRules) -> _Observation:
    """A full page of unknown entries without dates: how far it reaches back is unknown.

    The first time this says almost nothing, so the target is called again soon. Later it means that
    entries appear faster than estimated: the rate doubles until a page shows a known entry.
    """
    first = days == math.inf
    thought = page.returned / phi
    reach = max(thought / rules.haste if first else min(days, thought) / 2, _MIN_SPAN)
    covered_days = call_value.observed_days(rules.closing, reach)
    if first:
        return _Observation(
            page.new, page.fresh, covered_days, reach, reach, 1 / page.returned, platform_weight=0.0
        )
    # After a long wait this was expected and is no evidence about other targets.
    pools = 1.0 if days < thought else 0.0
    return _Observation(
        page.new, page.fresh, covered_days, reach, reach, platform_weight=pools, resets_target=True
    )


def _span(page: PageCounts, now: float, days: float, phi: float) -> float:
    """Days that a full page reaches back: by its oldest date, otherwise by the rate of new entries."""
    if page.oldest_at is not None:
        return max((now - page.oldest_at) / DAY, _MIN_SPAN)
    # A known entry shows that the page reaches back to the last call.
    return max(page.returned / phi, days if days < math.inf else 0.0, _MIN_SPAN)


def _update_average(
    platform: PlatformAverage, look: _Observation, now: float, rules: YieldRules
) -> PlatformAverage:
    days = 0.0 if platform.at is None else eligibility.elapsed(platform.at, now) / DAY
    decay = call_value.remaining_weight(days, rules.half_life_days)
    return PlatformAverage(
        platform.new_listings * decay + look.new * look.platform_weight,
        platform.observed_days * decay + look.days * look.platform_weight,
        platform.entries * decay + look.fresh * look.platform_weight,
        platform.entry_days * decay + look.fresh_days * look.platform_weight,
        now,
    )


def _after_success(
    state: YieldState,
    look: _Observation,
    now: float,
    kind: str,
    platform: PlatformAverage,
    rules: YieldRules,
) -> YieldState:
    decay = call_value.remaining_weight(
        eligibility.elapsed(state.last_ok_at, now) / DAY, rules.half_life_days
    )
    decay = 0.0 if look.resets_target else decay
    new_count = state.new_listings * decay + look.new * look.target_weight
    looked = state.observed_days * decay + look.days * look.target_weight
    span = look.span
    if span is not None and state.span is not None and not look.resets_target:
        span = state.span + rules.span_weight * (span - state.span)
    mean, strength = platform.new_per_day(kind, rules), rules.strength
    return YieldState(
        new_listings=new_count,
        observed_days=looked,
        entries=state.entries * decay + look.fresh * look.target_weight,
        entry_days=state.entry_days * decay + look.fresh_days * look.target_weight,
        span=span,
        new_per_day=call_value.estimate_rate(new_count, looked, mean=mean, strength=strength),
        loss_rate=rules.closing + (0.0 if span is None else 1.0 / span),
        health=1.0 if state.last_ok_at is None else (1.0 + state.health) / 2.0,
        called_at=now,
        last_ok_at=now,
        blocked_until=now + rules.gaps.get(kind, rules.company_gap),
    )


def value_of(
    state: YieldState,
    now: float,
    *,
    kind: str,
    page_cap: int | None,
    platform: PlatformAverage,
    rules: YieldRules,
) -> float:
    """The value of a call now, in new listings."""
    if state.new_per_day is None or state.loss_rate is None:
        rho, d = platform.new_per_day(kind, rules), platform.loss_rate(kind, page_cap, rules)
        return call_value.value_of(rho, d, state.health, math.inf)
    days = eligibility.elapsed(state.last_ok_at, now) / DAY
    return call_value.value_of(state.new_per_day, state.loss_rate, state.health, days)


def stale_at(state: YieldState, added_at: float, rules: YieldRules) -> float:
    """When the target has waited too long, whatever its value."""
    return max(added_at, state.called_at or -math.inf) + rules.staleness


def due_at(state: YieldState, price_now: float, added_at: float, rules: YieldRules) -> float:
    """When a call is nearly worth the price or overdue; never while it is blocked."""
    if state.new_per_day is None or state.loss_rate is None or state.last_ok_at is None:
        # Never called: worth the platform's average from the start.
        return max(added_at, state.blocked_until)
    days = call_value.days_until(
        state.new_per_day, state.loss_rate, state.health, call_value.NEAR_PRICE * price_now
    )
    overdue_at = stale_at(state, added_at, rules)
    return max(min(state.last_ok_at + days * DAY, overdue_at), state.blocked_until)


def reconsider_at(state: YieldState, price_now: float, now: float, rules: YieldRules) -> float:
    """When a target that is not worth the price is considered again: when it will be worth it, or
    after the maximum staleness. Overdue targets are found elsewhere."""
    days = math.inf
    if state.new_per_day is not None and state.loss_rate is not None:
        days = call_value.days_until(
            state.new_per_day, state.loss_rate, state.health, call_value.NEAR_PRICE * price_now
        )
    worth_at = (state.last_ok_at or 0.0) + days * DAY
    return max(min(worth_at, now + rules.staleness), state.blocked_until)

"""What calls have taught us about a target: a `State` that can be stored, and `learn`, which makes the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import call_value, eligibility
from .eligibility import DAY, HOUR, MINUTE, Breaker

GOOD = ("ok", "not_modified")
SHORTEST = MINUTE / DAY
"""Days that a page reaches back at least, whatever its dates say."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of `yield`; spans in seconds unless they say days, rates per day."""

    company_gap: float = 6 * HOUR
    slice_gap: float = 24 * MINUTE
    staleness: float = 30 * DAY
    stale_share: float = 0.15
    """Share of the calls that may go to those that waited longer, whatever they bring."""
    closing: float = 1 / 20
    half_life_days: float = 45.0
    strength: float = 0.5
    """Listings that the platform's average counts for in a target's rate."""
    company_rate: float = 0.2
    slice_rate: float = 5.0
    platform_days: float = 60.0
    """Days of looking that these two first guesses count for in the platform's average."""
    first_days: float = 10.0
    """Most days of looking that a target's first page counts for: it shows a past of its own."""
    haste: float = 8.0
    """A first full page without dates is taken to reach back so many times less than the average:
    looking again soon is what tells its pace."""
    span_weight: float = 0.3
    gone_first: float = 2 * DAY
    gone_most: float = 30 * DAY
    gone_health: float = 0.1
    error_first: float = 30 * MINUTE
    error_most: float = 2 * DAY
    error_health: float = 0.7
    breaker: Breaker = field(default_factory=Breaker)

    @property
    def gaps(self) -> dict[str, float]:
        return {"company": self.company_gap, "slice": self.slice_gap}

    @property
    def longest(self) -> float:
        """Nothing is put off for longer."""
        return max(self.staleness, self.gone_most, self.error_most, *self.gaps.values())


@dataclass(frozen=True, slots=True)
class State:
    """One target; times are UTC epoch seconds."""

    found: float = 0.0
    """New listings, old ones counting less."""
    looked: float = 0.0
    """Days of postings in which they were found."""
    shown: float = 0.0
    """Entries that were not on its page before."""
    shown_days: float = 0.0
    span: float | None = None
    """Days that its full page reaches back; None while the page holds all there is."""
    rho: float | None = None
    """New listings a day; None before the first good call."""
    d: float | None = None
    """The share of them that is lost a day."""
    health: float = 1.0
    """How far we trust that a call works."""
    failures: int = 0
    called_at: float | None = None
    last_ok_at: float | None = None
    gate_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class Platform:
    """What all targets of one kind of a source have shown together."""

    found: float = 0.0
    looked: float = 0.0
    shown: float = 0.0
    shown_days: float = 0.0
    at: float | None = None

    def rho(self, kind: str, rules: Rules) -> float:
        """New listings a day of its average target."""
        return self._rate(self.found, self.looked, kind, rules)

    def phi(self, kind: str, rules: Rules) -> float:
        """Entries a day that appear on its average page."""
        return self._rate(self.shown, self.shown_days, kind, rules)

    def d(self, kind: str, page_cap: int | None, rules: Rules) -> float:
        """The share of new listings that its average target loses a day."""
        return rules.closing + (self.phi(kind, rules) / page_cap if page_cap else 0.0)

    def _rate(self, count: float, days: float, kind: str, rules: Rules) -> float:
        guess = rules.slice_rate if kind == "slice" else rules.company_rate
        return (count + guess * rules.platform_days) / (days + rules.platform_days)


@dataclass(frozen=True, slots=True)
class Page:
    """What a good call answered."""

    new: float
    fresh: float
    returned: float
    full: bool
    oldest_at: float | None


def read_page(outcome: Mapping[str, Any], page_cap: int | None) -> Page:
    """An outcome, with what it leaves out filled in."""
    new = eligibility.number(outcome.get("new"))
    returned = eligibility.number(outcome.get("returned"), new)
    truncated = outcome.get("truncated")
    if truncated is None:
        truncated = page_cap is not None and returned >= page_cap
    fresh = eligibility.number(outcome.get("fresh"), new)
    return Page(
        new, fresh, returned, bool(truncated) and returned > 0, _oldest_at(outcome, returned)
    )


def _oldest_at(outcome: Mapping[str, Any], returned: float) -> float | None:
    oldest = eligibility.real(outcome.get("oldest_at"))
    if oldest is not None and math.isfinite(oldest):
        return oldest
    posted = outcome.get("posted")
    dates = [eligibility.real(at) for at in posted] if posted is not None else []
    known = [at for at in dates if at is not None and math.isfinite(at)]
    # Dates of only some entries say nothing about the oldest.
    return min(known) if known and len(known) >= returned else None


def learn(
    state: State,
    outcome: Mapping[str, Any],
    now: float,
    *,
    kind: str,
    page_cap: int | None,
    platform: Platform,
    rules: Rules,
    excused: bool = False,
) -> tuple[State, Platform]:
    """The target and its platform after a call; `excused` when the source itself is in trouble."""
    status = outcome.get("status")
    if status == "rate_limited":
        return state, platform
    if status not in GOOD:
        return _failed(state, status == "gone", now, rules, excused), platform
    days = eligibility.elapsed(state.last_ok_at, now) / DAY
    if status == "not_modified":
        seen = call_value.seen_days(rules.closing, days)
        look = _Look(0.0, 0.0, seen, min(days, 1 / rules.closing), state.span)
    else:
        mean, strength = platform.phi(kind, rules), rules.strength
        phi = call_value.rate(state.shown, state.shown_days, mean=mean, strength=strength)
        look = _look(read_page(outcome, page_cap), now, days, phi, rules)
    platform = _pooled(platform, look, now, rules)
    return _worked(state, look, now, kind, platform, rules), platform


def _failed(state: State, gone: bool, now: float, rules: Rules, excused: bool) -> State:
    if excused and not gone:
        return replace(state, called_at=now, gate_at=now + rules.error_first)
    failures = state.failures + 1
    if gone:
        wait, trust = (
            eligibility.doubling(rules.gone_first, failures, rules.gone_most),
            rules.gone_health,
        )
    else:
        wait = eligibility.doubling(rules.error_first, failures, rules.error_most)
        trust = rules.error_health
    health = max(state.health * trust, 1e-6)
    return replace(state, failures=failures, health=health, called_at=now, gate_at=now + wait)


@dataclass(frozen=True, slots=True)
class _Look:
    """What a call counted, and in how many days of postings."""

    new: float
    fresh: float
    days: float
    fresh_days: float
    span: float | None
    counts: float = 1.0
    """How much of it the target believes."""
    pools: float = 1.0
    """How much of it its platform believes."""
    afresh: bool = False
    """It refutes what was believed of the target's pace."""


def _look(page: Page, now: float, days: float, phi: float, rules: Rules) -> _Look:
    """What a page shows of the days since the last good call."""
    if page.full and page.oldest_at is None and page.fresh >= page.returned:
        return _overflow(page, days, phi, rules)
    span = _span(page, now, days, phi) if page.full else None
    reach = days if span is None else min(days, span)
    seen = call_value.seen_days(rules.closing, reach)
    counts = min(1.0, rules.first_days / seen) if days == math.inf else 1.0
    return _Look(page.new, page.fresh, seen, min(reach, 1 / rules.closing), span, counts)


def _overflow(page: Page, days: float, phi: float, rules: Rules) -> _Look:
    """A full page without dates on which nothing is known: nobody can tell how far it reaches.

    The first time that says next to nothing, so it is looked at again soon. Later it says that
    entries appear faster than was thought: twice as fast, until a page shows something known.
    """
    first = days == math.inf
    thought = page.returned / phi
    reach = max(thought / rules.haste if first else min(days, thought) / 2, SHORTEST)
    seen = call_value.seen_days(rules.closing, reach)
    if first:
        return _Look(page.new, page.fresh, seen, reach, reach, 1 / page.returned, pools=0.0)
    # After a long wait it was to be expected, and is no reason to think more of the others.
    pools = 1.0 if days < thought else 0.0
    return _Look(page.new, page.fresh, seen, reach, reach, pools=pools, afresh=True)


def _span(page: Page, now: float, days: float, phi: float) -> float:
    """Days that a full page reaches back: by its oldest date, else by how fast entries appear."""
    if page.oldest_at is not None:
        return max((now - page.oldest_at) / DAY, SHORTEST)
    # An entry that was there before shows that it reaches back to the last call.
    return max(page.returned / phi, days if days < math.inf else 0.0, SHORTEST)


def _pooled(platform: Platform, look: _Look, now: float, rules: Rules) -> Platform:
    days = 0.0 if platform.at is None else eligibility.elapsed(platform.at, now) / DAY
    kept = call_value.faded(days, rules.half_life_days)
    return Platform(
        platform.found * kept + look.new * look.pools,
        platform.looked * kept + look.days * look.pools,
        platform.shown * kept + look.fresh * look.pools,
        platform.shown_days * kept + look.fresh_days * look.pools,
        now,
    )


def _worked(
    state: State, look: _Look, now: float, kind: str, platform: Platform, rules: Rules
) -> State:
    kept = call_value.faded(eligibility.elapsed(state.last_ok_at, now) / DAY, rules.half_life_days)
    kept = 0.0 if look.afresh else kept
    found = state.found * kept + look.new * look.counts
    looked = state.looked * kept + look.days * look.counts
    span = look.span
    if span is not None and state.span is not None and not look.afresh:
        span = state.span + rules.span_weight * (span - state.span)
    mean, strength = platform.rho(kind, rules), rules.strength
    return State(
        found=found,
        looked=looked,
        shown=state.shown * kept + look.fresh * look.counts,
        shown_days=state.shown_days * kept + look.fresh_days * look.counts,
        span=span,
        rho=call_value.rate(found, looked, mean=mean, strength=strength),
        d=rules.closing + (0.0 if span is None else 1.0 / span),
        health=1.0 if state.last_ok_at is None else (1.0 + state.health) / 2.0,
        called_at=now,
        last_ok_at=now,
        gate_at=now + rules.gaps.get(kind, rules.company_gap),
    )


def value_of(
    state: State,
    now: float,
    *,
    kind: str,
    page_cap: int | None,
    platform: Platform,
    rules: Rules,
) -> float:
    """What a call now is worth, in new listings."""
    if state.rho is None or state.d is None:
        rho, d = platform.rho(kind, rules), platform.d(kind, page_cap, rules)
        return call_value.value_of(rho, d, state.health, math.inf)
    days = eligibility.elapsed(state.last_ok_at, now) / DAY
    return call_value.value_of(state.rho, state.d, state.health, days)


def stale_at(state: State, known_at: float, rules: Rules) -> float:
    """When it has waited too long, whatever it is worth."""
    return max(known_at, state.called_at or -math.inf) + rules.staleness


def due_at(state: State, price_now: float, known_at: float, rules: Rules) -> float:
    """The moment from which a call is nearly worth the price, or is owed; never inside its gate."""
    if state.rho is None or state.d is None or state.last_ok_at is None:
        # Never seen: it is worth its platform's average from the first moment on.
        return max(known_at, state.gate_at)
    days = call_value.days_until(state.rho, state.d, state.health, call_value.NEARLY * price_now)
    owed_at = stale_at(state, known_at, rules)
    return max(min(state.last_ok_at + days * DAY, owed_at), state.gate_at)


def look_at(state: State, price_now: float, now: float, rules: Rules) -> float:
    """When one that is not worth the price is looked at again: when it will be, or when as much time
    has passed as anyone waits. That it is owed a call by then is not looked for in this line."""
    days = math.inf
    if state.rho is not None and state.d is not None:
        days = call_value.days_until(
            state.rho, state.d, state.health, call_value.NEARLY * price_now
        )
    worth_at = (state.last_ok_at or 0.0) + days * DAY
    return max(min(worth_at, now + rules.staleness), state.gate_at)

"""When a target or its source must not be called: gaps, backoff, holds, circuit breakers, limits."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypeAlias

MINUTE = 60.0
HOUR = 3_600.0
DAY = 86_400.0
CLOCK_SLACK = 2 * DAY
"""Timestamps further in the future come from a wrong clock and are ignored."""
UNLIMITED = 2**62
_MAX_COUNTED_CALLS = 1_000_000

Access: TypeAlias = Literal["open", "probe", "shut"]
"""Whether a source may be called: freely, once as a probe, or not at all."""


def elapsed(since: float | None, now: float) -> float:
    """Seconds since then, never negative; infinite for never."""
    if since is None or since > now + CLOCK_SLACK:
        return math.inf
    return max(now - since, 0.0)


def is_blocked(blocked_until: float, set_at: float | None, now: float) -> bool:
    """Whether calls are blocked now; `set_at` is when the block was set."""
    return now < blocked_until and (set_at is None or set_at <= now + CLOCK_SLACK)


def doubled_delay(first: float, times: int, most: float) -> float:
    """`first`, doubled for each repetition, up to `most`."""
    return min(first * 2.0 ** min(max(times - 1, 0), 64), most)


def as_number(value: object) -> float | None:
    """A number of any numeric type; None for anything else and for NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    return None if math.isnan(value) else float(value)


def as_count(value: object, default: float = 0.0) -> float:
    """A finite, non-negative number, or the default."""
    number_value = as_number(value)
    return (
        default
        if number_value is None or number_value < 0 or math.isinf(number_value)
        else number_value
    )


@dataclass(frozen=True, slots=True)
class BreakerState:
    """The circuit breaker of a source."""

    streak: int = 0
    """Consecutive errors, of any target."""
    open_count: int = 0
    """How often in a row the breaker opened; 0 while the source works."""
    blocked_until: float = -math.inf
    blocked_at: float | None = None
    probe_at: float | None = None
    """When the pending probe was sent."""
    hold_count: int = 0
    """Consecutive requests to slow down."""


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When a source is left alone, and for how long."""

    breaker_errors: float = 4
    breaker_first: float = 30 * MINUTE
    breaker_most: float = 4 * HOUR
    hold_first: float = 15 * MINUTE
    """Hold after a request to slow down without a duration; doubled for each in a row."""
    hold_most: float = 7 * DAY
    """Longer requested holds are cut to this."""


def breaker_position(trouble: BreakerState, now: float, breaker: BreakerRules) -> Access:
    if is_blocked(trouble.blocked_until, trouble.blocked_at, now):
        return "shut"
    if not trouble.open_count:
        return "open"
    # A lost probe must not close the source forever.
    return "shut" if elapsed(trouble.probe_at, now) < breaker.breaker_first else "probe"


def after_probe_sent(trouble: BreakerState, now: float) -> BreakerState:
    """Record that a probe was sent."""
    return replace(trouble, probe_at=now)


def after_error(trouble: BreakerState, now: float, breaker: BreakerRules) -> BreakerState:
    """Count an error: enough of them, or one during a probe, close the source."""
    streak = trouble.streak + 1
    probing = trouble.open_count > 0
    if streak < breaker.breaker_errors and not probing:
        return replace(trouble, streak=streak)
    if probing and is_blocked(trouble.blocked_until, trouble.blocked_at, now):
        # A call that was sent before the breaker opened adds no information.
        return replace(trouble, streak=streak)
    open_count = trouble.open_count + 1
    until = now + doubled_delay(breaker.breaker_first, open_count, breaker.breaker_most)
    return BreakerState(
        streak, open_count, _later(trouble, until, now), now, None, trouble.hold_count
    )


def after_limit(
    trouble: BreakerState, now: float, wait: float | None, breaker: BreakerRules
) -> BreakerState:
    """Hold the source for as long as it asks."""
    # Concurrent calls receive the same request to slow down: count it once.
    again = is_blocked(trouble.blocked_until, trouble.blocked_at, now) and trouble.hold_count > 0
    holds = trouble.hold_count if again else trouble.hold_count + 1
    span = doubled_delay(breaker.hold_first, holds, breaker.breaker_most) if wait is None else wait
    until = _later(trouble, now + min(span, breaker.hold_most), now)
    return replace(trouble, blocked_until=until, blocked_at=now, probe_at=None, hold_count=holds)


def _later(trouble: BreakerState, until: float, now: float) -> float:
    """A longer hold is not shortened."""
    if is_blocked(trouble.blocked_until, trouble.blocked_at, now):
        return max(until, trouble.blocked_until)
    return until


def after_answer(trouble: BreakerState, now: float) -> BreakerState:
    """The source answered: close the breaker, but keep a requested hold."""
    shut = is_blocked(trouble.blocked_until, trouble.blocked_at, now)
    if shut and not trouble.hold_count:
        return BreakerState()
    # Keep past times, in case the clock is set back.
    holds = trouble.hold_count if shut else 0
    return replace(trouble, streak=0, open_count=0, probe_at=None, hold_count=holds)


def after_outcome(
    trouble: BreakerState, outcome: Mapping[str, Any], now: float, breaker: BreakerRules
) -> BreakerState:
    """Update the breaker of a source from an outcome."""
    match outcome.get("status"):
        case "rate_limited":
            return after_limit(trouble, now, _requested_wait(outcome.get("retry_after_s")), breaker)
        case "ok" | "not_modified" | "gone":
            return after_answer(trouble, now)
        case _:
            return after_error(trouble, now, breaker)


def _requested_wait(seconds: object) -> float | None:
    """The requested hold in seconds; zero counts as no request."""
    return as_count(seconds) or None


class CallCounter:
    """Counts calls of a source without stated capacity, so that its limits still apply."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, int]] = []
        self._calls: deque[float] = deque()

    def set_limits(self, limits: Mapping[str, Any] | None) -> None:
        """Set the limits `per_hour` and `per_day`, each a number or None."""
        stated = limits or {}
        windows = [
            (HOUR, as_number(stated.get("per_hour"))),
            (DAY, as_number(stated.get("per_day"))),
        ]
        self._spans = [
            (span, int(min(most, UNLIMITED))) for span, most in windows if most is not None
        ]
        # Calls older than the limit's window no longer matter.
        most = max((most for _, most in self._spans), default=0)
        self._calls = deque(self._calls, maxlen=min(max(most, 0), _MAX_COUNTED_CALLS))

    def count_call(self, now: float) -> None:
        if self._spans:
            self._calls.append(now)

    def remaining_calls(self, now: float) -> int:
        """Calls that the limits allow now."""
        if not self._spans:
            return UNLIMITED
        used = [sum(elapsed(at, now) < span for at in self._calls) for span, _ in self._spans]
        pairs = zip(self._spans, used, strict=True)
        return max(0, min(limit - count for (_, limit), count in pairs))


def remaining_calls(
    capacity: Mapping[str, Any] | None, source: str, ledger: CallCounter, now: float
) -> int:
    """Calls that a source has left: as stated, otherwise by its own limits."""
    stated = as_number((capacity or {}).get(source))
    return ledger.remaining_calls(now) if stated is None else int(min(max(stated, 0), UNLIMITED))

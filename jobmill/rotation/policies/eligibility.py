"""When a target or its source must not be called: gaps, backoffs, holds, breakers, and limits."""

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
"""What was noted further in the future than this comes from a clock that was wrong, and is forgotten."""
UNLIMITED = 2**62
MOST_COUNTED = 1_000_000

Door: TypeAlias = Literal["open", "probe", "shut"]
"""Whether a source may be called: freely, once to see whether it is well again, or not."""


def elapsed(since: float | None, now: float) -> float:
    """Seconds since then, never negative; infinite for never."""
    if since is None or since > now + CLOCK_SLACK:
        return math.inf
    return max(now - since, 0.0)


def is_shut(gate_at: float, set_at: float | None, now: float) -> bool:
    """Whether a gate holds at this moment; `set_at` is when it was shut."""
    return now < gate_at and (set_at is None or set_at <= now + CLOCK_SLACK)


def doubling(first: float, times: int, most: float) -> float:
    """`first`, doubled for each time after the first, up to `most`."""
    return min(first * 2.0 ** min(max(times - 1, 0), 64), most)


def real(value: object) -> float | None:
    """A number, of whatever library; None for anything else, and for one that is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    return None if math.isnan(value) else float(value)


def number(value: object, default: float = 0.0) -> float:
    """A finite number that is not negative, or the default."""
    found = real(value)
    return default if found is None or found < 0 or math.isinf(found) else found


@dataclass(frozen=True, slots=True)
class Trouble:
    """What keeps a source from being called."""

    streak: int = 0
    """Errors in a row, whichever target had them."""
    opened: int = 0
    """How often in a row the breaker opened; 0 while the source is well."""
    shut_until: float = -math.inf
    shut_at: float | None = None
    probe_at: float | None = None
    """When the probe left that has not come back."""
    held: int = 0
    """Requests to slow down in a row."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """When a source is left alone, and for how long."""

    breaker_errors: float = 4
    breaker_first: float = 30 * MINUTE
    breaker_most: float = 4 * HOUR
    hold_first: float = 15 * MINUTE
    """After a request to slow down that does not say for how long; doubled each time in a row."""
    hold_most: float = 7 * DAY
    """A longer wish is not believed."""


def door(trouble: Trouble, now: float, breaker: Breaker) -> Door:
    """Whether the source may be called now."""
    if is_shut(trouble.shut_until, trouble.shut_at, now):
        return "shut"
    if not trouble.opened:
        return "open"
    # A probe that never comes back must not shut the source for ever.
    return "shut" if elapsed(trouble.probe_at, now) < breaker.breaker_first else "probe"


def sent(trouble: Trouble, now: float) -> Trouble:
    """A probe has left."""
    return replace(trouble, probe_at=now)


def after_error(trouble: Trouble, now: float, breaker: Breaker) -> Trouble:
    """One more error: enough of them, or one while probing, shut the source."""
    streak = trouble.streak + 1
    probing = trouble.opened > 0
    if streak < breaker.breaker_errors and not probing:
        return replace(trouble, streak=streak)
    if probing and is_shut(trouble.shut_until, trouble.shut_at, now):
        # A call that left before it was shut tells nothing more.
        return replace(trouble, streak=streak)
    opened = trouble.opened + 1
    until = now + doubling(breaker.breaker_first, opened, breaker.breaker_most)
    return Trouble(streak, opened, _later(trouble, until, now), now, None, trouble.held)


def after_limit(trouble: Trouble, now: float, wait: float | None, breaker: Breaker) -> Trouble:
    """Asked to slow down: hold the source for as long as it wishes."""
    # Calls that left together are told together: that is one request.
    again = is_shut(trouble.shut_until, trouble.shut_at, now) and trouble.held > 0
    held = trouble.held if again else trouble.held + 1
    span = doubling(breaker.hold_first, held, breaker.breaker_most) if wait is None else wait
    until = _later(trouble, now + min(span, breaker.hold_most), now)
    return replace(trouble, shut_until=until, shut_at=now, probe_at=None, held=held)


def _later(trouble: Trouble, until: float, now: float) -> float:
    """What shuts a source for longer is not cut short."""
    if is_shut(trouble.shut_until, trouble.shut_at, now):
        return max(until, trouble.shut_until)
    return until


def after_answer(trouble: Trouble, now: float) -> Trouble:
    """It answered: it is well, except that a wish to slow down still holds."""
    shut = is_shut(trouble.shut_until, trouble.shut_at, now)
    if shut and not trouble.held:
        return Trouble()
    # What has passed stays noted, in case the clock is set back.
    held = trouble.held if shut else 0
    return replace(trouble, streak=0, opened=0, probe_at=None, held=held)


def after(trouble: Trouble, outcome: Mapping[str, Any], now: float, breaker: Breaker) -> Trouble:
    """What an outcome means for the source that gave it."""
    match outcome.get("status"):
        case "rate_limited":
            return after_limit(trouble, now, _wish(outcome.get("retry_after_s")), breaker)
        case "ok" | "not_modified" | "gone":
            return after_answer(trouble, now)
        case _:
            return after_error(trouble, now, breaker)


def _wish(seconds: object) -> float | None:
    """How long a source wants to be left alone, if it says so; no time at all says nothing."""
    return number(seconds) or None


class Ledger:
    """Counts calls for a source whose room nobody states, so that its limits hold all the same."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, int]] = []
        self._calls: deque[float] = deque()

    def limit(self, limits: Mapping[str, Any] | None) -> None:
        """From now on these limits hold: `per_hour` and `per_day`, each a number or None."""
        stated = limits or {}
        found = [(HOUR, real(stated.get("per_hour"))), (DAY, real(stated.get("per_day")))]
        self._spans = [
            (span, int(min(most, UNLIMITED))) for span, most in found if most is not None
        ]
        # Older calls than the limit counts say nothing.
        most = max((most for _, most in self._spans), default=0)
        self._calls = deque(self._calls, maxlen=min(max(most, 0), MOST_COUNTED))

    def note(self, now: float) -> None:
        if self._spans:
            self._calls.append(now)

    def left(self, now: float) -> int:
        """Calls that its limits leave now."""
        if not self._spans:
            return UNLIMITED
        used = [sum(elapsed(at, now) < span for at in self._calls) for span, _ in self._spans]
        pairs = zip(self._spans, used, strict=True)
        return max(0, min(limit - count for (_, limit), count in pairs))


def room_of(room: Mapping[str, Any] | None, source: str, ledger: Ledger, now: float) -> int:
    """Calls that a source has left: as stated, else as its own limits leave."""
    stated = real((room or {}).get(source))
    return ledger.left(now) if stated is None else int(min(max(stated, 0), UNLIMITED))

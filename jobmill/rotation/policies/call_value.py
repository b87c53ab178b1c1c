"""What a call is worth: the mathematics of `yield`, on plain numbers; times in days, rates per day."""

from __future__ import annotations

import math

LONG = 50.0
"""From here on `h` is 1 to the last digit."""

LEAST = 1e-6
"""A price is never less."""
NEARLY = 0.9
"""A target is looked at from this share of the price on: its moment was computed some time ago."""

OUTDATED = 1.25
"""A moment computed at a price so many times today's may be far too late."""


def h(z: float) -> float:
    """The gain of calling now over calling later, from 0 (just called) to 1 (very long ago)."""
    return 1.0 - (1.0 + z) * math.exp(-z) if z < LONG else 1.0


def inverse_h(y: float) -> float:
    """The `z` at which `h` reaches `y`; infinite where it never does."""
    if y <= 0.0:
        return 0.0
    if y >= 1.0:
        return math.inf
    low, high = 0.0, LONG
    z = min(math.sqrt(2.0 * y) + y, LONG)
    for _ in range(60):
        low, high = (z, high) if h(z) < y else (low, z)
        slope = z * math.exp(-z)
        better = z - (h(z) - y) / slope if slope > 0.0 else math.nan
        # Newton where it stays inside, else halving: it never runs away.
        better = better if low < better < high else (low + high) / 2.0
        if abs(better - z) <= 1e-12 * (1.0 + z):
            return better
        z = better
    return z


def value_of(rho: float, d: float, health: float, days: float) -> float:
    """New listings that a call now brings, beyond what calling later would."""
    return health * rho / d * h(d * max(days, 0.0))


def days_until(rho: float, d: float, health: float, price: float) -> float:
    """Days after the last good call at which the value reaches the price; infinite if never."""
    most = health * rho / d
    return inverse_h(price / most) / d if most > 0.0 else math.inf


def seen_days(mu: float, days: float) -> float:
    """Days' worth of postings that are still open after so long: what a call has looked at."""
    return -math.expm1(-mu * days) / mu if mu > 0.0 else days


def rate(count: float, days: float, *, mean: float, strength: float) -> float:
    """A rate from what was counted, drawn to `mean` as if `strength` more had been counted at it."""
    return (count + strength) / (days + strength / mean)


def faded(days: float, half_life: float) -> float:
    """What is left of evidence after so long."""
    return 0.5 ** (max(days, 0.0) / half_life)


def next_price(price: float, lowest: float | None, *, weight: float = 0.1) -> float:
    """The price for the next round, drawn towards the least that was paid in this one; None says
    that calls were left over, so everything is too dear."""
    if lowest is None:
        return max(price * (1.0 - 2.0 * weight), LEAST)
    return price * (max(lowest, LEAST) / price) ** weight


def is_outdated(price_then: float, price_now: float) -> bool:
    """Whether a moment computed at an earlier price may be far too late now."""
    return price_then > OUTDATED * price_now

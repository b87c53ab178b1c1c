"""The value of a call: the mathematics of `yield`, in days and rates per day."""

from __future__ import annotations

import math

MAX_Z = 50.0
"""Beyond this, `h` is 1 within floating-point precision."""

_MIN_PRICE = 1e-6
"""The lowest price."""
NEAR_PRICE = 0.9
"""A target is considered from this share of the price on, since its due time was computed earlier.
"""

OUTDATED_PRICE_FACTOR = 1.25
"""A due time computed at a price this many times higher may be far too late."""


def gain(z: float) -> float:
    """The gain of calling now over calling later, from 0 (just called) to 1 (very long ago)."""
    return 1.0 - (1.0 + z) * math.exp(-z) if z < MAX_Z else 1.0


def inverse_gain(y: float) -> float:
    """The `z` at which `h` reaches `y`; infinite if it never does."""
    if y <= 0.0:
        return 0.0
    if y >= 1.0:
        return math.inf
    low, high = 0.0, MAX_Z
    z = min(math.sqrt(2.0 * y) + y, MAX_Z)
    for _ in range(60):
        low, high = (z, high) if gain(z) < y else (low, z)
        slope = z * math.exp(-z)
        better = z - (gain(z) - y) / slope if slope > 0.0 else math.nan
        # Newton's method inside the bracket, bisection otherwise, so it always converges.
        better = better if low < better < high else (low + high) / 2.0
        if abs(better - z) <= 1e-12 * (1.0 + z):
            return better
        z = better
    return z


def value_of(rho: float, d: float, health: float, days: float) -> float:
    """New listings that a call finds now, beyond what a later call would find."""
    return health * rho / d * gain(d * max(days, 0.0))


def days_until(rho: float, d: float, health: float, price: float) -> float:
    """Days after the last successful call at which the value reaches the price; infinite if never."""
    most = health * rho / d
    return inverse_gain(price / most) / d if most > 0.0 else math.inf


def observed_days(mu: float, days: float) -> float:
    """Days' worth of postings that are still open after this time."""
    return -math.expm1(-mu * days) / mu if mu > 0.0 else days


def estimate_rate(count: float, days: float, *, mean: float, strength: float) -> float:
    """A rate from counts, shrunk towards `mean` with the weight `strength`."""
    return (count + strength) / (days + strength / mean)


def remaining_weight(days: float, half_life: float) -> float:
    """The share of evidence that remains after this time."""
    return 0.5 ** (max(days, 0.0) / half_life)


def next_price(price: float, lowest: float | None, *, weight: float = 0.1) -> float:
    """The next price, moved towards the lowest value bought in this round; None means that calls
    were left over, so the price was too high."""
    if lowest is None:
        return max(price * (1.0 - 2.0 * weight), _MIN_PRICE)
    return price * (max(lowest, _MIN_PRICE) / price) ** weight


def is_outdated(price_then: float, price_now: float) -> bool:
    """Whether a due time computed at an earlier price may be far too late now."""
    return price_then > OUTDATED_PRICE_FACTOR * price_now

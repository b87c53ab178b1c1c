"""Random worlds: everything that can differ between worlds does."""

from __future__ import annotations

import math

import numpy as np

from bench.rotation.world import Scenario

CAPS = (10, 20, 25, 50, 100, 200)


def random_scenario(seed: int) -> Scenario:
    """A random world; the same for the same seed."""
    rng = np.random.default_rng(900 + seed)

    def even(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    def scaled(low: float, high: float) -> float:
        return math.exp(even(math.log(low), math.log(high)))

    limited = rng.random() < 0.5
    return Scenario(
        days=int(rng.integers(25, 50)),
        tick_minutes=int(rng.choice([24, 30, 48, 60])),
        calls=int(scaled(200, 4_000)),
        boards=int(scaled(300, 8_000)),
        slices=int(scaled(10, 600)),
        board_rate=scaled(0.05, 0.8),
        board_spread=even(0.8, 2.0),
        slice_rate=scaled(2, 40),
        slice_spread=even(0.8, 1.8),
        closing=1 / scaled(7, 45),
        caps=tuple(int(cap) for cap in rng.choice(CAPS, 3)),
        capped_boards=even(0, 0.3),
        shared=even(0, 0.7),
        copied=even(0, 0.8),
        weekend=even(0.1, 1),
        night=even(0.1, 1),
        dead=even(0, 0.25),
        dying=even(0, 0.004) + 1e-6,
        outages=scaled(0.01, 0.3),
        outage_hours=scaled(1, 12),
        throttles=scaled(0.01, 0.5),
        errors=even(0, 0.05),
        undated=even(0, 1),
        drift=scaled(0.0005, 0.02),
        per_hour=int(scaled(20, 300)) if limited else None,
        per_day=int(scaled(200, 3_000)) if limited else None,
    )

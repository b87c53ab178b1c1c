"""Figures of the rotation for /metrics."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_single

from . import platform_state
from .policies.eligibility import UNLIMITED


@dataclass(frozen=True, slots=True)
class TargetCount:
    platform: str
    status: str
    targets: int


@dataclass(frozen=True, slots=True)
class RecentCalls:
    """The calls of a platform in the last 24 hours, in whole hours."""

    platform: str
    calls: int
    new: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Pace:
    price: float
    balance: float
    run_seconds: float | None


@dataclass(frozen=True, slots=True)
class RotationMetrics:
    targets: Sequence[TargetCount]
    calls: Sequence[RecentCalls]
    calls_left: Mapping[str, int]
    """Of platforms with a limit, and 0 for those that accept no calls now."""
    price: float
    allowance: float
    run_seconds: float | None
    """Seconds since the last run that chose something."""


async def read_metrics(tx: Tx, at: dt.datetime, environ: Mapping[str, str]) -> RotationMetrics:
    targets = await fetch_all(
        tx,
        TargetCount,
        """
        SELECT platform,
               CASE WHEN status = 'active' AND NOT enabled THEN 'disabled'
                    ELSE status::text END AS status,
               count(*)::int AS targets
          FROM rotation.target GROUP BY 1, 2 ORDER BY 1, 2
        """,
    )
    calls = await fetch_all(
        tx,
        RecentCalls,
        """
        SELECT platform, sum(calls)::int AS calls, sum(new)::int AS new, sum(failed)::int AS failed
          FROM rotation.hourly_calls WHERE began_at > %s - interval '24 hours'
         GROUP BY platform ORDER BY platform
        """,
        [at],
    )
    allowance = await fetch_single(
        tx,
        _Pace,
        """
        SELECT price, balance,
               (SELECT extract(epoch FROM %s - max(started_at))::float8 FROM rotation.run)
                   AS run_seconds
          FROM rotation.call_allowance
        """,
        [at],
    )
    capacity = await platform_state.remaining_calls(tx, at, environ)
    left = {name: calls for name, calls in capacity.remaining.items() if calls < UNLIMITED}
    calls_left = left | dict.fromkeys(capacity.unavailable, 0)
    return RotationMetrics(
        targets, calls, calls_left, allowance.price, allowance.balance, allowance.run_seconds
    )

"""Figures of the hiring side for /metrics, from counters and small indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.queue import ticks


@dataclass(frozen=True, slots=True)
class OpeningCounts:
    status: str
    openings: int
    occupied: int
    waiting: int
    in_review: int


@dataclass(frozen=True, slots=True)
class _Backlog:
    pending_offers: int
    overdue_seconds: float
    waiting_notices: int


@dataclass(frozen=True, slots=True)
class HiringMetrics:
    openings: Sequence[OpeningCounts]
    pending_offers: int
    overdue_seconds: float
    """How long the oldest expired offer has waited to be taken back; 0 if there is none."""
    waiting_notices: int
    deadline_seconds: float | None
    """Seconds since a worker completed a check of the deadlines."""


async def read_metrics(tx: Tx) -> HiringMetrics:
    openings = await fetch_all(
        tx,
        OpeningCounts,
        """
        SELECT status::text, count(opening.id)::int AS openings,
               coalesce(sum(occupied), 0)::int AS occupied,
               coalesce(sum(waiting), 0)::int AS waiting,
               coalesce(sum(in_review), 0)::int AS in_review
          FROM unnest(enum_range(NULL::hiring.opening_status)) AS status
          LEFT JOIN (SELECT * FROM hiring.opening WHERE parent_id IS NULL) AS opening USING (status)
         GROUP BY status ORDER BY status
        """,
    )
    backlog = await fetch_one(
        tx,
        _Backlog,
        """
        SELECT count(*)::int AS pending_offers,
               greatest(extract(epoch FROM now() - min(acknowledge_deadline)), 0)::float8
                   AS overdue_seconds,
               (SELECT count(*)::int FROM hiring.notice WHERE state = 'waiting') AS waiting_notices
          FROM hiring.application WHERE status = 'PENDING_ACKNOWLEDGMENT'
        """,
    )
    assert backlog is not None
    return HiringMetrics(
        openings,
        backlog.pending_offers,
        backlog.overdue_seconds,
        backlog.waiting_notices,
        await ticks.seconds_since_tick(tx, "deadlines"),
    )

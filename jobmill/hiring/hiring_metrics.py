"""Figures of the hiring side for /metrics, from counters and small indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.queue import ticks


@dataclass(frozen=True, slots=True)
class OpeningsByStatus:
    status: str
    openings: int
    occupied: int
    waiting: int
    in_review: int


@dataclass(frozen=True, slots=True)
class HiringMetrics:
    openings: Sequence[OpeningsByStatus]
    pending_offers: int
    overdue_seconds: float
    """How long the oldest expired offer has waited to be taken back; 0 if there is none."""
    waiting_notices: int
    deadline_seconds: float | None
    """Seconds since a worker completed a check of the deadlines."""


async def read_metrics(tx: Tx) -> HiringMetrics:
    openings = await fetch_all(
        tx,
        OpeningsByStatus,
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
    cursor = await tx.execute(
        """
        SELECT count(*)::int,
               greatest(extract(epoch FROM now() - min(acknowledge_deadline)), 0)::float8,
               (SELECT count(*)::int FROM hiring.notice WHERE state = 'waiting')
          FROM hiring.application WHERE status = 'PENDING_ACKNOWLEDGMENT'
        """
    )
    [(pending_offers, overdue_seconds, waiting_notices)] = await cursor.fetchall()
    return HiringMetrics(
        openings,
        pending_offers,
        overdue_seconds,
        waiting_notices,
        await ticks.seconds_since_tick(tx, "deadlines"),
    )

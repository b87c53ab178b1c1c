"""How a person's applications go: per week, replies, and time in each status."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import LiteralString

from jobmill.db import Tx, fetch_all, fetch_single
from jobmill.matching.matches import Status

WEEKS = 12
MAX_PER_STATUS = 200
"""The newest applications of each status that the statistics count."""
_NEWEST: LiteralString = """
    unnest(%(statuses)s::matching.match_status[]) AS counted (status),
    LATERAL (SELECT * FROM matching.match
              WHERE profile_id = %(profile)s AND match.status = counted.status AND dropped_at IS NULL
              ORDER BY created_at DESC, id DESC LIMIT %(limit)s) AS match
"""


@dataclass(frozen=True, slots=True)
class WeekCount:
    week: dt.date
    """Its Monday."""
    count: int


@dataclass(frozen=True, slots=True)
class ReplyCount:
    applied: int
    """Applications that were sent."""
    replied: int
    """Of these, how many are interviewing, have an offer or were rejected."""

    @property
    def percent(self) -> int | None:
        return round(100 * self.replied / self.applied) if self.applied else None


@dataclass(frozen=True, slots=True)
class StatusDuration:
    name: str
    median_days: float
    count: int
    """How many stays in this status, including those that go on."""


@dataclass(frozen=True, slots=True)
class ApplicationStatistics:
    weeks: list[WeekCount]
    replies: ReplyCount
    durations: list[StatusDuration]


async def read_statistics(tx: Tx, profile_id: int) -> ApplicationStatistics:
    return ApplicationStatistics(
        await _count_by_week(tx, profile_id),
        await _count_replies(tx, profile_id),
        await _measure_durations(tx, profile_id),
    )


def _parameters(profile_id: int, *statuses: Status) -> dict[str, object]:
    return {"profile": profile_id, "statuses": list(statuses), "limit": MAX_PER_STATUS}


async def _count_by_week(tx: Tx, profile_id: int) -> list[WeekCount]:
    """The day of an application is the one that the person entered, else when its status first was
    applied."""
    return await fetch_all(
        tx,
        WeekCount,
        f"""
        WITH sent AS (
            SELECT coalesce(applied_on, (SELECT min(at)::date FROM matching.event
                                          WHERE event.match_id = match.id AND type = 'status'
                                            AND data->>'after' = 'applied')) AS day
              FROM {_NEWEST} LEFT JOIN matching.application ON match_id = match.id
        )
        SELECT week::date, count(day)::int AS count
          FROM generate_series(date_trunc('week', current_date) - %(weeks)s * interval '7 days',
                               date_trunc('week', current_date), '7 days') AS week
          LEFT JOIN sent ON date_trunc('week', day) = week
         GROUP BY week ORDER BY week
        """,
        _parameters(profile_id, "applied", "interviewing", "offer", "rejected")
        | {"weeks": WEEKS - 1},
    )


async def _count_replies(tx: Tx, profile_id: int) -> ReplyCount:
    return await fetch_single(
        tx,
        ReplyCount,
        f"""
        SELECT count(*)::int AS applied,
               (count(*) FILTER (WHERE match.status <> 'applied'))::int AS replied
          FROM {_NEWEST}
         WHERE (match.status <> 'rejected'
                -- A job that was rejected before the person applied is no reply.
                OR (EXISTS (SELECT FROM matching.application
                                 WHERE match_id = match.id AND applied_on IS NOT NULL)
                        OR EXISTS (SELECT FROM matching.event
                                    WHERE match_id = match.id AND type = 'status'
                                      AND data->>'after' IN ('applied', 'interviewing', 'offer'))))
        """,
        _parameters(profile_id, "applied", "interviewing", "offer", "rejected"),
    )


async def _measure_durations(tx: Tx, profile_id: int) -> list[StatusDuration]:
    return await fetch_all(
        tx,
        StatusDuration,
        f"""
        WITH stay AS (
            SELECT data->>'after' AS status, data->>'custom_after' AS custom, at AS since,
                   lead(at, 1, now()) OVER (PARTITION BY match_id ORDER BY event.id) AS until
              FROM {_NEWEST} JOIN matching.event ON match_id = match.id
             WHERE type = 'status'
               AND (data->>'before', data->>'custom_before_id')
                   IS DISTINCT FROM (data->>'after', data->>'custom_after_id')
        )
        SELECT coalesce(custom, initcap(status)) AS name, count(*)::int AS count,
               (percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM until - since))
                / 86400)::float8 AS median_days
          FROM stay WHERE status NOT IN ('new', 'dismissed') AND until >= since
         GROUP BY custom, status ORDER BY min(array_position(
               ARRAY['saved', 'applied', 'interviewing', 'offer', 'rejected'], status)), custom NULLS FIRST
        """,
        _parameters(profile_id, "saved", "applied", "interviewing", "offer", "rejected"),
    )

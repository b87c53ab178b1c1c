"""The first applicants of a replayed opening, without replaying a long waitlist."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.audit_log import replay
from jobmill.hiring.audit_log.replay import ReplayedApplication


@dataclass(frozen=True, slots=True)
class ReplayPreview:
    """How many applicants had a slot and waited, and the first of each."""

    active_count: int
    waiting_count: int
    active: list[ReplayedApplication]
    waiting: list[ReplayedApplication]
    in_review_count: int
    in_review: list[ReplayedApplication]


async def preview_at(
    tx: Tx, opening_id: int, seq: int, at: dt.datetime, *, limit: int
) -> ReplayPreview:
    """What `replay.replay_at` returns for an instant after an event, cut to `limit` applicants per list."""
    waiting = await replay.count_waiting_at(tx, opening_id, seq)
    if waiting is not None:
        preview = await _preview(
            tx, opening_id, seq, at, limit, waiting, reach=replay.HEAD_SEARCH_RANGE
        )
        listed = sum(application.position is not None for application in preview.waiting)
        if listed == min(limit, waiting):
            return preview
    return await _preview(tx, opening_id, seq, at, limit, waiting, reach=replay.MAX_QUEUE_KEY)


async def _preview(
    tx: Tx, opening_id: int, seq: int, at: dt.datetime, limit: int, waiting: int | None, reach: int
) -> ReplayPreview:
    """All applicants with a slot, and those that waited within `reach` queue keys of the head."""
    start = await replay.find_waitlist_head(tx, opening_id, seq)
    cursor = await tx.execute(
        """
        WITH every_last AS MATERIALIZED (
            SELECT DISTINCT ON (application_id) application_id, to_status, queue_key, deadline,
                   coalesce((metadata->>'confirmBy')::timestamptz <= %(at)s, false) AS unconfirmed
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND application_id IS NOT NULL
               AND (from_status IS NOT NULL OR queue_key IS NULL
                    OR (queue_key <= %(end)s AND (queue_key > %(start)s OR seq > %(since)s)))
             ORDER BY application_id, seq DESC
        ), last AS (
            SELECT application_id, to_status, queue_key, deadline FROM every_last
             WHERE NOT unconfirmed
        ), active AS (
            SELECT *, NULL::bigint AS position, count(*) OVER () AS total FROM last
             WHERE to_status = 'ACTIVE' OR deadline > %(at)s
             ORDER BY application_id
             LIMIT %(limit)s
        ), queue AS (
            SELECT * FROM last WHERE to_status = 'WAITLIST' OR deadline <= %(at)s
        ), waiting AS (
            -- Applications that do not wait have no key and sort behind all others.
            SELECT *, CASE WHEN queue_key IS NOT NULL
                           THEN row_number() OVER (ORDER BY queue_key, deadline, application_id)
                       END AS position,
                   (SELECT coalesce(%(waiting)s - (SELECT count(queue_key) FROM every_last
                                                    WHERE unconfirmed), count(queue_key))
                           + count(*) FILTER (WHERE queue_key IS NULL) FROM queue) AS total
              FROM queue
             ORDER BY queue_key, deadline, application_id
             LIMIT %(limit)s
        ), undecided AS (
            SELECT *, NULL::bigint AS position, count(*) OVER () AS total FROM last
             WHERE to_status = 'IN_REVIEW'
             ORDER BY application_id
             LIMIT %(limit)s
        ), shown AS (
            SELECT 'active' AS part, * FROM active
            UNION ALL SELECT 'waiting', * FROM waiting
            UNION ALL SELECT 'in review', * FROM undecided
        )
        SELECT part, total, application_id, applicant_id, name, to_status, position, deadline,
               (SELECT count(*) FROM hiring.event
                 WHERE event.application_id = shown.application_id AND event.seq <= %(seq)s
                   AND type IN ('DECAY_TRIGGERED', 'LAPSED')) AS penalty_count,
               (SELECT metadata->>'toName' FROM hiring.event
                 WHERE event.application_id = shown.application_id AND event.seq <= %(seq)s
                   AND type = 'STAGE_CHANGED'
                 ORDER BY event.seq DESC LIMIT 1) AS stage
          FROM shown
          JOIN hiring.application ON application.id = shown.application_id
          JOIN hiring.applicant ON applicant.id = applicant_id
         ORDER BY part, shown.queue_key, shown.deadline, shown.application_id
        """,
        {
            "opening": opening_id,
            "seq": seq,
            "at": at,
            "limit": limit,
            "waiting": waiting,
            "start": start.key,
            "since": start.seq,
            "end": min(start.key + reach, replay.MAX_QUEUE_KEY),
        },
    )
    rows = await cursor.fetchall()
    totals = {row[0]: row[1] for row in rows}
    listed = {
        part: [ReplayedApplication._make(row[2:]) for row in rows if row[0] == part]
        for part in ("active", "waiting", "in review")
    }
    return ReplayPreview(
        totals.get("active", 0),
        totals.get("waiting", 0),
        sorted(listed["active"]),
        listed["waiting"],
        totals.get("in review", 0),
        sorted(listed["in review"]),
    )

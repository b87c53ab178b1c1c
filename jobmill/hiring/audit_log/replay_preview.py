"""Boards: openings, and the names of those in them, as the company's pages show them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.hiring.audit_log import replay
from jobmill.hiring.audit_log.replay import ReplayedApplication
from jobmill.hiring.records.openings import OpeningStatus


@dataclass(frozen=True, slots=True)
class OpeningCard:
    """An opening in a list; an offer whose time has run out takes no slot."""

    id: int
    title: str
    employer: str | None
    location: str | None
    remote: bool
    status: OpeningStatus
    capacity: int
    occupied: int
    waiting: int
    offers: int
    """Slots that are offered, and not confirmed yet."""
    next_deadline_at: dt.datetime | None
    """When the first of the offers ends."""
    now: dt.datetime


@dataclass(frozen=True, slots=True)
class ReplayPreview:
    """Who was in an opening and who waited, of each the first few."""

    active_count: int
    waiting_count: int
    active: list[ReplayedApplication]
    waiting: list[ReplayedApplication]


async def list_cards(
    tx: Tx, *, status: OpeningStatus | None = None, before: int | None = None, limit: int
) -> list[OpeningCard]:
    """Openings, newest first, from before `before` on."""
    return await fetch_all(
        tx,
        OpeningCard,
        """
        SELECT id, title, employer, location, remote, status, capacity,
               occupied - late AS occupied, waiting + late AS waiting, offers,
               ends_at AS next_deadline_at, now() AS now
          FROM (SELECT * FROM hiring.opening
                 WHERE (%(before)s::bigint IS NULL OR id < %(before)s)
                   AND (%(status)s::hiring.opening_status IS NULL OR status = %(status)s)
                 ORDER BY id DESC
                 LIMIT %(limit)s) AS opening
         CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE acknowledge_deadline > now()) AS offers,
                   count(*) FILTER (WHERE acknowledge_deadline <= now()) AS late,
                   min(acknowledge_deadline) FILTER (WHERE acknowledge_deadline > now()) AS ends_at
              FROM hiring.application
             WHERE opening_id = opening.id AND application.status = 'PENDING_ACKNOWLEDGMENT'
               -- Without a deadline there is no offer to look for.
               AND opening.next_deadline_at IS NOT NULL) AS pending
         ORDER BY id DESC
        """,
        {"status": status, "before": before, "limit": limit},
    )


async def find_names(tx: Tx, application_ids: Collection[int]) -> dict[int, str]:
    """What those who made these applications are called."""
    cursor = await tx.execute(
        """
        SELECT application.id, name
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.id = ANY (%s)
        """,
        [list(application_ids)],
    )
    return {id: name async for id, name in cursor}


async def preview_at(
    tx: Tx, opening_id: int, seq: int, at: dt.datetime, *, limit: int
) -> ReplayPreview:
    """What `replay.at` gives for an event and a moment after it, but no more of it than is shown."""
    waiting = await replay.count_waiting_at(tx, opening_id, seq)
    if waiting is not None:
        found = await _past(tx, opening_id, seq, at, limit, waiting, reach=replay.HEAD_SEARCH_RANGE)
        if sum(one.position is not None for one in found.waiting) == min(limit, waiting):
            return found
    return await _past(tx, opening_id, seq, at, limit, waiting, reach=replay.BEYOND_ANY)


async def _past(
    tx: Tx, opening_id: int, seq: int, at: dt.datetime, limit: int, waiting: int | None, reach: int
) -> ReplayPreview:
    """All who had a slot, and those within reach who waited."""
    start = await replay.find_waitlist_head(tx, opening_id, seq)
    cursor = await tx.execute(
        """
        WITH last AS MATERIALIZED (
            SELECT DISTINCT ON (application_id) application_id, to_status, queue_key, deadline
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND application_id IS NOT NULL
               AND (from_status IS NOT NULL OR queue_key IS NULL
                    OR (queue_key <= %(end)s AND (queue_key > %(start)s OR seq > %(since)s)))
             ORDER BY application_id, seq DESC
        ), active AS (
            SELECT *, NULL::bigint AS position, count(*) OVER () AS total FROM last
             WHERE to_status = 'ACTIVE' OR deadline > %(at)s
             ORDER BY application_id
             LIMIT %(limit)s
        ), queue AS (
            SELECT * FROM last WHERE to_status = 'WAITLIST' OR deadline <= %(at)s
        ), waiting AS (
            -- Who does not wait has no key, and stands behind all who have.
            SELECT *, CASE WHEN queue_key IS NOT NULL
                           THEN row_number() OVER (ORDER BY queue_key, deadline, application_id)
                       END AS position,
                   (SELECT coalesce(%(waiting)s, count(queue_key))
                           + count(*) FILTER (WHERE queue_key IS NULL) FROM queue) AS total
              FROM queue
             ORDER BY queue_key, deadline, application_id
             LIMIT %(limit)s
        ), shown AS (
            SELECT true AS has_slot, * FROM active UNION ALL SELECT false, * FROM waiting
        )
        SELECT has_slot, total, application_id, applicant_id, name, to_status, position, deadline,
               (SELECT count(*) FROM hiring.event
                 WHERE event.application_id = shown.application_id AND event.seq <= %(seq)s
                   AND type IN ('DECAY_TRIGGERED', 'LAPSED')) AS penalty_count
          FROM shown
          JOIN hiring.application ON application.id = shown.application_id
          JOIN hiring.applicant ON applicant.id = applicant_id
         ORDER BY has_slot, shown.queue_key, shown.deadline, shown.application_id
        """,
        {
            "opening": opening_id,
            "seq": seq,
            "at": at,
            "limit": limit,
            "waiting": waiting,
            "start": start.key,
            "since": start.seq,
            "end": min(start.key + reach, replay.BEYOND_ANY),
        },
    )
    found = await cursor.fetchall()
    active = [one for one in found if one[0]]
    queue = [one for one in found if not one[0]]
    return ReplayPreview(
        active[0][1] if active else 0,
        queue[0][1] if queue else 0,
        sorted(ReplayedApplication._make(one[2:]) for one in active),
        [ReplayedApplication._make(one[2:]) for one in queue],
    )

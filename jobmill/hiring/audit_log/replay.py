"""An opening as it was at any instant, computed from its audit log alone.

Events are stamped under the opening's lock, so their times grow with their numbers: a binary search finds
the event of an instant. An offer expires at its deadline, not at the event that takes it back, as for
readers of the live tables.

To read only the first applications of a long waitlist, the log need not be replayed from the start: the
last application that was offered a slot in turn stood before all others (`find_waitlist_head`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jobmill.db import Tx, fetch_one, fetch_or_raise, fetch_single, fetch_value
from jobmill.errors import Invalid, NotFound
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import OpeningStatus
from jobmill.hiring.transitions import ApplicationStatus

LATEST_SEQ = 2**62
"""As the event to replay up to: the last one, because every event number is smaller."""
MAX_QUEUE_KEY = 2**62
"""Greater than any queue key."""
LOOK_BACK_EVENTS = 10_000
"""How many events before an instant are searched for recorded counts."""
HEAD_SEARCH_RANGE = 1_000
"""How many queue keys behind the head of the waitlist are searched for its first applications."""


class EventNotFound(NotFound):
    def __init__(self, opening_id: int, seq: int) -> None:
        Exception.__init__(self, f"Job {opening_id} has no event {seq}")


class ReplayedApplication(NamedTuple):
    """An application with a slot or on the waitlist; a tuple, since there may be a million."""

    application_id: int
    applicant_id: int
    applicant_name: str
    status: ApplicationStatus
    position: int | None
    deadline: dt.datetime | None
    penalty_count: int
    stage: str | None = None
    """The name of the stage; None if the application was not moved."""


@dataclass(frozen=True, slots=True)
class OpeningReplay:
    opening_id: int
    as_of: dt.datetime
    seq: int
    """The last event so far; 0 before the opening existed."""
    status: OpeningStatus | None
    """None before the opening existed."""
    capacity: int
    occupied: int
    """Slots taken; an expired offer takes none."""
    active: list[ReplayedApplication]
    """By application id."""
    waiting: list[ReplayedApplication]
    """By position; applications with an expired offer come last, without a position."""
    in_review: list[ReplayedApplication] = field(default_factory=list[ReplayedApplication])
    """By application id."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    seq: int
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class OpeningState:
    """The opening itself, without its applications."""

    status: OpeningStatus | None
    capacity: int


@dataclass(frozen=True, slots=True)
class ReplayedCounts:
    """The counters of the opening; an expired offer keeps its slot until it is taken back."""

    occupied: int
    waiting: int
    in_review: int
    next_deadline_at: dt.datetime | None
    max_key: int


@dataclass(frozen=True, slots=True)
class ApplicationsAhead:
    """The applications that waited before a queue key."""

    count: int
    first: Sequence[int]
    """The ids of the first few applications."""


NONE_AHEAD = ApplicationsAhead(0, ())


@dataclass(frozen=True, slots=True)
class WaitlistHead:
    """Right after the event `seq`, all waiting applications had a queue key greater than `key`."""

    seq: int
    key: int


UNKNOWN_HEAD = WaitlistHead(0, 0)


async def replay_at(
    tx: Tx, opening_id: int, *, as_of: dt.datetime | None = None, seq: int | None = None
) -> OpeningReplay:
    """The opening at an instant, or right after an event; by default, or for a future instant, now.

    Raises OpeningNotFound and EventNotFound.
    """
    if as_of is not None and seq is not None:
        raise Invalid("Give a time or an event, not both.")
    await openings.get(tx, opening_id)
    if seq is None:
        position = await find_position(tx, opening_id, as_of)
    else:
        position = await _position_after(tx, opening_id, seq)
    state = await state_at(tx, opening_id, position.seq)
    listed = list(await _list_applications(tx, opening_id, position))
    in_review = [application for application in listed if application.status == "IN_REVIEW"]
    active, waiting = split_by_slot(listed, position.at)
    return OpeningReplay(
        opening_id,
        position.at,
        position.seq,
        state.status,
        state.capacity,
        len(active),
        active,
        waiting,
        in_review,
    )


def split_by_slot(
    applications: Iterable[ReplayedApplication], at: dt.datetime
) -> tuple[list[ReplayedApplication], list[ReplayedApplication]]:
    """Applications with a slot, and those that wait for one; both keep their order."""
    active: list[ReplayedApplication] = []
    waiting: list[ReplayedApplication] = []
    expired: list[tuple[dt.datetime, int, ReplayedApplication]] = []
    for application in applications:
        if application.status == "WAITLIST":
            waiting.append(application)
        elif application.deadline is not None and application.deadline <= at:
            expired.append((application.deadline, application.application_id, application))
        elif application.status != "IN_REVIEW":
            active.append(application)
    return active, waiting + [application for _, _, application in sorted(expired)]


async def find_position(tx: Tx, opening_id: int, as_of: dt.datetime | None) -> LogPosition:
    """The last event up to an instant, or up to now; a binary search over the primary key."""
    return await fetch_single(
        tx,
        LogPosition,
        """
        WITH RECURSIVE instant AS MATERIALIZED (
            SELECT least(%(as_of)s::timestamptz, greatest(clock_timestamp(), last_event_at)) AS at
              FROM hiring.opening WHERE id = %(opening)s
        ), search (low, high) AS (
            SELECT 0::bigint, coalesce(max(seq), 0) FROM hiring.event WHERE opening_id = %(opening)s
            UNION ALL
            SELECT CASE WHEN early THEN middle ELSE low END,
                   CASE WHEN early THEN high ELSE middle - 1 END
              FROM search
             CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS half
             CROSS JOIN LATERAL (
                SELECT created_at <= (SELECT at FROM instant) AS early FROM hiring.event
                 WHERE opening_id = %(opening)s AND seq >= middle
                 ORDER BY seq LIMIT 1) AS event
             WHERE low < high
        )
        SELECT low AS seq, at FROM search CROSS JOIN instant WHERE low = high
        """,
        {"opening": opening_id, "as_of": as_of},
    )


async def _position_after(tx: Tx, opening_id: int, seq: int) -> LogPosition:
    return await fetch_or_raise(
        tx,
        LogPosition,
        "SELECT seq, created_at AS at FROM hiring.event WHERE opening_id = %s AND seq = %s",
        [opening_id, seq],
        EventNotFound(opening_id, seq),
    )


async def state_at(tx: Tx, opening_id: int, seq: int) -> OpeningState:
    """The opening's status and capacity after an event: for each, the last event that tells it."""
    # Most events imply the status: only an open opening takes applications or offers slots in turn.
    return await fetch_single(
        tx,
        OpeningState,
        """
        SELECT (SELECT CASE type WHEN 'PAUSED' THEN 'paused' WHEN 'CLOSED' THEN 'closed'
                                 ELSE 'open' END
                  FROM hiring.event
                 WHERE opening_id = %(opening)s AND seq <= %(seq)s
                   AND (type IN ('APPLIED', 'OPENED', 'PAUSED', 'RESUMED', 'CLOSED', 'REOPENED')
                        OR why->>'rule' = 'next in line')
                 ORDER BY seq DESC LIMIT 1) AS status,
               coalesce(
                   (SELECT coalesce(why->'capacity', metadata->'to', metadata->'capacity')::int
                      FROM hiring.event
                     WHERE opening_id = %(opening)s AND seq <= %(seq)s
                       AND (type IN ('OPENED', 'CAPACITY_CHANGED') OR why ? 'capacity')
                     ORDER BY seq DESC LIMIT 1), 0) AS capacity
        """,
        {"opening": opening_id, "seq": seq},
    )


async def find_waitlist_head(tx: Tx, opening_id: int, seq: int) -> WaitlistHead:
    """Where the waitlist began, by the last slot offered in turn; UNKNOWN_HEAD if that is too long ago."""
    head = await fetch_one(
        tx,
        WaitlistHead,
        """
        SELECT seq, (SELECT queue_key FROM hiring.event AS place
                      WHERE place.application_id = offer.application_id AND place.seq < offer.seq
                      ORDER BY place.seq DESC LIMIT 1) AS key
          FROM hiring.event AS offer
         WHERE opening_id = %(opening)s AND seq <= %(seq)s AND seq > %(seq)s - %(near)s
           AND type = 'PROMOTED' AND why->>'rule' = 'next in line'
         ORDER BY seq DESC
         LIMIT 1
        """,
        {"opening": opening_id, "seq": seq, "near": LOOK_BACK_EVENTS},
    )
    return head or UNKNOWN_HEAD


async def count_waiting_at(tx: Tx, opening_id: int, seq: int) -> int | None:
    """How many applications waited right after an event; None if no recent event recorded a count.

    Starts from the last recorded count and adds the changes since.
    """
    return await fetch_value(
        tx,
        int,
        """
        WITH recorded AS MATERIALIZED (
            SELECT seq, (why->'waiting')::bigint AS waiting FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND seq > %(seq)s - %(near)s
               AND why ? 'waiting'
             ORDER BY seq DESC
             LIMIT 1
        )
        SELECT (SELECT waiting FROM recorded) + count(*) FILTER (WHERE to_status = 'WAITLIST')
                                           - count(*) FILTER (WHERE from_status = 'WAITLIST')
          FROM hiring.event
         WHERE opening_id = %(opening)s AND seq BETWEEN (SELECT seq FROM recorded) AND %(seq)s
        """,
        {"opening": opening_id, "seq": seq, "near": LOOK_BACK_EVENTS},
    )


async def counts_at(tx: Tx, opening_id: int, seq: int) -> ReplayedCounts:
    """How many applications had a slot and how many waited right after an event."""
    return await fetch_single(
        tx,
        ReplayedCounts,
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) to_status, queue_key, deadline,
                   (metadata->>'confirmBy')::timestamptz AS confirm_by
              FROM hiring.event
             WHERE opening_id = %s AND seq <= %s AND application_id IS NOT NULL
             ORDER BY application_id, seq DESC
        )
        SELECT count(*) FILTER (WHERE to_status IN ('ACTIVE', 'PENDING_ACKNOWLEDGMENT')) AS occupied,
               count(queue_key) AS waiting,
               count(*) FILTER (WHERE to_status = 'IN_REVIEW') AS in_review, least(min(deadline), min(confirm_by)) AS next_deadline_at,
               coalesce(max(queue_key), 0) AS max_key
          FROM last
        """,
        [opening_id, seq],
    )


async def _list_applications(
    tx: Tx, opening_id: int, position: LogPosition
) -> Iterator[ReplayedApplication]:
    """All waiting applications by position, then those with a slot, by the last event of each."""
    cursor = await tx.execute(
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) application_id, to_status, queue_key, deadline,
                   (metadata->>'confirmBy')::timestamptz AS confirm_by
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND application_id IS NOT NULL
             ORDER BY application_id, seq DESC
        ), missed AS (
            SELECT application_id, count(*) AS offers FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s
               AND type IN ('DECAY_TRIGGERED', 'LAPSED')
             GROUP BY application_id
        ), staged AS (
            SELECT DISTINCT ON (application_id) application_id, metadata->>'toName' AS stage
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND type = 'STAGE_CHANGED'
             ORDER BY application_id, seq DESC
        )
        SELECT last.application_id, applicant_id, name AS applicant_name, to_status AS status,
               -- Applications that do not wait have no key and sort behind all others.
               CASE WHEN last.queue_key IS NOT NULL
                    THEN row_number() OVER (ORDER BY last.queue_key, last.application_id)
                END AS position,
               deadline, coalesce(offers, 0) AS penalty_count, staged.stage
          FROM last
          JOIN hiring.application ON application.id = last.application_id
          JOIN hiring.applicant ON applicant.id = applicant_id
          LEFT JOIN missed ON missed.application_id = last.application_id
          LEFT JOIN staged ON staged.application_id = last.application_id
         WHERE to_status <> 'INACTIVE'
           -- The clock ends an unconfirmed application; its event is written a little later.
           AND (last.confirm_by IS NULL OR last.confirm_by > %(at)s)
         ORDER BY last.queue_key, last.application_id
        """,
        {"opening": opening_id, "seq": position.seq, "at": position.at},
    )
    return map(ReplayedApplication._make, await cursor.fetchall())


async def find_ahead(
    tx: Tx, opening_id: int, seq: int, key: int, *, few: int = 3
) -> ApplicationsAhead:
    """The applications that waited before a queue key right after an event, in order."""
    waiting = await count_waiting_at(tx, opening_id, seq)
    if waiting is not None:
        ahead = await _find_ahead(tx, opening_id, seq, key, few, waiting, reach=HEAD_SEARCH_RANGE)
        if len(ahead.first) == min(few, ahead.count):
            return ahead
    return await _find_ahead(tx, opening_id, seq, key, few, waiting, reach=MAX_QUEUE_KEY)


async def _find_ahead(
    tx: Tx, opening_id: int, seq: int, key: int, few: int, waiting: int | None, reach: int
) -> ApplicationsAhead:
    """The first few applications within `reach` of the head of the waitlist.

    If `waiting` is known, their number follows from how many wait behind the key.
    """
    start = await find_waitlist_head(tx, opening_id, seq)
    return await fetch_single(
        tx,
        ApplicationsAhead,
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) application_id, queue_key
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND application_id IS NOT NULL
               AND (from_status IS NOT NULL OR queue_key >= %(key)s
                    OR (queue_key <= %(end)s AND (queue_key > %(start)s OR seq > %(since)s)))
             ORDER BY application_id, seq DESC
        ), queue AS MATERIALIZED (
            SELECT application_id, queue_key FROM last WHERE queue_key IS NOT NULL
        )
        SELECT CASE WHEN %(waiting)s::bigint IS NULL
                    THEN (SELECT count(*) FROM queue WHERE queue_key < %(key)s)
                    ELSE %(waiting)s - (SELECT count(*) FROM queue WHERE queue_key >= %(key)s)
                END AS count,
               ARRAY(SELECT application_id FROM queue WHERE queue_key < %(key)s
                      ORDER BY queue_key LIMIT %(few)s) AS first
        """,
        {
            "opening": opening_id,
            "seq": seq,
            "key": key,
            "few": few,
            "waiting": waiting,
            "start": start.key,
            "since": start.seq,
            "end": min(start.key + reach, MAX_QUEUE_KEY),
        },
    )

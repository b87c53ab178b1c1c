"""Replay: an opening as a reader saw it at any moment, from its log alone.

The log is stamped under the opening's lock, so its times grow with its numbers: a moment is a number,
found by halving. An offer that nobody answered ends by the clock and not by its event, as for readers
of the live tables.

Who wants only the first few of a long waitlist need not fold the whole log: who was last offered a slot
in turn stood before all others, so that only those who came behind them count (`head`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.errors import Invalid, NotFound
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import OpeningStatus
from jobmill.hiring.transitions import Status

BEYOND_ANY = 2**62
"""Beyond any event, and any place on a waitlist."""
LOOK_BACK_EVENTS = 10_000
"""Events before a moment that are looked at for what they noted."""
HEAD_SEARCH_RANGE = 1_000
"""Places behind the head of a waitlist among which the first few are looked for."""


class EventNotFound(NotFound):
    def __init__(self, opening_id: int, seq: int) -> None:
        Exception.__init__(self, f"Job {opening_id} has no event {seq}")


class ReplayedApplication(NamedTuple):
    """One who was in an opening, or waited for it; a tuple, since there may be a million."""

    application_id: int
    applicant_id: int
    applicant_name: str
    status: Status
    position: int | None
    deadline: dt.datetime | None
    penalty_count: int


@dataclass(frozen=True, slots=True)
class OpeningReplay:
    opening_id: int
    as_of: dt.datetime
    seq: int
    """The last event that had happened; 0 before the opening was there."""
    status: OpeningStatus | None
    """None before the opening was there."""
    capacity: int
    occupied: int
    """Slots taken: an offer whose time has run out takes none."""
    active: list[ReplayedApplication]
    """By application."""
    waiting: list[ReplayedApplication]
    """By position; behind them, without one, those whose offer has run out."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    seq: int
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class OpeningState:
    """What the log says of the opening itself."""

    status: OpeningStatus | None
    capacity: int


@dataclass(frozen=True, slots=True)
class ReplayedCounts:
    """What the opening counts: offers that are not taken back yet take their slot."""

    occupied: int
    waiting: int
    next_deadline_at: dt.datetime | None
    top_key: int


@dataclass(frozen=True, slots=True)
class ApplicationsAhead:
    """Who waited before a place, at some moment."""

    count: int
    first: Sequence[int]
    """The applications of the first few."""


NONE_AHEAD = ApplicationsAhead(0, ())


@dataclass(frozen=True, slots=True)
class WaitlistHead:
    """Right after the event `seq`, all who waited stood behind the place `key`."""

    seq: int
    key: int


UNKNOWN_HEAD = WaitlistHead(0, 0)


async def replay_at(
    tx: Tx, opening_id: int, *, as_of: dt.datetime | None = None, seq: int | None = None
) -> OpeningReplay:
    """The opening at an instant, or right after an event; now where neither is given or it is to come.

    NoOpening and NoEvent where there is no such.
    """
    if as_of is not None and seq is not None:
        raise Invalid("Name a time or an event, not both.")
    await openings.get(tx, opening_id)
    if seq is None:
        moment = await find_position(tx, opening_id, as_of)
    else:
        moment = await _after(tx, opening_id, seq)
    frame = await state_at(tx, opening_id, moment.seq)
    active, waiting = split_by_slot(await _entries(tx, opening_id, moment.seq), moment.at)
    return OpeningReplay(
        opening_id,
        moment.at,
        moment.seq,
        frame.status,
        frame.capacity,
        len(active),
        active,
        waiting,
    )


def split_by_slot(
    entries: Iterable[ReplayedApplication], at: dt.datetime
) -> tuple[list[ReplayedApplication], list[ReplayedApplication]]:
    """Those who take a slot, and those who wait for one; both keep their order."""
    active: list[ReplayedApplication] = []
    waiting: list[ReplayedApplication] = []
    late: list[tuple[dt.datetime, int, ReplayedApplication]] = []
    for one in entries:
        if one.status == "WAITLIST":
            waiting.append(one)
        elif one.deadline is not None and one.deadline <= at:
            late.append((one.deadline, one.application_id, one))
        else:
            active.append(one)
    return active, waiting + [one for _, _, one in sorted(late)]


async def find_position(tx: Tx, opening_id: int, as_of: dt.datetime | None) -> LogPosition:
    """The last event that had happened by then, or by now: by halving, over the primary key."""
    found = await fetch_one(
        tx,
        LogPosition,
        """
        WITH RECURSIVE asked AS MATERIALIZED (
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
                SELECT created_at <= (SELECT at FROM asked) AS early FROM hiring.event
                 WHERE opening_id = %(opening)s AND seq >= middle
                 ORDER BY seq LIMIT 1) AS event
             WHERE low < high
        )
        SELECT low AS seq, at FROM search CROSS JOIN asked WHERE low = high
        """,
        {"opening": opening_id, "as_of": as_of},
    )
    assert found
    return found


async def _after(tx: Tx, opening_id: int, seq: int) -> LogPosition:
    found = await fetch_one(
        tx,
        LogPosition,
        "SELECT seq, created_at AS at FROM hiring.event WHERE opening_id = %s AND seq = %s",
        [opening_id, seq],
    )
    if found is None:
        raise EventNotFound(opening_id, seq)
    return found


async def state_at(tx: Tx, opening_id: int, seq: int) -> OpeningState:
    """The opening itself after an event: the last word on each is the one that counts."""
    # Most events tell it by the way: nobody applies, and nobody is next, where it is not open.
    found = await fetch_one(
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
    assert found
    return found


async def find_waitlist_head(tx: Tx, opening_id: int, seq: int) -> WaitlistHead:
    """Where the waitlist began, by who was last offered a slot in turn; NOWHERE if that is long ago."""
    found = await fetch_one(
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
    return found or UNKNOWN_HEAD


async def count_waiting_at(tx: Tx, opening_id: int, seq: int) -> int | None:
    """How many waited right after an event, by what the last rule noted and what happened since;
    None where no rule near it did."""
    return await fetch_value(
        tx,
        int,
        """
        WITH noted AS MATERIALIZED (
            SELECT seq, (why->'waiting')::bigint AS waiting FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND seq > %(seq)s - %(near)s
               AND why ? 'waiting'
             ORDER BY seq DESC
             LIMIT 1
        )
        SELECT (SELECT waiting FROM noted) + count(*) FILTER (WHERE to_status = 'WAITLIST')
                                           - count(*) FILTER (WHERE from_status = 'WAITLIST')
          FROM hiring.event
         WHERE opening_id = %(opening)s AND seq BETWEEN (SELECT seq FROM noted) AND %(seq)s
        """,
        {"opening": opening_id, "seq": seq, "near": LOOK_BACK_EVENTS},
    )


async def counts_at(tx: Tx, opening_id: int, seq: int) -> ReplayedCounts:
    """How many were in it, and how many waited, right after an event."""
    found = await fetch_one(
        tx,
        ReplayedCounts,
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) to_status, queue_key, deadline
              FROM hiring.event
             WHERE opening_id = %s AND seq <= %s AND application_id IS NOT NULL
             ORDER BY application_id, seq DESC
        )
        SELECT count(*) FILTER (WHERE to_status IN ('ACTIVE', 'PENDING_ACKNOWLEDGMENT')) AS occupied,
               count(queue_key) AS waiting, min(deadline) AS next_deadline_at,
               coalesce(max(queue_key), 0) AS top_key
          FROM last
        """,
        [opening_id, seq],
    )
    assert found
    return found


async def _entries(tx: Tx, opening_id: int, seq: int) -> Iterator[ReplayedApplication]:
    """All who waited, by position, then those who were in it: the last event of each says how."""
    cursor = await tx.execute(
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) application_id, to_status, queue_key, deadline
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s AND application_id IS NOT NULL
             ORDER BY application_id, seq DESC
        ), missed AS (
            SELECT application_id, count(*) AS offers FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s
               AND type IN ('DECAY_TRIGGERED', 'LAPSED')
             GROUP BY application_id
        )
        SELECT last.application_id, applicant_id, name AS applicant_name, to_status AS status,
               -- Who does not wait has no key, and stands behind all who have.
               CASE WHEN last.queue_key IS NOT NULL
                    THEN row_number() OVER (ORDER BY last.queue_key, last.application_id)
                END AS position,
               deadline, coalesce(offers, 0) AS penalty_count
          FROM last
          JOIN hiring.application ON application.id = last.application_id
          JOIN hiring.applicant ON applicant.id = applicant_id
          LEFT JOIN missed ON missed.application_id = last.application_id
         WHERE to_status <> 'INACTIVE'
         ORDER BY last.queue_key, last.application_id
        """,
        {"opening": opening_id, "seq": seq},
    )
    return map(ReplayedApplication._make, await cursor.fetchall())


async def find_ahead(
    tx: Tx, opening_id: int, seq: int, key: int, *, few: int = 3
) -> ApplicationsAhead:
    """Who waited before a place right after an event, the next one first."""
    waiting = await count_waiting_at(tx, opening_id, seq)
    if waiting is not None:
        found = await _before(tx, opening_id, seq, key, few, waiting, reach=HEAD_SEARCH_RANGE)
        if len(found.first) == min(few, found.count):
            return found
    return await _before(tx, opening_id, seq, key, few, waiting, reach=BEYOND_ANY)


async def _before(
    tx: Tx, opening_id: int, seq: int, key: int, few: int, waiting: int | None, reach: int
) -> ApplicationsAhead:
    """The first few among those within reach; their number by that of those who stand behind, if it
    is known how many wait."""
    start = await find_waitlist_head(tx, opening_id, seq)
    found = await fetch_one(
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
            "end": min(start.key + reach, BEYOND_ANY),
        },
    )
    assert found
    return found

"""Openings: what we offer, and how many may have it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NewType

from psycopg import AsyncCursor
from psycopg.rows import class_row

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import NotFound

OpeningId = NewType("OpeningId", int)
OpeningStatus = Literal["open", "paused", "closed"]

DEFAULT_ACKNOWLEDGE_WINDOW = dt.timedelta(minutes=5)
DEFAULT_MAX_MISSED = 3


class OpeningNotFound(NotFound):
    def __init__(self, id: object) -> None:
        # The words of the public contract, where an opening is called a job.
        Exception.__init__(self, f"Job with id {id} not found")


@dataclass(frozen=True, slots=True)
class OpeningTerms:
    """What the company sets; it may change at any time."""

    title: str
    description: str | None = None
    employer: str | None = None
    location: str | None = None
    remote: bool = False
    require_acknowledgement: bool = False
    """Whether who takes a free slot must confirm it, like who is promoted."""
    acknowledge_window: dt.timedelta = DEFAULT_ACKNOWLEDGE_WINDOW
    max_missed: int = DEFAULT_MAX_MISSED
    """Offers that may end unanswered before the application lapses."""
    waitlist_limit: int | None = None
    apply_until: dt.datetime | None = None
    keep_days: int | None = None
    """Days after which the data of those who are no longer in it are erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(OpeningTerms):
    id: OpeningId
    status: OpeningStatus
    capacity: int
    created_at: dt.datetime
    occupied: int
    waiting: int
    excess: int
    next_key: int
    top_key: int
    next_deadline_at: dt.datetime | None
    last_seq: int
    last_hash: bytes
    last_event_at: dt.datetime
    now: dt.datetime = field(compare=False)
    """The database's clock when this was read; under the lock, never before the last event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedOpeningRow(Opening):
    """What one statement can bring along."""

    ids: list[int]
    """Numbers for applications to come, so that their events can be sealed before they are written."""
    hooked: bool
    """Whether anybody wants to be called."""


async def insert(tx: Tx, terms: OpeningTerms, capacity: int) -> OpeningId:
    """A row without any event: `desk` writes that."""
    found = await fetch_value(
        tx,
        int,
        """
        INSERT INTO hiring.opening
               (title, description, employer, location, remote, capacity, require_acknowledgement,
                acknowledge_window, max_missed, waitlist_limit, apply_until, keep_days,
                created_at, last_event_at)
        SELECT %(title)s, %(description)s, %(employer)s, %(location)s, %(remote)s, %(capacity)s,
               %(require_acknowledgement)s, %(acknowledge_window)s, %(max_missed)s,
               %(waitlist_limit)s, %(apply_until)s, %(keep_days)s, at, at
          FROM date_trunc('milliseconds', clock_timestamp()) AS at
        RETURNING id
        """,
        {**_columns(terms), "capacity": capacity},
    )
    assert found is not None
    return OpeningId(found)


async def update_terms(tx: Tx, id: OpeningId, terms: OpeningTerms) -> None:
    """Under the opening's lock."""
    await tx.execute(
        """
        UPDATE hiring.opening
           SET title = %(title)s, description = %(description)s, employer = %(employer)s,
               location = %(location)s, remote = %(remote)s,
               require_acknowledgement = %(require_acknowledgement)s,
               acknowledge_window = %(acknowledge_window)s, max_missed = %(max_missed)s,
               waitlist_limit = %(waitlist_limit)s, apply_until = %(apply_until)s,
               keep_days = %(keep_days)s
         WHERE id = %(id)s
        """,
        {**_columns(terms), "id": id},
    )


def _columns(terms: OpeningTerms) -> Mapping[str, Any]:
    return {name: getattr(terms, name) for name in OpeningTerms.__dataclass_fields__}


async def get(tx: Tx, id: int) -> Opening:
    """The opening as it is now; NoOpening where there is none."""
    found = await fetch_one(
        tx,
        Opening,
        """
        SELECT id, title, description, employer, location, remote, status, capacity,
               require_acknowledgement, acknowledge_window, max_missed, waitlist_limit, apply_until,
               keep_days, created_at, occupied, waiting, excess, next_key, top_key,
               next_deadline_at, last_seq, last_hash, last_event_at, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id = %s
        """,
        [id],
    )
    if found is None:
        raise OpeningNotFound(id)
    return found


async def request_lock(tx: Tx, id: int, newcomers: int = 0) -> AsyncCursor[LockedOpeningRow]:
    """Ask for the opening, to be ours until the transaction ends; its clock is read after the lock
    was given. Nothing is waited for here: `locked` does."""
    cursor = tx.cursor(row_factory=class_row(LockedOpeningRow))
    return await cursor.execute(
        """
        WITH locked AS MATERIALIZED (
            SELECT id, title, description, employer, location, remote, status, capacity,
                   require_acknowledgement, acknowledge_window, max_missed, waitlist_limit,
                   apply_until, keep_days, created_at, occupied, waiting, excess, next_key, top_key,
                   next_deadline_at, last_seq, last_hash, last_event_at
              FROM hiring.opening
             WHERE id = %(id)s
               FOR NO KEY UPDATE
        )
        SELECT locked.*,
               greatest(date_trunc('milliseconds', clock_timestamp()), last_event_at) AS now,
               ARRAY(SELECT nextval('hiring.application_id_seq')
                       FROM generate_series(1, %(newcomers)s)) AS ids,
               EXISTS (SELECT FROM hiring.webhook WHERE enabled) AS hooked
          FROM locked
        """,
        {"id": id, "newcomers": newcomers},
    )


async def fetch_locked(cursor: AsyncCursor[LockedOpeningRow], id: int) -> LockedOpeningRow:
    """What was asked for; NoOpening where there is none."""
    found = await cursor.fetchone()
    if found is None:
        raise OpeningNotFound(id)
    return found


async def list_openings(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int | None = None
) -> list[Opening]:
    """Openings, oldest first, from beyond `after` on."""
    return await fetch_all(
        tx,
        Opening,
        """
        SELECT id, title, description, employer, location, remote, status, capacity,
               require_acknowledgement, acknowledge_window, max_missed, waitlist_limit, apply_until,
               keep_days, created_at, occupied, waiting, excess, next_key, top_key,
               next_deadline_at, last_seq, last_hash, last_event_at, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id > %(after)s
           AND (%(status)s::hiring.opening_status IS NULL OR status = %(status)s)
         ORDER BY id
         LIMIT %(limit)s
        """,
        {"status": status, "after": after, "limit": limit},
    )


async def update_counters(tx: Tx, one: Opening) -> None:
    """Write what changes with every application; by `desk` alone."""
    await tx.execute(
        """
        UPDATE hiring.opening
           SET status = %(status)s, capacity = %(capacity)s, occupied = %(occupied)s,
               waiting = %(waiting)s, excess = %(excess)s, next_key = %(next_key)s,
               top_key = %(top_key)s, next_deadline_at = %(next_deadline_at)s,
               last_seq = %(last_seq)s, last_hash = %(last_hash)s,
               last_event_at = %(last_event_at)s
         WHERE id = %(id)s
        """,
        {
            "id": one.id,
            "status": one.status,
            "capacity": one.capacity,
            "occupied": one.occupied,
            "waiting": one.waiting,
            "excess": one.excess,
            "next_key": one.next_key,
            "top_key": one.top_key,
            "next_deadline_at": one.next_deadline_at,
            "last_seq": one.last_seq,
            "last_hash": one.last_hash,
            "last_event_at": one.last_event_at,
        },
    )

"""The opening table: its terms, its counters and the head of its audit log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, LiteralString, NewType

from psycopg import AsyncCursor
from psycopg.rows import class_row

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import NotFound

OpeningId = NewType("OpeningId", int)
OpeningStatus = Literal["open", "paused", "closed"]

DEFAULT_ACKNOWLEDGE_WINDOW = dt.timedelta(minutes=5)
DEFAULT_MAX_MISSED = 3

COLUMNS: LiteralString = """
               id, title, description, employer, location, remote, status, capacity,
               require_acknowledgement, acknowledge_window, max_missed, waitlist_limit, apply_until,
               keep_days, created_at, occupied, waiting, excess, next_key, top_key,
               next_deadline_at, last_seq, last_hash, last_event_at"""


class OpeningNotFound(NotFound):
    def __init__(self, id: object) -> None:
        # The public API calls an opening a job.
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
    """Whether a free slot taken at once must be confirmed, like an offer from the waitlist."""
    acknowledge_window: dt.timedelta = DEFAULT_ACKNOWLEDGE_WINDOW
    max_missed: int = DEFAULT_MAX_MISSED
    """Missed offers after which the application lapses."""
    waitlist_limit: int | None = None
    apply_until: dt.datetime | None = None
    keep_days: int | None = None
    """Days after the end of their applications until data of applicants are erased."""


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
    """The database's clock when the row was read; under the lock, never before the last event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedOpeningRow(Opening):
    """The opening as the locking statement returns it."""

    ids: list[int]
    """Ids reserved for new applications, so that their events can be hashed before the rows are written."""
    has_webhooks: bool
    """Whether any webhook is enabled."""


async def insert(tx: Tx, terms: OpeningTerms, capacity: int) -> OpeningId:
    """Insert the row; `LockedOpening` records the event."""
    opening_id = await fetch_value(
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
    assert opening_id is not None
    return OpeningId(opening_id)


async def update_terms(tx: Tx, id: OpeningId, terms: OpeningTerms) -> None:
    """Write the terms; the caller holds the opening's lock."""
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
    """The opening; raises OpeningNotFound."""
    opening = await fetch_one(
        tx,
        Opening,
        f"""
        SELECT {COLUMNS}, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id = %s
        """,
        [id],
    )
    if opening is None:
        raise OpeningNotFound(id)
    return opening


async def request_lock(tx: Tx, id: int, newcomers: int = 0) -> AsyncCursor[LockedOpeningRow]:
    """Send the statement that locks the opening until the transaction ends.

    The caller is in pipeline mode: `fetch_locked` waits for the result. The statement reads the clock
    after it got the lock.
    """
    cursor = tx.cursor(row_factory=class_row(LockedOpeningRow))
    return await cursor.execute(
        f"""
        WITH locked AS MATERIALIZED (
            SELECT {COLUMNS}
              FROM hiring.opening
             WHERE id = %(id)s
               FOR NO KEY UPDATE
        )
        SELECT locked.*,
               greatest(date_trunc('milliseconds', clock_timestamp()), last_event_at) AS now,
               ARRAY(SELECT nextval('hiring.application_id_seq')
                       FROM generate_series(1, %(newcomers)s)) AS ids,
               EXISTS (SELECT FROM hiring.webhook WHERE enabled) AS has_webhooks
          FROM locked
        """,
        {"id": id, "newcomers": newcomers},
    )


async def fetch_locked(cursor: AsyncCursor[LockedOpeningRow], id: int) -> LockedOpeningRow:
    """Wait for the lock of `request_lock`; raises OpeningNotFound."""
    row = await cursor.fetchone()
    if row is None:
        raise OpeningNotFound(id)
    return row


async def list_openings(
    tx: Tx, *, status: OpeningStatus | None = None, after: int = 0, limit: int | None = None
) -> list[Opening]:
    """Openings with an id greater than `after`, oldest first."""
    return await fetch_all(
        tx,
        Opening,
        f"""
        SELECT {COLUMNS}, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id > %(after)s
           AND (%(status)s::hiring.opening_status IS NULL OR status = %(status)s)
         ORDER BY id
         LIMIT %(limit)s
        """,
        {"status": status, "after": after, "limit": limit},
    )


async def update_counters(tx: Tx, opening: Opening) -> None:
    """Write everything that changes with an event; only `LockedOpening` calls this."""
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
            "id": opening.id,
            "status": opening.status,
            "capacity": opening.capacity,
            "occupied": opening.occupied,
            "waiting": opening.waiting,
            "excess": opening.excess,
            "next_key": opening.next_key,
            "top_key": opening.top_key,
            "next_deadline_at": opening.next_deadline_at,
            "last_seq": opening.last_seq,
            "last_hash": opening.last_hash,
            "last_event_at": opening.last_event_at,
        },
    )

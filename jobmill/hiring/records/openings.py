"""The opening table: its terms, its counters and the head of its audit log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, LiteralString, NewType, cast

from psycopg import AsyncCursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_single_value
from jobmill.errors import NotFound
from jobmill.time_zones import UTC

OpeningId = NewType("OpeningId", int)
OpeningStatus = Literal["open", "paused", "closed"]
Admission = Literal["first_come", "review", "lottery"]
"""How applications get a slot or a position: at once, after a decision, or by lot."""
ReviewOrder = Literal["applied", "score"]

DEFAULT_ACKNOWLEDGE_WINDOW = dt.timedelta(hours=48)
DEFAULT_MAX_MISSED = 3


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
    fairness_proof: bool = False
    """Whether the log is published under pseudonyms (`audit_log/fairness_proof.py`)."""
    admission: Admission = "first_come"
    review_order: ReviewOrder = "applied"
    """The order in which applications that are accepted together join the waitlist."""
    stages: list[dict[str, str]] | None = None
    """Key, name and kind of each stage inside a slot; None: the default stages."""
    time_zone: str = UTC
    """An IANA name; letters tell times in it."""
    quiet_from: dt.time | None = None
    """Times of day in `time_zone` between which the time to accept an offer does not run."""
    quiet_until: dt.time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening(OpeningTerms):
    id: OpeningId
    status: OpeningStatus
    capacity: int
    created_at: dt.datetime
    occupied: int
    waiting: int
    in_review: int
    drawn: bool
    """Whether the lottery is over: later applications are first come, first served."""
    excess: int
    next_key: int
    max_key: int
    next_deadline_at: dt.datetime | None
    last_seq: int
    last_hash: bytes
    last_event_at: dt.datetime
    parent_id: OpeningId | None = None
    """The opening that this interview time is for; None for an opening."""
    starts_at: dt.datetime | None = None
    ends_at: dt.datetime | None = None
    form_version: int = 0
    """0: applicants enter only a name and an address."""
    form_required: bool = False
    """Whether applicants must answer a question of the form."""
    now: dt.datetime = field(compare=False)
    """The database's clock when the row was read; under the lock, never before the last event."""

    @property
    def collects(self) -> bool:
        """Whether new applications wait for a decision or the draw."""
        return self.admission == "review" or (self.admission == "lottery" and not self.drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedOpeningRow(Opening):
    """The opening as the locking statement returns it."""

    ids: list[int]
    """Ids reserved for new applications, so that their events can be hashed before the rows are written."""
    has_webhooks: bool
    """Whether any webhook is enabled."""
    has_interviews: bool
    """Whether the opening has interview times."""


TERMS = cast("tuple[LiteralString, ...]", tuple(OpeningTerms.__dataclass_fields__))
"""The column of each term has its name."""
COLUMNS: LiteralString = ", ".join(
    cast(LiteralString, name) for name in Opening.__dataclass_fields__ if name != "now"
)
COUNTERS: tuple[LiteralString, ...] = (
    "status",
    "capacity",
    "occupied",
    "waiting",
    "in_review",
    "drawn",
    "excess",
    "next_key",
    "max_key",
    "next_deadline_at",
    "last_seq",
    "last_hash",
    "last_event_at",
)
"""The columns that change with an event."""


def _assign(columns: Iterable[LiteralString]) -> LiteralString:
    return ", ".join(f"{name} = %({name})s" for name in columns)


async def insert(tx: Tx, terms: OpeningTerms, capacity: int) -> OpeningId:
    """Insert the row; `LockedOpening` records the event."""
    opening_id = await fetch_single_value(
        tx,
        int,
        f"""
        INSERT INTO hiring.opening ({", ".join(TERMS)}, capacity, created_at, last_event_at)
        SELECT {", ".join(f"%({name})s" for name in TERMS)}, %(capacity)s, at, at
          FROM date_trunc('milliseconds', clock_timestamp()) AS at
        RETURNING id
        """,
        {**_columns(terms), "capacity": capacity},
    )
    return OpeningId(opening_id)


async def update_terms(tx: Tx, id: OpeningId, terms: OpeningTerms) -> None:
    """Write the terms; the caller holds the opening's lock."""
    await tx.execute(
        f"UPDATE hiring.opening SET {_assign(TERMS)} WHERE id = %(id)s",
        {**_columns(terms), "id": id},
    )


async def update_form(tx: Tx, id: OpeningId, version: int, *, is_required: bool) -> None:
    """Set the version that applicants see; the caller holds the opening's lock."""
    await tx.execute(
        "UPDATE hiring.opening SET form_version = %s, form_required = %s WHERE id = %s",
        [version, is_required, id],
    )


def _columns(terms: OpeningTerms) -> Mapping[str, Any]:
    columns = {name: getattr(terms, name) for name in TERMS}
    return columns | {"stages": Jsonb(terms.stages) if terms.stages is not None else None}


async def get(tx: Tx, id: int) -> Opening:
    """The opening; raises OpeningNotFound."""
    return await fetch_or_raise(
        tx,
        Opening,
        f"""
        SELECT {COLUMNS}, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id = %s
        """,
        [id],
        OpeningNotFound(id),
    )


def refuse_interview_time(opening: Opening) -> None:
    """Raise OpeningNotFound for an interview time: it has its own changes, and stays cancelled."""
    if opening.parent_id is not None:
        raise OpeningNotFound(opening.id)


async def request_lock(tx: Tx, id: int, new_applications: int = 0) -> AsyncCursor[LockedOpeningRow]:
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
                       FROM generate_series(1, %(new_applications)s)) AS ids,
               EXISTS (SELECT FROM hiring.webhook WHERE enabled) AS has_webhooks,
               EXISTS (SELECT FROM hiring.opening AS interview
                        WHERE interview.parent_id = locked.id) AS has_interviews
          FROM locked
        """,
        {"id": id, "new_applications": new_applications},
    )


async def fetch_locked(cursor: AsyncCursor[LockedOpeningRow], id: int) -> LockedOpeningRow:
    """Wait for the lock of `request_lock`; raises OpeningNotFound."""
    row = await cursor.fetchone()
    if row is None:
        raise OpeningNotFound(id)
    return row


async def list_openings(
    tx: Tx,
    *,
    status: OpeningStatus | None = None,
    after: int = 0,
    limit: int | None = None,
    with_interviews: bool = False,
) -> list[Opening]:
    """Openings with an id greater than `after`, oldest first; interview times only on request."""
    return await fetch_all(
        tx,
        Opening,
        f"""
        SELECT {COLUMNS}, clock_timestamp() AS now
          FROM hiring.opening
         WHERE id > %(after)s AND (parent_id IS NULL OR %(with_interviews)s)
           AND (%(status)s::hiring.opening_status IS NULL OR status = %(status)s)
         ORDER BY id
         LIMIT %(limit)s
        """,
        {"status": status, "after": after, "limit": limit, "with_interviews": with_interviews},
    )


async def find_titles(tx: Tx, ids: Collection[int]) -> dict[int, str]:
    cursor = await tx.execute(
        "SELECT id, title FROM hiring.opening WHERE id = ANY (%s)", [list(ids)]
    )
    return dict(await cursor.fetchall())


async def update_counters(tx: Tx, opening: Opening) -> None:
    """Write everything that changes with an event; only `LockedOpening` calls this."""
    await tx.execute(
        f"UPDATE hiring.opening SET {_assign(COUNTERS)} WHERE id = %(id)s",
        {name: getattr(opening, name) for name in ("id", *COUNTERS)},
    )

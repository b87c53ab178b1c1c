"""The application table and the keys that order the waitlist. Only `LockedOpening` changes its rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, LiteralString, NewType, TypeAlias

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from jobmill.db import (
    Params,
    Tx,
    fetch_all,
    fetch_or_raise,
    fetch_value,
    make_row_encoder,
    rows_to_json,
)
from jobmill.errors import Conflict, NotFound
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.openings import OpeningId
from jobmill.hiring.transitions import ApplicationStatus

ApplicationId = NewType("ApplicationId", int)

SELECT: LiteralString = """
        SELECT id, opening_id, applicant_id, status, queue_key, penalty_count, notified_position,
               applied_at, entered_at, promoted_at, acknowledge_deadline, missed_at, confirm_by,
               score, stage, parent_id
          FROM hiring.application"""

Deadline: TypeAlias = Literal["acknowledge_deadline", "confirm_by"]
EXPIRED: Mapping[Deadline, LiteralString] = {
    "acknowledge_deadline": "status = 'PENDING_ACKNOWLEDGMENT' AND acknowledge_deadline <= %(at)s",
    "confirm_by": "confirm_by <= %(at)s",
}


class ApplicationNotFound(NotFound):
    def __init__(self, id: object) -> None:
        Exception.__init__(self, f"Application with id {id} not found")


class DuplicateApplication(Conflict):
    code = "DUPLICATE_SUBMISSION"

    def __init__(self, applicant_id: int, opening_id: int, application_id: int) -> None:
        super().__init__(
            f"Applicant {applicant_id} already has an active application for job {opening_id}"
        )
        self.application_id = application_id
        """The live application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    id: ApplicationId
    opening_id: OpeningId
    applicant_id: ApplicantId
    status: ApplicationStatus
    queue_key: int | None = None
    penalty_count: int = 0
    notified_position: int | None = None
    applied_at: dt.datetime
    entered_at: dt.datetime
    promoted_at: dt.datetime | None = None
    acknowledge_deadline: dt.datetime | None = None
    missed_at: dt.datetime | None = None
    confirm_by: dt.datetime | None = None
    """When the application ends unless its address is confirmed; None: it need not be."""
    score: int | None = None
    """The company's score, 0 to 100, given while the application is in review."""
    stage: str | None = None
    """The key of the stage inside a slot; None: the first stage."""
    parent_id: OpeningId | None = None
    """The opening of the interview time that this application books; None for other applications."""


_to_columns = make_row_encoder(Application)


async def select_live(
    tx: Tx, opening_id: int, applicant_ids: Sequence[ApplicantId]
) -> AsyncCursor[TupleRow]:
    """Select those of these applicants that have a live application, with its id.

    The unique index `application_live` prevents a second one even without this query.
    """
    return await tx.execute(
        """
        SELECT applicant_id, id FROM hiring.application
         WHERE opening_id = %s AND applicant_id = ANY (%s) AND status <> 'INACTIVE'
        """,
        [opening_id, list(applicant_ids)],
    )


async def get(tx: Tx, id: int) -> Application:
    sql: LiteralString = f"{SELECT} WHERE id = %s"
    return await fetch_or_raise(tx, Application, sql, [id], ApplicationNotFound(id))


async def _find(tx: Tx, conditions: LiteralString, params: Params) -> list[Application]:
    return await fetch_all(tx, Application, f"{SELECT} {conditions}", params)


async def find_by_ids(tx: Tx, opening_id: int, ids: Sequence[int]) -> list[Application]:
    """Those of these applications that belong to the opening, in any order."""
    valid_ids = [id for id in ids if 0 < id < 2**63]
    return await _find(
        tx, "WHERE id = ANY (%s::bigint[]) AND opening_id = %s", [valid_ids, opening_id]
    )


async def find_live(tx: Tx, opening_id: int) -> list[Application]:
    """All live applications of an opening: with a slot by id, then the waitlist by position."""
    conditions = "WHERE opening_id = %s AND status <> 'INACTIVE' ORDER BY queue_key NULLS FIRST, id"
    return await _find(tx, conditions, [opening_id])


async def find_bookings(
    tx: Tx, parent_id: int, applicant_ids: Collection[ApplicantId]
) -> list[Application]:
    """The live bookings of interview times of an opening by these applicants."""
    return await _find(
        tx,
        """
         WHERE parent_id = %s AND applicant_id = ANY (%s) AND status <> 'INACTIVE'
         ORDER BY opening_id, id
        """,
        [parent_id, list(applicant_ids)],
    )


async def find_opening_id(tx: Tx, id: int) -> OpeningId:
    """The opening to lock before changing an application; it never changes."""
    opening_id = await fetch_value(
        tx, int, "SELECT opening_id FROM hiring.application WHERE id = %s", [id]
    )
    if opening_id is None:
        raise ApplicationNotFound(id)
    return OpeningId(opening_id)


async def count_last_day(tx: Tx, applicant_ids: Sequence[ApplicantId]) -> dict[ApplicantId, int]:
    """How many times each applicant applied within the last day."""
    cursor = await tx.execute(
        """
        SELECT applicant_id, count(*) FROM hiring.application
         WHERE applicant_id = ANY (%s) AND applied_at > now() - interval '1 day'
           AND parent_id IS NULL
         GROUP BY applicant_id
        """,
        [list(applicant_ids)],
    )
    return {id: count async for id, count in cursor}


async def insert(tx: Tx, applications: Sequence[Application]) -> None:
    await tx.execute(
        """
        INSERT INTO hiring.application
               (id, opening_id, applicant_id, status, queue_key, notified_position, applied_at,
                entered_at, acknowledge_deadline, confirm_by, parent_id)
        SELECT id, opening_id, applicant_id, status, queue_key, notified_position, applied_at,
               entered_at, acknowledge_deadline, confirm_by, parent_id
          FROM json_populate_recordset(NULL::hiring.application, %s)
        """,
        [rows_to_json([_to_columns(application) for application in applications])],
    )


async def update(
    tx: Tx, moved: Sequence[tuple[Application, ApplicationStatus]]
) -> AsyncCursor[TupleRow]:
    """Write each application that still has the status given with it; the result is how many had.

    The caller may be in pipeline mode, and reads the result when the others have arrived.
    """
    return await tx.execute(
        """
        WITH updated AS (
            UPDATE hiring.application
               SET status = moved.status, queue_key = moved.queue_key,
                   penalty_count = moved.penalty_count, notified_position = moved.notified_position,
                   entered_at = moved.entered_at, promoted_at = moved.promoted_at,
                   acknowledge_deadline = moved.acknowledge_deadline, missed_at = moved.missed_at,
                   confirm_by = moved.confirm_by, score = moved.score, stage = moved.stage
              FROM json_populate_recordset(NULL::hiring.application, %(moved)s) AS moved
              JOIN unnest(%(ids)s::bigint[], %(before)s::hiring.status[]) AS was (id, status)
                ON was.id = moved.id
             WHERE application.id = moved.id AND application.status = was.status
            RETURNING application.id
        )
        SELECT count(*) FROM updated
        """,
        {
            "moved": rows_to_json([_to_columns(application) for application, _ in moved]),
            "ids": [application.id for application, _ in moved],
            "before": [before for _, before in moved],
        },
    )


async def set_notified_position(tx: Tx, id: int, position: int) -> None:
    await tx.execute(
        "UPDATE hiring.application SET notified_position = %s WHERE id = %s", [position, id]
    )


async def find_expired(
    tx: Tx, deadline: Deadline, opening_id: int, at: dt.datetime, *, limit: int
) -> list[Application]:
    """Applications with an expired offer, or an expired time to confirm the address; the earliest first."""
    return await _find(
        tx,
        f"""
         WHERE opening_id = %(opening)s AND {EXPIRED[deadline]}
         ORDER BY {deadline}, id
         LIMIT %(limit)s
        """,
        {"opening": opening_id, "at": at, "limit": limit},
    )


async def find_next_deadline(tx: Tx, opening_id: int, at: dt.datetime) -> dt.datetime | None:
    """The earliest time after `at` at which an offer ends or an address must be confirmed."""
    cursor = await tx.execute(
        """
        SELECT least(
            (SELECT min(acknowledge_deadline) FROM hiring.application
              WHERE opening_id = %(opening)s AND status = 'PENDING_ACKNOWLEDGMENT'
                AND acknowledge_deadline > %(at)s),
            (SELECT min(confirm_by) FROM hiring.application
              WHERE opening_id = %(opening)s AND confirm_by > %(at)s))
        """,
        {"opening": opening_id, "at": at},
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def find_in_review(tx: Tx, opening_id: int) -> list[Application]:
    """All applications that wait for a decision or the draw, oldest first."""
    conditions = "WHERE opening_id = %s AND status = 'IN_REVIEW' ORDER BY id"
    return await _find(tx, conditions, [opening_id])


async def find_first_waiting(tx: Tx, opening_id: int, count: int) -> list[Application]:
    """The first applications on the waitlist, in order."""
    conditions = "WHERE opening_id = %s AND status = 'WAITLIST' ORDER BY queue_key LIMIT %s"
    return await _find(tx, conditions, [opening_id, count])


async def find_without_slot(tx: Tx, opening_id: int, limit: int) -> list[Application]:
    """Live applications without a confirmed slot, oldest first."""
    conditions = (
        "WHERE opening_id = %s AND status NOT IN ('ACTIVE', 'INACTIVE') ORDER BY id LIMIT %s"
    )
    return await _find(tx, conditions, [opening_id, limit])


async def find_last_key(tx: Tx, opening_id: int) -> int:
    """The queue key of the last application on the waitlist; 0 if the waitlist is empty."""
    last = await fetch_value(
        tx,
        int,
        """
        SELECT queue_key FROM hiring.application
         WHERE opening_id = %s AND status = 'WAITLIST'
         ORDER BY queue_key DESC
         LIMIT 1
        """,
        [opening_id],
    )
    return last or 0


async def is_place_closed(tx: Tx, opening_id: int, queue_key: int) -> bool:
    """Whether a queue key is taken, or was vacated while applications behind it waited."""
    cursor = await tx.execute(
        """
        SELECT FROM hiring.application
         WHERE opening_id = %(opening)s AND queue_key = %(key)s AND status = 'WAITLIST'
        UNION ALL
        SELECT FROM hiring.vacated_place WHERE opening_id = %(opening)s AND queue_key = %(key)s
        """,
        {"opening": opening_id, "key": queue_key},
    )
    return await cursor.fetchone() is not None


async def close_places(tx: Tx, opening_id: int, keys: Collection[int], *, next_key: int) -> None:
    """Keep vacated queue keys empty; keys before `next_key` are never assigned again and are forgotten."""
    await tx.execute(
        "DELETE FROM hiring.vacated_place WHERE opening_id = %s AND queue_key < %s",
        [opening_id, next_key],
    )
    await tx.execute(
        "INSERT INTO hiring.vacated_place (opening_id, queue_key) SELECT %s, unnest(%s::bigint[])",
        [opening_id, list(keys)],
    )


async def reopen_places(tx: Tx, opening_id: int, *, beyond: int) -> None:
    await tx.execute(
        "DELETE FROM hiring.vacated_place WHERE opening_id = %s AND queue_key > %s",
        [opening_id, beyond],
    )


async def count_ahead(tx: Tx, opening_id: int, queue_key: int) -> int:
    """How many applications wait before a queue key; full blocks of keys are counted by their stored sums."""
    count = await fetch_value(
        tx,
        int,
        """
        SELECT coalesce((SELECT sum(waiting) FROM hiring.waitlist_block
                          WHERE opening_id = %(opening)s AND block < %(key)s::bigint >> 10), 0)
             + (SELECT count(*) FROM hiring.application
                 WHERE opening_id = %(opening)s AND status = 'WAITLIST'
                   AND queue_key >= %(key)s::bigint >> 10 << 10 AND queue_key < %(key)s)
        """,
        {"opening": opening_id, "key": queue_key},
    )
    return count or 0


async def find_position(tx: Tx, application: Application) -> int | None:
    """The position on the waitlist, from 1; None if the application does not wait."""
    if application.queue_key is None:
        return None
    return 1 + await count_ahead(tx, application.opening_id, application.queue_key)


async def update_block_counts(tx: Tx, opening_id: int, changes: Mapping[int, int]) -> None:
    """Add each change to the number of applications that wait in that block of queue keys."""
    more = {block: change for block, change in changes.items() if change > 0}
    fewer = {block: change for block, change in changes.items() if change < 0}
    if more:
        await tx.execute(
            """
            INSERT INTO hiring.waitlist_block AS existing (opening_id, block, waiting)
            SELECT %s, * FROM unnest(%s::bigint[], %s::int[])
            ON CONFLICT (opening_id, block)
            DO UPDATE SET waiting = existing.waiting + excluded.waiting
            """,
            [opening_id, list(more), list(more.values())],
        )
    if fewer:
        await tx.execute(
            """
            UPDATE hiring.waitlist_block AS existing SET waiting = existing.waiting + changed.by
              FROM unnest(%s::bigint[], %s::int[]) AS changed (block, by)
             WHERE opening_id = %s AND existing.block = changed.block
            """,
            [list(fewer), list(fewer.values()), opening_id],
        )


def block_of(queue_key: int) -> int:
    """The block of queue keys that a key belongs to."""
    return queue_key >> 10

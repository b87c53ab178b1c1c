"""The events of the audit log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, fetch_all, make_row_encoder, rows_to_json
from jobmill.hiring.audit_log.hash_chain import EventContent, EventFields, EventNote


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent(EventFields):
    id: int
    note: str | None


@dataclass(frozen=True, slots=True)
class SealedEvent:
    """An event with its hash, ready to be written."""

    content: EventContent
    hash: bytes
    note: EventNote | None


_content_columns = make_row_encoder(EventContent)


async def insert(tx: Tx, events: Sequence[SealedEvent]) -> None:
    """Append events; only `LockedOpening` calls this, under the opening's lock."""
    await tx.execute(
        """
        INSERT INTO hiring.event
               (opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
                metadata, why, actor, request, note, note_salt, note_digest, created_at, hash)
        SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, request, note, note_salt, note_digest, created_at, hash
          FROM json_populate_recordset(NULL::hiring.event, %s)
        """,
        [rows_to_json([_columns(event) for event in events])],
    )


def _columns(event: SealedEvent) -> Mapping[str, Any]:
    columns = {**_content_columns(event.content), "hash": event.hash}
    if event.note:
        columns |= {"note": event.note.text, "note_salt": event.note.salt}
    return columns


async def find_by_opening(
    tx: Tx, opening_id: int, *, after: int = 0, upto: int | None = None, limit: int | None = None
) -> list[AuditEvent]:
    """Events with `after` < seq <= `upto`, in order."""
    return await fetch_all(
        tx,
        AuditEvent,
        """
        SELECT id, opening_id, seq, application_id, type, from_status, to_status, metadata, why,
               actor, note, created_at
          FROM hiring.event
         WHERE opening_id = %(opening)s AND seq > %(after)s
           AND (%(upto)s::bigint IS NULL OR seq <= %(upto)s)
         ORDER BY seq
         LIMIT %(limit)s
        """,
        {"opening": opening_id, "after": after, "upto": upto, "limit": limit},
    )


async def find_requests(
    tx: Tx, application_ids: Sequence[int], within: dt.timedelta
) -> dict[int, str | None]:
    """The ids of recent HTTP requests that applied, by application; None if it had none."""
    cursor = await tx.execute(
        """
        SELECT application_id, request FROM hiring.event
         WHERE application_id = ANY (%s::bigint[]) AND type = 'APPLIED'
           AND created_at > now() - %s
        """,
        [list(application_ids), within],
    )
    return {id: request for id, request in await cursor.fetchall()}


async def find_by_applicant(tx: Tx, applicant_id: int) -> list[AuditEvent]:
    """All events of the applicant's applications, in order."""
    return await fetch_all(
        tx,
        AuditEvent,
        """
        SELECT event.id, event.opening_id, seq, application_id, type, from_status, to_status,
               metadata, why, actor, note, created_at
          FROM hiring.event
          JOIN hiring.application ON application.id = application_id
         WHERE applicant_id = %s
         ORDER BY created_at, event.opening_id, seq
        """,
        [applicant_id],
    )

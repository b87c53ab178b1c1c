"""The log: what happened to an opening and to those who want it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, rows
from jobmill.hiring.chain import Entry, Note
from jobmill.hiring.transitions import EventType, Status


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    opening_id: int
    seq: int
    application_id: int | None
    type: EventType
    from_status: Status | None
    to_status: Status | None
    metadata: Mapping[str, Any]
    why: Mapping[str, Any]
    actor: str
    note: str | None
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event as it is written."""

    entry: Entry
    hash: bytes
    note: Note | None


async def insert(tx: Tx, new: Sequence[Sealed]) -> None:
    """Under the opening's lock, by `desk` alone."""
    await tx.execute(
        """
        INSERT INTO hiring.event
               (opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
                metadata, why, actor, request, note_digest, created_at, hash, note, note_salt)
        SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::hiring.event_type[],
                             %s::hiring.status[], %s::hiring.status[], %s::bigint[],
                             %s::timestamptz[], %s::jsonb[], %s::jsonb[], %s::text[], %s::text[],
                             %s::bytea[], %s::timestamptz[], %s::bytea[], %s::text[], %s::bytea[])
        """,
        [
            [one.entry.opening_id for one in new],
            [one.entry.seq for one in new],
            [one.entry.application_id for one in new],
            [one.entry.type for one in new],
            [one.entry.from_status for one in new],
            [one.entry.to_status for one in new],
            [one.entry.queue_key for one in new],
            [one.entry.deadline for one in new],
            [json.dumps(one.entry.metadata) for one in new],
            [json.dumps(one.entry.why) for one in new],
            [one.entry.actor for one in new],
            [one.entry.request for one in new],
            [one.entry.note_digest for one in new],
            [one.entry.created_at for one in new],
            [one.hash for one in new],
            [one.note.text if one.note else None for one in new],
            [one.note.salt if one.note else None for one in new],
        ],
    )


async def of_opening(
    tx: Tx, opening_id: int, *, after: int = 0, upto: int | None = None, limit: int | None = None
) -> list[Event]:
    """Events by their sequence, from beyond `after` on."""
    return await rows(
        tx,
        Event,
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


async def of_applicant(tx: Tx, applicant_id: int) -> list[Event]:
    """All that happened to one person's applications, in order."""
    return await rows(
        tx,
        Event,
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

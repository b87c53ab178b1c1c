"""The chain: each event's hash holds all events before it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.hiring.transitions import EventType, Status

GENESIS_HASH = b""
"""What the first event's hash is made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContent:
    """What the chain holds of an event: all of it but its number in the table and the words about people."""

    opening_id: int
    seq: int
    application_id: int | None
    type: EventType
    from_status: Status | None
    to_status: Status | None
    queue_key: int | None
    deadline: dt.datetime | None
    metadata: Mapping[str, Any]
    why: Mapping[str, Any]
    actor: str
    request: str | None
    note_digest: bytes | None
    created_at: dt.datetime


def hash_event(before: bytes, entry: EventContent) -> bytes:
    """The hash of an event that follows `before`."""
    held = [
        entry.opening_id,
        entry.seq,
        entry.application_id,
        entry.type,
        entry.from_status,
        entry.to_status,
        entry.queue_key,
        _moment(entry.deadline),
        entry.metadata,
        entry.why,
        entry.actor,
        entry.request,
        entry.note_digest.hex() if entry.note_digest else None,
        _moment(entry.created_at),
    ]
    text = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(before + text.encode()).digest()


def _moment(at: dt.datetime | None) -> str | None:
    return None if at is None else at.astimezone(dt.UTC).isoformat()


@dataclass(frozen=True, slots=True)
class EventNote:
    """Words about a person: the chain holds their digest alone, and not even that can be guessed."""

    text: str
    salt: bytes
    digest: bytes


def make_note(text: str) -> EventNote:
    salt = secrets.token_bytes(16)
    return EventNote(text, salt, digest_note(text, salt))


def digest_note(text: str, salt: bytes) -> bytes:
    return hashlib.sha256(salt + text.encode()).digest()

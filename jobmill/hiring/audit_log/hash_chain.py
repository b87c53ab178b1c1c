"""The hash chain of the audit log: the hash of an event covers all events before it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.hiring.transitions import ApplicationStatus, EventType

GENESIS_HASH = b""
"""Stands for the previous hash of the first event."""

_encode_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFields:
    """The fields that all forms of an event have."""

    opening_id: int
    seq: int
    application_id: int | None
    type: EventType
    from_status: ApplicationStatus | None
    to_status: ApplicationStatus | None
    metadata: Mapping[str, Any]
    why: Mapping[str, Any]
    actor: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContent(EventFields):
    """The hashed part of an event: everything but the row id and free text about people."""

    queue_key: int | None
    deadline: dt.datetime | None
    request: str | None
    note_digest: bytes | None


def hash_event(before: bytes, event: EventContent) -> bytes:
    """The hash of an event that follows the event with the hash `before`."""
    fields = [
        event.opening_id,
        event.seq,
        event.application_id,
        event.type,
        event.from_status,
        event.to_status,
        event.queue_key,
        _utc_text(event.deadline),
        event.metadata,
        event.why,
        event.actor,
        event.request,
        event.note_digest.hex() if event.note_digest else None,
        _utc_text(event.created_at),
    ]
    text = _encode_json(fields)
    return hashlib.sha256(before + text.encode()).digest()


def _utc_text(at: dt.datetime | None) -> str | None:
    return None if at is None else at.astimezone(dt.UTC).isoformat()


@dataclass(frozen=True, slots=True)
class EventNote:
    """Free text about a person; the chain holds only its salted digest, so that the text can be erased."""

    text: str
    salt: bytes
    digest: bytes


def make_note(text: str) -> EventNote:
    salt = secrets.token_bytes(16)
    return EventNote(text, salt, digest_note(text, salt))


def digest_note(text: str, salt: bytes) -> bytes:
    return hashlib.sha256(salt + text.encode()).digest()


def digest_form(fields: Sequence[Mapping[str, Any]]) -> str:
    """The digest of a version of the application form, which its event holds."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

"""The public log of an opening: its events under pseudonyms, with a hash chain of their own.

The audit log itself cannot be published: its hashes cover the ids of applicants, and a reader could find an id by
trying all numbers. So each event has a public line that holds what the rules of the waitlist need, and a
commitment to the event: an HMAC of its hash under a key of the opening. With the key an auditor can check that
every line belongs to an event of the audit log; without it the line tells nothing about the event.

Published lines never change: a saved head must be part of every later log. A new field may only be
added to new types of events, otherwise FORMAT needs a new number and old openings keep the old format.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from psycopg.rows import class_row

from jobmill.db import Tx, fetch_value
from jobmill.hiring.actor import ISSUED_BY, SYSTEM
from jobmill.hiring.audit_log.verification import ChainHead
from jobmill.hiring.audit_log.verify_fairness import FORMAT, INTERNAL, canonical, chain_hash
from jobmill.hiring.records import fairness_keys
from jobmill.hiring.transitions import ApplicationStatus, EventType

BATCH = 500
PUBLIC_TERMS = (
    "requireAcknowledgement",
    "acknowledgeWindowSeconds",
    "maxMissed",
    "waitlistLimit",
    "applyUntil",
    "admission",
)
"""The terms that the rules of the waitlist depend on."""
MAX_CACHED_HEADS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedEvent:
    """What the public line of an event is made from."""

    seq: int
    type: EventType
    applicant_id: int | None
    from_status: ApplicationStatus | None
    to_status: ApplicationStatus | None
    queue_key: int | None
    deadline: dt.datetime | None
    metadata: Mapping[str, Any]
    rule: str | None
    actor: str
    created_at: dt.datetime
    hash: bytes


def make_pseudonym(key: bytes, applicant_id: int) -> str:
    """The name of an applicant in the public log of one opening."""
    digest = hmac.digest(key, f"applicant {applicant_id}".encode(), "sha256")
    text = base64.b32encode(digest).decode().lower()
    return f"{text[:4]}-{text[4:8]}-{text[8:12]}"


def make_header(opening_id: int, key: bytes) -> dict[str, Any]:
    """The first line; it binds the log to the opening and the company to the key."""
    key_digest = hashlib.sha256(b"fairness key " + key).hexdigest()
    header = {"format": FORMAT, "job": opening_id, "keyDigest": key_digest, "seq": 0}
    return {**header, "hash": chain_hash("", header)}


def make_line(event: PublishedEvent, key: bytes, before: str) -> dict[str, Any]:
    """The public line of an event that follows the line with the hash `before`."""
    line = select_public_fields(event, key)
    return {**line, "hash": chain_hash(before, line)}


def select_public_fields(event: PublishedEvent, key: bytes) -> dict[str, Any]:
    """What strangers may read of an event."""
    commitment = {"commitment": hmac.digest(key, b"event " + event.hash, "sha256").hex()}
    if is_internal(event):
        # No name and no time: applicants must not learn how often they were scored.
        return {"seq": event.seq, "type": INTERNAL, **commitment}
    fields: dict[str, Any] = {
        "seq": event.seq,
        "at": _cut_to_minute(event.created_at),
        "type": event.type,
        "by": _find_side(event.actor),
        "who": make_pseudonym(key, event.applicant_id) if event.applicant_id else None,
        "from": event.from_status,
        "to": event.to_status,
        "place": event.queue_key,
        "deadline": _cut_to_minute(event.deadline),
        "confirmBy": _cut_to_minute(event.metadata.get("confirmBy")),
        **_select_details(event),
        **commitment,
    }
    return {name: value for name, value in fields.items() if value is not None}


def is_internal(event: PublishedEvent) -> bool:
    """Whether the event is a step of the company that changes no place: a score, or a move between stages."""
    return event.type in ("SCORED", "STAGE_CHANGED") and event.from_status == event.to_status


def _select_details(event: PublishedEvent) -> Mapping[str, Any]:
    """What the rules need to know about an event of this type; other metadata may tell too much."""
    facts = event.metadata
    match event.type:
        case "PROMOTED" if event.rule != "next in line":
            return {"outOfTurn": True}
        case "DECAY_TRIGGERED" | "LAPSED":
            return {"missed": facts["penaltyCount"]}
        case "CAPACITY_CHANGED":
            return {"capacity": facts["to"]}
        case "OPENED":
            return {"capacity": facts["capacity"], "terms": _select_terms(facts)}
        case "LOTTERY_OPENED":
            return {"seedDigest": facts["commitment"]}
        case "LOTTERY_DRAWN":
            return {"seed": facts["seed"]}
        case "EDITED":
            return {"terms": _select_terms(facts) or None}
        case _:
            return {}


def _cut_to_minute(at: dt.datetime | str | None) -> str | None:
    """Cut the time: an exact one might identify the applicant."""
    if at is None:
        return None
    at = dt.datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{at.astimezone(dt.UTC):%Y-%m-%dT%H:%MZ}"


def _find_side(actor: str) -> str:
    if actor == SYSTEM.name:
        return "system"
    if not actor.startswith("applicant:"):
        return "company"
    return "applicant, with a link of the company" if ISSUED_BY in actor else "applicant"


def _select_terms(metadata: Mapping[str, Any]) -> dict[str, Any]:
    terms = {name: metadata[name] for name in PUBLIC_TERMS if name in metadata}
    if "applyUntil" in terms:
        terms["applyUntil"] = _cut_to_minute(terms["applyUntil"])
    return terms


async def list_public_fields(tx: Tx, opening_id: int, *, after: int) -> list[dict[str, Any]]:
    """The public lines of the events after a number, without hashes; raises NoFairnessProof."""
    key = await fairness_keys.get_published(tx, opening_id)
    return [
        select_public_fields(event, key)
        async for event in _read_events(tx, opening_id, after=after)
    ]


async def iter_lines(tx: Tx, opening_id: int) -> AsyncIterator[str]:
    """The public log as JSON lines; raises NoFairnessProof."""
    key = await fairness_keys.get_published(tx, opening_id)
    line = make_header(opening_id, key)
    yield canonical(line)
    async for event in _read_events(tx, opening_id, after=0):
        line = make_line(event, key, line["hash"])
        yield canonical(line)
    yield canonical({"end": line["seq"], "hash": line["hash"]})


async def _read_events(tx: Tx, opening_id: int, *, after: int) -> AsyncIterator[PublishedEvent]:
    """The events in order, one batch at a time."""
    async with tx.cursor("public_log", row_factory=class_row(PublishedEvent)) as cursor:
        cursor.itersize = BATCH
        await cursor.execute(
            """
            SELECT seq, type, applicant_id, from_status, to_status, event.queue_key, deadline,
                   metadata, why->>'rule' AS rule, actor, event.created_at, hash
              FROM hiring.event LEFT JOIN hiring.application ON application.id = application_id
             WHERE event.opening_id = %s AND seq > %s
             ORDER BY seq
            """,
            [opening_id, after],
        )
        async for event in cursor:
            yield event


class PublicHeads:
    """The ends of public logs, kept in memory: only new events have to be hashed."""

    def __init__(self) -> None:
        self._heads: dict[int, ChainHead] = {}
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def lock(self, opening_id: int) -> asyncio.Lock:
        """Take it before a transaction that calls `find`.

        Of several requests for a long log, one hashes it; the others wait without a connection.
        """
        return self._locks.setdefault(opening_id, asyncio.Lock())

    async def find(self, tx: Tx, opening_id: int) -> ChainHead:
        """The current end of the public log; raises NoFairnessProof."""
        key = await fairness_keys.get_published(tx, opening_id)
        head = self._heads.get(opening_id)
        if head is None or head.seq > await _find_last_seq(tx, opening_id):
            head = ChainHead(0, make_header(opening_id, key)["hash"])
        try:
            async for event in _read_events(tx, opening_id, after=head.seq):
                head = ChainHead(event.seq, make_line(event, key, head.hash)["hash"])
        finally:
            # Also after a timeout: the next request continues here.
            self._keep(opening_id, head)
        return head

    def _keep(self, opening_id: int, head: ChainHead) -> None:
        """Keep the head, unless a later one is known, as the one used last."""
        cached = self._heads.pop(opening_id, head)
        self._heads[opening_id] = max(cached, head, key=lambda head: head.seq)
        if len(self._heads) > MAX_CACHED_HEADS:
            del self._heads[next(iter(self._heads))]


async def _find_last_seq(tx: Tx, opening_id: int) -> int:
    """A snapshot may be older than the head that another request has computed."""
    last = await fetch_value(
        tx, int, "SELECT max(seq) FROM hiring.event WHERE opening_id = %s", [opening_id]
    )
    return last or 0

"""Verify: whether a log is what was written, and whether it says what the tables say.

The chain shows that no event was changed, taken out or put in. Who can write to the database can also
write a whole new chain that fits: only an earlier head, kept elsewhere, shows that.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.rows import class_row

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.hiring.audit_log import hash_chain, replay
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.transitions import EventType, Status

MAX_FAULTS = 1_000
"""Faults of a kind that are listed: a log of a million may have as many."""
BATCH = 500

TARGET_STATUSES: Mapping[EventType, frozenset[Status | None]] = {
    "APPLIED": frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST"}),
    "PROMOTED": frozenset({"PENDING_ACKNOWLEDGMENT"}),
    "ACKNOWLEDGED": frozenset({"ACTIVE"}),
    "WITHDRAWN": frozenset({"INACTIVE"}),
    "DECAY_TRIGGERED": frozenset({"WAITLIST"}),
    "LAPSED": frozenset({"INACTIVE"}),
}
"""Where each leads; all others happen to the opening. From where is a constraint of the table."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """Where a chain had come to: keep it elsewhere, and verify against it later."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class VerificationFault:
    seq: int | None
    """The event that is wrong, or the last one of what is; None for what the opening counts."""
    what: str


@dataclass(frozen=True, slots=True)
class VerificationReport:
    opening_id: int
    events: int
    head: ChainHead
    faults: list[VerificationFault]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line(hash_chain.EventContent):
    """An event, with what stands outside the chain."""

    note: str | None
    note_salt: bytes | None
    erased: bool
    """Its note is gone with the person it is about."""
    hash: bytes


@dataclass(frozen=True, slots=True)
class _Stray:
    """An application that is not what its events say."""

    seq: int | None
    id: int
    said: Mapping[str, Any]
    found: Mapping[str, Any]


async def verify_log(
    tx: Tx, opening_id: int, *, against: Sequence[ChainHead] = ()
) -> VerificationReport:
    """All that is wrong with an opening's log, and where; `against` are earlier heads of it.

    What is compared is of one moment: that of the caller's snapshot (`reading.freeze`), beside which
    writers go on; without one the opening is locked, and they wait. NoOpening where there is none.
    """
    opening = await _hold(tx, opening_id)
    walk = _Walk()
    async for line in _lines(tx, opening_id):
        walk.follow(line)
    walk.end(opening)
    faults = [
        *walk.faults,
        *await _lost_heads(tx, opening_id, against),
        *await _broken_moves(tx, opening_id),
        *await _strays(tx, opening_id),
        *await _miscounts(tx, opening),
        *await _wrong_blocks(tx, opening_id),
    ]
    faults.sort(key=lambda fault: (fault.seq is None, fault.seq or 0))
    return VerificationReport(opening_id, walk.events, ChainHead(walk.seq, walk.hash.hex()), faults)


async def _hold(tx: Tx, opening_id: int) -> Opening:
    """The opening, which nobody changes while we look."""
    if await fetch_value(tx, str, "SHOW transaction_isolation") == "read committed":
        return await openings.fetch_locked(await openings.request_lock(tx, opening_id), opening_id)
    return await openings.get(tx, opening_id)


@dataclass
class _Walk:
    """Follows the log from its start, and goes on behind a fault: each is found where it is."""

    faults: list[VerificationFault] = field(default_factory=list[VerificationFault])
    events: int = 0
    seq: int = 0
    hash: bytes = hash_chain.GENESIS_HASH
    at: dt.datetime | None = None

    def follow(self, line: _Line) -> None:
        self.events += 1
        if line.seq != self.seq + 1:
            self._note(self.seq + 1, f"{_span(self.seq + 1, line.seq - 1)} missing")
        if self.at and line.created_at < self.at:
            self._note(
                line.seq, f"stamped {line.created_at}, before the event before it: {self.at}"
            )
        sealed = hash_chain.hash_event(self.hash, line)
        if sealed != line.hash:
            self._note(
                line.seq,
                "this event or the one before it is not what was written: "
                f"the hash should be {sealed.hex()}, and is {line.hash.hex()}",
            )
        for what in (_wrong_move(line), _wrong_note(line)):
            if what:
                self._note(line.seq, what)
        self.seq, self.hash, self.at = line.seq, line.hash, line.created_at

    def end(self, opening: Opening) -> None:
        """Whether the opening says that the log ends here."""
        if opening.last_seq > self.seq:
            self._note(self.seq + 1, f"{_span(self.seq + 1, opening.last_seq)} missing at the end")
        elif opening.last_seq < self.seq:
            self._note(
                opening.last_seq + 1, f"the opening knows of no event beyond {opening.last_seq}"
            )
        elif opening.last_hash != self.hash:
            known = opening.last_hash.hex()
            self._note(self.seq, f"the opening knows it by the hash {known}, not {self.hash.hex()}")
        elif self.at and opening.last_event_at != self.at:
            self._note(self.seq, f"the opening dates it {opening.last_event_at}, not {self.at}")

    def _note(self, seq: int, what: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(VerificationFault(seq, what))


def _span(first: int, last: int) -> str:
    return f"event {first} is" if first == last else f"events {first} to {last} are"


def _wrong_move(line: _Line) -> str | None:
    if line.to_status not in TARGET_STATUSES.get(line.type, {None}):
        return f"{line.type} cannot lead to {line.to_status}"
    if (line.queue_key is not None) != (line.to_status == "WAITLIST"):
        return f"{line.to_status} with the place {line.queue_key}"
    if (line.deadline is not None) != (line.to_status == "PENDING_ACKNOWLEDGMENT"):
        return f"{line.to_status} with the deadline {line.deadline}"
    return None


def _wrong_note(line: _Line) -> str | None:
    if line.note is not None and line.note_salt is not None:
        same = hash_chain.digest_note(line.note, line.note_salt) == line.note_digest
        return None if same else "its note is not the one that was written"
    if line.note_digest is not None and not line.erased:
        return "its note is gone, and the applicant was not erased"
    return None


async def _lines(tx: Tx, opening_id: int) -> AsyncIterator[_Line]:
    """The log in order; no more than a batch of it is held at a time."""
    async with tx.cursor("log", row_factory=class_row(_Line)) as cursor:
        cursor.itersize = BATCH
        await cursor.execute(
            """
            SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
                   metadata, why, actor, request, note_digest, created_at, note, note_salt, hash,
                   CASE WHEN note IS NULL AND note_digest IS NOT NULL THEN EXISTS (
                       SELECT FROM hiring.application
                         JOIN hiring.applicant ON applicant.id = applicant_id
                        WHERE erased_at IS NOT NULL
                          -- The reason for an added slot is about who gets it, in the next event.
                          AND application.id = coalesce(
                              event.application_id,
                              (SELECT next.application_id FROM hiring.event AS next
                                WHERE next.opening_id = event.opening_id AND next.seq = event.seq + 1))
                   ) ELSE false END AS erased
              FROM hiring.event
             WHERE opening_id = %s
             ORDER BY seq
            """,
            [opening_id],
        )
        async for line in cursor:
            yield line


async def _lost_heads(
    tx: Tx, opening_id: int, against: Sequence[ChainHead]
) -> list[VerificationFault]:
    """Earlier heads that do not lie on the chain any more."""
    cursor = await tx.execute(
        """
        SELECT seq, encode(hash, 'hex') FROM hiring.event
         WHERE opening_id = %s AND seq = ANY (%s::bigint[])
        """,
        [opening_id, [head.seq for head in against]],
    )
    known = dict(await cursor.fetchall())
    return [
        VerificationFault(
            head.seq, f"it had the hash {head.hash}, and has {known.get(head.seq, 'gone')}"
        )
        for head in against
        if head.seq and known.get(head.seq) != head.hash.lower()
    ]


async def _broken_moves(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Events that do not start where the one before them led to."""
    cursor = await tx.execute(
        """
        SELECT seq, application_id, coalesce(from_status::text, 'new'), coalesce(before, 'new')
          FROM (SELECT seq, application_id, from_status,
                       lag(to_status) OVER (PARTITION BY application_id ORDER BY seq)::text AS before
                  FROM hiring.event
                 WHERE opening_id = %s AND application_id IS NOT NULL) AS moves
         WHERE from_status::text IS DISTINCT FROM before
         ORDER BY seq
         LIMIT %s
        """,
        [opening_id, MAX_FAULTS],
    )
    return [
        VerificationFault(seq, f"application {id} starts from {start}, and was {before}")
        for seq, id, start, before in await cursor.fetchall()
    ]


async def _strays(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Applications that are not what their events say."""
    strays = await fetch_all(
        tx,
        _Stray,
        """
        WITH said AS (
            SELECT application_id, max(seq) AS seq, min(seq) AS first_seq,
                   count(*) FILTER (WHERE type IN ('DECAY_TRIGGERED', 'LAPSED')) AS missed
              FROM hiring.event
             WHERE opening_id = %(opening)s AND application_id IS NOT NULL
             GROUP BY application_id
        ), told AS (
            SELECT said.application_id AS id, said.seq,
                   jsonb_build_object(
                       'applicant_id', first.metadata->'applicantId', 'status', last.to_status,
                       'queue_key', last.queue_key, 'acknowledge_deadline', last.deadline,
                       'penalty_count', missed, 'applied_at', first.created_at,
                       'entered_at', last.created_at) AS facts
              FROM said
              JOIN hiring.event AS last ON last.opening_id = %(opening)s AND last.seq = said.seq
              JOIN hiring.event AS first
                ON first.opening_id = %(opening)s AND first.seq = first_seq
        ), kept AS (
            SELECT id, jsonb_build_object(
                       'applicant_id', applicant_id, 'status', status, 'queue_key', queue_key,
                       'acknowledge_deadline', acknowledge_deadline,
                       'penalty_count', penalty_count, 'applied_at', applied_at,
                       'entered_at', entered_at) AS facts
              FROM hiring.application
             WHERE opening_id = %(opening)s
        )
        SELECT seq, id, coalesce(told.facts, '{}') AS said, coalesce(kept.facts, '{}') AS found
          FROM told FULL JOIN kept USING (id)
         WHERE told.facts IS DISTINCT FROM kept.facts
         ORDER BY seq, id
         LIMIT %(most)s
        """,
        {"opening": opening_id, "most": MAX_FAULTS},
    )
    return [
        VerificationFault(one.seq, f"application {one.id}: {_difference(one)}") for one in strays
    ]


def _difference(one: _Stray) -> str:
    if not one.said:
        return "no event tells of it"
    if not one.found:
        return "it is not in the table"
    return ", ".join(
        f"{name} should be {said}, and is {one.found[name]}"
        for name, said in one.said.items()
        if said != one.found[name]
    )


async def _miscounts(tx: Tx, opening: Opening) -> list[VerificationFault]:
    """What the opening says of itself, and its log does not."""
    counts = await replay.counts_at(tx, opening.id, replay.BEYOND_ANY)
    frame = await replay.state_at(tx, opening.id, replay.BEYOND_ANY)
    should = {
        "status": frame.status,
        "capacity": frame.capacity,
        "occupied": counts.occupied,
        "waiting": counts.waiting,
        "excess": max(counts.occupied - frame.capacity, 0),
    }
    faults = [
        VerificationFault(
            None, f"the opening's {name} should be {said}, and is {getattr(opening, name)}"
        )
        for name, said in should.items()
        if said != getattr(opening, name)
    ]
    if counts.top_key > opening.top_key:
        faults.append(
            VerificationFault(
                None, f"somebody stands at {counts.top_key}, beyond {opening.top_key}"
            )
        )
    due, known = counts.next_deadline_at, opening.next_deadline_at
    if due and (known is None or known > due):
        faults.append(
            VerificationFault(None, f"an offer ends at {due}, and the opening looks at {known}")
        )
    return faults


async def _wrong_blocks(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Sums of the waitlist that are not what its events add up to."""
    cursor = await tx.execute(
        """
        WITH last AS (
            SELECT DISTINCT ON (application_id) queue_key
              FROM hiring.event
             WHERE opening_id = %(opening)s AND application_id IS NOT NULL
             ORDER BY application_id, seq DESC
        ), counted AS (
            SELECT queue_key >> 10 AS block, count(*) AS waiting FROM last
             WHERE queue_key IS NOT NULL
             GROUP BY queue_key >> 10
        ), kept AS (
            SELECT block, waiting FROM hiring.waitlist_block WHERE opening_id = %(opening)s
        )
        SELECT block, coalesce(counted.waiting, 0), coalesce(kept.waiting, 0)
          FROM counted FULL JOIN kept USING (block)
         WHERE coalesce(counted.waiting, 0) <> coalesce(kept.waiting, 0)
         ORDER BY block
         LIMIT %(most)s
        """,
        {"opening": opening_id, "most": MAX_FAULTS},
    )
    return [
        VerificationFault(
            None, f"block {block} of the waitlist should hold {said}, and holds {found}"
        )
        for block, said, found in await cursor.fetchall()
    ]

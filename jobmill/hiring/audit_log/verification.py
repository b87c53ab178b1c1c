"""Verification of an audit log: against its own hash chain, and against the tables.

The hash chain shows whether an event was changed, removed or inserted. With write access to the database
an attacker can also write a complete new chain; only an earlier head that was kept elsewhere shows that.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.rows import class_row

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.hiring.audit_log import draws, hash_chain, replay
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.transitions import ApplicationStatus, EventType

MAX_FAULTS = 1_000
"""How many faults of a kind are listed: a log of a million events may have as many."""
BATCH = 500

TARGET_STATUSES: Mapping[EventType, frozenset[ApplicationStatus | None]] = {
    "APPLIED": frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST", "IN_REVIEW"}),
    "PROMOTED": frozenset({"PENDING_ACKNOWLEDGMENT"}),
    "ACKNOWLEDGED": frozenset({"ACTIVE"}),
    "WITHDRAWN": frozenset({"INACTIVE"}),
    "DECAY_TRIGGERED": frozenset({"WAITLIST"}),
    "LAPSED": frozenset({"INACTIVE"}),
    "ADDRESS_CONFIRMED": frozenset({"ACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST", "IN_REVIEW"}),
    "ADDRESS_UNCONFIRMED": frozenset({"INACTIVE"}),
    "ACCEPTED": frozenset({"WAITLIST"}),
    "REJECTED": frozenset({"INACTIVE"}),
    "SCORED": frozenset({"IN_REVIEW"}),
    "STAGE_CHANGED": frozenset({"ACTIVE", "INACTIVE"}),
}
"""Allowed target states of application events; a constraint of the table checks the source states."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain: keep it elsewhere and verify against it later."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class VerificationFault:
    seq: int | None
    """The wrong event, or the last event of the wrong application; None for the opening's counters."""
    what: str


@dataclass(frozen=True, slots=True)
class VerificationReport:
    opening_id: int
    events: int
    head: ChainHead
    faults: list[VerificationFault]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoggedEvent(hash_chain.EventContent):
    """An event with its columns outside the hash."""

    note: str | None
    note_salt: bytes | None
    erased: bool
    """The note was erased with the data of the applicant it is about."""
    hash: bytes


@dataclass(frozen=True, slots=True)
class _Mismatch:
    """An application that differs from what its events say."""

    seq: int | None
    id: int
    expected: Mapping[str, Any]
    actual: Mapping[str, Any]


async def verify_log(
    tx: Tx, opening_id: int, *, against: Sequence[ChainHead] = ()
) -> VerificationReport:
    """Everything that is wrong with an opening's log, and where; `against` are earlier heads of it.

    All comparisons are of one instant. In a snapshot (`overdue_offers.begin_snapshot`) writers continue meanwhile;
    otherwise the opening is locked and they wait. Raises OpeningNotFound.
    """
    opening = await _read_stable(tx, opening_id)
    checker = _ChainChecker()
    async for event in _read_events(tx, opening_id):
        checker.check(event)
    checker.check_end(opening)
    faults = [
        *checker.faults,
        *await _check_heads(tx, opening_id, against),
        *await _check_transitions(tx, opening_id),
        *await _check_applications(tx, opening_id),
        *await _check_counters(tx, opening),
        *await _check_blocks(tx, opening_id),
        *await _check_forms(tx, opening),
        *await _check_draws(tx, opening_id),
    ]
    faults.sort(key=lambda fault: (fault.seq is None, fault.seq or 0))
    return VerificationReport(
        opening_id, checker.events, ChainHead(checker.seq, checker.hash.hex()), faults
    )


async def _read_stable(tx: Tx, opening_id: int) -> Opening:
    """The opening, protected from changes until the transaction ends."""
    if await fetch_value(tx, str, "SHOW transaction_isolation") == "read committed":
        return await openings.fetch_locked(await openings.request_lock(tx, opening_id), opening_id)
    return await openings.get(tx, opening_id)


@dataclass
class _ChainChecker:
    """Checks the events in order; continues after a fault, so that each is reported at its place."""

    faults: list[VerificationFault] = field(default_factory=list[VerificationFault])
    events: int = 0
    seq: int = 0
    hash: bytes = hash_chain.GENESIS_HASH
    at: dt.datetime | None = None

    def check(self, event: _LoggedEvent) -> None:
        self.events += 1
        if event.seq != self.seq + 1:
            self._add(self.seq + 1, f"{_span(self.seq + 1, event.seq - 1)} missing")
        if self.at and event.created_at < self.at:
            self._add(
                event.seq,
                f"its time {event.created_at} is before that of the previous event, {self.at}",
            )
        expected = hash_chain.hash_event(self.hash, event)
        if expected != event.hash:
            self._add(
                event.seq,
                "this event or the one before it was changed: "
                f"the hash should be {expected.hex()} but is {event.hash.hex()}",
            )
        for what in (_find_wrong_state(event), _find_wrong_note(event)):
            if what:
                self._add(event.seq, what)
        self.seq, self.hash, self.at = event.seq, event.hash, event.created_at

    def check_end(self, opening: Opening) -> None:
        """Compare the end of the log with the opening's row."""
        if opening.last_seq > self.seq:
            self._add(self.seq + 1, f"{_span(self.seq + 1, opening.last_seq)} missing at the end")
        elif opening.last_seq < self.seq:
            self._add(opening.last_seq + 1, f"the opening has no event after {opening.last_seq}")
        elif opening.last_hash != self.hash:
            stored = opening.last_hash.hex()
            self._add(self.seq, f"the opening has the hash {stored}, not {self.hash.hex()}")
        elif self.at and opening.last_event_at != self.at:
            self._add(self.seq, f"the opening has the time {opening.last_event_at}, not {self.at}")

    def _add(self, seq: int, what: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(VerificationFault(seq, what))


def _span(first: int, last: int) -> str:
    return f"event {first} is" if first == last else f"events {first} to {last} are"


def _find_wrong_state(event: _LoggedEvent) -> str | None:
    if event.to_status not in TARGET_STATUSES.get(event.type, {None}):
        return f"{event.type} cannot lead to {event.to_status}"
    if (event.queue_key is not None) != (event.to_status == "WAITLIST"):
        return f"{event.to_status} with the queue key {event.queue_key}"
    if (event.deadline is not None) != (event.to_status == "PENDING_ACKNOWLEDGMENT"):
        return f"{event.to_status} with the deadline {event.deadline}"
    return None


def _find_wrong_note(event: _LoggedEvent) -> str | None:
    if event.note is not None and event.note_salt is not None:
        same = hash_chain.digest_note(event.note, event.note_salt) == event.note_digest
        return None if same else "its note was changed"
    if event.note_digest is not None and not event.erased:
        return "its note is missing although the applicant was not erased"
    return None


async def _read_events(tx: Tx, opening_id: int) -> AsyncIterator[_LoggedEvent]:
    """The events in order, one batch at a time."""
    async with tx.cursor("log", row_factory=class_row(_LoggedEvent)) as cursor:
        cursor.itersize = BATCH
        await cursor.execute(
            """
            SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
                   metadata, why, actor, request, note_digest, created_at, note, note_salt, hash,
                   CASE WHEN note IS NULL AND note_digest IS NOT NULL THEN EXISTS (
                       SELECT FROM hiring.application
                         JOIN hiring.applicant ON applicant.id = applicant_id
                        WHERE erased_at IS NOT NULL
                          -- The reason for an added slot is about the applicant of the next event.
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
        async for event in cursor:
            yield event


async def _check_heads(
    tx: Tx, opening_id: int, against: Sequence[ChainHead]
) -> list[VerificationFault]:
    """Earlier heads that are no longer part of the chain."""
    cursor = await tx.execute(
        """
        SELECT seq, encode(hash, 'hex') FROM hiring.event
         WHERE opening_id = %s AND seq = ANY (%s::bigint[])
        """,
        [opening_id, [head.seq for head in against]],
    )
    hashes = dict(await cursor.fetchall())
    return [
        VerificationFault(
            head.seq, f"its hash was {head.hash} and is now {hashes.get(head.seq, 'missing')}"
        )
        for head in against
        if head.seq and hashes.get(head.seq) != head.hash.lower()
    ]


async def _check_transitions(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Events that do not start from the target state of the event before."""
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
        VerificationFault(seq, f"application {id} starts from {start} but was {before}")
        for seq, id, start, before in await cursor.fetchall()
    ]


async def _check_applications(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Applications that differ from what their events say."""
    mismatches = await fetch_all(
        tx,
        _Mismatch,
        """
        WITH logged AS (
            SELECT application_id, max(seq) AS seq, min(seq) AS first_seq,
                   count(*) FILTER (WHERE type IN ('DECAY_TRIGGERED', 'LAPSED')) AS missed,
                   max(seq) FILTER (WHERE type = 'SCORED') AS score_seq,
                   max(seq) FILTER (WHERE type = 'STAGE_CHANGED') AS stage_seq,
                   max(created_at) FILTER (WHERE type NOT IN ('SCORED', 'STAGE_CHANGED')
                                              OR to_status = 'INACTIVE') AS entered_at
              FROM hiring.event
             WHERE opening_id = %(opening)s AND application_id IS NOT NULL
             GROUP BY application_id
        ), expected AS (
            SELECT logged.application_id AS id, logged.seq,
                   jsonb_build_object(
                       'applicant_id', first.metadata->'applicantId', 'status', last.to_status,
                       'queue_key', last.queue_key, 'acknowledge_deadline', last.deadline,
                       'penalty_count', missed, 'applied_at', first.created_at,
                       'entered_at', logged.entered_at,
                       'confirm_by', (last.metadata->>'confirmBy')::timestamptz,
                       'score', scored.metadata->'to', 'stage', staged.metadata->'to') AS facts
              FROM logged
              JOIN hiring.event AS last ON last.opening_id = %(opening)s AND last.seq = logged.seq
              JOIN hiring.event AS first
                ON first.opening_id = %(opening)s AND first.seq = first_seq
              LEFT JOIN hiring.event AS scored
                ON scored.opening_id = %(opening)s AND scored.seq = score_seq
              LEFT JOIN hiring.event AS staged
                ON staged.opening_id = %(opening)s AND staged.seq = stage_seq
        ), actual AS (
            SELECT id, jsonb_build_object(
                       'applicant_id', applicant_id, 'status', status, 'queue_key', queue_key,
                       'acknowledge_deadline', acknowledge_deadline,
                       'penalty_count', penalty_count, 'applied_at', applied_at,
                       'entered_at', entered_at, 'confirm_by', confirm_by, 'score', score,
                       'stage', stage) AS facts
              FROM hiring.application
             WHERE opening_id = %(opening)s
        )
        SELECT seq, id, coalesce(expected.facts, '{}') AS expected,
               coalesce(actual.facts, '{}') AS actual
          FROM expected FULL JOIN actual USING (id)
         WHERE expected.facts IS DISTINCT FROM actual.facts
         ORDER BY seq, id
         LIMIT %(most)s
        """,
        {"opening": opening_id, "most": MAX_FAULTS},
    )
    return [
        VerificationFault(mismatch.seq, f"application {mismatch.id}: {_describe(mismatch)}")
        for mismatch in mismatches
    ]


def _describe(mismatch: _Mismatch) -> str:
    if not mismatch.expected:
        return "it has no event"
    if not mismatch.actual:
        return "it is not in the table"
    return ", ".join(
        f"{name} should be {expected} but is {mismatch.actual[name]}"
        for name, expected in mismatch.expected.items()
        if expected != mismatch.actual[name]
    )


async def _check_counters(tx: Tx, opening: Opening) -> list[VerificationFault]:
    """Counters and settings of the opening that differ from its log."""
    counts = await replay.counts_at(tx, opening.id, replay.LATEST_SEQ)
    state = await replay.state_at(tx, opening.id, replay.LATEST_SEQ)
    expected = {
        "status": state.status,
        "capacity": state.capacity,
        "occupied": counts.occupied,
        "waiting": counts.waiting,
        "in_review": counts.in_review,
        "excess": max(counts.occupied - state.capacity, 0),
    }
    faults = [
        VerificationFault(
            None, f"the opening's {name} should be {value} but is {getattr(opening, name)}"
        )
        for name, value in expected.items()
        if value != getattr(opening, name)
    ]
    if counts.max_key > opening.max_key:
        faults.append(
            VerificationFault(
                None,
                f"an application has the queue key {counts.max_key}, greater than {opening.max_key}",
            )
        )
    due, checked_at = counts.next_deadline_at, opening.next_deadline_at
    if due and (checked_at is None or checked_at > due):
        faults.append(
            VerificationFault(
                None, f"a deadline is at {due}, but the opening checks at {checked_at}"
            )
        )
    return faults


async def _check_blocks(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Stored sums of the waitlist that differ from its events."""
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
        ), actual AS (
            SELECT block, waiting FROM hiring.waitlist_block WHERE opening_id = %(opening)s
        )
        SELECT block, coalesce(counted.waiting, 0), coalesce(actual.waiting, 0)
          FROM counted FULL JOIN actual USING (block)
         WHERE coalesce(counted.waiting, 0) <> coalesce(actual.waiting, 0)
         ORDER BY block
         LIMIT %(most)s
        """,
        {"opening": opening_id, "most": MAX_FAULTS},
    )
    return [
        VerificationFault(
            None, f"block {block} of the waitlist should hold {expected} but holds {actual}"
        )
        for block, expected, actual in await cursor.fetchall()
    ]


async def _check_forms(tx: Tx, opening: Opening) -> list[VerificationFault]:
    """Compare the versions of the form, which applicants answered and consented to, with their events."""
    cursor = await tx.execute(
        """
        SELECT seq, (metadata->>'version')::int, metadata->>'sha256', fields
          FROM hiring.event
          LEFT JOIN hiring.application_form AS form
            ON form.opening_id = event.opening_id AND version = (metadata->>'version')::int
         WHERE event.opening_id = %s AND type = 'FORM_CHANGED'
         ORDER BY seq
        """,
        [opening.id],
    )
    forms = await cursor.fetchall()
    faults = [
        VerificationFault(seq, f"version {version} of the form was changed or removed")
        for seq, version, sha256, fields in forms
        if fields is None or hash_chain.digest_form(fields) != sha256
    ]
    latest = forms[-1][1] if forms else 0
    if opening.form_version != latest:
        what = f"the opening shows version {opening.form_version} of the form, the log has {latest}"
        faults.append(VerificationFault(None, what))
    return faults[:MAX_FAULTS]


async def _check_draws(tx: Tx, opening_id: int) -> list[VerificationFault]:
    """Draws that did not follow the committed seed, or with changed entries."""
    faults = [(draw.seq, draws.find_fault(draw)) for draw in await draws.find_draws(tx, opening_id)]
    return [VerificationFault(seq, what) for seq, what in faults if what]

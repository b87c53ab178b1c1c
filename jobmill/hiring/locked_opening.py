"""An opening under its row lock: every change of an opening and its applications goes through here.

The transaction that enters `lock_opening` has the opening to itself until it ends. Changes are kept in
memory and written in a few statements at the end, or earlier when the caller reads what was changed
(`flush`). Statements are sent in pipeline mode and only results that are needed are awaited, which keeps
the lock short.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from jobmill.db import Tx, pipelined
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.audit_log import events, hash_chain
from jobmill.hiring.audit_log.events import SealedEvent
from jobmill.hiring.messages import notices
from jobmill.hiring.messages.notices import Notice, NoticeKind
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.applications import Application, ApplicationId, DuplicateApplication
from jobmill.hiring.records.openings import LockedOpeningRow, OpeningStatus
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import (
    OCCUPYING,
    ApplicationEventType,
    ApplicationStatus,
    EventType,
    OpeningEventType,
    check_transition,
)


class LockedOpening:
    def __init__(self, tx: Tx, opening: LockedOpeningRow, by: Actor) -> None:
        self.tx = tx
        self.opening = opening
        self.by = by
        self.at = opening.now
        self.status: OpeningStatus = opening.status
        self.capacity = opening.capacity
        self.occupied = opening.occupied
        self.waiting = opening.waiting
        self.in_review = opening.in_review
        self.drawn = opening.drawn
        self.excess = opening.excess
        self.next_key = opening.next_key
        self.max_key = opening.max_key
        self.next_deadline_at = opening.next_deadline_at
        self.last_key: int | None = None if opening.waiting else 0
        """The queue key of the last application on the waitlist; None: not read yet."""
        self.seq = opening.last_seq
        self.positions_changed = False
        self.ended_applicants: set[ApplicantId] = set()
        """The applicants of applications that ended under this lock."""
        self._hash = opening.last_hash
        self._ids = iter(opening.ids)
        self._live_applications: dict[int, int] = {}
        self._entered: list[Application] = []
        self._moved: dict[ApplicationId, tuple[Application, ApplicationStatus]] = {}
        self._block_changes: Counter[int] = Counter()
        self._vacated: set[int] = set()
        self._events: list[SealedEvent] = []
        self._notices: list[Notice] = []
        self._updates: list[tuple[AsyncCursor[TupleRow], int]] = []

    def set_live_applications(self, live: dict[int, int]) -> None:
        """The live applications of the new applicants, by applicant id."""
        self._live_applications = live

    @property
    def free_slots(self) -> int:
        return max(self.capacity - self.occupied, 0)

    @property
    def occupancy(self) -> dict[str, int]:
        """The counts that the log records with a decision."""
        return {"occupied": self.occupied, "capacity": self.capacity, "waiting": self.waiting}

    @property
    def has_started(self) -> bool:
        """Whether this is an interview time that has started: it takes no bookings and offers no slots."""
        return self.opening.starts_at is not None and self.opening.starts_at <= self.at

    def limit_deadline(self, deadline: dt.datetime) -> dt.datetime:
        """An offer of an interview time ends when the interview starts, at the latest."""
        return min(deadline, self.opening.starts_at or deadline)

    async def flush(self) -> Tx:
        """Write all changes so far; returns the transaction, which then reads them."""
        entered = {application.id for application in self._entered}
        # An applicant may leave and apply again: write the end of the old application first.
        await self._update([move for id, move in self._moved.items() if id not in entered])
        if entered:
            await applications.insert(self.tx, self._entered)
        await self._update([move for id, move in self._moved.items() if id in entered])
        await applications.update_block_counts(self.tx, self.opening.id, self._block_changes)
        if self._vacated:
            await applications.close_places(
                self.tx, self.opening.id, self._vacated, next_key=self.next_key
            )
        if self._events:
            await events.insert(self.tx, self._events)
        self._entered, self._moved, self._events = [], {}, []
        self._block_changes.clear()
        self._vacated.clear()
        return self.tx

    async def reopen_places_beyond(self, key: int) -> None:
        """Allow vacated queue keys behind `key` again, where no application waits any more."""
        self._vacated = {vacated for vacated in self._vacated if vacated <= key}
        await applications.reopen_places(self.tx, self.opening.id, beyond=key)

    async def _update(self, moved: Sequence[tuple[Application, ApplicationStatus]]) -> None:
        if moved:
            self._updates.append((await applications.update(self.tx, moved), len(moved)))

    async def get_application(self, id: int) -> Application:
        """The application with all changes made under this lock."""
        if id in self._moved:
            application, _ = self._moved[ApplicationId(id)]
            return application
        return await applications.get(await self.flush(), id)

    def refuse_duplicate(self, applicant_id: ApplicantId) -> None:
        live = self._live_applications.get(applicant_id)
        if live is not None:
            raise DuplicateApplication(applicant_id, self.opening.id, live)

    def add_application(
        self,
        applicant_id: ApplicantId,
        status: ApplicationStatus,
        *,
        queue_key: int | None = None,
        position: int | None = None,
        deadline: dt.datetime | None = None,
        confirm_by: dt.datetime | None = None,
        why: Mapping[str, Any],
    ) -> Application:
        """Add a new application; raises DuplicateApplication if the applicant has a live one."""
        check_transition(None, status)
        self.refuse_duplicate(applicant_id)
        application = Application(
            id=ApplicationId(next(self._ids)),
            opening_id=self.opening.id,
            applicant_id=applicant_id,
            status=status,
            queue_key=queue_key,
            notified_position=position,
            applied_at=self.at,
            entered_at=self.at,
            acknowledge_deadline=deadline,
            confirm_by=confirm_by,
            parent_id=self.opening.parent_id,
        )
        self._live_applications[applicant_id] = application.id
        self._entered.append(application)
        self._count(None, application)
        metadata = {"jobId": self.opening.id, "applicantId": applicant_id}
        self._record("APPLIED", application, None, metadata, why)
        return application

    def move_application(
        self,
        application: Application,
        status: ApplicationStatus,
        type: ApplicationEventType,
        *,
        metadata: Mapping[str, Any],
        why: Mapping[str, Any],
        note: str | None = None,
        **changes: Any,
    ) -> Application:
        """Change the status; queue key and deadline belong to one status and are cleared."""
        check_transition(application.status, status)
        if status == "INACTIVE":
            changes["confirm_by"] = None
        moved = replace(
            application,
            status=status,
            entered_at=self.at,
            **{"queue_key": None, "acknowledge_deadline": None, **changes},
        )
        self._keep(application, moved)
        if status == "INACTIVE":
            self._live_applications.pop(application.applicant_id, None)
            self.ended_applicants.add(application.applicant_id)
        self._count(application, moved)
        metadata = {"jobId": self.opening.id, **metadata}
        self._record(type, moved, application.status, metadata, why, note)
        return moved

    def confirm_address(self, application: Application) -> Application:
        """Record that the owner of the address confirmed it."""
        return self.change_application(
            application,
            "ADDRESS_CONFIRMED",
            metadata={},
            why={"rule": "address confirmed in time"},
            confirm_by=None,
            entered_at=self.at,
        )

    def change_application(
        self,
        application: Application,
        type: ApplicationEventType,
        *,
        metadata: Mapping[str, Any],
        why: Mapping[str, Any],
        note: str | None = None,
        **changes: Any,
    ) -> Application:
        """Record a change that keeps the status, the position and the offer."""
        changed = replace(application, **changes)
        self._keep(application, changed)
        metadata = {"jobId": self.opening.id, **metadata}
        self._record(type, changed, application.status, metadata, why, note)
        return changed

    def _keep(self, application: Application, changed: Application) -> None:
        # Write each row once: the second update of a row would make PostgreSQL lock its applicant, and
        # deadlock with a transaction that erases the applicant and waits for this opening.
        _, before = self._moved.get(application.id, (application, application.status))
        self._moved[application.id] = (changed, before)

    def record_opening_event(
        self, type: OpeningEventType, metadata: Mapping[str, Any], note: str | None = None
    ) -> None:
        self._record(type, None, None, {"jobId": self.opening.id, **metadata}, {}, note)

    def add_notice(
        self,
        kind: NoticeKind,
        application: Application,
        *,
        due_at: dt.datetime | None = None,
        ended_offer: dt.datetime | None = None,
        **data: Any,
    ) -> None:
        """Send the applicant a letter after the transaction commits.

        `ended_offer` is the deadline of an offer that has ended, if the letter is about that.
        """
        if ended_offer:
            data["endedOffer"] = format_timestamp(ended_offer)
        self._notices.append(
            Notice(kind, self.opening.id, application.id, self.seq, due_at or self.at, data)
        )

    def _count(self, before: Application | None, after: Application) -> None:
        was = before.status if before else None
        self.occupied += (after.status in OCCUPYING) - (was in OCCUPYING)
        self.waiting += (after.status == "WAITLIST") - (was == "WAITLIST")
        self.in_review += (after.status == "IN_REVIEW") - (was == "IN_REVIEW")
        if before and before.queue_key is not None:
            self._block_changes[applications.block_of(before.queue_key)] -= 1
            self.positions_changed = True
            if before.queue_key >= self.next_key:
                self._vacated.add(before.queue_key)
            if before.queue_key == self.last_key:
                self.last_key = None
        if after.queue_key is not None:
            self._block_changes[applications.block_of(after.queue_key)] += 1
            if self.last_key is not None:
                self.last_key = max(self.last_key, after.queue_key)
        for deadline in (after.acknowledge_deadline, after.confirm_by):
            if deadline:
                self.next_deadline_at = min(self.next_deadline_at or deadline, deadline)

    def _record(
        self,
        type: EventType,
        application: Application | None,
        before: ApplicationStatus | None,
        metadata: Mapping[str, Any],
        why: Mapping[str, Any],
        note: str | None = None,
    ) -> None:
        self.seq += 1
        if application and application.confirm_by:
            # In every event until the address is confirmed: a replay reads the last one.
            metadata = {**metadata, "confirmBy": format_timestamp(application.confirm_by)}
        salted_note = hash_chain.make_note(note) if note else None
        content = hash_chain.EventContent(
            opening_id=self.opening.id,
            seq=self.seq,
            application_id=application.id if application else None,
            type=type,
            from_status=before,
            to_status=application.status if application else None,
            queue_key=application.queue_key if application else None,
            deadline=application.acknowledge_deadline if application else None,
            metadata=metadata,
            why=why,
            actor=self.by.name,
            request=self.by.request,
            note_digest=salted_note.digest if salted_note else None,
            created_at=self.at,
        )
        self._hash = hash_chain.hash_event(self._hash, content)
        self._events.append(SealedEvent(content, self._hash, salted_note))

    async def save(self) -> None:
        """Write the remaining changes, notices and counters."""
        changed = self.seq > self.opening.last_seq
        await self.flush()
        if self._notices:
            await notices.insert(self.tx, self._notices)
        # Also save a deadline check without any event: otherwise every reader would lock and check again.
        if not changed and self.next_deadline_at == self.opening.next_deadline_at:
            return
        self.excess = min(self.excess, max(self.occupied - self.capacity, 0))
        await openings.update_counters(
            self.tx,
            replace(
                self.opening,
                status=self.status,
                capacity=self.capacity,
                occupied=self.occupied,
                waiting=self.waiting,
                in_review=self.in_review,
                drawn=self.drawn,
                excess=self.excess,
                next_key=self.next_key,
                max_key=self.max_key,
                next_deadline_at=self.next_deadline_at,
                last_seq=self.seq,
                last_hash=self._hash,
                last_event_at=self.at if changed else self.opening.last_event_at,
            ),
        )
        if self.opening.has_webhooks and changed:
            await notices.add_webhook_deliveries(
                self.tx, self.opening.id, self.opening.last_seq, self.seq
            )

    async def check_updates(self) -> None:
        """Raise Conflict if a row had changed in spite of the lock, which every writer must hold."""
        for cursor, expected in self._updates:
            if await cursor.fetchone() != (expected,):
                raise Conflict("This application was changed by another request. Try again.")


@asynccontextmanager
async def lock_opening(
    tx: Tx, opening_id: int, by: Actor, *, new_applicants: Sequence[ApplicantId] = ()
) -> AsyncGenerator[LockedOpening]:
    """Lock the opening and write all changes when the block ends.

    `new_applicants` are applicants that may apply within the block.
    """
    async with pipelined(tx):
        # Send both statements before waiting for the first result.
        lock_cursor = await openings.request_lock(tx, opening_id, len(new_applicants))
        live_cursor = (
            await applications.select_live(tx, opening_id, new_applicants)
            if new_applicants
            else None
        )
        locked = LockedOpening(tx, await openings.fetch_locked(lock_cursor, opening_id), by)
        if live_cursor:
            locked.set_live_applications({applicant: id async for applicant, id in live_cursor})
        yield locked
        await locked.save()
    await locked.check_updates()

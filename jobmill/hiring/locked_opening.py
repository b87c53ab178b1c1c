"""An opening under its lock: every change of it, and of who wants it, goes through here.

Whoever opens a desk has the opening for itself until the transaction ends. What is done at it is kept
in memory and written at the end, however much it is in the same few statements, or when somebody
reads what was done. The statements are sent in pipeline mode: only what is asked for is waited for,
so that the lock is held for a moment.
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

from jobmill.db import Tx
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
from jobmill.hiring.transitions import OCCUPYING, EventType, Move, Status, Turn, check


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
        self.excess = opening.excess
        self.next_key = opening.next_key
        self.top_key = opening.top_key
        self.next_deadline_at = opening.next_deadline_at
        self.last_key: int | None = None if opening.waiting else 0
        """Where the last who waits stands; None: somebody has to look."""
        self.seq = opening.last_seq
        self.somebody_moved_up = False
        self._hash = opening.last_hash
        self._ids = iter(opening.ids)
        self._live: set[int] = set()
        self._entered: list[Application] = []
        self._moved: dict[ApplicationId, tuple[Application, Status]] = {}
        self._block_changes: Counter[int] = Counter()
        self._vacated: set[int] = set()
        self._events: list[SealedEvent] = []
        self._notices: list[Notice] = []
        self._updates: list[tuple[AsyncCursor[TupleRow], int]] = []

    def expect(self, live: set[int]) -> None:
        """Newcomers, of whom these are in it already."""
        self._live = live

    @property
    def free(self) -> int:
        """Slots that can be given away."""
        return max(self.capacity - self.occupied, 0)

    async def written(self) -> Tx:
        """The transaction, for who reads what was done at this desk: it is written by now."""
        entered = {one.id for one in self._entered}
        # Who left may have come again: one leaves before one comes.
        await self._update([one for id, one in self._moved.items() if id not in entered])
        if entered:
            await applications.insert(self.tx, self._entered)
        await self._update([one for id, one in self._moved.items() if id in entered])
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

    async def forget_beyond(self, key: int) -> None:
        """Nobody waits beyond this place any more: what was closed there is open again."""
        self._vacated = {one for one in self._vacated if one <= key}
        await applications.reopen_places(self.tx, self.opening.id, beyond=key)

    async def _update(self, moved: Sequence[tuple[Application, Status]]) -> None:
        if moved:
            self._updates.append((await applications.update(self.tx, moved), len(moved)))

    async def application(self, id: int) -> Application:
        """As it is under the lock."""
        if id in self._moved:
            one, _ = self._moved[ApplicationId(id)]
            return one
        return await applications.get(await self.written(), id)

    def refuse_duplicate(self, applicant_id: ApplicantId) -> None:
        if applicant_id in self._live:
            raise DuplicateApplication(applicant_id, self.opening.id)

    def enter(
        self,
        applicant_id: ApplicantId,
        status: Status,
        *,
        queue_key: int | None = None,
        position: int | None = None,
        deadline: dt.datetime | None = None,
        why: Mapping[str, Any],
    ) -> Application:
        """A new application; Duplicate for who has one that lives."""
        check(None, status)
        self.refuse_duplicate(applicant_id)
        self._live.add(applicant_id)
        one = Application(
            id=ApplicationId(next(self._ids)),
            opening_id=self.opening.id,
            applicant_id=applicant_id,
            status=status,
            queue_key=queue_key,
            told_position=position,
            applied_at=self.at,
            entered_at=self.at,
            acknowledge_deadline=deadline,
        )
        self._entered.append(one)
        self._count(None, one)
        metadata = {"jobId": self.opening.id, "applicantId": applicant_id}
        self._record("APPLIED", one, None, metadata, why)
        return one

    def move(
        self,
        one: Application,
        status: Status,
        type: Move,
        *,
        metadata: Mapping[str, Any],
        why: Mapping[str, Any],
        note: str | None = None,
        **changed: Any,
    ) -> Application:
        """From the state that it has into another; what belongs to a state alone ends with it."""
        check(one.status, status)
        moved = replace(
            one,
            status=status,
            entered_at=self.at,
            **{"queue_key": None, "acknowledge_deadline": None, **changed},
        )
        # A row is written once for all that happens to it: PostgreSQL would look at its applicant
        # the second time, and wait for who is erasing them and waits for us.
        _, before = self._moved.get(one.id, (one, one.status))
        self._moved[one.id] = (moved, before)
        if status == "INACTIVE":
            self._live.discard(one.applicant_id)
        self._count(one, moved)
        held = {"jobId": self.opening.id, **metadata}
        self._record(type, moved, one.status, held, why, note)
        return moved

    def turn(self, type: Turn, metadata: Mapping[str, Any], note: str | None = None) -> None:
        """Something happened to the opening itself."""
        self._record(type, None, None, {"jobId": self.opening.id, **metadata}, {}, note)

    def tell(
        self, kind: NoticeKind, one: Application, *, due_at: dt.datetime | None = None, **data: Any
    ) -> None:
        """Have the applicant told, once this is committed."""
        told = Notice(kind, self.opening.id, one.id, self.seq, due_at or self.at, data)
        self._notices.append(told)

    def _count(self, before: Application | None, after: Application) -> None:
        was = before.status if before else None
        self.occupied += (after.status in OCCUPYING) - (was in OCCUPYING)
        self.waiting += (after.status == "WAITLIST") - (was == "WAITLIST")
        if before and before.queue_key is not None:
            self._block_changes[applications.block_of(before.queue_key)] -= 1
            self.somebody_moved_up = True
            if before.queue_key >= self.next_key:
                self._vacated.add(before.queue_key)
            if before.queue_key == self.last_key:
                self.last_key = None
        if after.queue_key is not None:
            self._block_changes[applications.block_of(after.queue_key)] += 1
            if self.last_key is not None:
                self.last_key = max(self.last_key, after.queue_key)
        if after.acknowledge_deadline:
            known = self.next_deadline_at or after.acknowledge_deadline
            self.next_deadline_at = min(known, after.acknowledge_deadline)

    def _record(
        self,
        type: EventType,
        one: Application | None,
        before: Status | None,
        metadata: Mapping[str, Any],
        why: Mapping[str, Any],
        note: str | None = None,
    ) -> None:
        self.seq += 1
        words = hash_chain.make_note(note) if note else None
        entry = hash_chain.EventContent(
            opening_id=self.opening.id,
            seq=self.seq,
            application_id=one.id if one else None,
            type=type,
            from_status=before,
            to_status=one.status if one else None,
            queue_key=one.queue_key if one else None,
            deadline=one.acknowledge_deadline if one else None,
            metadata=metadata,
            why=why,
            actor=self.by.name,
            request=self.by.request,
            note_digest=words.digest if words else None,
            created_at=self.at,
        )
        self._hash = hash_chain.hash_event(self._hash, entry)
        self._events.append(SealedEvent(entry, self._hash, words))

    async def close(self) -> None:
        """Write what is to be told, and the counters; nothing where nothing happened."""
        happened = self.seq > self.opening.last_seq
        await self.written()
        if self._notices:
            await notices.insert(self.tx, self._notices)
        # To have looked in vain is worth keeping: else every reader would look again, with a lock.
        if not happened and self.next_deadline_at == self.opening.next_deadline_at:
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
                excess=self.excess,
                next_key=self.next_key,
                top_key=self.top_key,
                next_deadline_at=self.next_deadline_at,
                last_seq=self.seq,
                last_hash=self._hash,
                last_event_at=self.at if happened else self.opening.last_event_at,
            ),
        )
        if self.opening.hooked and happened:
            await notices.add_webhook_deliveries(
                self.tx, self.opening.id, self.opening.last_seq, self.seq
            )

    def check_updates(self) -> None:
        """Each moved application was still what it was: it always is, while every writer locks."""
        if any(cursor.rowcount != wanted for cursor, wanted in self._updates):
            raise Conflict("Somebody else changed this application at the same moment. Try again.")


@asynccontextmanager
async def lock_opening(
    tx: Tx, opening_id: int, by: Actor, *, newcomers: Sequence[ApplicantId] = ()
) -> AsyncGenerator[LockedOpening]:
    """The opening, locked; what was done at the desk is written when the block ends."""
    async with tx.pipeline():
        # Both are on their way before the first is waited for.
        locked = await openings.request_lock(tx, opening_id, len(newcomers))
        live = await applications.select_live(tx, opening_id, newcomers) if newcomers else None
        one = LockedOpening(tx, await openings.fetch_locked(locked, opening_id), by)
        if live:
            one.expect({id async for (id,) in live})
        yield one
        await one.close()
    one.check_updates()

"""Deadlines: an expired offer is taken back once, with a penalty, and goes to the next. An application
ends if its address is not confirmed in time."""

from __future__ import annotations

import datetime as dt
import logging
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.hiring.actor import SYSTEM, Actor
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.records import applications
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.applications import Application
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.waitlist import position_notices, positions, promotions
from jobmill.queue import ticks

log = logging.getLogger(__name__)

INTERVIEW_STARTED = "the interview has started"
POLL_SECONDS = 0.5
"""How often a worker looks for expired offers."""
OPENINGS_PER_CYCLE = 20
"""Openings that one transaction of a worker keeps locked."""
DUE_OPENINGS = 1_000
"""Openings that workers choose from: enough that parallel workers seldom choose the same."""
EXPIRED_AT_ONCE = 2_000
"""Limits how long the opening stays locked; the rest follows in the next transactions."""
EVENTS_PER_CYCLE = 2_000
"""A transaction of a worker that recorded this many events leaves its other openings to the next."""


@dataclass(frozen=True, slots=True)
class PendingOffer:
    application_id: int
    opening_id: int
    title: str
    name: str
    ends_at: dt.datetime


@asynccontextmanager
async def lock_and_expire_offers(
    tx: Tx, opening_id: int, by: Actor, *, new_applicants: Sequence[ApplicantId] = ()
) -> AsyncGenerator[LockedOpening]:
    """Lock the opening and settle what is overdue before anything else happens to it."""
    async with lock_opening(tx, opening_id, by, new_applicants=new_applicants) as locked:
        await expire_overdue_offers(locked)
        yield locked
        await position_notices.notify_milestones(locked)
        if locked.ended_applicants and locked.opening.has_interviews:
            await _end_bookings(locked)


@asynccontextmanager
async def lock_application(
    tx: Tx, application_id: int, by: Actor
) -> AsyncGenerator[tuple[LockedOpening, Application]]:
    """Lock the opening of an application and settle what is overdue; raises ApplicationNotFound."""
    opening_id = await applications.find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, opening_id, by) as locked:
        yield locked, await locked.get_application(application_id)


async def expire_overdue_offers(locked: LockedOpening) -> None:
    """End unconfirmed applications, take back expired offers and offer the slots, at the same instant.

    At most `EXPIRED_AT_ONCE` of each: until the rest follows, an expired offer keeps its slot but cannot
    be accepted.
    """
    if locked.next_deadline_at is None or locked.next_deadline_at > locked.at:
        return
    by, locked.by = locked.by, SYSTEM
    unconfirmed = await applications.find_expired(
        await locked.flush(), "confirm_by", locked.opening.id, locked.at, limit=EXPIRED_AT_ONCE
    )
    for application in unconfirmed:
        _end_unconfirmed(locked, application)
    if locked.has_started:
        await _end_waiting_for_interview(locked)
    # Written before the rest is read: an application that has ended misses no offer and gets none.
    overdue = await applications.find_expired(
        await locked.flush(),
        "acknowledge_deadline",
        locked.opening.id,
        locked.at,
        limit=EXPIRED_AT_ONCE,
    )
    has_more = EXPIRED_AT_ONCE in (len(unconfirmed), len(overdue))
    locked.next_deadline_at = (
        locked.at
        if has_more
        else await applications.find_next_deadline(locked.tx, locked.opening.id, locked.at)
    )
    start = locked.opening.starts_at
    if start and not locked.has_started:
        locked.next_deadline_at = min(locked.next_deadline_at or start, start)
    if overdue or unconfirmed:
        returning = [application for application in overdue if not _is_last(locked, application)]
        next_offers = promotions.count_next_offers(
            locked, freed=len(overdue), joining=len(returning)
        )
        expired = [await _expire_offer(locked, application, next_offers) for application in overdue]
        put_back = [application for application in expired if application.status == "WAITLIST"]
        await promotions.offer_free_slots(locked, cause=locked.seq, put_back=put_back)
    locked.by = by


async def _end_waiting_for_interview(locked: LockedOpening) -> None:
    """End the offers and the waitlist of an interview time that has started."""
    for application in await applications.find_live(await locked.flush(), locked.opening.id):
        if application.status != "ACTIVE":
            ended = _end_booking(locked, application, INTERVIEW_STARTED)
            locked.add_notice("interview_over", ended)


async def _end_bookings(locked: LockedOpening) -> None:
    """End the interviews of applicants after their application has ended, and offer the places.

    The opening is locked before its interview times, as by every transaction that locks both.
    """
    bookings = await applications.find_bookings(
        await locked.flush(), locked.opening.id, locked.ended_applicants
    )
    for booking in bookings:
        async with lock_and_expire_offers(locked.tx, booking.opening_id, locked.by) as interview:
            current = await interview.get_application(booking.id)
            # The start of the interview may have ended it just now.
            if current.status != "INACTIVE":
                ended = _end_booking(interview, current, "the application has ended")
                if not interview.has_started:
                    interview.add_notice("interview_cancelled", ended)
                await promotions.offer_free_slots(interview, cause=interview.seq)


def _end_booking(locked: LockedOpening, application: Application, rule: str) -> Application:
    was_offered = application.status == "PENDING_ACKNOWLEDGMENT"
    return locked.move_application(
        application,
        "INACTIVE",
        "WITHDRAWN",
        metadata={"actor": locked.by.side},
        why={"rule": rule, "occupied": locked.occupied, "capacity": locked.capacity},
        missed_at=locked.at if was_offered else None,
    )


def _end_unconfirmed(locked: LockedOpening, application: Application) -> None:
    """End an application without a letter: its address may belong to a stranger."""
    locked.move_application(
        application,
        "INACTIVE",
        "ADDRESS_UNCONFIRMED",
        metadata={},
        why={
            "rule": "address not confirmed in time",
            "occupied": locked.occupied,
            "capacity": locked.capacity,
        },
        missed_at=None,
    )


def _is_last(locked: LockedOpening, application: Application) -> bool:
    """Whether another missed offer ends the application."""
    return application.penalty_count + 1 >= locked.opening.max_missed


async def _expire_offer(
    locked: LockedOpening, application: Application, next_offers: int
) -> Application:
    """Take an expired offer back; `next_offers` places are offered right after all of them."""
    penalties = application.penalty_count + 1
    deadline, max_missed = application.acknowledge_deadline, locked.opening.max_missed
    why = {
        "rule": "offer not answered",
        "missed": penalties,
        "most": max_missed,
        "deadline": format_timestamp(deadline) if deadline else None,
    }
    if _is_last(locked, application):
        lapsed = locked.move_application(
            application,
            "INACTIVE",
            "LAPSED",
            metadata={"penaltyCount": penalties},
            why=why,
            penalty_count=penalties,
            missed_at=locked.at,
        )
        locked.add_notice("lapsed", lapsed, ended_offer=deadline, missed=penalties)
        return lapsed
    # Behind all that still wait when the free places have been offered, as the waitlist then shows it.
    position = max(locked.waiting + 1 - next_offers, 1)
    decayed = locked.move_application(
        application,
        "WAITLIST",
        "DECAY_TRIGGERED",
        metadata={"penaltyCount": penalties, "newPosition": position},
        why=why,
        queue_key=await positions.put_back(locked, penalties),
        penalty_count=penalties,
        notified_position=position,
        promoted_at=None,
        missed_at=locked.at,
    )
    locked.add_notice(
        "decayed",
        decayed,
        ended_offer=deadline,
        position=position,
        missed=penalties,
        remaining=max_missed - penalties,
    )
    return decayed


async def run_cycle(tx: Tx) -> bool:
    """One cycle of the deadline worker; the tick shows that it completed."""
    has_more = await expire_due_openings(tx)
    await ticks.record_tick(tx, "deadlines")
    return has_more


async def expire_due_openings(tx: Tx) -> bool:
    """Expire the offers of some openings that no other transaction holds; False if there are none.

    Workers take different openings, so they work in parallel. Raises the failure if none succeeded.
    """
    expired, recorded, failure = 0, 0, None
    for id in await _lock_due_openings(tx):
        if recorded >= EVENTS_PER_CYCLE:
            break
        try:
            # An opening that always fails must not keep the others from their deadlines.
            async with tx.transaction(), lock_and_expire_offers(tx, id, SYSTEM) as locked:
                pass
            expired += 1
            recorded += locked.seq - locked.opening.last_seq
        except Exception as error:
            log.warning("deadlines of an opening failed", extra={"opening": id}, exc_info=error)
            failure = error
    if failure and not expired:
        raise failure
    return expired > 0


async def _lock_due_openings(tx: Tx) -> list[int]:
    """Lock openings with something overdue; those that another transaction holds are expired by it."""
    cursor = await tx.execute(
        """
        SELECT id, parent_id IS NOT NULL FROM hiring.opening
         WHERE next_deadline_at <= statement_timestamp()
         ORDER BY next_deadline_at
         LIMIT %s
        """,
        [DUE_OPENINGS],
    )
    due = await cursor.fetchall()
    # Openings or interview times, not both: the end of an application locks its interview time, which
    # another worker may hold, and that worker must not wait for anything.
    kind = random.choice([is_interview for _, is_interview in due] or [False])
    ids = [id for id, is_interview in due if is_interview == kind]
    # At random: an opening that always fails must not be among the first of every cycle.
    candidates = random.sample(ids, min(len(ids), OPENINGS_PER_CYCLE))
    cursor = await tx.execute(
        """
        SELECT id FROM hiring.opening
         WHERE id = ANY (%s) AND next_deadline_at <= statement_timestamp()
           FOR NO KEY UPDATE SKIP LOCKED
        """,
        [candidates],
    )
    return [id for (id,) in await cursor.fetchall()]


async def find_pending_offers(tx: Tx, *, limit: int) -> list[PendingOffer]:
    """Unexpired offers, the earliest deadline first."""
    return await fetch_all(
        tx,
        PendingOffer,
        """
        SELECT application.id AS application_id, opening_id, opening.title, applicant.name,
               acknowledge_deadline AS ends_at
          FROM hiring.application
          JOIN hiring.opening ON opening.id = opening_id
          JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.status = 'PENDING_ACKNOWLEDGMENT' AND acknowledge_deadline > now()
           AND application.parent_id IS NULL
         ORDER BY acknowledge_deadline
         LIMIT %s
        """,
        [limit],
    )

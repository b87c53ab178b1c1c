"""Deadlines: an expired offer is taken back once, with a penalty, and goes to the next; an application
whose address was not confirmed in time ends."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.hiring.actor import SYSTEM, Actor
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.records import applications
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.applications import Application
from jobmill.hiring.waitlist import positions, promotions
from jobmill.queue import ticks

POLL_SECONDS = 0.5
"""How often a worker looks for expired offers."""


@dataclass(frozen=True, slots=True)
class PendingOffer:
    application_id: int
    opening_id: int
    title: str
    name: str
    ends_at: dt.datetime


@asynccontextmanager
async def lock_and_expire_offers(
    tx: Tx, opening_id: int, by: Actor, *, newcomers: Sequence[ApplicantId] = ()
) -> AsyncGenerator[LockedOpening]:
    """Lock the opening and settle what is overdue before anything else happens to it."""
    async with lock_opening(tx, opening_id, by, newcomers=newcomers) as locked:
        await expire_overdue_offers(locked)
        yield locked
        await positions.notify_milestones(locked)


async def expire_overdue_offers(locked: LockedOpening) -> None:
    """End unconfirmed applications, take back expired offers and offer the slots, at the same instant."""
    if locked.next_deadline_at is None or locked.next_deadline_at > locked.at:
        return
    by, locked.by = locked.by, SYSTEM
    unconfirmed = await applications.find_unconfirmed(
        await locked.flush(), locked.opening.id, locked.at
    )
    for application in unconfirmed:
        _end_unconfirmed(locked, application)
    # Written before the rest is read: an application that has ended misses no offer and gets none.
    overdue = await applications.find_overdue(await locked.flush(), locked.opening.id, locked.at)
    locked.next_deadline_at = await applications.find_next_deadline(
        locked.tx, locked.opening.id, locked.at
    )
    if overdue or unconfirmed:
        expired = [await _expire_offer(locked, application) for application in overdue]
        put_back = [application for application in expired if application.status == "WAITLIST"]
        await promotions.offer_free_slots(locked, cause=locked.seq, put_back=put_back)
    locked.by = by


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


async def _expire_offer(locked: LockedOpening, application: Application) -> Application:
    max_missed = locked.opening.max_missed
    penalties = application.penalty_count + 1
    why = {"rule": "offer not answered", "missed": penalties, "most": max_missed}
    if penalties >= max_missed:
        lapsed = locked.move_application(
            application,
            "INACTIVE",
            "LAPSED",
            metadata={"penaltyCount": penalties},
            why=why,
            penalty_count=penalties,
            missed_at=locked.at,
        )
        locked.add_notice("lapsed", lapsed, missed=penalties)
        return lapsed
    # The last position: behind all that wait.
    position = locked.waiting + 1
    decayed = locked.move_application(
        application,
        "WAITLIST",
        "DECAY_TRIGGERED",
        metadata={"penaltyCount": penalties, "newPosition": position},
        why=why,
        queue_key=await positions.put_back(locked, penalties),
        penalty_count=penalties,
        told_position=position,
        promoted_at=None,
        missed_at=locked.at,
    )
    locked.add_notice("decayed", decayed, position=position, missed=penalties)
    return decayed


async def run_cycle(tx: Tx) -> bool:
    """One cycle of the deadline worker; the tick shows that it completed."""
    has_more = await expire_one_opening(tx)
    await ticks.record_tick(tx, "deadlines")
    return has_more


async def expire_one_opening(tx: Tx) -> bool:
    """Expire the offers of one opening that no other transaction holds; False if there is none."""
    ids = await _find_overdue_openings(tx)
    # Random order: an opening that always fails must not block all others.
    random.shuffle(ids)
    for id in ids:
        if await _try_lock(tx, id):
            async with lock_and_expire_offers(tx, id, SYSTEM):
                return True
    return False


async def _find_overdue_openings(tx: Tx) -> list[int]:
    """All openings with something overdue; no LIMIT, since one opening may have any number of offers."""
    cursor = await tx.execute(
        """
        SELECT opening_id FROM hiring.application
         WHERE status = 'PENDING_ACKNOWLEDGMENT'
           AND acknowledge_deadline <= statement_timestamp()
        UNION
        SELECT opening_id FROM hiring.application WHERE confirm_by <= statement_timestamp()
        """
    )
    return [id for (id,) in await cursor.fetchall()]


async def _try_lock(tx: Tx, opening_id: int) -> bool:
    """Lock an opening unless another transaction holds it; that transaction expires its offers."""
    id = await fetch_value(
        tx,
        int,
        "SELECT id FROM hiring.opening WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED",
        [opening_id],
    )
    return id is not None


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
         ORDER BY acknowledge_deadline
         LIMIT %s
        """,
        [limit],
    )

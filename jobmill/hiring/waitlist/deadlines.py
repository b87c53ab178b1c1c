"""Deadlines: offers nobody answered are taken back, once, with a penalty, and go to the next."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from jobmill.db import Tx, fetch_value
from jobmill.hiring.actor import SYSTEM, Actor
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.records import applications
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.applications import Application
from jobmill.hiring.waitlist import promotions

POLL_SECONDS = 0.5
"""Seconds between two looks of a worker."""


@asynccontextmanager
async def lock_and_expire_offers(
    tx: Tx, opening_id: int, by: Actor, *, newcomers: Sequence[ApplicantId] = ()
) -> AsyncGenerator[LockedOpening]:
    """A desk at which no offer is overdue: whoever comes first does what the clock has decided."""
    async with lock_opening(tx, opening_id, by, newcomers=newcomers) as one:
        await expire_overdue_offers(one)
        yield one
        await promotions.notify_milestones(one)


async def expire_overdue_offers(one: LockedOpening) -> None:
    """Take back what is overdue, then fill the slots: in one transaction, as one moment."""
    if one.next_deadline_at is None or one.next_deadline_at > one.at:
        return
    by, one.by = one.by, SYSTEM
    overdue = await applications.find_overdue(await one.written(), one.opening.id, one.at)
    one.next_deadline_at = await applications.find_next_deadline(one.tx, one.opening.id, one.at)
    if overdue:
        fallen = [await _miss(one, missed) for missed in overdue]
        behind = [moved for moved in fallen if moved.status == "WAITLIST"]
        await promotions.offer_free_slots(one, cause=one.seq, behind=behind)
    one.by = by


async def _miss(one: LockedOpening, missed: Application) -> Application:
    penalties = missed.penalty_count + 1
    why = {"rule": "offer not answered", "missed": penalties, "most": one.opening.max_missed}
    if penalties >= one.opening.max_missed:
        moved = one.move(
            missed,
            "INACTIVE",
            "LAPSED",
            metadata={"penaltyCount": penalties},
            why=why,
            penalty_count=penalties,
            missed_at=one.at,
        )
        one.tell("lapsed", moved, missed=penalties)
        return moved
    # Its own place is the last one: those who wait, and itself.
    position = one.waiting + 1
    moved = one.move(
        missed,
        "WAITLIST",
        "DECAY_TRIGGERED",
        metadata={"penaltyCount": penalties, "newPosition": position},
        why=why,
        queue_key=await promotions.put_back(one, penalties),
        penalty_count=penalties,
        told_position=position,
        promoted_at=None,
        missed_at=one.at,
    )
    one.tell("decayed", moved, position=position, missed=penalties)
    return moved


async def expire_one_opening(tx: Tx) -> bool:
    """Settle one opening with an overdue offer that nobody else is at; True where there was one."""
    ids = await _overdue(tx)
    # In no order, so that one which cannot be settled does not stand before all others for ever.
    random.shuffle(ids)
    for id in ids:
        if await _is_free(tx, id):
            async with lock_and_expire_offers(tx, id, SYSTEM):
                return True
    return False


async def _overdue(tx: Tx) -> list[int]:
    """Openings with overdue offers. All of them: one may have more than any number of offers."""
    cursor = await tx.execute(
        """
        SELECT DISTINCT opening_id FROM hiring.application
         WHERE status = 'PENDING_ACKNOWLEDGMENT'
           AND acknowledge_deadline <= statement_timestamp()
        """
    )
    return [id for (id,) in await cursor.fetchall()]


async def _is_free(tx: Tx, opening_id: int) -> bool:
    """Lock it, unless somebody has: whoever that is settles it."""
    found = await fetch_value(
        tx,
        int,
        "SELECT id FROM hiring.opening WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED",
        [opening_id],
    )
    return found is not None

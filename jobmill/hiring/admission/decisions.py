"""Decisions on applications in review: accept, reject and score.

An accepted application joins the end of the waitlist, and free slots are offered to the waitlist at once.
A later decision therefore never moves a waiting application back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import ReviewOrder
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.hiring.waitlist import positions, promotions
from jobmill.hiring.waitlist.deadlines import lock_application

MAX_SCORE = 100
ACCEPTED_BY_COMPANY = {"rule": "accepted by the company"}
DECIDED: Mapping[ApplicationStatus, str] = {
    "WAITLIST": "it was accepted and is on the waitlist",
    "PENDING_ACKNOWLEDGMENT": "it was accepted and has an offer",
    "ACTIVE": "it was accepted and has a place",
    "INACTIVE": "it has ended",
}


class NotInReview(Conflict):
    """Another decision, a withdrawal or a draw came first."""

    code = "NOT_IN_REVIEW"

    def __init__(self, application: Application) -> None:
        super().__init__(
            f"Application {application.id} is not in review: {DECIDED[application.status]}."
        )


class EntryAwaitsDraw(Conflict):
    """The company cannot prefer an entry of a lottery."""

    code = "ENTRY_AWAITS_DRAW"

    def __init__(self) -> None:
        super().__init__(
            "Entries of a lottery cannot be accepted or scored before the draw. "
            "Draw the lottery, or reject entries that may not take part."
        )


async def accept(
    tx: Tx, application_id: int, by: Actor, *, reason: str | None = None
) -> Application:
    """Accept an application in review; raises NotInReview if it was decided already."""
    async with lock_application(tx, application_id, by) as (locked, application):
        refuse_before_draw(locked)
        _check_in_review(application)
        await accept_all(locked, [application], why=ACCEPTED_BY_COMPANY, note=reason)
        return await locked.get_application(application_id)


async def reject(
    tx: Tx, application_id: int, by: Actor, *, reason: str | None = None, tell_reason: bool = False
) -> Application:
    """Reject an application in review, which ends it; raises NotInReview if it was decided already."""
    async with lock_application(tx, application_id, by) as (locked, application):
        _check_in_review(application)
        return reject_application(locked, application, reason, tell_reason)


async def score(tx: Tx, application_id: int, points: int | None, by: Actor) -> Application:
    """Set or remove the score of an application in review; raises NotInReview."""
    if points is not None and not 0 <= points <= MAX_SCORE:
        raise Invalid(f"A score is a whole number from 0 to {MAX_SCORE}.")
    async with lock_application(tx, application_id, by) as (locked, application):
        refuse_before_draw(locked)
        _check_in_review(application)
        if application.score == points:
            return application
        return locked.change_application(
            application,
            "SCORED",
            metadata={"from": application.score, "to": points},
            why={"rule": "scored by the company"},
            score=points,
        )


def refuse_before_draw(locked: LockedOpening) -> None:
    """Raise EntryAwaitsDraw while a lottery collects entries; rejecting one stays possible."""
    if locked.opening.admission == "lottery" and not locked.drawn:
        raise EntryAwaitsDraw


def _check_in_review(application: Application) -> None:
    if application.status != "IN_REVIEW":
        raise NotInReview(application)


def sort_by_review_order(
    accepted: Sequence[Application], order: ReviewOrder
) -> Sequence[Application]:
    """In order of application, or the highest score first; without a score last."""
    if order == "applied":
        return sorted(accepted, key=lambda application: application.id)
    return sorted(accepted, key=lambda application: (-_points(application), application.id))


def _points(application: Application) -> int:
    return -1 if application.score is None else application.score


async def accept_all(
    locked: LockedOpening,
    accepted: Sequence[Application],
    *,
    why: Mapping[str, Any],
    note: str | None = None,
) -> list[Application]:
    """Put applications in review on the waitlist in this order; returns those that got an offer."""
    free = locked.free_slots if locked.status == "open" else 0
    for application in accepted:
        key, position = await positions.join(locked)
        waiting = locked.move_application(
            application,
            "WAITLIST",
            "ACCEPTED",
            metadata={"position": position},
            why={**why, **locked.occupancy},
            note=note,
            queue_key=key,
            notified_position=max(position - free, 1),
        )
        # The first `free` applications get the letter of their offer instead.
        if position > free and is_address_confirmed(application):
            locked.add_notice("admitted", waiting, position=position - free)
    return await promotions.offer_free_slots(locked, cause=locked.seq)


def reject_application(
    locked: LockedOpening, application: Application, reason: str | None, tell_reason: bool
) -> Application:
    """End an application in review under the opening's lock."""
    rejected = locked.move_application(
        application,
        "INACTIVE",
        "REJECTED",
        metadata={"actor": locked.by.side, "reasonTold": tell_reason and bool(reason)},
        why={"rule": "rejected by the company"},
        note=reason,
        missed_at=None,
    )
    if is_address_confirmed(application):
        notify_rejected(locked, rejected, reason if tell_reason else None)
    return rejected


def is_address_confirmed(application: Application) -> bool:
    """Whether the applicant may get letters: an unconfirmed address may belong to a stranger.

    Call this before the application ends, which clears the time to confirm.
    """
    return application.confirm_by is None


def notify_rejected(locked: LockedOpening, rejected: Application, reason: str | None) -> None:
    """Send the letter of a rejection, with the reason if there is one to tell."""
    locked.add_notice("rejected", rejected, text=reason or "")

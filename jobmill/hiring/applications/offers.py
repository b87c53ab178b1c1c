"""Offers: answers from applicants, by id or by link, and offers out of turn.

An answer counts for the offer that the applicant saw, never for a later one.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_or_raise, fetch_value
from jobmill.errors import AppError, Conflict, Gone, Invalid
from jobmill.hiring.actor import SYSTEM, Actor, by_applicant
from jobmill.hiring.applications.outcomes import Answer, MissedOffer, Placement
from jobmill.hiring.applications.withdrawals import end_application
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.messages.signed_links import OfferLinkToken
from jobmill.hiring.openings.lifecycle import resize
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import Application, ApplicationNotFound
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import InvalidTransition
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers, lock_application

OfferLinkState = Literal["open", "answered", "ended"]
ANSWER_EVENTS = ("ACKNOWLEDGED", "WITHDRAWN")
OUT_OF_TURN = {"rule": "out of turn, by the company"}


class NoOfferToAnswer(Conflict):
    """The application has no offer, or the offer was answered."""


@dataclass(frozen=True, slots=True)
class _CurrentOffer:
    opening_id: int
    applicant_id: int
    deadline: dt.datetime | None
    expired: bool


async def answer_offer(
    tx: Tx,
    application_id: int,
    answer: Answer,
    by: Actor,
    *,
    reason: str | None = None,
    deadline: dt.datetime | None = None,
) -> Placement | MissedOffer:
    """Accept or decline the current offer, or only the one with this deadline.

    MissedOffer if it has expired; raises NoOfferToAnswer if there is none, and Gone if it was an earlier one.
    """
    offer = await _find_offer(tx, application_id)
    if deadline not in (None, offer.deadline):
        raise _refusal(await _find_ending(tx, OfferLinkToken(application_id, deadline)))
    return await _answer(tx, application_id, offer, answer, by, reason)


async def _answer(
    tx: Tx,
    application_id: int,
    offer: _CurrentOffer,
    answer: Answer,
    by: Actor,
    reason: str | None = None,
    *,
    by_mailed_link: bool = False,
) -> Placement | MissedOffer:
    if offer.expired:
        # If no other application waits, the slot is offered again at once; this answer is not for that offer.
        async with lock_and_expire_offers(tx, offer.opening_id, SYSTEM):
            pass
        return MissedOffer(await applications.get(tx, application_id))
    if answer == "accept":
        return await acknowledge(
            tx, application_id, by, deadline=offer.deadline, by_mailed_link=by_mailed_link
        )
    return await decline(tx, application_id, by, reason=reason, deadline=offer.deadline)


async def acknowledge(
    tx: Tx,
    application_id: int,
    by: Actor,
    *,
    deadline: dt.datetime | None = None,
    by_mailed_link: bool = False,
) -> Placement | MissedOffer:
    """Accept the offer, or only the one with this deadline; a mailed link confirms the address, too.

    Returns MissedOffer if it has expired, raises Conflict if there is none.
    """
    async with lock_application(tx, application_id, by) as (locked, application):
        if missed := _find_missed(locked, application, deadline):
            return missed
        accepted = locked.move_application(
            application,
            "ACTIVE",
            "ACKNOWLEDGED",
            metadata={"acknowledgedAt": format_timestamp(locked.at)},
            why={"rule": "confirmed in time"},
            confirm_by=None if by_mailed_link else application.confirm_by,
        )
        kind = "accepted" if locked.opening.parent_id is None else "interview_booked"
        locked.add_notice(kind, accepted, ended_offer=application.acknowledge_deadline)
        return Placement(accepted)


async def decline(
    tx: Tx,
    application_id: int,
    by: Actor,
    *,
    reason: str | None = None,
    deadline: dt.datetime | None = None,
) -> Placement | MissedOffer:
    """Decline the offer, which ends the application; MissedOffer and Conflict as for `acknowledge`."""
    async with lock_application(tx, application_id, by) as (locked, application):
        if missed := _find_missed(locked, application, deadline):
            return missed
        ended = await end_application(locked, application, rule="offer declined", reason=reason)
        return Placement(ended)


def is_missed(application: Application, deadline: dt.datetime | None = None) -> bool:
    """Whether the last offer expired, or the current offer is a later one than that of `deadline`."""
    is_later = deadline is not None and application.acknowledge_deadline not in (deadline, None)
    return is_later or application.missed_at is not None


def _find_missed(
    locked: LockedOpening, application: Application, deadline: dt.datetime | None
) -> MissedOffer | None:
    """None if the offer can be answered; raises NoOfferToAnswer if there is none."""
    ends_at = application.acknowledge_deadline
    # Of very many offers that ended together, some may still wait to be taken back.
    if is_missed(application, deadline) or (ends_at and ends_at <= locked.at):
        return MissedOffer(application)
    if application.status != "PENDING_ACKNOWLEDGMENT":
        raise NoOfferToAnswer(
            f"Application {application.id} has no offer to answer: it is {application.status}."
        )
    return None


async def answer_by_link(
    tx: Tx, link: OfferLinkToken, answer: Answer, *, request: str | None = None
) -> Placement | MissedOffer:
    """Answer an offer by its link; raises Conflict if it was answered, Gone if it has ended."""
    offer = await _find_offer(tx, link.application_id)
    if offer.deadline != link.deadline:
        raise _refusal(await _find_ending(tx, link))
    by = by_applicant(offer.applicant_id, request)
    return await _answer(tx, link.application_id, offer, answer, by, by_mailed_link=True)


def _refusal(ending: str | None) -> AppError:
    if ending in ANSWER_EVENTS:
        return NoOfferToAnswer("This offer was already answered.")
    return Gone("This offer has ended.")


async def link_state(tx: Tx, link: OfferLinkToken) -> OfferLinkState:
    """Whether the offer of a link can be answered."""
    offer = await _find_offer(tx, link.application_id)
    if offer.deadline == link.deadline:
        return "ended" if offer.expired else "open"
    return "answered" if await _find_ending(tx, link) in ANSWER_EVENTS else "ended"


async def _find_offer(tx: Tx, application_id: int) -> _CurrentOffer:
    return await fetch_or_raise(
        tx,
        _CurrentOffer,
        """
        SELECT opening_id, applicant_id, acknowledge_deadline AS deadline,
               coalesce(acknowledge_deadline <= clock_timestamp(), false) AS expired
          FROM hiring.application
         WHERE id = %s
        """,
        [application_id],
        ApplicationNotFound(application_id),
    )


async def _find_ending(tx: Tx, link: OfferLinkToken) -> str | None:
    """The event that ended the offer of a link; None if it is open or never existed."""
    return await fetch_value(
        tx,
        str,
        """
        SELECT ending.type::text
          FROM hiring.event AS offer
          JOIN hiring.event AS ending ON ending.application_id = offer.application_id
                                     AND ending.seq > offer.seq
         WHERE offer.application_id = %s AND offer.deadline = %s
         ORDER BY ending.seq
         LIMIT 1
        """,
        [link.application_id, link.deadline],
    )


async def offer_out_of_turn(
    tx: Tx, application_id: int, by: Actor, *, reason: str, add_slot: bool = False
) -> Application:
    """Offer a slot to any application on the waitlist; the audit log keeps the reason.

    `add_slot` adds a slot if none is free.
    """
    if not reason.strip():
        raise Invalid("Enter a reason for offering this person a place out of turn.")
    async with lock_application(tx, application_id, by) as (locked, application):
        if application.status != "WAITLIST":
            raise InvalidTransition(application.status, "PENDING_ACKNOWLEDGMENT")
        if not locked.free_slots:
            if not add_slot:
                raise Conflict(
                    "There is no free place. Add one for this person, or remove someone first."
                )
            resize(locked, locked.occupied + 1, reason)
        return promotions.offer_slot(locked, application, why=OUT_OF_TURN, note=reason)

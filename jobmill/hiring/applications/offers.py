"""Answers to offers: each is for the offer that somebody saw, and for no later one."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.errors import AppError, Conflict, Gone
from jobmill.hiring.actor import SYSTEM, Actor, by_applicant
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.submissions import MissedOffer, Placement
from jobmill.hiring.messages.signed_links import OfferLinkToken
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import ApplicationNotFound
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

Answer = Literal["accept", "decline"]
OfferLinkState = Literal["open", "answered", "ended"]
ANSWERED = ("ACKNOWLEDGED", "WITHDRAWN")


@dataclass(frozen=True, slots=True)
class _Seen:
    opening_id: int
    applicant_id: int
    deadline: dt.datetime | None
    late: bool


async def answer_offer(
    tx: Tx, application_id: int, answer: Answer, by: Actor, *, reason: str | None = None
) -> Placement | MissedOffer:
    """Confirm or turn down the offer that is out; Missed where it has ended, Conflict without one."""
    return await _give(tx, application_id, await _see(tx, application_id), answer, by, reason)


async def _give(
    tx: Tx, application_id: int, seen: _Seen, answer: Answer, by: Actor, reason: str | None = None
) -> Placement | MissedOffer:
    if seen.late:
        # Who alone waits is offered the slot anew at once: this answer is not for that offer.
        async with lock_and_expire_offers(tx, seen.opening_id, SYSTEM):
            pass
        return MissedOffer(await applications.get(tx, application_id))
    if answer == "accept":
        return await submissions.acknowledge(tx, application_id, by, deadline=seen.deadline)
    return await submissions.decline(tx, application_id, by, reason=reason, deadline=seen.deadline)


async def answer_by_link(
    tx: Tx, link: OfferLinkToken, given: Answer, *, request: str | None = None
) -> Placement | MissedOffer:
    """The same by a link; Conflict where it was used before, Gone where its offer has ended."""
    seen = await _see(tx, link.application_id)
    if seen.deadline != link.deadline:
        raise _refusal(await _ending(tx, link))
    by = by_applicant(seen.applicant_id, request)
    return await _give(tx, link.application_id, seen, given, by)


def _refusal(ending: str | None) -> AppError:
    if ending in ANSWERED:
        return Conflict("This offer was answered already.")
    return Gone("This offer has ended.")


async def link_state(tx: Tx, link: OfferLinkToken) -> OfferLinkState:
    """Whether the offer of a link can be answered."""
    seen = await _see(tx, link.application_id)
    if seen.deadline == link.deadline:
        return "ended" if seen.late else "open"
    return "answered" if await _ending(tx, link) in ANSWERED else "ended"


async def _see(tx: Tx, application_id: int) -> _Seen:
    found = await fetch_one(
        tx,
        _Seen,
        """
        SELECT opening_id, applicant_id, acknowledge_deadline AS deadline,
               coalesce(acknowledge_deadline <= clock_timestamp(), false) AS late
          FROM hiring.application
         WHERE id = %s
        """,
        [application_id],
    )
    if found is None:
        raise ApplicationNotFound(application_id)
    return found


async def _ending(tx: Tx, link: OfferLinkToken) -> str | None:
    """What ended the offer of a link; None while it is out, or if there was none."""
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

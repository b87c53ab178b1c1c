"""Openings and applicants for tests, and a way to let time pass."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import count
from typing import Any

from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.offers import NoOfferToAnswer
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.withdrawals import AlreadyEnded
from jobmill.hiring.interviews.bookings import AlreadyBooked, NoBookingToCancel
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant, ApplicantId
from jobmill.hiring.records.openings import Opening, OpeningTerms

_numbers = count(1)


async def make_opening(tx: Tx, capacity: int = 1, **terms: Any) -> Opening:
    """An opening with five minutes to accept an offer, unless the terms say otherwise."""
    defaults = OpeningTerms("Baker", acknowledge_window=dt.timedelta(minutes=5))
    return await lifecycle.create(tx, replace(defaults, **terms), capacity, LOCAL)


async def make_applicant(tx: Tx, name: str = "Ada") -> Applicant:
    contact = applicants.parse_contact(name, f"{name.lower()}.{next(_numbers)}@example.org")
    return await applicants.add(tx, contact)


async def apply(tx: Tx, opening: Opening, applicant_id: ApplicantId | None = None) -> Placement:
    """Apply for the opening with a new applicant, or with the given one."""
    id = applicant_id or (await make_applicant(tx)).id
    return await submissions.apply(tx, opening.id, id, by_applicant(id))


async def let_pass(tx: Tx, opening: Opening, span: dt.timedelta) -> None:
    """Move the offer deadlines back, as if the time had passed."""
    await tx.execute(
        """
        UPDATE hiring.application SET acknowledge_deadline = acknowledge_deadline - %s
         WHERE opening_id = %s AND acknowledge_deadline IS NOT NULL
        """,
        [span, opening.id],
    )
    await tx.execute(
        "UPDATE hiring.opening SET next_deadline_at = next_deadline_at - %s WHERE id = %s",
        [span, opening.id],
    )


def name_error(error: Exception) -> str:
    """The kind of error that clients are told."""
    is_conflict = isinstance(
        error, NoOfferToAnswer | AlreadyEnded | AlreadyBooked | NoBookingToCancel
    )
    return "Conflict" if is_conflict else type(error).__name__

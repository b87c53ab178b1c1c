"""Applying for an opening: one application, or several under one lock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, RateLimited
from jobmill.hiring.actor import SYSTEM, Actor, by_applicant
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applicants, applications, blocklist
from jobmill.hiring.records.applicants import (
    ApplicantId,
    ApplicantNotFound,
    ApplicantRef,
    Contact,
)
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.waitlist import positions, promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

SECONDS_PER_DAY = 86_400


class AppliedTooOften(RateLimited):
    def __init__(self, daily_limit: int) -> None:
        super().__init__(SECONDS_PER_DAY)
        self.args = (f"One person may apply {daily_limit} times a day. Try again tomorrow.",)


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """A request to apply for an opening, by applicant id or by name and address."""

    applicant: int | Contact
    by: Actor | None = None
    """The actor; None: the applicant."""
    confirm_window: dt.timedelta | None = None
    """Time to confirm the address, after which the application ends; None: it need not be confirmed."""

    @property
    def is_limited(self) -> bool:
        """Whether the blocklist and the daily limit apply: not if the company names an applicant by id."""
        by_themselves = self.by is None or self.by.side == "applicant"
        return by_themselves or isinstance(self.applicant, Contact)


async def apply(tx: Tx, opening_id: int, applicant_id: int, by: Actor) -> Placement:
    """Take a free slot if the waitlist is empty, otherwise join it; raises DuplicateApplication."""
    return single_result(await apply_all(tx, opening_id, [ApplyRequest(applicant_id, by)]))


async def apply_with_contact(
    tx: Tx,
    opening_id: int,
    contact: Contact,
    by: Actor | None = None,
    *,
    daily_limit: int | None = None,
) -> Placement:
    """Apply with a name and an address; a new applicant is added unless the application is refused."""
    requests = [ApplyRequest(contact, by)]
    return single_result(await apply_all(tx, opening_id, requests, daily_limit=daily_limit))


def single_result(results: Sequence[Placement | AppError]) -> Placement:
    """The only result; raises it if it is an error."""
    [result] = results
    if isinstance(result, AppError):
        raise result
    return result


async def apply_all(
    tx: Tx, opening_id: int, requests: Sequence[ApplyRequest], *, daily_limit: int | None = None
) -> list[Placement | AppError]:
    """Handle the requests in order under one lock; a refused request does not affect the others."""
    admissions = await _admit(tx, requests, daily_limit)
    admitted = [ref for ref in admissions.values() if isinstance(ref, ApplicantRef)]
    if not admitted:
        # All requests are refused: the opening need not be locked.
        return [
            refusal for request in requests if isinstance(refusal := admissions[request], AppError)
        ]
    results: list[Placement | AppError] = []
    newcomers = list(dict.fromkeys(ref.id for ref in admitted))
    async with lock_and_expire_offers(tx, opening_id, SYSTEM, newcomers=newcomers) as locked:
        for request in requests:
            ref = admissions[request]
            if isinstance(ref, AppError):
                results.append(ref)
                continue
            locked.by = request.by or by_applicant(ref.id)
            try:
                placement = await apply_locked(locked, ref.id, request.confirm_window)
                results.append(replace(placement, is_new_applicant=ref.is_new))
            except Conflict as refusal:
                results.append(refusal)
    placed = {
        result.application.applicant_id for result in results if isinstance(result, Placement)
    }
    added = {ref.id for ref in admitted if ref.is_new}
    await applicants.delete(tx, sorted(added - placed))
    return results


async def _admit(
    tx: Tx, requests: Sequence[ApplyRequest], daily_limit: int | None
) -> dict[ApplyRequest, ApplicantRef | AppError]:
    """The applicant of each request, or why the request is refused.

    Keyed by request, not by applicant: a recruiter may name an applicant although the applicant's
    own request in the same batch is refused. Every transaction locks applicants before openings.
    """
    ids = [request.applicant for request in requests if isinstance(request.applicant, int)]
    contacts = [request.applicant for request in requests if isinstance(request.applicant, Contact)]
    contact_keys = [contact.email_key for contact in contacts]
    by_id = await applicants.lock_existing(tx, ids, contact_keys) if ids else {}
    keys = contact_keys + [ref.email_key for ref in by_id.values()]
    blocked = await blocklist.find_blocked(tx, keys) if keys else set[str]()
    allowed = [contact for contact in contacts if contact.email_key not in blocked]
    by_company = {
        request.applicant.email_key
        for request in requests
        if isinstance(request.applicant, Contact) and request.by and request.by.side == "company"
    }
    by_key = await applicants.find_or_add_all(tx, allowed, by_company=by_company) if allowed else {}
    admissions: dict[ApplyRequest, ApplicantRef | AppError] = {}
    for request in requests:
        applicant = request.applicant
        if isinstance(applicant, Contact):
            admissions[request] = by_key.get(applicant.email_key) or blocklist.AddressBlocked()
        elif (ref := by_id.get(applicant)) is None:
            admissions[request] = ApplicantNotFound(applicant)
        elif request.is_limited and ref.email_key in blocked:
            admissions[request] = blocklist.AddressBlocked()
        else:
            admissions[request] = ref
    if daily_limit is not None:
        await _refuse_over_limit(tx, admissions, daily_limit)
    return admissions


async def _refuse_over_limit(
    tx: Tx, admissions: dict[ApplyRequest, ApplicantRef | AppError], daily_limit: int
) -> None:
    """Refuse requests of applicants at their daily limit."""
    limited = {
        request: ref.id
        for request, ref in admissions.items()
        if request.is_limited and isinstance(ref, ApplicantRef)
    }
    counts = await applications.count_last_day(tx, list(limited.values())) if limited else {}
    for request, id in limited.items():
        if counts.get(id, 0) >= daily_limit:
            admissions[request] = AppliedTooOften(daily_limit)


async def apply_locked(
    locked: LockedOpening,
    applicant_id: ApplicantId,
    confirm_window: dt.timedelta | None = None,
) -> Placement:
    """Apply under the opening's lock; raises Conflict if the opening takes no applications."""
    locked.refuse_duplicate(applicant_id)
    refusal = reason_to_refuse(locked.opening, locked.free_slots, locked.waiting, locked.at)
    if refusal:
        raise Conflict(refusal)
    confirm_by = locked.at + confirm_window if confirm_window is not None else None
    occupancy = {
        "occupied": locked.occupied,
        "capacity": locked.capacity,
        "waiting": locked.waiting,
    }
    if locked.waiting or not locked.free_slots:
        rule = "people wait already" if locked.free_slots else "no slot is free"
        key, position = await positions.join(locked)
        application = locked.add_application(
            applicant_id,
            "WAITLIST",
            queue_key=key,
            position=position,
            confirm_by=confirm_by,
            why={"rule": rule, **occupancy},
        )
        notify_applied(locked, application, position)
        return Placement(application, position)
    why = {"rule": "a slot is free and nobody waits", **occupancy}
    if not locked.opening.require_acknowledgement:
        application = locked.add_application(applicant_id, "ACTIVE", confirm_by=confirm_by, why=why)
        notify_applied(locked, application)
        return Placement(application)
    deadline = locked.at + locked.opening.acknowledge_window
    application = locked.add_application(
        applicant_id,
        "PENDING_ACKNOWLEDGMENT",
        deadline=deadline,
        confirm_by=confirm_by,
        why=why,
    )
    if confirm_by:
        notify_applied(locked, application)
    promotions.notify_offer(locked, application, deadline)
    return Placement(application)


def notify_applied(
    locked: LockedOpening, application: Application, position: int | None = None
) -> None:
    """Tell the applicant how they stand, or first ask them to confirm the address."""
    if application.confirm_by:
        locked.add_notice("confirm", application)
    elif position is None:
        locked.add_notice("applied", application)
    else:
        locked.add_notice("applied", application, position=position)


def reason_to_refuse(opening: Opening, free: int, waiting: int, at: dt.datetime) -> str | None:
    """Why the opening takes no applications; None if it does."""
    if opening.status != "open":
        return f"Applications are {opening.status}."
    if opening.apply_until and at > opening.apply_until:
        return f"Applications closed at {format_timestamp(opening.apply_until)}."
    limit = opening.waitlist_limit
    if limit is not None and waiting >= limit and (waiting or not free):
        return f"The waitlist is full (limit: {limit:,})."
    return None

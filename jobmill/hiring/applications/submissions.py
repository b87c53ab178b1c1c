"""Applying for an opening: one application, or several under one lock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_value
from jobmill.errors import AppError, Conflict, Invalid, RateLimited
from jobmill.hiring.actor import SYSTEM, Actor, by_applicant
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.audit_log import events
from jobmill.hiring.forms import stored_answers, uploads
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import (
    applicants,
    applications,
    blocklist,
    idempotent_responses,
    openings,
)
from jobmill.hiring.records.applicants import (
    ApplicantId,
    ApplicantNotFound,
    ApplicantRef,
    Contact,
)
from jobmill.hiring.records.applications import Application, DuplicateApplication
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import positions, promotions, quiet_hours
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.time_zones import format_local_time

SECONDS_PER_DAY = 86_400
COLLECTED = {"review": "applications are reviewed first", "lottery": "entries wait for the draw"}
"""Why an application waits for a decision, by the admission of its opening."""


class AppliedTooOften(RateLimited):
    def __init__(self, daily_limit: int) -> None:
        super().__init__(SECONDS_PER_DAY)
        self.args = (f"One person may apply {daily_limit} times a day. Try again tomorrow.",)


class AnswersNeeded(Invalid):
    def __init__(self) -> None:
        super().__init__("This opening has questions that you must answer. Apply with its form.")


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """A request to apply for an opening, by applicant id or by name and address."""

    applicant: int | Contact
    by: Actor | None = None
    """The actor; None: the applicant."""
    confirm_window: dt.timedelta | None = None
    """Time to confirm the address, after which the application ends; None: it need not be confirmed."""
    request_id: str | None = None
    """The id of the HTTP request, if the applicant is the actor."""
    submission: FormSubmission | None = None
    """The answers to the opening's form."""
    is_confirmed: bool = False
    """Whether the applicant applied before and confirms the address now: answers were checked then."""

    @property
    def is_by_applicant(self) -> bool:
        return self.by is None or self.by.side == "applicant"

    @property
    def http_request(self) -> str | None:
        return self.by.request if self.by else self.request_id

    def actor(self, applicant_id: int) -> Actor:
        return self.by or by_applicant(applicant_id, self.request_id)

    @property
    def is_limited(self) -> bool:
        """Whether the blocklist and the daily limit apply: not if the company names an applicant by id."""
        return self.is_by_applicant or isinstance(self.applicant, Contact)


async def apply(tx: Tx, opening_id: int, applicant_id: int, by: Actor) -> Placement:
    """Take a free slot, join the waitlist or wait for a decision; raises DuplicateApplication."""
    return single_result(await apply_all(tx, opening_id, [ApplyRequest(applicant_id, by)]))


async def apply_with_contact(
    tx: Tx, opening_id: int, contact: Contact, by: Actor | None = None
) -> Placement:
    """Apply with a name and an address; a new applicant is added unless the application is refused."""
    return single_result(await apply_all(tx, opening_id, [ApplyRequest(contact, by)]))


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
    new_applicants = list(dict.fromkeys(ref.id for ref in admitted))
    expired = await _find_expired_uploads(tx, opening_id, requests)
    async with lock_and_expire_offers(
        tx, opening_id, SYSTEM, new_applicants=new_applicants
    ) as locked:
        # An interview time is booked, not applied for.
        openings.refuse_interview_time(locked.opening)
        for request in requests:
            ref = admissions[request]
            if isinstance(ref, AppError):
                results.append(ref)
                continue
            locked.by = request.actor(ref.id)
            try:
                # First: a repeated request finds its own application, which has the files.
                locked.refuse_duplicate(ref.id)
                _check_answers(locked.opening, request, expired)
                placement = await apply_locked(locked, ref.id, request.confirm_window)
                results.append(replace(placement, is_new_applicant=ref.is_new))
            except (Conflict, Invalid) as refusal:
                results.append(refusal)
    results = await _find_own_placements(tx, opening_id, requests, results)
    await _store_answers(tx, opening_id, requests, results)
    placed = {
        result.application.applicant_id for result in results if isinstance(result, Placement)
    }
    added = {ref.id for ref in admitted if ref.is_new}
    await applicants.delete(tx, sorted(added - placed))
    return results


def _check_answers(
    opening: Opening, request: ApplyRequest, expired: Collection[ApplyRequest]
) -> None:
    """The company may enter applicants without their answers."""
    if request in expired:
        raise uploads.UploadExpired
    needs_answers = request.is_by_applicant and not request.is_confirmed
    if opening.form_required and request.submission is None and needs_answers:
        raise AnswersNeeded


async def _find_expired_uploads(
    tx: Tx, opening_id: int, requests: Sequence[ApplyRequest]
) -> list[ApplyRequest]:
    """Lock the uploaded files of the requests; returns requests with deleted or taken files."""
    wanted = {
        request: request.submission.files
        for request in requests
        if request.submission and request.submission.files
    }
    if not wanted:
        return []
    ids = [id for files in wanted.values() for id in files]
    unused = {str(file.id) for file in await uploads.find_unused(tx, opening_id, ids, lock=True)}
    expired: list[ApplyRequest] = []
    for request, files in wanted.items():
        if not unused.issuperset(files):
            expired.append(request)
        # Another request of this batch may name the same files.
        unused.difference_update(files)
    return expired


async def _store_answers(
    tx: Tx,
    opening_id: int,
    requests: Sequence[ApplyRequest],
    results: Sequence[Placement | AppError],
) -> None:
    submissions: dict[int, tuple[FormSubmission, dt.datetime]] = {}
    for request, result in zip(requests, results, strict=True):
        if request.submission and isinstance(result, Placement):
            application = result.application
            # A repeated request of the same batch has the same application: the first answers count.
            submissions.setdefault(application.id, (request.submission, application.applied_at))
    await stored_answers.insert_all(tx, opening_id, submissions)


async def _find_own_placements(
    tx: Tx,
    opening_id: int,
    requests: Sequence[ApplyRequest],
    results: Sequence[Placement | AppError],
) -> list[Placement | AppError]:
    """The results with those of earlier attempts of the same requests that were committed although the answer was lost."""
    duplicates = {
        index: (result.application_id, request_id)
        for index, (request, result) in enumerate(zip(requests, results, strict=True))
        if isinstance(result, DuplicateApplication)
        and (request_id := request.http_request) is not None
    }
    if not duplicates:
        return list(results)
    received = await events.find_requests(
        tx, [id for id, _ in duplicates.values()], idempotent_responses.RETENTION
    )
    own = {
        index: id
        for index, (id, request_id) in duplicates.items()
        if received.get(id) == request_id
    }
    return await replace_with_placements(tx, opening_id, results, own)


async def find_repeated(tx: Tx, opening_id: int, request: ApplyRequest) -> Placement | None:
    """How the live application stands that a recent attempt of the same request has made."""
    applicant = request.applicant
    id = await fetch_value(
        tx,
        int,
        """
        SELECT application.id
          FROM hiring.application JOIN hiring.event ON event.application_id = application.id
         WHERE application.opening_id = %(opening)s AND application.status <> 'INACTIVE'
           AND applicant_id = (SELECT id FROM hiring.applicant
                                WHERE id = %(id)s OR email_key = %(email_key)s)
           AND event.type = 'APPLIED' AND event.request = %(request)s
           AND event.created_at > now() - %(within)s
        """,
        {
            "opening": opening_id,
            "id": applicant if isinstance(applicant, int) else None,
            "email_key": applicant.email_key if isinstance(applicant, Contact) else None,
            "request": request.http_request,
            "within": idempotent_responses.RETENTION,
        },
    )
    return (await _find_placements(tx, opening_id, [id]))[id] if id is not None else None


async def replace_with_placements(
    tx: Tx, opening_id: int, results: Sequence[Placement | AppError], repeated: Mapping[int, int]
) -> list[Placement | AppError]:
    """The results with how earlier applications stand; `repeated` has their ids by index."""
    if not repeated:
        return list(results)
    placements = await _find_placements(tx, opening_id, list(repeated.values()))
    return [
        placements[repeated[index]] if index in repeated else result
        for index, result in enumerate(results)
    ]


async def _find_placements(tx: Tx, opening_id: int, ids: Sequence[int]) -> dict[int, Placement]:
    """How applications that were received earlier stand, as results of applying."""
    added = await applicants.find_added_by(tx, ids)
    return {
        application.id: Placement(
            application,
            application.notified_position if application.status == "WAITLIST" else None,
            application.id in added,
        )
        for application in await applications.find_by_ids(tx, opening_id, ids)
    }


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
    limited = {request.applicant for request in requests if request.is_limited}
    keys = contact_keys + [ref.email_key for ref in by_id.values() if ref.id in limited]
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
    refusal = reason_to_refuse(
        locked.opening, locked.free_slots, locked.waiting + locked.in_review, locked.at
    )
    if refusal:
        raise Conflict(refusal)
    confirm_by = locked.at + confirm_window if confirm_window is not None else None
    occupancy = locked.occupancy
    if locked.opening.collects:
        application = locked.add_application(
            applicant_id,
            "IN_REVIEW",
            confirm_by=confirm_by,
            why={"rule": COLLECTED[locked.opening.admission], **occupancy},
        )
        notify_applied(locked, application)
        return Placement(application)
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
    starts_at = quiet_hours.find_offer_start(locked.opening, locked.at)
    deadline = starts_at + locked.opening.acknowledge_window
    application = locked.add_application(
        applicant_id,
        "PENDING_ACKNOWLEDGMENT",
        deadline=deadline,
        confirm_by=confirm_by,
        why={**why, **promotions.describe_start(locked, starts_at)},
    )
    if confirm_by:
        notify_applied(locked, application)
    promotions.notify_offer(locked, application, deadline, starts_at)
    return Placement(application)


def notify_applied(
    locked: LockedOpening, application: Application, position: int | None = None
) -> None:
    """Tell the applicant how they stand, or first ask them to confirm the address."""
    if application.confirm_by:
        locked.add_notice("confirm", application)
    elif application.status == "IN_REVIEW":
        locked.add_notice("received", application)
    elif position is None:
        kind = "applied" if locked.opening.parent_id is None else "interview_booked"
        locked.add_notice(kind, application)
    else:
        locked.add_notice("applied", application, position=position)


def reason_to_refuse(opening: Opening, free: int, waiting: int, at: dt.datetime) -> str | None:
    """Why the opening takes no applications; None if it does."""
    if opening.starts_at and opening.starts_at <= at:
        return "This interview has started. Choose another time."
    if opening.status != "open":
        return f"Applications are {opening.status}."
    if opening.apply_until and at > opening.apply_until:
        until = format_local_time(opening.apply_until, opening.time_zone)
        return f"Applications closed on {until}."
    limit = opening.waitlist_limit
    if limit is not None and waiting >= limit and (waiting or not free):
        return f"The waitlist is full (limit: {limit:,})."
    return None

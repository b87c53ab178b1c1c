"""Requests to apply whose address must be confirmed first, by a link that is mailed to it.

A request is not an application yet: it takes no slot and no position, and has no event. Confirming it
applies, at that instant, under the opening's lock. Applications that were placed before their address was
confirmed (`Application.confirm_by`) are confirmed here, too.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one, fetch_or_raise, fetch_value
from jobmill.errors import Conflict, Gone
from jobmill.hiring.actor import SYSTEM, by_applicant
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.applications.withdrawals import record_end
from jobmill.hiring.forms import stored_answers, uploads
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.forms.stored_answers import AnsweredForm
from jobmill.hiring.messages import notices, personal_links
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.records import applicants, applications, blocklist, openings
from jobmill.hiring.records.applicants import ApplicantId, Contact
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_application

LETTER_INTERVAL = dt.timedelta(minutes=10)
"""An address gets one letter per opening in this time, however often a stranger enters it."""
LETTERS_PER_DAY = 6
"""To one address, for all openings."""
BATCH_SIZE = 10_000
UNREQUESTED_RULE = "the owner of the address did not apply"


@dataclass(frozen=True, slots=True)
class AppliedBy:
    """A confirmed application and its applicant."""

    application_id: int
    applicant_id: ApplicantId


@dataclass(frozen=True, slots=True)
class ConfirmationState:
    """What the page of a confirmation link shows."""

    opening_id: int
    title: str
    name: str
    """As entered in the form: the owner of the address sees it before confirming."""
    confirmed: bool
    expired: bool
    confirm_by: dt.datetime | None
    time_zone: str
    """Of the opening."""
    placed: bool = False
    """Whether the application exists before the address is confirmed."""
    missed: bool = False
    """Whether that application ends because the address was not confirmed."""


@dataclass(frozen=True, slots=True)
class _StoredRequest:
    opening_id: int
    name: str
    email: str
    email_key: str
    language: str | None
    expired: bool
    application_id: int | None

    @property
    def contact(self) -> Contact:
        return Contact(self.name, self.email, self.email_key, self.language)


async def submit(
    tx: Tx,
    opening_id: int,
    contact: Contact,
    confirm_window: dt.timedelta,
    submission: FormSubmission | None = None,
) -> None:
    """Mail a link that confirms the address and applies; raises Conflict if the opening takes no applications.

    What depends on the address stays between Jobmill and its owner: a person who has applied is mailed the
    link to their page, a blocked address nothing, and the caller cannot tell.
    """
    opening = await require_open(tx, opening_id)
    if opening.form_required and submission is None:
        raise submissions.AnswersNeeded
    if await blocklist.find_blocked(tx, [contact.email_key]):
        return
    if not await remind_applicant(tx, opening_id, contact.email_key):
        request_id = await _save(tx, opening_id, contact, confirm_window)
        if opening.form_version:
            await _save_answers(tx, opening_id, request_id, submission)


async def require_open(tx: Tx, opening_id: int) -> Opening:
    """The opening; raises Conflict if it takes no applications at all, and OpeningNotFound."""
    opening = await openings.get(tx, opening_id)
    if opening.parent_id is not None:
        raise openings.OpeningNotFound(opening_id)
    free = max(opening.capacity - opening.occupied, 0)
    refusal = submissions.reason_to_refuse(
        opening, free, opening.waiting + opening.in_review, opening.now
    )
    if refusal:
        raise Conflict(refusal)
    return opening


async def remind_applicant(tx: Tx, opening_id: int, email_key: str) -> bool:
    """Mail an address that has applied the link it needs now; False if it has not applied."""
    cursor = await tx.execute(
        """
        SELECT application.id, confirm_by IS NULL
          FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE opening_id = %s AND email_key = %s AND status <> 'INACTIVE'
        """,
        [opening_id, email_key],
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    application_id, is_confirmed = row
    if is_confirmed:
        text = "You have already applied for this opening. Your page shows the status."
        await personal_links.send_link(tx, email_key, text, application_id=application_id)
    else:
        # Two requests at once send one letter.
        await applicants.lock_existing(tx, [], [email_key])
        await notices.repeat_confirmation(tx, opening_id, application_id, LETTER_INTERVAL)
    return True


async def _save_answers(
    tx: Tx, opening_id: int, request_id: int, submission: FormSubmission | None
) -> None:
    """Store the latest answers with the request; raises UploadExpired if a file of them is gone."""
    if submission and submission.files:
        # A repeated request finds its own files, which an earlier attempt has attached.
        usable = await uploads.find_unused(
            tx, opening_id, submission.files, lock=True, apply_request_id=request_id
        )
        if len(usable) < len(submission.files):
            raise uploads.UploadExpired
    await stored_answers.insert_for_request(tx, request_id, submission)


async def _save(tx: Tx, opening_id: int, contact: Contact, confirm_window: dt.timedelta) -> int:
    """Store the request and its letter; returns its id. The latest name counts: an earlier one was never confirmed."""
    request_id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO hiring.apply_request AS existing
               (opening_id, name, email, email_key, language, expires_at)
        SELECT id, %(name)s, %(email)s, %(key)s, %(language)s, least(now() + %(window)s, apply_until)
          FROM hiring.opening WHERE id = %(opening)s
        ON CONFLICT (opening_id, email_key) WHERE application_id IS NULL
        DO UPDATE SET name = excluded.name, language = excluded.language,
                      requested_at = excluded.requested_at, expires_at = excluded.expires_at
        RETURNING id
        """,
        {
            "opening": opening_id,
            "name": contact.name,
            "email": contact.email,
            "key": contact.email_key,
            "language": contact.language,
            "window": confirm_window,
        },
    )
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, apply_request_id)
        SELECT 'confirm', %(opening)s, %(request)s
         WHERE NOT EXISTS (SELECT FROM hiring.notice
                            WHERE apply_request_id = %(request)s
                              AND created_at > now() - %(interval)s)
           AND (SELECT count(*) FROM hiring.notice
                  JOIN hiring.apply_request ON apply_request.id = apply_request_id
                 WHERE email_key = %(key)s AND created_at > now() - interval '1 day') < %(limit)s
        """,
        {
            "opening": opening_id,
            "request": request_id,
            "key": contact.email_key,
            "interval": LETTER_INTERVAL,
            "limit": LETTERS_PER_DAY,
        },
    )
    assert request_id is not None
    return request_id


async def find_state(tx: Tx, token: ConfirmationToken) -> ConfirmationState:
    """What a confirmation link stands for; raises Gone if the request was deleted."""
    if token.kind == "application":
        state = await fetch_one(
            tx,
            ConfirmationState,
            """
            SELECT opening_id, title, name,
                   application.status <> 'INACTIVE' AND confirm_by IS NULL AS confirmed,
                   application.status = 'INACTIVE' OR coalesce(confirm_by <= clock_timestamp(), false)
                       AS expired, confirm_by, time_zone, true AS placed,
                   coalesce(confirm_by <= clock_timestamp(), false)
                       OR EXISTS (SELECT FROM hiring.event
                                   WHERE application_id = application.id
                                     AND type = 'ADDRESS_UNCONFIRMED') AS missed
              FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
              JOIN hiring.applicant ON applicant.id = applicant_id
             WHERE application.id = %s
            """,
            [token.id],
        )
    else:
        state = await fetch_one(
            tx,
            ConfirmationState,
            """
            SELECT opening_id, title, name, application_id IS NOT NULL AS confirmed,
                   expires_at <= clock_timestamp() AS expired, expires_at AS confirm_by,
                   time_zone
              FROM hiring.apply_request JOIN hiring.opening ON opening.id = opening_id
             WHERE apply_request.id = %s
            """,
            [token.id],
        )
    if state is None:
        raise _expired()
    return state


async def find_answers(tx: Tx, token: ConfirmationToken) -> AnsweredForm | None:
    """The answers that are to be confirmed: a stranger may have entered them under this address."""
    if token.kind == "application":
        opening_id = await applications.find_opening_id(tx, token.id)
        return await stored_answers.find_by_application(tx, opening_id, token.id)
    return await stored_answers.find_by_request(tx, token.id)


async def confirm(
    tx: Tx, token: ConfirmationToken, *, request: str | None = None, daily_limit: int | None = None
) -> AppliedBy:
    """Confirm the address and apply, or keep the application that was placed; again changes nothing.

    Raises Gone after the time to confirm, and Conflict if the opening takes no applications.
    """
    if token.kind == "application":
        return await _confirm_application(tx, token.id, request)
    stored = await _find_request(tx, token.id)
    # Applicants are locked before openings. The lock also lets one of two confirmations go first.
    applicant_id = await applicants.confirm_or_add(tx, stored.contact)
    stored = await _find_request(tx, token.id)
    if stored.application_id is not None:
        return AppliedBy(stored.application_id, applicant_id)
    if stored.expired:
        raise _expired()
    application_id = await _apply(tx, stored.opening_id, applicant_id, request, daily_limit)
    await tx.execute(
        "UPDATE hiring.apply_request SET application_id = %s WHERE id = %s",
        [application_id, token.id],
    )
    await stored_answers.move_to_application(tx, token.id, application_id)
    return AppliedBy(application_id, applicant_id)


async def _apply(
    tx: Tx,
    opening_id: int,
    applicant_id: ApplicantId,
    request: str | None,
    daily_limit: int | None,
) -> int:
    """Apply for the applicant; the live application if the company has added one meanwhile."""
    by = by_applicant(applicant_id, request)
    [result] = await submissions.apply_all(
        tx,
        opening_id,
        [ApplyRequest(applicant_id, by, is_confirmed=True)],
        daily_limit=daily_limit,
    )
    if isinstance(result, DuplicateApplication):
        id = await fetch_value(
            tx,
            int,
            """
            SELECT id FROM hiring.application
             WHERE opening_id = %s AND applicant_id = %s AND status <> 'INACTIVE'
            """,
            [opening_id, applicant_id],
        )
        if id is not None:
            return id
    return submissions.single_result([result]).application.id


async def _confirm_application(tx: Tx, id: int, request: str | None) -> AppliedBy:
    applicant = await applicants.confirm_owner_of(tx, id)
    if applicant is None:
        raise _expired()
    by = by_applicant(applicant.id, request)
    async with lock_application(tx, id, by) as (locked, application):
        if application.status == "INACTIVE":
            raise _expired()
        if application.confirm_by is not None:
            confirmed = locked.confirm_address(application)
            if confirmed.status != "PENDING_ACKNOWLEDGMENT":
                position = await applications.find_position(await locked.flush(), confirmed)
                submissions.notify_applied(locked, confirmed, position)
    return AppliedBy(id, applicant.id)


async def end_unrequested(tx: Tx, token: ConfirmationToken, *, request: str | None = None) -> None:
    """End an application that a stranger made with this address, without a letter; again changes nothing.

    Raises Conflict if the address is confirmed, or nothing was placed that could end.
    """
    if token.kind != "application":
        raise Conflict("There is no application yet. Without your confirmation there will be none.")
    async with lock_application(tx, token.id, SYSTEM) as (locked, application):
        if application.status == "INACTIVE":
            return
        if application.confirm_by is None:
            raise Conflict("This address is confirmed. Withdraw the application on its page.")
        locked.by = by_applicant(application.applicant_id, request)
        record_end(locked, application, rule=UNREQUESTED_RULE, reason=None)
        await promotions.offer_free_slots(locked, cause=locked.seq)


async def _find_request(tx: Tx, id: int) -> _StoredRequest:
    return await fetch_or_raise(
        tx,
        _StoredRequest,
        """
        SELECT opening_id, name, email, email_key, language,
               expires_at <= clock_timestamp() AS expired, application_id
          FROM hiring.apply_request
         WHERE id = %s
        """,
        [id],
        _expired(),
    )


def _expired() -> Gone:
    return Gone("The time to confirm this address is over. Apply again.")


async def delete_expired(tx: Tx) -> int:
    """Delete a batch of requests after their time, with their letters; returns how many."""
    deleted = await tx.execute(
        """
        DELETE FROM hiring.apply_request
         WHERE id = ANY (ARRAY(SELECT id FROM hiring.apply_request
                                WHERE expires_at < now() - interval '1 day'
                                ORDER BY id LIMIT %s
                                  FOR UPDATE SKIP LOCKED))
        """,
        [BATCH_SIZE],
    )
    return deleted.rowcount

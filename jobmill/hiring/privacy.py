"""Personal data of applicants: summary, export, erasure on request and after the retention period.

The audit log stays complete: it refers to applicants by id, and free text is not part of its hash chain.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString

from jobmill.db import Tx, fetch_or_raise, fetch_value
from jobmill.hiring.actor import SYSTEM, Actor
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.messages import notices
from jobmill.hiring.records.applicants import ApplicantNotFound
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

ErasureReason = Literal["asked for", "kept long enough"]
"""No free text: it would be about the applicant, and have to be erased at once."""

ERASED_NAME = "Erased applicant"
BATCH_SIZE = 50
APPLICATION_DATA: tuple[LiteralString, ...] = (
    "review_note",
    "rating",
    "tag",
    "form_answer",
    "uploaded_file",
)


@dataclass(frozen=True, slots=True)
class StoredData:
    since: dt.datetime
    applications: int
    events: int
    letters: int
    """Including letters that are not sent yet."""
    days: int | None
    """How long data are kept after the last application has ended; None: until erased on request."""
    until: dt.datetime | None
    """When the data will be erased; None while an application is live."""


async def summarize_stored_data(tx: Tx, applicant_id: int) -> StoredData:
    """How much is stored about an applicant, and for how long; raises ApplicantNotFound."""
    return await fetch_or_raise(
        tx,
        StoredData,
        """
        SELECT applicant.created_at AS since, applications, events, letters,
               CASE WHEN bounded THEN days END AS days,
               CASE WHEN bounded AND NOT is_live THEN until END AS until
          FROM hiring.applicant
         CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE application.parent_id IS NULL) AS applications,
                   -- Interview times are kept as long as the opening that they are for.
                   coalesce(bool_and(keep_days IS NOT NULL OR application.parent_id IS NOT NULL), false) AS bounded,
                   max(keep_days) AS days, coalesce(bool_or(application.status <> 'INACTIVE'), false) AS is_live,
                   max(entered_at + make_interval(days => keep_days)) AS until,
                   coalesce(sum((SELECT count(*) FROM hiring.event
                                  WHERE application_id = application.id)), 0)::bigint AS events,
                   coalesce(sum((SELECT count(*) FROM hiring.notice
                                  WHERE application_id = application.id
                                    AND webhook_id IS NULL)), 0)::bigint AS letters
              FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
             WHERE applicant_id = applicant.id) AS own_application
         WHERE applicant.id = %s
        """,
        [applicant_id],
        ApplicantNotFound(applicant_id),
    )


async def export_personal_data(tx: Tx, applicant_id: int) -> dict[str, Any]:
    """Everything stored about an applicant, as JSON values; raises ApplicantNotFound.

    Without the knockout answers, which are rules of the company.
    """
    data = await fetch_value(
        tx,
        dict[str, Any],
        """
        SELECT jsonb_build_object(
            'applicant', (SELECT to_jsonb(applicant) FROM hiring.applicant WHERE id = %(id)s),
            'applications', (
                SELECT coalesce(jsonb_agg(to_jsonb(application) - 'notified_position'
                           -- The name that exports have had from the start.
                           || jsonb_build_object('opening', title, 'told_position', notified_position)
                           || CASE WHEN starts_at IS NULL THEN '{}'
                                   ELSE jsonb_build_object('interview', jsonb_build_object(
                                       'starts_at', starts_at, 'ends_at', ends_at,
                                       'place', location))
                              END ORDER BY application.id), '[]')
                  FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
                 WHERE applicant_id = %(id)s),
            'events', (
                SELECT coalesce(jsonb_agg(to_jsonb(event) - '{hash,note_salt,note_digest}'::text[]
                           ORDER BY event.created_at, event.opening_id, event.seq), '[]')
                  FROM hiring.application JOIN hiring.event ON application_id = application.id
                 WHERE applicant_id = %(id)s),
            'notices', (
                SELECT coalesce(jsonb_agg(to_jsonb(notice) - 'webhook_id' ORDER BY notice.id), '[]')
                  FROM hiring.application JOIN hiring.notice ON application_id = application.id
                 WHERE applicant_id = %(id)s AND webhook_id IS NULL),
            'reviewNotes', (
                SELECT coalesce(jsonb_agg(to_jsonb(review_note) ORDER BY review_note.id), '[]')
                  FROM hiring.application JOIN hiring.review_note ON application_id = application.id
                 WHERE applicant_id = %(id)s),
            'ratings', (
                SELECT coalesce(jsonb_agg(to_jsonb(rating) ORDER BY rated_at, reviewer, criterion), '[]')
                  FROM hiring.application JOIN hiring.rating ON application_id = application.id
                 WHERE applicant_id = %(id)s),
            'tags', (
                SELECT coalesce(jsonb_agg(to_jsonb(own_tag) ORDER BY added_at, tag), '[]')
                  FROM hiring.application JOIN hiring.tag AS own_tag ON application_id = application.id
                 WHERE applicant_id = %(id)s),
            'applyRequests', (
                SELECT coalesce(jsonb_agg(to_jsonb(apply_request) - 'knockouts' ORDER BY apply_request.id), '[]')
                  FROM hiring.apply_request JOIN hiring.applicant USING (email_key)
                 WHERE applicant.id = %(id)s),
            'answers', (
                SELECT coalesce(jsonb_agg(to_jsonb(form_answer) - 'knockouts'
                           || jsonb_build_object('questions', (
                                  SELECT jsonb_agg(question - 'knockout' ORDER BY number)
                                    FROM jsonb_array_elements(fields)
                                         WITH ORDINALITY AS field (question, number)))
                           ORDER BY application.id), '[]')
                  FROM hiring.application JOIN hiring.form_answer ON application_id = application.id
                  JOIN hiring.application_form
                    ON application_form.opening_id = form_answer.opening_id AND version = form_version
                 WHERE applicant_id = %(id)s),
            'files', (
                SELECT coalesce(jsonb_agg(to_jsonb(uploaded_file) - 'apply_request_id'
                           ORDER BY uploaded_at, uploaded_file.id), '[]')
                  FROM hiring.uploaded_file
                 WHERE application_id IN (SELECT id FROM hiring.application WHERE applicant_id = %(id)s)
                    OR apply_request_id IN (
                       SELECT apply_request.id
                         FROM hiring.apply_request JOIN hiring.applicant USING (email_key)
                        WHERE applicant.id = %(id)s)),
            'blocked', (
                SELECT coalesce(jsonb_agg(to_jsonb(blocklist)), '[]')
                  FROM hiring.blocklist JOIN hiring.applicant USING (email_key)
                 WHERE applicant.id = %(id)s))
        """,
        {"id": applicant_id},
    )
    if not data or not data["applicant"]:
        raise ApplicantNotFound(applicant_id)
    return data


async def erase_applicant(
    tx: Tx, applicant_id: int, by: Actor, *, reason: ErasureReason = "asked for"
) -> None:
    """Erase an applicant's data; live applications end first, and their slots are offered to the next.

    Erasing again changes nothing. Raises ApplicantNotFound.
    """
    await _lock(tx, applicant_id)
    for opening_id, application_id in await _live(tx, applicant_id):
        async with lock_and_expire_offers(tx, opening_id, by) as locked:
            application = await locked.get_application(application_id)
            # Another transaction or its deadline may have ended it meanwhile.
            if application.status != "INACTIVE":
                await withdrawals.end_application(
                    locked, application, rule=f"data erased: {reason}", reason=None
                )
    await _erase_notes(tx, applicant_id)
    await notices.erase_for_applicant(tx, applicant_id)
    await _erase_requests(tx, applicant_id)
    await _erase_application_data(tx, applicant_id)
    await _erase_row(tx, applicant_id)


async def _lock(tx: Tx, applicant_id: int) -> None:
    """Prevent new applications of the applicant until the transaction ends.

    Applicants are locked before openings. Not FOR UPDATE: a transaction that holds an opening may check a
    foreign key to this row.
    """
    cursor = await tx.execute(
        "SELECT FROM hiring.applicant WHERE id = %s FOR NO KEY UPDATE", [applicant_id]
    )
    if await cursor.fetchone() is None:
        raise ApplicantNotFound(applicant_id)


async def _live(tx: Tx, applicant_id: int) -> list[tuple[int, int]]:
    """Live applications with their openings, in the order to lock the openings."""
    cursor = await tx.execute(
        """
        SELECT opening_id, id FROM hiring.application
         WHERE applicant_id = %s AND status <> 'INACTIVE'
         -- An opening before its interview times.
         ORDER BY coalesce(parent_id, opening_id), opening_id
        """,
        [applicant_id],
    )
    return [(opening_id, id) for opening_id, id in await cursor.fetchall()]


async def _erase_notes(tx: Tx, applicant_id: int) -> None:
    """Erase notes on the applicant's events, and the reason of a slot added for them in the event before."""
    await tx.execute(
        """
        WITH own_event AS MATERIALIZED (
            SELECT event.opening_id, seq, event.application_id
              FROM hiring.application JOIN hiring.event ON application_id = application.id
             WHERE applicant_id = %s
        )
        UPDATE hiring.event SET note = NULL, note_salt = NULL
          FROM own_event
         WHERE event.opening_id = own_event.opening_id AND event.note IS NOT NULL
           AND (event.seq = own_event.seq
                OR (event.seq = own_event.seq - 1 AND event.application_id IS NULL))
        """,
        [applicant_id],
    )


async def _erase_application_data(tx: Tx, applicant_id: int) -> None:
    """Delete reviews, answers and files of all applications; mentions are deleted with their notes."""
    for table in APPLICATION_DATA:
        await tx.execute(
            f"""
            DELETE FROM hiring.{table} USING hiring.application
             WHERE application.id = application_id AND applicant_id = %s
            """,
            [applicant_id],
        )


async def _erase_requests(tx: Tx, applicant_id: int) -> None:
    """Delete requests to apply from the address, so that a later confirmation finds nothing."""
    await tx.execute(
        """
        DELETE FROM hiring.apply_request USING hiring.applicant
         WHERE apply_request.email_key = applicant.email_key AND applicant.id = %s
        """,
        [applicant_id],
    )


async def _erase_row(tx: Tx, applicant_id: int) -> None:
    await tx.execute(
        """
        UPDATE hiring.applicant
           SET name = %s, email = '', email_key = NULL, language = NULL, erased_at = now(),
               link_version = link_version + 1
         WHERE id = %s AND erased_at IS NULL
        """,
        [ERASED_NAME, applicant_id],
    )


async def erase_expired(tx: Tx) -> int:
    """Erase a batch of applicants after the retention period of all their applications.

    Applicants without applications, or with one for an opening without a retention period, are
    kept.
    """
    # Check again under the locks: an applicant may have applied again just before.
    ids = await _find_expired(tx, await _find_expired(tx))
    for id in ids:
        await erase_applicant(tx, id, SYSTEM, reason="kept long enough")
    return len(ids)


async def _find_expired(tx: Tx, among: Sequence[int] | None = None) -> list[int]:
    """Lock a batch of applicants after their retention period, skipping locked ones."""
    cursor = await tx.execute(
        """
        SELECT id FROM hiring.applicant
         WHERE erased_at IS NULL AND (%(among)s::bigint[] IS NULL OR id = ANY (%(among)s))
           AND EXISTS (
               SELECT FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
                WHERE applicant_id = applicant.id AND keep_days IS NOT NULL)
           AND NOT EXISTS (
               SELECT FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
                WHERE applicant_id = applicant.id
                  AND application.parent_id IS NULL
                  AND (application.status <> 'INACTIVE' OR keep_days IS NULL
                       OR entered_at > now() - make_interval(days => keep_days)))
         ORDER BY id
         LIMIT %(batch)s
           FOR NO KEY UPDATE SKIP LOCKED
        """,
        {"among": among if among is None else list(among), "batch": BATCH_SIZE},
    )
    return [id for (id,) in await cursor.fetchall()]

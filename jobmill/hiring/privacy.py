"""Privacy: what we keep about a person, and how it is forgotten.

The log stays whole: it knows people by number, and the words about them stand beside the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from jobmill.db import Tx, fetch_value
from jobmill.hiring.actor import SYSTEM, Actor
from jobmill.hiring.applications import submissions
from jobmill.hiring.messages import notices
from jobmill.hiring.records.applicants import ApplicantNotFound
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

ErasureReason = Literal["asked for", "kept long enough"]
"""Why somebody is erased. No free text: it would be about them, and so be erased at once."""

ERASED_NAME = "Erased applicant"
BATCH_SIZE = 50


async def export_personal_data(tx: Tx, applicant_id: int) -> dict[str, Any]:
    """All that is kept about one person, as JSON can say it; NoApplicant where there is no such."""
    found = await fetch_value(
        tx,
        dict[str, Any],
        """
        SELECT jsonb_build_object(
            'applicant', (SELECT to_jsonb(applicant) FROM hiring.applicant WHERE id = %(id)s),
            'applications', (
                SELECT coalesce(jsonb_agg(to_jsonb(application)
                           || jsonb_build_object('opening', title) ORDER BY application.id), '[]')
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
            'blocked', (
                SELECT coalesce(jsonb_agg(to_jsonb(blocklist)), '[]')
                  FROM hiring.blocklist JOIN hiring.applicant USING (email_key)
                 WHERE applicant.id = %(id)s))
        """,
        {"id": applicant_id},
    )
    if not found or not found["applicant"]:
        raise ApplicantNotFound(applicant_id)
    return found


async def erase_applicant(
    tx: Tx, applicant_id: int, by: Actor, *, reason: ErasureReason = "asked for"
) -> None:
    """Forget a person: live applications end first, and their slots go to the next.

    A second time it finds nothing to do. NoApplicant where there is no such.
    """
    await _lock(tx, applicant_id)
    for opening_id, application_id in await _live(tx, applicant_id):
        async with lock_and_expire_offers(tx, opening_id, by) as desk:
            one = await desk.application(application_id)
            # Whoever was at the opening before us, or its deadline, may have ended it.
            if one.status != "INACTIVE":
                await submissions.end_application(
                    desk, one, rule=f"data erased: {reason}", reason=None
                )
    await _erase_notes(tx, applicant_id)
    await notices.erase_for_applicant(tx, applicant_id)
    await _erase_row(tx, applicant_id)


async def _lock(tx: Tx, applicant_id: int) -> None:
    """Keep others from applying in their name. Applicants are locked before openings, and not FOR
    UPDATE: a transaction that holds an opening may check a foreign key to this row."""
    cursor = await tx.execute(
        "SELECT FROM hiring.applicant WHERE id = %s FOR NO KEY UPDATE", [applicant_id]
    )
    if await cursor.fetchone() is None:
        raise ApplicantNotFound(applicant_id)


async def _live(tx: Tx, applicant_id: int) -> list[tuple[int, int]]:
    """Live applications with their openings, in the order to lock those in."""
    cursor = await tx.execute(
        """
        SELECT opening_id, id FROM hiring.application
         WHERE applicant_id = %s AND status <> 'INACTIVE'
         ORDER BY opening_id
        """,
        [applicant_id],
    )
    return [(opening_id, id) for opening_id, id in await cursor.fetchall()]


async def _erase_notes(tx: Tx, applicant_id: int) -> None:
    """Words about them, and the reason for a slot that was added for them: their event is the next."""
    await tx.execute(
        """
        WITH theirs AS MATERIALIZED (
            SELECT event.opening_id, seq, event.application_id
              FROM hiring.application JOIN hiring.event ON application_id = application.id
             WHERE applicant_id = %s
        )
        UPDATE hiring.event SET note = NULL, note_salt = NULL
          FROM theirs
         WHERE event.opening_id = theirs.opening_id AND event.note IS NOT NULL
           AND (event.seq = theirs.seq
                OR (event.seq = theirs.seq - 1 AND event.application_id IS NULL))
        """,
        [applicant_id],
    )


async def _erase_row(tx: Tx, applicant_id: int) -> None:
    await tx.execute(
        """
        UPDATE hiring.applicant
           SET name = %s, email = '', email_key = NULL, erased_at = now(),
               link_version = link_version + 1
         WHERE id = %s AND erased_at IS NULL
        """,
        [ERASED_NAME, applicant_id],
    )


async def erase_expired(tx: Tx) -> int:
    """Erase a few of those whose every application ended longer ago than its opening keeps data.

    Who did not apply, or for an opening that keeps data without end, is kept.
    """
    # Once more under their locks: somebody may have applied again just before.
    ids = await _outdated(tx, await _outdated(tx))
    for id in ids:
        await erase_applicant(tx, id, SYSTEM, reason="kept long enough")
    return len(ids)


async def _outdated(tx: Tx, among: Sequence[int] | None = None) -> list[int]:
    """Lock a few of those whose time is over; who is busy now is left for later."""
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
                  AND (application.status <> 'INACTIVE' OR keep_days IS NULL
                       OR entered_at > now() - make_interval(days => keep_days)))
         ORDER BY id
         LIMIT %(bite)s
           FOR NO KEY UPDATE SKIP LOCKED
        """,
        {"among": among if among is None else list(among), "bite": BATCH_SIZE},
    )
    return [id for (id,) in await cursor.fetchall()]

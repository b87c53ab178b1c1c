"""Ends the demo: deletes all of its data in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.errors import DeadlockDetected, LockNotAvailable

from jobmill.db import Database, Tx, fetch_all
from jobmill.errors import Conflict, Unavailable

from . import setup

TRIES = 5
KEPT_TABLES = (
    "budget.allowance", "budget.share", "demo.ended", "notification.channel", "notification.preference",
    "notification.push_key", "notification.schedule", "people.api_key", "people.authenticator", "people.change", "people.model_key",
    "people.passkey", "people.passkey_challenge", "people.person",
    "people.recovery_code", "people.secret", "people.session", "people.setting", "queue.phase", "queue.schedule", "queue.tick", "queue.worker",
)  # fmt: skip
"""Tables that are kept: declarations, workers and accounts."""


@dataclass(frozen=True, slots=True)
class DeletedCount:
    what: str
    count: int


async def count_data(tx: Tx) -> Sequence[DeletedCount]:
    """Counts what would be deleted, for people."""
    return await fetch_all(
        tx,
        DeletedCount,
        """
        SELECT * FROM (VALUES
            ('companies', (SELECT count(*) FROM catalog.company)),
            ('sources', (SELECT count(*) FROM catalog.source)),
            ('listings', (SELECT count(*) FROM catalog.listing)),
            ('matches', (SELECT count(*) FROM matching.match)),
            ('profiles', (SELECT count(*) FROM matching.profile)),
            ('openings', (SELECT count(*) FROM hiring.opening WHERE parent_id IS NULL)),
            ('applicants', (SELECT count(*) FROM hiring.applicant)),
            ('items', (SELECT count(*) FROM queue.item))
        ) AS data (what, count)
        """,
    )


async def end_demo(database: Database) -> bool:
    """End the demo; returns whether there was one. Retries while workers hold locks."""
    for _ in range(TRIES):
        try:
            async with database.transaction() as tx:
                return await clear(tx)
        except (DeadlockDetected, LockNotAvailable):
            continue
    raise Unavailable("workers are busy in the demo: try again, or stop Jobmill first")


async def clear(tx: Tx) -> bool:
    """Empty all tables except `KEPT_TABLES`; Conflict if the database holds real data instead of a demo.

    Sequences continue: a worker that still holds a demo item, or a visitor with a demo link, must
    not reach a new row.
    """
    if not await setup.is_demo(tx):
        if await setup.is_empty(tx):
            return False
        raise Conflict("this database holds no demo but your own data: nothing was removed")
    await tx.execute("SET LOCAL lock_timeout = '5s'")
    # Lock the tables that every worker writes first: a worker has then either committed or will
    # find its item gone.
    await tx.execute("LOCK TABLE queue.live IN ACCESS EXCLUSIVE MODE")
    await tx.execute("ALTER TABLE hiring.event DISABLE TRIGGER event_no_truncate")
    await tx.execute(
        """
        TRUNCATE
            queue.live, queue.item, queue.ending, queue.event, queue.pause, queue.start_rate, queue.alert,
            queue.run_counter,
            outside.host, outside.robots, outside.offline,
            catalog.company, catalog.company_page, catalog.source, catalog.incident, catalog.run,
            catalog.listing, catalog.listing_page, catalog.submission, catalog.board_sighting, catalog.event,
            matching.profile, matching.profile_version, matching.default_profile, matching.judging_queue,
            matching.verdict, matching.match, matching.event, matching.view, matching.rule_decision,
            matching.custom_status, matching.application, matching.application_note,
            matching.application_contact, matching.application_file,
            matching.document, matching.document_version, matching.sent_document,
            notification.event, notification.delivery, notification.delivery_event,
            budget.call, budget.answer,
            rotation.run, rotation.target, rotation.platform, rotation.call_allowance, rotation.signature,
            rotation.call, rotation.call_page, rotation.search, rotation.search_slice,
            rotation.changed_source, rotation.hourly_calls,
            hiring.opening, hiring.applicant, hiring.application, hiring.waitlist_block, hiring.vacated_place,
            hiring.issued_link, hiring.event, hiring.blocklist, hiring.webhook, hiring.notice,
            hiring.idempotent_response, hiring.apply_request, hiring.apply_limit,
            hiring.application_form, hiring.form_answer, hiring.form_refusal, hiring.uploaded_file,
            hiring.file_chunk,
            hiring.review_note, hiring.mention, hiring.rating, hiring.tag, hiring.fairness_key,
            hiring.company, hiring.letter_template, hiring.posting_details,
            hiring.lottery,
            reports.report, reports.prompt, reports.answer,
            demo.world
        """
    )
    await tx.execute(
        "DELETE FROM people.change WHERE subject_type NOT IN ('person', 'key', 'budget share', 'setting', 'model key')"
    )
    await tx.execute("ALTER TABLE hiring.event ENABLE TRIGGER event_no_truncate")
    await tx.execute("INSERT INTO rotation.call_allowance DEFAULT VALUES")
    await tx.execute(
        "INSERT INTO demo.ended DEFAULT VALUES ON CONFLICT (only_row) DO UPDATE SET at = now()"
    )
    return True

"""Letters and webhook deliveries to be sent: rows written with the change they report, fed to the queue."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value, make_row_encoder, rows_to_json
from jobmill.errors import Conflict
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.queue.feed import notify_feeds
from jobmill.time_zones import UTC

NoticeKind = Literal[
    "confirm",
    "applied",
    "received",
    "admitted",
    "rejected",
    "promoted",
    "reminder",
    "accepted",
    "decayed",
    "lapsed",
    "withdrawn",
    "removed",
    "position",
    "message",
    "interview_booked",
    "interview_moved",
    "interview_cancelled",
    "interview_over",
    "closed",
]
"""Letters to applicants."""

Channel = Literal["mail", "webhook"]
NoticeState = Literal["waiting", "queued", "sent", "dropped", "failed"]
FinalState = Literal["sent", "dropped", "failed"]

RETENTION = dt.timedelta(days=90)
"""How long notices are kept after they were sent, except messages of the company."""
SAME_MESSAGE_WITHIN = dt.timedelta(minutes=10)
"""A text that is sent to an application again within this time is the same message."""
BATCH_SIZE = 10_000


@dataclass(frozen=True, slots=True)
class Notice:
    """A letter to be written to an applicant."""

    kind: NoticeKind
    opening_id: int
    application_id: int
    seq: int | None
    """The event that it reports."""
    due_at: dt.datetime
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of the letter that cannot be looked up later (a position, a penalty); no names or addresses."""


_to_columns = make_row_encoder(Notice)


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """A letter with everything needed to send it."""

    id: int
    kind: NoticeKind
    data: Mapping[str, Any]
    state: NoticeState
    created_at: dt.datetime
    title: str
    application_id: int | None
    """None if the letter asks to confirm the address of a request to apply."""
    status: ApplicationStatus | None
    deadline: dt.datetime | None
    """The deadline of the current offer."""
    applicant_id: int | None
    name: str | None
    """None until the address is confirmed: a stranger may have entered the name."""
    email: str
    link_version: int | None
    erased: bool
    superseded: bool
    """The application has a later event."""
    at: dt.datetime
    apply_request_id: int | None = None
    confirm_by: dt.datetime | None = None
    """Until when the address must be confirmed; None if it need not be."""
    time_zone: str = UTC
    """Of the opening: the letter tells times in it."""
    language: str = "en"
    """What the recipient's browser asked for."""
    parent_id: int | None = None
    """The opening that the interview is for; None if the letter is not about an interview."""
    starts_at: dt.datetime | None = None
    ends_at: dt.datetime | None = None
    place: str | None = None
    opening_id: int | None = None
    company: str | None = None
    """The employer of the opening, or the name of the company."""

    @property
    def is_offer(self) -> bool:
        return self.kind in ("promoted", "reminder")

    @property
    def ended_offer(self) -> dt.datetime | None:
        """The deadline of the offer that has ended, if the letter is about that."""
        text = self.data.get("endedOffer")
        return dt.datetime.fromisoformat(text) if isinstance(text, str) else None


async def insert(tx: Tx, notices: Sequence[Notice]) -> None:
    """Store letters to be sent when due. One statement without a result: the caller may be in pipeline mode."""
    if not notices:
        return
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, seq, due_at, data)
        SELECT kind, opening_id, application_id, seq, due_at, data
          FROM json_populate_recordset(NULL::hiring.notice, %s)
        """,
        [rows_to_json([_to_columns(notice) for notice in notices])],
    )


async def find_recent_messages(tx: Tx, applications: Sequence[int], text: str) -> set[int]:
    """The applications that were sent this message within the last minutes."""
    cursor = await tx.execute(
        """
        SELECT application_id FROM hiring.notice
         WHERE application_id = ANY(%s) AND kind = 'message' AND data->>'text' = %s
           AND created_at > now() - %s
        """,
        [list(applications), text, SAME_MESSAGE_WITHIN],
    )
    return {id async for (id,) in cursor}


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message of the company, as its recipient sees it: without the reason and the sender."""

    application_id: int
    text: str
    sent_at: dt.datetime


async def list_received(tx: Tx, applicant_id: int, limit: int) -> list[ReceivedMessage]:
    """The latest messages of the company to an applicant, whether or not they are mailed, newest first."""
    return await fetch_all(
        tx,
        ReceivedMessage,
        """
        SELECT application_id, data->>'text' AS text, notice.created_at AS sent_at
          FROM hiring.application JOIN hiring.notice ON application_id = application.id
         WHERE applicant_id = %s AND kind = 'message' AND data ? 'text'
           -- Letters with the personal link that the applicant asked for.
           AND NOT data ? 'asked'
         ORDER BY notice.id DESC
         LIMIT %s
        """,
        [applicant_id, limit],
    )


async def repeat_confirmation(
    tx: Tx, opening_id: int, application_id: int, interval: dt.timedelta
) -> None:
    """Send the letter that asks to confirm an address again, unless the last one is that recent."""
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id)
        SELECT 'confirm', %(opening)s, %(application)s
         WHERE NOT EXISTS (SELECT FROM hiring.notice
                            WHERE application_id = %(application)s AND kind = 'confirm'
                              AND created_at > now() - %(interval)s)
        """,
        {"opening": opening_id, "application": application_id, "interval": interval},
    )


async def add_webhook_deliveries(tx: Tx, opening_id: int, after: int, upto: int) -> None:
    """Store a delivery for each event with `after` < seq <= `upto` and each webhook subscribed to it.

    One statement without a result: the caller may be in pipeline mode.
    """
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, seq, webhook_id)
        SELECT 'webhook', event.opening_id, event.application_id, event.seq, webhook.id
          FROM hiring.webhook
          JOIN hiring.event ON event.opening_id = %(opening)s
                           AND event.seq > %(after)s AND event.seq <= %(upto)s
         WHERE webhook.enabled
           AND (webhook.opening_id IS NULL
                -- A webhook of an opening also receives the events of its interview times.
                OR webhook.opening_id = (SELECT coalesce(parent_id, id) FROM hiring.opening
                                          WHERE id = %(opening)s))
           AND (webhook.events IS NULL OR event.type::text = ANY(webhook.events))
         ORDER BY event.seq, webhook.id
           -- Skip a webhook that another transaction is removing, instead of waiting for it.
           FOR KEY SHARE OF webhook SKIP LOCKED
        """,
        {"opening": opening_id, "after": after, "upto": upto},
    )


async def announce_due(tx: Tx) -> None:
    """Notify the workers if any notice is due.

    Writers of notices do not: a NOTIFY takes a database-wide lock at commit.
    """
    due = await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM hiring.notice WHERE state = 'waiting' AND due_at <= now())",
    )
    if due:
        await notify_feeds(tx)


async def claim_due(tx: Tx, channel: Channel, limit: int) -> list[int]:
    """Mark the longest due notices as queued and return their ids; each goes to one transaction only."""
    taken = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT id FROM hiring.notice
             WHERE state = 'waiting' AND due_at <= now()
               AND (webhook_id IS NULL) = (%(channel)s = 'mail')
             ORDER BY due_at, id LIMIT %(limit)s
               FOR UPDATE SKIP LOCKED
        )
        UPDATE hiring.notice SET state = 'queued'
          FROM due
         WHERE notice.id = due.id
        RETURNING notice.id
        """,
        {"channel": channel, "limit": limit},
    )
    return sorted(id for (id,) in await taken.fetchall())


async def drop_letters(tx: Tx, reason: str) -> int:
    """Drop a batch of due letters because none can be sent; returns how many."""
    dropped = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT id FROM hiring.notice
             WHERE state = 'waiting' AND due_at <= now() AND webhook_id IS NULL
             ORDER BY due_at, id LIMIT %(batch)s
               FOR UPDATE SKIP LOCKED
        )
        UPDATE hiring.notice SET state = 'dropped', detail = %(reason)s, ended_at = now()
          FROM due
         WHERE notice.id = due.id
        """,
        {"reason": reason, "batch": BATCH_SIZE},
    )
    return dropped.rowcount


async def requeue(tx: Tx, ids: Sequence[int]) -> None:
    """Make notices due again in a minute, because the queue still has their previous items."""
    await tx.execute(
        """
        UPDATE hiring.notice SET state = 'waiting', due_at = now() + interval '1 minute'
         WHERE id = ANY(%s) AND state = 'queued'
        """,
        [list(ids)],
    )


async def find_letter(tx: Tx, id: int) -> OutgoingLetter | None:
    """A letter with the current state of its application and applicant."""
    return await fetch_one(
        tx,
        OutgoingLetter,
        """
        SELECT notice.id, notice.kind, notice.data, notice.state, notice.created_at,
               coalesce(parent.title, opening.title) AS title, opening.id AS opening_id,
               opening.time_zone, opening.parent_id,
               opening.starts_at, opening.ends_at, opening.location AS place,
               coalesce(CASE WHEN parent.id IS NULL THEN opening.employer ELSE parent.employer END,
                        (SELECT name FROM hiring.company)) AS company,
               coalesce(applicant.language, apply_request.language, 'en') AS language,
               application.id AS application_id, application.status,
               application.acknowledge_deadline AS deadline, applicant.id AS applicant_id,
               CASE WHEN applicant.confirmed_at IS NOT NULL OR applicant.entered_by_company
                    THEN applicant.name END AS name,
               coalesce(applicant.email, apply_request.email) AS email, applicant.link_version,
               applicant.erased_at IS NOT NULL AS erased, apply_request.id AS apply_request_id,
               CASE WHEN apply_request.id IS NULL THEN application.confirm_by
                    WHEN apply_request.application_id IS NULL THEN expires_at END AS confirm_by,
               EXISTS (SELECT FROM hiring.event
                        WHERE event.application_id = application.id
                          AND event.seq > notice.seq
                          -- These change nothing that a letter tells.
                          AND event.type NOT IN ('ADDRESS_CONFIRMED', 'SCORED')
                          AND (event.type <> 'STAGE_CHANGED' OR event.to_status = 'INACTIVE')
                      ) AS superseded,
               now() AS at
          FROM hiring.notice
          JOIN hiring.opening ON opening.id = notice.opening_id
          LEFT JOIN hiring.opening AS parent ON parent.id = opening.parent_id
          LEFT JOIN hiring.apply_request ON apply_request.id = notice.apply_request_id
          LEFT JOIN hiring.application ON application.id = notice.application_id
          LEFT JOIN hiring.applicant ON applicant.id = application.applicant_id
         WHERE notice.id = %s AND notice.webhook_id IS NULL
           AND coalesce(applicant.id, apply_request.id) IS NOT NULL
        """,
        [id],
    )


def reason_not_to_send(letter: OutgoingLetter) -> str | None:
    if letter.erased:
        return "the applicant was erased"
    if not letter.email.strip():
        return "the applicant has no address"
    if letter.is_offer and (letter.status != "PENDING_ACKNOWLEDGMENT" or letter.superseded):
        return "the offer was answered or has ended"
    if letter.is_offer and letter.deadline and letter.deadline <= letter.at:
        return "the offer has ended"
    if letter.kind == "confirm" and (letter.confirm_by is None or letter.confirm_by <= letter.at):
        return "the address was confirmed, or the time to confirm it is over"
    if letter.kind in ("applied", "accepted") and letter.superseded:
        return "the application has changed since"
    if letter.kind in ("interview_booked", "interview_moved") and letter.status != "ACTIVE":
        return "the interview is no longer booked"
    if letter.kind == "position" and letter.status != "WAITLIST":
        return "the applicant is no longer on the waitlist"
    return None


async def record_result(tx: Tx, id: int, state: FinalState, detail: str | None) -> None:
    """Store the result; a notice that was sent, or dropped with an erased applicant, stays as it is."""
    await tx.execute(
        """
        UPDATE hiring.notice
           SET state = %(state)s::hiring.notice_state, detail = %(detail)s, ended_at = now(),
               attempts = attempts + (%(state)s::hiring.notice_state <> 'dropped')::int
         WHERE id = %(id)s AND state NOT IN ('sent', 'dropped')
        """,
        {"id": id, "state": state, "detail": detail},
    )


async def retry_failed(tx: Tx, id: int) -> None:
    """Send a failed letter again; Conflict if it has not failed, or is being sent again already."""
    retried = await tx.execute(
        """
        UPDATE hiring.notice SET state = 'waiting', due_at = now(), ended_at = NULL
         WHERE id = %s AND state = 'failed' AND webhook_id IS NULL
        """,
        [id],
    )
    if not retried.rowcount:
        raise Conflict("This message has not failed, or is being sent again already.")
    await notify_feeds(tx)


async def record_failed_attempt(tx: Tx, id: int, detail: str) -> None:
    """Store why sending failed; it will be tried again."""
    await tx.execute(
        """
        UPDATE hiring.notice SET attempts = attempts + 1, detail = %s
         WHERE id = %s AND state NOT IN ('sent', 'dropped')
        """,
        [detail, id],
    )


async def erase_for_applicant(tx: Tx, applicant_id: int) -> None:
    """Clear the contents of an applicant's letters and drop those not sent yet."""
    await tx.execute(
        """
        UPDATE hiring.notice
           SET data = '{}', detail = NULL,
               state = CASE WHEN ended_at IS NULL THEN 'dropped' ELSE state END,
               ended_at = coalesce(ended_at, now())
         WHERE webhook_id IS NULL
           AND application_id IN (SELECT id FROM hiring.application WHERE applicant_id = %s)
        """,
        [applicant_id],
    )


async def delete_old(tx: Tx) -> int:
    """Delete a batch of notices that ended long ago or that the queue lost; returns how many.

    Personal pages show the messages of the company, which stay until the applicant is erased.
    """
    deleted = await tx.execute(
        """
        DELETE FROM hiring.notice
         WHERE id = ANY (ARRAY(SELECT id FROM hiring.notice
                                WHERE (ended_at < now() - %(retention)s
                                       OR (state = 'queued' AND due_at < now() - %(retention)s))
                                  AND NOT (kind = 'message' AND data ? 'text'
                                           AND NOT data ? 'asked')
                                ORDER BY id LIMIT %(batch)s
                                  FOR UPDATE SKIP LOCKED))
        """,
        {"retention": RETENTION, "batch": BATCH_SIZE},
    )
    return deleted.rowcount

"""What is to be told to somebody: rows written with the change they tell of, from which the queue is fed."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.hiring.transitions import Status
from jobmill.queue.feed import notify_feeds

NoticeKind = Literal[
    "applied",
    "promoted",
    "reminder",
    "decayed",
    "lapsed",
    "withdrawn",
    "removed",
    "position",
    "message",
]
"""What an applicant may be told."""

Channel = Literal["mail", "webhook"]
NoticeState = Literal["waiting", "queued", "sent", "dropped", "failed"]
FinalState = Literal["sent", "dropped", "failed"]

RETENTION = dt.timedelta(days=90)
"""How long it is kept what was told."""
BATCH_SIZE = 10_000


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell an applicant."""

    kind: NoticeKind
    opening_id: int
    application_id: int
    seq: int | None
    """The event it tells of."""
    due_at: dt.datetime
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the letter says beyond what can be looked up (a position, a penalty); no names, no addresses."""


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """A notice on its way to an applicant."""

    id: int
    kind: NoticeKind
    data: Mapping[str, Any]
    state: NoticeState
    created_at: dt.datetime
    title: str
    application_id: int
    status: Status
    deadline: dt.datetime | None
    """Of the offer that is out now."""
    applicant_id: int
    name: str
    email: str
    link_version: int
    erased: bool
    outrun: bool
    """Something happened to the application since."""
    at: dt.datetime

    @property
    def is_offer(self) -> bool:
        return self.kind in ("promoted", "reminder")


async def insert(tx: Tx, notices: Sequence[Notice]) -> None:
    """Keep them to be sent when they are due. One statement, and nothing is fetched: the caller may
    be in pipeline mode."""
    if not notices:
        return
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, seq, due_at, data)
        SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[],
                             %s::timestamptz[], %s::jsonb[])
        """,
        [
            [one.kind for one in notices],
            [one.opening_id for one in notices],
            [one.application_id for one in notices],
            [one.seq for one in notices],
            [one.due_at for one in notices],
            [json.dumps(dict(one.data), default=_text) for one in notices],
        ],
    )


async def add_webhook_deliveries(tx: Tx, opening_id: int, after: int, upto: int) -> None:
    """Keep a delivery for each webhook and each event with `after` < seq <= `upto` that it wants. One
    statement, and nothing is fetched."""
    await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, seq, webhook_id)
        SELECT 'webhook', event.opening_id, event.application_id, event.seq, webhook.id
          FROM hiring.webhook
          JOIN hiring.event ON event.opening_id = %(opening)s
                           AND event.seq > %(after)s AND event.seq <= %(upto)s
         WHERE webhook.enabled
           AND (webhook.opening_id IS NULL OR webhook.opening_id = %(opening)s)
           AND (webhook.events IS NULL OR event.type::text = ANY(webhook.events))
         ORDER BY event.seq, webhook.id
           -- One that is being removed wants nothing, and nobody waits for that.
           FOR KEY SHARE OF webhook SKIP LOCKED
        """,
        {"opening": opening_id, "after": after, "upto": upto},
    )


async def announce_due(tx: Tx) -> None:
    """Tell the feeds, where any notice is due: who writes one does not, since to notify at a commit
    is to wait for those of all others."""
    due = await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM hiring.notice WHERE state = 'waiting' AND due_at <= now())",
    )
    if due:
        await notify_feeds(tx)


async def claim_due(tx: Tx, way: Channel, most: int) -> list[int]:
    """Take those that are due longest; one is taken once, by whoever commits."""
    taken = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT id FROM hiring.notice
             WHERE state = 'waiting' AND due_at <= now()
               AND (webhook_id IS NULL) = (%(way)s = 'mail')
             ORDER BY due_at, id LIMIT %(most)s
               FOR UPDATE SKIP LOCKED
        )
        UPDATE hiring.notice SET state = 'queued'
          FROM due
         WHERE notice.id = due.id
        RETURNING notice.id
        """,
        {"way": way, "most": most},
    )
    return sorted(id for (id,) in await taken.fetchall())


async def drop_letters(tx: Tx, reason: str) -> int:
    """Drop up to a bite of letters that are due, where none can be sent; returns how many."""
    dropped = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT id FROM hiring.notice
             WHERE state = 'waiting' AND due_at <= now() AND webhook_id IS NULL
             ORDER BY due_at, id LIMIT %(bite)s
               FOR UPDATE SKIP LOCKED
        )
        UPDATE hiring.notice SET state = 'dropped', detail = %(reason)s, ended_at = now()
          FROM due
         WHERE notice.id = due.id
        """,
        {"reason": reason, "bite": BATCH_SIZE},
    )
    return dropped.rowcount


async def requeue(tx: Tx, ids: Sequence[int]) -> None:
    """Let them wait once more, a minute from now: the queue holds them still."""
    await tx.execute(
        """
        UPDATE hiring.notice SET state = 'waiting', due_at = now() + interval '1 minute'
         WHERE id = ANY(%s) AND state = 'queued'
        """,
        [list(ids)],
    )


async def find_letter(tx: Tx, id: int) -> OutgoingLetter | None:
    """A letter to be sent, and what is true now of whom it is for."""
    return await fetch_one(
        tx,
        OutgoingLetter,
        """
        SELECT notice.id, notice.kind, notice.data, notice.state, notice.created_at,
               opening.title, application.id AS application_id, application.status,
               application.acknowledge_deadline AS deadline, applicant.id AS applicant_id,
               applicant.name, applicant.email, applicant.link_version,
               applicant.erased_at IS NOT NULL AS erased,
               EXISTS (SELECT FROM hiring.event
                        WHERE event.application_id = application.id
                          AND event.seq > notice.seq) AS outrun,
               now() AS at
          FROM hiring.notice
          JOIN hiring.opening ON opening.id = notice.opening_id
          JOIN hiring.application ON application.id = notice.application_id
          JOIN hiring.applicant ON applicant.id = application.applicant_id
         WHERE notice.id = %s AND notice.webhook_id IS NULL
        """,
        [id],
    )


def reason_not_to_send(told: OutgoingLetter) -> str | None:
    """Why it is not to be sent any more, in words."""
    if told.erased:
        return "the applicant was erased"
    if not told.email.strip():
        return "the applicant has no address"
    if told.is_offer and (told.status != "PENDING_ACKNOWLEDGMENT" or told.outrun):
        return "the offer was answered or has ended"
    if told.is_offer and told.deadline and told.deadline <= told.at:
        return "the offer has ended"
    if told.kind == "applied" and told.outrun:
        return "it is no longer so"
    if told.kind == "position" and told.status != "WAITLIST":
        return "the applicant does not wait any more"
    return None


async def record_result(tx: Tx, id: int, state: FinalState, detail: str | None) -> None:
    """Keep what became of it; what was sent stays sent, and what was dropped with a person is not
    spoken of any more."""
    await tx.execute(
        """
        UPDATE hiring.notice
           SET state = %(state)s::hiring.notice_state, detail = %(detail)s, ended_at = now(),
               attempts = attempts + (%(state)s::hiring.notice_state <> 'dropped')::int
         WHERE id = %(id)s AND state NOT IN ('sent', 'dropped')
        """,
        {"id": id, "state": state, "detail": detail},
    )


async def record_failed_attempt(tx: Tx, id: int, detail: str) -> None:
    """Keep why it could not be sent yet."""
    await tx.execute(
        """
        UPDATE hiring.notice SET attempts = attempts + 1, detail = %s
         WHERE id = %s AND state NOT IN ('sent', 'dropped')
        """,
        [detail, id],
    )


async def erase_for_applicant(tx: Tx, applicant_id: int) -> None:
    """Forget what was told to an applicant, and drop what is still to be told."""
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
    """Delete up to a bite of those that ended long ago, or that the queue lost; returns how many."""
    gone = await tx.execute(
        """
        DELETE FROM hiring.notice
         WHERE id = ANY (ARRAY(SELECT id FROM hiring.notice
                                WHERE ended_at < now() - %(stay)s
                                   OR (state = 'queued' AND due_at < now() - %(stay)s)
                                ORDER BY id LIMIT %(bite)s
                                  FOR UPDATE SKIP LOCKED))
        """,
        {"stay": RETENTION, "bite": BATCH_SIZE},
    )
    return gone.rowcount


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)

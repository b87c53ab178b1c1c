"""The letters of all openings with their state, newest first, and how many wait or failed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_all, fetch_single
from jobmill.hiring.messages.notices import NoticeKind, NoticeState

MessageFilter = Literal["unsent", "sent", "failed", "dropped"]
STATES: dict[MessageFilter, Sequence[NoticeState]] = {
    "unsent": ("waiting", "queued"),
    "sent": ("sent",),
    "failed": ("failed",),
    "dropped": ("dropped",),
}
MAX_COUNT = 1_000
"""Messages are counted up to this number."""
RECENT = dt.timedelta(days=7)
"""How long a failed message is reported as a problem."""


@dataclass(frozen=True, slots=True)
class MessageRow:
    id: int
    kind: NoticeKind
    state: NoticeState
    opening_id: int
    title: str
    application_id: int | None
    """None until the recipient has confirmed their address."""
    name: str
    attempts: int
    detail: str | None
    created_at: dt.datetime
    due_at: dt.datetime
    ended_at: dt.datetime | None


async def list_messages(
    tx: Tx, *, show: MessageFilter | None = None, before: int | None = None, limit: int = 50
) -> list[MessageRow]:
    """Letters with an id less than `before`, newest first; without the deliveries of webhooks."""
    return await fetch_all(
        tx,
        MessageRow,
        """
        SELECT notice.id, notice.kind, notice.state, notice.opening_id, opening.title,
               application.id AS application_id,
               coalesce(applicant.name, apply_request.name, '') AS name,
               attempts, detail, notice.created_at, due_at, ended_at
          FROM hiring.notice
          JOIN hiring.opening ON opening.id = notice.opening_id
          LEFT JOIN hiring.apply_request ON apply_request.id = notice.apply_request_id
          LEFT JOIN hiring.application ON application.id = notice.application_id
          LEFT JOIN hiring.applicant ON applicant.id = application.applicant_id
         WHERE webhook_id IS NULL
           AND (%(states)s::hiring.notice_state[] IS NULL OR state = ANY (%(states)s))
           AND (%(before)s::bigint IS NULL OR notice.id < %(before)s)
         ORDER BY notice.id DESC
         LIMIT %(limit)s
        """,
        {"states": list(STATES[show]) if show else None, "before": before, "limit": limit},
    )


@dataclass(frozen=True, slots=True)
class Outbox:
    live_openings: bool
    """Whether an opening is not closed, so that applicants expect letters."""
    unsent: int
    failed: int
    """Failed within the last 7 days."""


async def read_outbox(tx: Tx) -> Outbox:
    return await fetch_single(
        tx,
        Outbox,
        """
        SELECT EXISTS (SELECT FROM hiring.opening
                        WHERE status <> 'closed' AND parent_id IS NULL) AS live_openings,
               (SELECT count(*) FROM (
                    SELECT FROM hiring.notice
                     WHERE state IN ('waiting', 'queued') AND webhook_id IS NULL AND due_at <= now()
                     LIMIT %(limit)s) AS few)::int AS unsent,
               (SELECT count(*) FROM (
                    SELECT FROM hiring.notice
                     WHERE state = 'failed' AND webhook_id IS NULL
                       AND ended_at > now() - %(recent)s
                     LIMIT %(limit)s) AS few)::int AS failed
        """,
        {"limit": MAX_COUNT, "recent": RECENT},
    )

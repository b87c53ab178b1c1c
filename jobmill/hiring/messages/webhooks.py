"""Webhooks: servers of others that are told of events, and what became of each delivery."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from psycopg.errors import ForeignKeyViolation

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.messages.notices import NoticeState
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import EventType
from jobmill.queue.feed import notify_feeds

EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
SECRET_PREFIX = "whsec_"
"""What secrets begin with, so that one is recognised where it should not be."""


@dataclass(frozen=True, slots=True)
class Webhook:
    id: int
    url: str
    opening_id: int | None
    """None: of all openings."""
    events: list[str] | None
    """None: all of them."""
    enabled: bool
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CreatedWebhook:
    """A new webhook, and the one time that its secret is shown."""

    id: int
    url: str
    secret: str


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """One event for one webhook, and what became of it."""

    id: int
    webhook_id: int
    opening_id: int
    seq: int
    event: EventType
    state: NoticeState
    attempts: int
    detail: str | None
    created_at: dt.datetime
    ended_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class OutgoingDelivery:
    """A delivery to be made."""

    id: int
    webhook_id: int
    url: str
    secret: str = field(repr=False)
    enabled: bool
    state: NoticeState
    opening_id: int
    seq: int
    read_at: dt.datetime
    """By the server's clock."""


async def add(
    tx: Tx, url: str, *, opening_id: int | None = None, events: Sequence[str] | None = None
) -> CreatedWebhook:
    """Tell `url`, which `outside.webhook.check_url` has seen, of what happens from now on; Invalid for
    events that there are not, NotFound for such an opening."""
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    try:
        id = await fetch_value(
            tx,
            int,
            """
            INSERT INTO hiring.webhook (url, secret, opening_id, events)
            VALUES (%s, %s, %s, %s) RETURNING id
            """,
            [url, secret, opening_id, check_events(events)],
        )
    except ForeignKeyViolation as error:
        raise NotFound("opening", opening_id) from error
    assert id is not None
    return CreatedWebhook(id, url, secret)


def check_events(events: Sequence[str] | None) -> list[str] | None:
    """The types of events that were named, each once; None for all of them."""
    if not events:
        return None
    for one in events:
        if one not in EVENT_TYPES:
            raise Invalid(f"there is no event {one}; there are: {', '.join(EVENT_TYPES)}")
    return list(dict.fromkeys(events))


async def list_webhooks(tx: Tx) -> list[Webhook]:
    """All of them, oldest first."""
    return await fetch_all(
        tx,
        Webhook,
        """
        SELECT id, url, opening_id, events, enabled, created_at FROM hiring.webhook ORDER BY id
        """,
    )


async def get(tx: Tx, id: int) -> Webhook:
    found = await fetch_one(
        tx,
        Webhook,
        """
        SELECT id, url, opening_id, events, enabled, created_at FROM hiring.webhook WHERE id = %s
        """,
        [id],
    )
    if found is None:
        raise NotFound("webhook", id)
    return found


async def remove(tx: Tx, id: int) -> None:
    """Forget it, with all its deliveries."""
    gone = await tx.execute("DELETE FROM hiring.webhook WHERE id = %s", [id])
    if gone.rowcount == 0:
        raise NotFound("webhook", id)


async def set_enabled(tx: Tx, id: int, enabled: bool = True) -> Webhook:
    """Tell it again from now on, or no more; what happened meanwhile it is not told."""
    await tx.execute("UPDATE hiring.webhook SET enabled = %s WHERE id = %s", [enabled, id])
    return await get(tx, id)


async def list_deliveries(
    tx: Tx,
    webhook_id: int,
    *,
    state: NoticeState | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[WebhookDelivery]:
    """The latest first; `before` is the id of the last one seen."""
    await get(tx, webhook_id)
    return await fetch_all(
        tx,
        WebhookDelivery,
        """
        SELECT notice.id, webhook_id, notice.opening_id, notice.seq, event.type AS event, state,
               attempts, detail, notice.created_at, ended_at
          FROM hiring.notice
          JOIN hiring.event ON event.opening_id = notice.opening_id AND event.seq = notice.seq
         WHERE webhook_id = %(webhook)s
           AND (%(state)s::hiring.notice_state IS NULL OR state = %(state)s)
           AND (%(before)s::bigint IS NULL OR notice.id < %(before)s)
         ORDER BY notice.id DESC
         LIMIT %(limit)s
        """,
        {"webhook": webhook_id, "state": state, "before": before, "limit": limit},
    )


async def redeliver(tx: Tx, delivery_id: int) -> int:
    """Make a delivery once more, as a new one; returns its id. Conflict where its webhook is off."""
    old = await find_outgoing(tx, delivery_id)
    if old is None:
        raise NotFound("delivery", delivery_id)
    if not old.enabled:
        raise Conflict(f"webhook {old.webhook_id} is disabled: enable it first")
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, seq, webhook_id)
        SELECT kind, opening_id, application_id, seq, webhook_id FROM hiring.notice WHERE id = %s
        RETURNING id
        """,
        [delivery_id],
    )
    await notify_feeds(tx)
    assert id is not None
    return id


async def find_outgoing(tx: Tx, delivery_id: int) -> OutgoingDelivery | None:
    """A delivery to be made; None where it went with its webhook."""
    return await fetch_one(
        tx,
        OutgoingDelivery,
        """
        SELECT notice.id, webhook.id AS webhook_id, url, secret, enabled, state, notice.opening_id,
               seq, clock_timestamp() AS read_at
          FROM hiring.notice JOIN hiring.webhook ON webhook.id = webhook_id
         WHERE notice.id = %s
        """,
        [delivery_id],
    )


def encode_body(event: AuditEvent) -> bytes:
    """What a receiver is told: the same bytes however often, and nothing about a person."""
    told: dict[str, Any] = {
        "id": event.id,
        "seq": event.seq,
        "jobId": event.opening_id,
        "applicationId": event.application_id,
        "eventType": event.type,
        "fromStatus": event.from_status,
        "toStatus": event.to_status,
        "metadata": event.metadata,
        "createdAt": format_timestamp(event.created_at),
    }
    return json.dumps(told, separators=(",", ":")).encode()

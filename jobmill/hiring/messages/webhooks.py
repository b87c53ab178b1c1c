"""Webhooks: subscriptions of other servers to events, and their deliveries."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, get_args

from psycopg.errors import ForeignKeyViolation

from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise, fetch_single_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.messages.notices import NoticeState
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import EventType
from jobmill.queue.feed import notify_feeds

EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
SECRET_PREFIX = "whsec_"
"""Lets secret scanners recognise a leaked secret."""
SELECT: LiteralString = (
    "SELECT id, url, opening_id, events, enabled, created_at FROM hiring.webhook"
)


@dataclass(frozen=True, slots=True)
class Webhook:
    id: int
    url: str
    opening_id: int | None
    """None: all openings."""
    events: list[str] | None
    """None: all types."""
    enabled: bool
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class CreatedWebhook:
    """A new webhook with its secret, which is shown only once."""

    id: int
    url: str
    secret: str


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """One event for one webhook and the state of its delivery."""

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
    """A delivery with everything needed to send it."""

    id: int
    webhook_id: int
    url: str
    secret: str = field(repr=False)
    enabled: bool
    state: NoticeState
    opening_id: int
    seq: int
    read_at: dt.datetime
    """By the database's clock."""


async def add(
    tx: Tx, url: str, *, opening_id: int | None = None, events: Sequence[str] | None = None
) -> CreatedWebhook:
    """Subscribe `url`, which the caller has checked with `outside.webhook.check_url`, to new events.

    Raises Invalid for unknown event types and NotFound for an unknown opening.
    """
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    try:
        id = await fetch_single_value(
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
    return CreatedWebhook(id, url, secret)


def check_events(events: Sequence[str] | None) -> list[str] | None:
    """The event types without duplicates; None for all types. Raises Invalid for an unknown type."""
    if not events:
        return None
    for event in events:
        if event not in EVENT_TYPES:
            raise Invalid(f"Unknown event {event}. Events are: {', '.join(EVENT_TYPES)}")
    return list(dict.fromkeys(events))


async def list_webhooks(tx: Tx) -> list[Webhook]:
    """All webhooks, oldest first."""
    return await fetch_all(tx, Webhook, f"{SELECT} ORDER BY id")


async def get(tx: Tx, id: int) -> Webhook:
    sql: LiteralString = f"{SELECT} WHERE id = %s"
    return await fetch_or_raise(tx, Webhook, sql, [id], NotFound("webhook", id))


async def remove(tx: Tx, id: int) -> None:
    """Delete a webhook and its deliveries."""
    deleted = await tx.execute("DELETE FROM hiring.webhook WHERE id = %s", [id])
    if deleted.rowcount == 0:
        raise NotFound("webhook", id)


async def set_enabled(tx: Tx, id: int, enabled: bool = True) -> Webhook:
    """Enable or disable a webhook; events while it is disabled are not delivered later."""
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
    """Deliveries with an id less than `before`, newest first."""
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
    """Send a delivery again as a new one; returns its id. Raises Conflict if the webhook is disabled."""
    old = await find_outgoing(tx, delivery_id)
    if old is None:
        raise NotFound("delivery", delivery_id)
    if not old.enabled:
        raise Conflict(f"Webhook {old.webhook_id} is disabled. Enable it first.")
    id = await fetch_single_value(
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
    return id


async def find_outgoing(tx: Tx, delivery_id: int) -> OutgoingDelivery | None:
    """A delivery to be sent; None if its webhook was removed."""
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
    """The request body: the same bytes for every attempt, without personal data."""
    fields: dict[str, Any] = {
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
    return json.dumps(fields, separators=(",", ":")).encode()

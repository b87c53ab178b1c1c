"""Deliveries: one message about one or more events to one channel, sent once per key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import uuid4

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.notifications.channels import REPEATABLE, ChannelKind
from jobmill.people.persons import Owner, Role
from jobmill.queue.feed import notify_feeds

DeliveryState: TypeAlias = Literal[
    "waiting", "queued", "sending", "sent", "dropped", "failed", "unknown"
]
FinalState: TypeAlias = Literal["sent", "dropped", "failed", "unknown"]
DeliveryFrequency: TypeAlias = Literal["instant", "daily", "weekly", "test"]
Transport: TypeAlias = Literal["mail", "post"]
"""Letters and HTTP requests are queued apart, so that neither waits for the other."""

RETENTION = dt.timedelta(days=60)
LOST_AFTER = dt.timedelta(days=30)
"""Longer than the work queue keeps a task that ended with an unexpected error."""
PRUNE_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class PlannedDelivery:
    channel_id: int
    key: str
    frequency: DeliveryFrequency
    due_at: dt.datetime
    events: Sequence[int]


@dataclass(frozen=True, slots=True)
class OutgoingNotification:
    """A delivery with everything needed to send it."""

    id: int
    channel_id: int
    channel_kind: ChannelKind
    key: str
    frequency: DeliveryFrequency
    state: DeliveryState
    created_at: dt.datetime
    person_id: int | None
    name: str | None
    role: Role
    enabled: bool
    """Whether the channel is on and its person has access."""
    at: dt.datetime
    encrypted: bytes = field(repr=False)

    @property
    def may_have_arrived(self) -> bool:
        """An earlier attempt began to send it and did not record how that ended."""
        return self.state == "sending" and self.channel_kind not in REPEATABLE


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    id: int
    channel_kind: ChannelKind
    channel: str
    frequency: DeliveryFrequency
    state: DeliveryState
    attempts: int
    detail: str | None
    due_at: dt.datetime
    ended_at: dt.datetime | None
    events: int


@dataclass(frozen=True, slots=True)
class StateCount:
    state: DeliveryState
    channel_kind: ChannelKind
    count: int


async def add_to_digest(tx: Tx, delivery: PlannedDelivery) -> bool:
    """Write a digest, or add events to the one that waits; False if it is being sent already."""
    id = await add_instant(tx, delivery)
    if id is not None:
        return True
    id = await fetch_value(
        tx,
        int,
        """
        SELECT id FROM notification.delivery
         WHERE channel_id = %s AND key = %s AND state = 'waiting' FOR UPDATE
        """,
        [delivery.channel_id, delivery.key],
    )
    if id is None:
        return False
    await _link(tx, id, delivery.events)
    return True


async def add_instant(tx: Tx, delivery: PlannedDelivery) -> int | None:
    """Write a message that is sent as soon as it is due; None if one with the same key exists."""
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO notification.delivery (channel_id, key, frequency, due_at)
        SELECT id, %(key)s, %(frequency)s, %(due_at)s FROM notification.channel
         -- The channel may have been removed since it was read.
         WHERE id = %(channel)s FOR KEY SHARE
        ON CONFLICT ON CONSTRAINT delivery_once DO NOTHING
        RETURNING id
        """,
        {
            "channel": delivery.channel_id,
            "key": delivery.key,
            "frequency": delivery.frequency,
            "due_at": delivery.due_at,
        },
    )
    if id is not None:
        await _link(tx, id, delivery.events)
    return id


async def _link(tx: Tx, id: int, events: Sequence[int]) -> None:
    await tx.execute(
        """
        INSERT INTO notification.delivery_event (delivery_id, event_id)
        SELECT %s, unnest(%s::bigint[]) ON CONFLICT DO NOTHING
        """,
        [id, list(events)],
    )


async def add_test(tx: Tx, channel_id: int) -> None:
    """Send a test message to a channel now."""
    await tx.execute(
        """
        INSERT INTO notification.delivery (channel_id, key, frequency, due_at)
        VALUES (%s, %s, 'test', now())
        """,
        [channel_id, f"test {uuid4().hex}"],
    )
    await notify_feeds(tx)


async def announce_due(tx: Tx) -> None:
    """Notify the workers if any delivery is due."""
    if await fetch_value(
        tx,
        bool,
        """
        SELECT EXISTS (SELECT FROM notification.delivery WHERE state = 'waiting' AND due_at <= now())
        """,
    ):
        await notify_feeds(tx)


async def claim_due(tx: Tx, transport: Transport, limit: int) -> list[int]:
    """Mark the longest due deliveries as queued; each goes to one transaction only."""
    taken = await tx.execute(
        """
        WITH due AS MATERIALIZED (
            SELECT delivery.id FROM notification.delivery
              JOIN notification.channel ON channel.id = channel_id
             WHERE state = 'waiting' AND due_at <= now()
               AND (kind = 'email') = (%(transport)s = 'mail')
             ORDER BY due_at, delivery.id LIMIT %(limit)s
               FOR UPDATE OF delivery SKIP LOCKED
        )
        UPDATE notification.delivery SET state = 'queued'
          FROM due
         WHERE delivery.id = due.id
        RETURNING delivery.id
        """,
        {"transport": transport, "limit": limit},
    )
    return sorted(id for (id,) in await taken.fetchall())


async def requeue(tx: Tx, ids: Sequence[int]) -> None:
    """Make deliveries due again in a minute, because the queue refused their items for now."""
    await tx.execute(
        """
        UPDATE notification.delivery SET state = 'waiting', due_at = now() + interval '1 minute'
         WHERE id = ANY (%s) AND state = 'queued'
        """,
        [list(ids)],
    )


async def lock(tx: Tx, id: int) -> OutgoingNotification | None:
    """Read a delivery and lock it until `tx` ends; None if its channel was removed."""
    return await fetch_one(
        tx,
        OutgoingNotification,
        """
        SELECT delivery.id, channel_id, channel.kind AS channel_kind, key, frequency, state,
               delivery.created_at, channel.person_id, person.name,
               coalesce(person.role, 'admin') AS role,
               enabled AND person.ended_at IS NULL AS enabled, now() AS at, encrypted
          FROM notification.delivery JOIN notification.channel ON channel.id = channel_id
          LEFT JOIN people.person ON person.id = channel.person_id
         WHERE delivery.id = %s FOR UPDATE OF delivery
        """,
        [id],
    )


async def mark_sending(tx: Tx, id: int) -> None:
    """Commit this before sending: a later attempt then knows that the message may have arrived."""
    await tx.execute(
        """
        UPDATE notification.delivery SET state = 'sending', attempts = attempts + 1 WHERE id = %s
        """,
        [id],
    )


async def record_failed_attempt(tx: Tx, id: int, detail: str) -> None:
    """The message certainly did not arrive, and will be tried again."""
    await tx.execute(
        """
        UPDATE notification.delivery SET state = 'queued', detail = %s
         WHERE id = %s AND ended_at IS NULL
        """,
        [detail, id],
    )


async def record_result(tx: Tx, id: int, state: FinalState, detail: str | None) -> None:
    """Store how a delivery ended; one that has ended stays as it is."""
    await tx.execute(
        """
        UPDATE notification.delivery SET state = %s, detail = %s, ended_at = now()
         WHERE id = %s AND ended_at IS NULL
        """,
        [state, detail, id],
    )


async def find_log(
    tx: Tx, owner: Owner, *, before: int | None = None, limit: int = 50
) -> list[LoggedDelivery]:
    """The deliveries of a person, the newest first."""
    return await fetch_all(
        tx,
        LoggedDelivery,
        """
        SELECT delivery.id, channel.kind AS channel_kind, channel.name AS channel, frequency, state,
               attempts, detail, due_at, ended_at,
               (SELECT count(*)::int FROM notification.delivery_event
                 WHERE delivery_id = delivery.id) AS events
          FROM notification.delivery JOIN notification.channel ON channel.id = channel_id
         WHERE person_id IS NOT DISTINCT FROM %(owner)s::bigint
           AND (%(before)s::bigint IS NULL OR delivery.id < %(before)s)
         ORDER BY delivery.id DESC LIMIT %(limit)s
        """,
        {"owner": owner, "before": before, "limit": limit},
    )


async def count_by_state(tx: Tx) -> list[StateCount]:
    """Deliveries that wait or ended in the last 24 hours."""
    return await fetch_all(
        tx,
        StateCount,
        """
        SELECT state, channel.kind AS channel_kind, count(*) AS count
          FROM notification.delivery JOIN notification.channel ON channel.id = channel_id
         WHERE ended_at IS NULL OR ended_at > now() - interval '1 day'
         GROUP BY 1, 2 ORDER BY 1, 2
        """,
    )


async def prune(tx: Tx) -> int:
    """End the deliveries that the queue has lost, and delete a batch of old ones."""
    await tx.execute(
        """
        UPDATE notification.delivery
           SET state = CASE state WHEN 'sending' THEN 'unknown' ELSE 'failed' END,
               ended_at = now(), detail = 'its task in the work queue is gone'
         WHERE state IN ('queued', 'sending') AND due_at < now() - %s
        """,
        [LOST_AFTER],
    )
    deleted = await tx.execute(
        """
        DELETE FROM notification.delivery
         WHERE id = ANY (ARRAY(SELECT id FROM notification.delivery
                                WHERE ended_at < now() - %s
                                ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
        """,
        [RETENTION, PRUNE_BATCH],
    )
    return deleted.rowcount

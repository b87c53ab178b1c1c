"""Events: what a person may be told. Triggers write them with their cause (migration 0049)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.notifications.kinds import Frequency, Kind
from jobmill.people.persons import Owner

RETENTION = dt.timedelta(days=90)
PRUNE_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class NotificationEvent:
    id: int
    person_id: int | None
    kind: str
    """A `Kind`, or `kinds.UNPLANNED_MATCH`."""
    data: Mapping[str, Any]
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """An event with the kind and frequency that its person's preferences give it."""

    id: int
    kind: str
    frequency: Frequency
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KindCount:
    kind: str
    count: int


async def claim_unplanned(tx: Tx, limit: int) -> list[NotificationEvent]:
    """Lock the oldest events without deliveries; two planners never share one."""
    return await fetch_all(
        tx,
        NotificationEvent,
        """
        SELECT id, person_id, kind, data, at FROM notification.event
         WHERE planned_at IS NULL ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
        """,
        [limit],
    )


async def mark_planned(tx: Tx, planned: Sequence[PlannedEvent]) -> None:
    await tx.execute(
        """
        UPDATE notification.event
           SET planned_at = now(), kind = planned.kind, frequency = planned.frequency,
               data = planned.data
          FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::jsonb[])
               AS planned (id, kind, frequency, data)
         WHERE event.id = planned.id
        """,
        [
            [event.id for event in planned],
            [event.kind for event in planned],
            [event.frequency for event in planned],
            [Jsonb(dict(event.data)) for event in planned],
        ],
    )


async def record_failed_backup(tx: Tx, detail: str) -> None:
    """Tell the operators; nothing happens in a database of an older version."""
    sql = "SELECT to_regclass('notification.event') IS NOT NULL"
    if await fetch_value(tx, bool, sql):
        await tx.execute(
            "SELECT notification.record('backup', '{admin}', %s, %s)",
            [f"backup {uuid4()}", Jsonb({"detail": detail})],
        )


async def record_due_steps(tx: Tx) -> None:
    """Write the events of next steps that are due; each is written once."""
    await tx.execute("SELECT notification.record_due_steps()")


async def find_by_delivery(tx: Tx, delivery_id: int) -> list[NotificationEvent]:
    return await fetch_all(
        tx,
        NotificationEvent,
        """
        SELECT event.id, person_id, kind, data, at
          FROM notification.delivery_event JOIN notification.event ON event.id = event_id
         WHERE delivery_id = %s ORDER BY event.id
        """,
        [delivery_id],
    )


async def find_recent(
    tx: Tx, owner: Owner, kinds: Sequence[Kind], limit: int = 100
) -> list[NotificationEvent]:
    """What a person was told last, the newest first."""
    return await fetch_all(
        tx,
        NotificationEvent,
        """
        SELECT id, person_id, kind, data, at FROM notification.event
         WHERE person_id IS NOT DISTINCT FROM %s::bigint AND frequency <> 'off'
           AND kind = ANY (%s)
         ORDER BY id DESC LIMIT %s
        """,
        [owner, list(kinds), limit],
    )


async def count_by_kind(tx: Tx) -> list[KindCount]:
    """Events of the last 24 hours that people were told about."""
    return await fetch_all(
        tx,
        KindCount,
        """
        SELECT kind, count(*) AS count FROM notification.event
         WHERE at > now() - interval '1 day' AND frequency <> 'off'
         GROUP BY kind ORDER BY kind
        """,
    )


async def prune(tx: Tx) -> int:
    """Delete a batch of old events; their deliveries are older."""
    deleted = await tx.execute(
        """
        DELETE FROM notification.event
         WHERE id = ANY (ARRAY(SELECT id FROM notification.event
                                WHERE at < now() - %s
                                  AND NOT EXISTS (SELECT FROM notification.delivery_event
                                                   WHERE event_id = event.id)
                                ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED))
        """,
        [RETENTION, PRUNE_BATCH],
    )
    return deleted.rowcount

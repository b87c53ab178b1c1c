"""Reads the state of the queue for commands, pages and metrics."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import NotFound
from jobmill.queue.items import ItemId, Status


@dataclass(frozen=True, slots=True)
class PhaseStatus:
    """How many items of a phase wait, run and are blocked, and how long the oldest has waited."""

    kind: str
    stage: str
    pending: int
    later: int
    processing: int
    blocked: int
    oldest_seconds: float | None
    capacity: int
    paused: str | None


@dataclass(frozen=True, slots=True)
class ProcessorStatus:
    worker: int
    name: str
    kind: str
    stage: str
    number: int
    state: str
    item: int | None
    since: dt.datetime


@dataclass(frozen=True, slots=True)
class Item:
    id: int
    kind: str
    stage: str
    key: str
    status: Status
    priority: int
    available_at: dt.datetime | None
    tracking_id: UUID
    ancestry: list[int]
    spawn_depth: int
    max_spawn_depth: int
    parent_id: int | None
    handed_over: bool
    retry_count: int
    max_retries: int
    attempts: int
    worker: int | None
    started_at: dt.datetime | None
    leased_until: dt.datetime | None
    waits_for: int | None
    blocked_on: str | None
    final: bool | None
    message: str | None
    error_class: str | None
    error_text: str | None
    error_fingerprint: UUID | None
    created_at: dt.datetime
    updated_at: dt.datetime
    finished_at: dt.datetime | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ItemEvent:
    id: int
    item_id: int
    at: dt.datetime
    what: str
    was: Status | None
    became: Status | None
    stage: str | None
    worker: int | None
    note: str | None
    seconds: float | None = None
    """How long the item had been claimed, if the event ended a run."""


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    name: str
    every: dt.timedelta
    next_at: dt.datetime
    last_at: dt.datetime | None
    note: str | None


@dataclass(frozen=True, slots=True)
class RunCounter:
    kind: str
    stage: str
    outcome: str
    runs: int
    seconds: float
    buckets: list[int]


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A process that registered and has not signed off."""

    id: int
    name: str
    started_at: dt.datetime
    beat_seconds: float
    alive: bool


@dataclass(frozen=True, slots=True)
class Pause:
    kind: str
    stage: str
    reason: str
    paused_at: dt.datetime


@dataclass(frozen=True, slots=True)
class NamedCount:
    name: str
    count: int


async def list_phases(tx: Tx) -> list[PhaseStatus]:
    """Every declared phase, and any other phase that still has live items."""
    return await fetch_all(
        tx,
        PhaseStatus,
        """
        WITH counts AS (
            SELECT kind, stage,
                   count(*) FILTER (WHERE status = 'PENDING' AND NOT parked) AS pending,
                   count(*) FILTER (WHERE status = 'PENDING' AND parked) AS later,
                   count(*) FILTER (WHERE status = 'PROCESSING') AS processing,
                   count(*) FILTER (WHERE status = 'BLOCKED') AS blocked,
                   min(available_at) FILTER (WHERE status = 'PENDING' AND NOT parked) AS oldest
              FROM queue.live
             GROUP BY kind, stage
        )
        SELECT kind, stage, coalesce(pending, 0) AS pending, coalesce(later, 0) AS later,
               coalesce(processing, 0) AS processing, coalesce(blocked, 0) AS blocked,
               CASE WHEN oldest IS NOT NULL
                    THEN greatest(extract(epoch FROM clock_timestamp() - oldest), 0)::float8
               END AS oldest_seconds,
               coalesce(capacity, 0) AS capacity,
               (SELECT reason FROM queue.pause
                 WHERE pause.kind = every_phase.kind
                   AND pause.stage IN ('', every_phase.stage)
                 ORDER BY pause.stage LIMIT 1) AS paused
          FROM (queue.phase FULL JOIN counts USING (kind, stage)) AS every_phase
         ORDER BY kind, stage
        """,
    )


async def list_processors(tx: Tx) -> list[ProcessorStatus]:
    return await fetch_all(
        tx,
        ProcessorStatus,
        """
        SELECT worker, name, kind, stage, number, state, item, since FROM queue.processor
         ORDER BY worker, kind, stage, number
        """,
    )


async def list_workers(tx: Tx) -> list[WorkerStatus]:
    """Registered workers. After its lease has lapsed, a worker is listed as not alive until it is marked as gone."""
    return await fetch_all(
        tx,
        WorkerStatus,
        """
        SELECT id, name, started_at,
               extract(epoch FROM clock_timestamp() - heartbeat_at)::float8 AS beat_seconds,
               heartbeat_at + lease > clock_timestamp() AS alive
          FROM queue.worker WHERE ended_at IS NULL ORDER BY id
        """,
    )


async def list_pauses(tx: Tx) -> list[Pause]:
    return await fetch_all(
        tx,
        Pause,
        "SELECT kind, stage, reason, paused_at FROM queue.pause ORDER BY kind, stage",
    )


async def count_blocked(tx: Tx) -> list[NamedCount]:
    """How many items are blocked on each missing resource."""
    return await fetch_all(
        tx,
        NamedCount,
        """
        SELECT blocked_on AS name, count(*) AS count FROM queue.live
         WHERE parked AND status = 'BLOCKED' GROUP BY blocked_on ORDER BY blocked_on
        """,
    )


async def count_alerts(tx: Tx) -> list[NamedCount]:
    """Every rule that ever raised an alert, with the number of its open alerts."""
    return await fetch_all(
        tx,
        NamedCount,
        """
        SELECT rule AS name, count(*) FILTER (WHERE cleared_at IS NULL) AS count
          FROM queue.alert GROUP BY rule ORDER BY rule
        """,
    )


async def list_schedules(tx: Tx) -> list[ScheduleStatus]:
    return await fetch_all(
        tx,
        ScheduleStatus,
        "SELECT name, every, next_at, last_at, note FROM queue.schedule ORDER BY name",
    )


async def list_run_counters(tx: Tx) -> list[RunCounter]:
    return await fetch_all(
        tx,
        RunCounter,
        """
        SELECT kind, stage, outcome, runs, seconds, buckets FROM queue.run_counter
         ORDER BY kind, stage, outcome
        """,
    )


async def count_retrying(tx: Tx) -> int:
    """How many live items have failed at least once."""
    return await fetch_value(tx, int, "SELECT count(*) FROM queue.live WHERE retry_count > 0") or 0


async def get_item(tx: Tx, id: ItemId) -> Item:
    items = await find_items(tx, [id])
    if not items:
        raise NotFound("item", id)
    return items[0]


async def list_kinds(tx: Tx) -> list[str]:
    cursor = await tx.execute("SELECT DISTINCT kind FROM queue.phase ORDER BY kind")
    return [row[0] for row in await cursor.fetchall()]


async def list_events(tx: Tx, id: ItemId, *, limit: int | None = None) -> list[ItemEvent]:
    """The events of an item, oldest first; only the latest `limit` of them."""
    events = await fetch_all(
        tx,
        ItemEvent,
        """
        SELECT id, item_id, at, type AS what, from_status AS was, to_status AS became, stage, worker, note,
               CASE WHEN from_status = 'PROCESSING' THEN extract(epoch FROM at - started_at)::float8
               END AS seconds
          FROM (SELECT *, max(at) FILTER (WHERE to_status = 'PROCESSING') OVER (ORDER BY id) AS started_at
                  FROM queue.event WHERE item_id = %s) AS event
         ORDER BY id DESC LIMIT %s
        """,
        [id, limit],
    )
    return events[::-1]


async def count_waiting_for(tx: Tx, id: ItemId) -> int:
    """How many items wait for this one."""
    count = await fetch_value(
        tx, int, "SELECT count(*) FROM queue.live WHERE parked AND waits_for = %s", [id]
    )
    return count or 0


async def list_unfinished(
    tx: Tx, ids: Sequence[ItemId], kinds: Sequence[str]
) -> list[tuple[str, Status]]:
    """The phase and status of running and due items of these kinds: the given items, their descendants, and
    the items that these wait for."""
    cursor = await tx.execute(
        """
        WITH family AS (
            SELECT member.id FROM queue.item AS root
              JOIN queue.item AS member ON member.tracking_id = root.tracking_id
             WHERE root.id = ANY(%(ids)s)
               AND (member.id = root.id OR root.id = ANY(member.ancestry))
        )
        SELECT kind || '/' || stage, status FROM queue.live
         WHERE (id IN (SELECT id FROM family)
                OR id IN (SELECT live.waits_for FROM queue.live JOIN family USING (id)))
           AND (status = 'PROCESSING' OR (status = 'PENDING' AND NOT parked))
           AND kind = ANY(%(kinds)s)
         ORDER BY id
        """,
        {"ids": list(ids), "kinds": list(kinds)},
    )
    return [(phase, status) for phase, status in await cursor.fetchall()]


async def find_items(tx: Tx, ids: Sequence[int], *, with_data: bool = True) -> list[Item]:
    """The existing items among these ids, newest first; without their data unless `with_data`."""
    items = await fetch_all(
        tx,
        Item,
        """
        SELECT id, kind, stage, key, status, priority, available_at, tracking_id, ancestry,
               spawn_depth, max_spawn_depth, parent_id, handed_over, retry_count, max_retries,
               attempts, worker, started_at, leased_until, waits_for, blocked_on, final, message,
               error_class, error_text, error_fingerprint, created_at, updated_at, finished_at,
               CASE WHEN %(with_data)s THEN data ELSE '{}' END AS data
          FROM queue.items
         WHERE id = ANY (%(ids)s)
        """,
        {"ids": list(ids), "with_data": with_data},
    )
    return sorted(items, key=lambda item: -item.id)

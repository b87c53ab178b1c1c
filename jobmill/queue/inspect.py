"""The queue as people see it: for the commands, the pages and the metrics."""

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
    """One phase now: how much waits, for how long, and who works on it."""

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
    """A process that signed on and has not signed off."""

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
    """How many there are of something that has a name."""

    name: str
    count: int


async def list_phases(tx: Tx) -> list[PhaseStatus]:
    """Every declared phase, and any other that still holds work."""
    return await fetch_all(
        tx,
        PhaseStatus,
        """
        WITH held AS (
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
                 WHERE pause.kind = held_or_declared.kind
                   AND pause.stage IN ('', held_or_declared.stage)
                 ORDER BY pause.stage LIMIT 1) AS paused
          FROM (queue.phase FULL JOIN held USING (kind, stage)) AS held_or_declared
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
    """Who should be alive; one whose lease ran out is still named, as not alive, until buried."""
    return await fetch_all(
        tx,
        WorkerStatus,
        """
        SELECT id, name, started_at,
               extract(epoch FROM clock_timestamp() - beat_at)::float8 AS beat_seconds,
               beat_at + lease > clock_timestamp() AS alive
          FROM queue.worker WHERE gone_at IS NULL ORDER BY id
        """,
    )


async def list_pauses(tx: Tx) -> list[Pause]:
    return await fetch_all(
        tx,
        Pause,
        "SELECT kind, stage, reason, paused_at FROM queue.pause ORDER BY kind, stage",
    )


async def count_blocked(tx: Tx) -> list[NamedCount]:
    """What is missing, and how many items are parked for it."""
    return await fetch_all(
        tx,
        NamedCount,
        """
        SELECT blocked_on AS name, count(*) AS count FROM queue.live
         WHERE parked AND status = 'BLOCKED' GROUP BY blocked_on ORDER BY blocked_on
        """,
    )


async def count_alerts(tx: Tx) -> list[NamedCount]:
    """Every rule that ever raised an alert, with how many of its alerts stand."""
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
    """Live items that have failed at least once."""
    return await fetch_value(tx, int, "SELECT count(*) FROM queue.live WHERE retry_count > 0") or 0


async def get_item(tx: Tx, id: ItemId) -> Item:
    found = await find_items(tx, [id])
    if not found:
        raise NotFound("item", id)
    return found[0]


async def list_kinds(tx: Tx) -> list[str]:
    """The kinds of work that are declared."""
    cursor = await tx.execute("SELECT DISTINCT kind FROM queue.phase ORDER BY kind")
    return [found[0] for found in await cursor.fetchall()]


async def list_events(tx: Tx, id: ItemId, *, limit: int | None = None) -> list[ItemEvent]:
    """What happened to an item, in its order; the latest if it is more than `limit`."""
    found = await fetch_all(
        tx,
        ItemEvent,
        """
        SELECT id, item_id, at, what, was, became, stage, worker, note FROM queue.event
         WHERE item_id = %s ORDER BY id DESC LIMIT %s
        """,
        [id, limit],
    )
    return found[::-1]


async def count_waiting_for(tx: Tx, id: ItemId) -> int:
    """How many items wait for this one."""
    found = await fetch_value(
        tx, int, "SELECT count(*) FROM queue.live WHERE parked AND waits_for = %s", [id]
    )
    return found or 0


async def list_unfinished(
    tx: Tx, ids: Sequence[ItemId], kinds: Sequence[str]
) -> list[tuple[str, Status]]:
    """The phase and status of what runs or is due: these items, those below them, and those they
    wait for, if they are of these kinds."""
    cursor = await tx.execute(
        """
        WITH kin AS (
            SELECT below.id FROM queue.item AS above
              JOIN queue.item AS below ON below.tracking_id = above.tracking_id
             WHERE above.id = ANY(%(ids)s)
               AND (below.id = above.id OR above.id = ANY(below.ancestry))
        )
        SELECT kind || '/' || stage, status FROM queue.live
         WHERE (id IN (SELECT id FROM kin)
                OR id IN (SELECT live.waits_for FROM queue.live JOIN kin USING (id)))
           AND (status = 'PROCESSING' OR (status = 'PENDING' AND NOT parked))
           AND kind = ANY(%(kinds)s)
         ORDER BY id
        """,
        {"ids": list(ids), "kinds": list(kinds)},
    )
    return [(phase, status) for phase, status in await cursor.fetchall()]


async def seconds_since_schedule_check(tx: Tx) -> float | None:
    """How long ago a worker last looked at the schedules; None where none ever did."""
    return await fetch_value(
        tx,
        float,
        """
        SELECT extract(epoch FROM clock_timestamp() - at)::float8
          FROM queue.tick WHERE name = 'scheduler'
        """,
    )


async def find_items(tx: Tx, ids: Sequence[int], *, whole: bool = True) -> list[Item]:
    """Those of these items that there are, newest first; without their data unless `whole`."""
    found = await fetch_all(
        tx,
        Item,
        """
        SELECT id, kind, stage, key, status, priority, available_at, tracking_id, ancestry,
               spawn_depth, max_spawn_depth, parent_id, handed_over, retry_count, max_retries,
               attempts, worker, started_at, leased_until, waits_for, blocked_on, final, message,
               error_class, error_text, error_fingerprint, created_at, updated_at, finished_at,
               CASE WHEN %(whole)s THEN data ELSE '{}' END AS data
          FROM queue.items
         WHERE id = ANY (%(ids)s)
        """,
        {"ids": list(ids), "whole": whole},
    )
    return sorted(found, key=lambda item: -item.id)

"""The queue as people see it: for the commands, the pages and the metrics."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from jobmill.db import Tx, rows, value
from jobmill.errors import NotFound
from jobmill.queue.watch import Alert, alerts
from jobmill.queue.work import ItemId, Status


@dataclass(frozen=True, slots=True)
class Phase:
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
class Processor:
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
class Event:
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
class Schedule:
    name: str
    every: dt.timedelta
    next_at: dt.datetime
    last_at: dt.datetime | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Tally:
    kind: str
    stage: str
    outcome: str
    runs: int
    seconds: float
    buckets: list[int]


async def phases(tx: Tx) -> list[Phase]:
    """Every declared phase, and any other that still holds work."""
    return await rows(
        tx,
        Phase,
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


async def processors(tx: Tx) -> list[Processor]:
    return await rows(
        tx,
        Processor,
        """
        SELECT worker, name, kind, stage, number, state, item, since FROM queue.processor
         ORDER BY worker, kind, stage, number
        """,
    )


async def schedules(tx: Tx) -> list[Schedule]:
    return await rows(
        tx, Schedule, "SELECT name, every, next_at, last_at, note FROM queue.schedule ORDER BY name"
    )


async def tallies(tx: Tx) -> list[Tally]:
    return await rows(
        tx,
        Tally,
        """
        SELECT kind, stage, outcome, runs, seconds, buckets FROM queue.tally
         ORDER BY kind, stage, outcome
        """,
    )


async def retries_waiting(tx: Tx) -> int:
    """Live items that have failed at least once."""
    return await value(tx, int, "SELECT count(*) FROM queue.live WHERE retry_count > 0") or 0


async def get(tx: Tx, id: ItemId) -> Item:
    found = await _items(tx, [id])
    if not found:
        raise NotFound("item", id)
    return found[0]


async def find(
    tx: Tx,
    *,
    status: Status | None = None,
    kind: str | None = None,
    key: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Item]:
    """Items, newest first, below `before`: the id of the last one of the page above."""
    filters = {
        "status": status,
        "kind": kind,
        "key": key,
        "before": before or 2**62,
        "limit": limit,
    }
    if status in ("PENDING", "PROCESSING", "BLOCKED"):
        ids = await _live_ids(tx, filters)
    elif status is not None:
        ids = await _ended_ids(tx, filters)
    else:
        ids = await _all_ids(tx, filters)
    return await _items(tx, ids)


async def timeline(tx: Tx, id: ItemId) -> list[Event]:
    """All that ever happened to an item, in its order."""
    return await rows(
        tx,
        Event,
        """
        SELECT id, item_id, at, what, was, became, stage, worker, note FROM queue.event
         WHERE item_id = %s ORDER BY id
        """,
        [id],
    )


async def lineage(tx: Tx, tracking_id: UUID, *, limit: int = 1_000) -> list[Item]:
    """The items of a lineage, parents before their children."""
    cursor = await tx.execute(
        """
        SELECT id
          -- OFFSET 0 keeps the planner from walking the items of everybody in the order of their ids.
          FROM (SELECT id FROM queue.item WHERE tracking_id = %s OFFSET 0) AS kin
         ORDER BY id
         LIMIT %s
        """,
        [tracking_id, limit],
    )
    ids = [found[0] for found in await cursor.fetchall()]
    return sorted(await _items(tx, ids), key=lambda item: (len(item.ancestry), item.id))


async def unfinished(
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


async def refusals(tx: Tx, ids: Sequence[int]) -> list[Event]:
    """The spawns that these items were refused."""
    return await rows(
        tx,
        Event,
        """
        SELECT id, item_id, at, what, was, became, stage, worker, note FROM queue.event
         WHERE item_id = ANY (%s) AND what = 'spawn refused' ORDER BY id
        """,
        [list(ids)],
    )


async def tracking_of(tx: Tx, id: ItemId) -> UUID:
    found = await value(tx, str, "SELECT tracking_id FROM queue.item WHERE id = %s", [id])
    if found is None:
        raise NotFound("item", id)
    return UUID(found)


async def ticked_seconds_ago(tx: Tx) -> float | None:
    """How long ago a worker last looked at the schedules; None where none ever did."""
    return await value(
        tx,
        float,
        """
        SELECT extract(epoch FROM clock_timestamp() - at)::float8
          FROM queue.tick WHERE name = 'scheduler'
        """,
    )


async def _items(tx: Tx, ids: Sequence[int]) -> list[Item]:
    found = await rows(
        tx,
        Item,
        """
        SELECT id, kind, stage, key, status, priority, available_at, tracking_id, ancestry,
               spawn_depth, max_spawn_depth, parent_id, handed_over, retry_count, max_retries,
               attempts, worker, started_at, leased_until, waits_for, blocked_on, final, message,
               error_class, error_text, error_fingerprint, created_at, updated_at, finished_at, data
          FROM queue.items
         WHERE id = ANY (%s)
        """,
        [list(ids)],
    )
    return sorted(found, key=lambda item: -item.id)


async def _live_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT id FROM queue.live
         WHERE status = %(status)s::queue.status AND id < %(before)s
           AND (%(kind)s::text IS NULL OR kind = %(kind)s)
           AND (%(key)s::text IS NULL OR key_hash = md5(%(key)s)::uuid)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [found[0] for found in await cursor.fetchall()]


async def _ended_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT item_id FROM queue.ending JOIN queue.item ON item.id = item_id
         WHERE ending.status = %(status)s::queue.status AND item_id < %(before)s
           AND (%(kind)s::text IS NULL OR item.kind = %(kind)s)
           AND (%(key)s::text IS NULL OR item.key = %(key)s)
         ORDER BY item_id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [found[0] for found in await cursor.fetchall()]


async def _all_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT id FROM queue.item
         WHERE id < %(before)s
           AND (%(kind)s::text IS NULL OR kind = %(kind)s)
           AND (%(key)s::text IS NULL OR key = %(key)s)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [found[0] for found in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Worker:
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
class Named:
    """How many there are of something that has a name."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The whole queue at one glance."""

    phases: list[Phase]
    processors: list[Processor]
    workers: list[Worker]
    alerts: list[Alert]
    tallies: list[Tally]
    retrying: int
    ticked_seconds: float | None


async def overview(tx: Tx) -> Overview:
    """What pages, commands and metrics start from; its cost grows with live work only."""
    crew = await workers(tx)
    # What a worker that fell silent wrote last is not what its processors do now.
    alive = {worker.id for worker in crew if worker.alive}
    return Overview(
        phases=await phases(tx),
        processors=[one for one in await processors(tx) if one.worker in alive],
        workers=crew,
        alerts=await alerts(tx),
        tallies=await tallies(tx),
        retrying=await retries_waiting(tx),
        ticked_seconds=await ticked_seconds_ago(tx),
    )


async def workers(tx: Tx) -> list[Worker]:
    """Who should be alive; one whose lease ran out is still named, as not alive, until buried."""
    return await rows(
        tx,
        Worker,
        """
        SELECT id, name, started_at,
               extract(epoch FROM clock_timestamp() - beat_at)::float8 AS beat_seconds,
               beat_at + lease > clock_timestamp() AS alive
          FROM queue.worker WHERE gone_at IS NULL ORDER BY id
        """,
    )


async def pauses(tx: Tx) -> list[Pause]:
    return await rows(
        tx,
        Pause,
        "SELECT kind, stage, reason, paused_at FROM queue.pause ORDER BY kind, stage",
    )


async def blocks(tx: Tx) -> list[Named]:
    """What is missing, and how many items are parked for it."""
    return await rows(
        tx,
        Named,
        """
        SELECT blocked_on AS name, count(*) AS count FROM queue.live
         WHERE parked AND status = 'BLOCKED' GROUP BY blocked_on ORDER BY blocked_on
        """,
    )


async def alert_rules(tx: Tx) -> list[Named]:
    """Every rule that ever raised an alert, with how many of its alerts stand."""
    return await rows(
        tx,
        Named,
        """
        SELECT rule AS name, count(*) FILTER (WHERE cleared_at IS NULL) AS count
          FROM queue.alert GROUP BY rule ORDER BY rule
        """,
    )


@dataclass(frozen=True, slots=True)
class Crew:
    """The processors of one phase, over all workers, by what they do."""

    kind: str
    stage: str
    idle: int
    busy: int
    error: int


def count_processors(phases: Sequence[Phase], processors: Sequence[Processor]) -> list[Crew]:
    """One line a phase, those without any processor included."""
    found = Counter((one.kind, one.stage, one.state) for one in processors)
    known = {(one.kind, one.stage): None for one in (*phases, *processors)}
    return [
        Crew(*phase, *(found[*phase, state] for state in ("idle", "busy", "error")))
        for phase in sorted(known)
    ]


@dataclass(frozen=True, slots=True)
class Runs:
    """How the runs of one phase ended, ever since it exists."""

    kind: str
    stage: str
    runs: int
    success: int
    waited: int
    retried: int
    failed: int
    seconds: float


def count_runs(tallies: Sequence[Tally]) -> list[Runs]:
    """One line a phase that ever ran."""
    lines: list[Runs] = []
    for kind, stage in sorted({(one.kind, one.stage) for one in tallies}):
        mine = [one for one in tallies if (one.kind, one.stage) == (kind, stage)]
        results: Counter[str] = Counter()
        for one in mine:
            results[_RESULTS.get(one.outcome, "success")] += one.runs
        lines.append(
            Runs(
                kind=kind,
                stage=stage,
                runs=results.total(),
                success=results["success"],
                waited=results["waited"],
                retried=results["retried"],
                failed=results["failed"],
                seconds=sum(one.seconds for one in mine),
            )
        )
    return lines


_RESULTS = {
    "waituntil": "waited",
    "waitfor": "waited",
    "block": "waited",
    "retry": "retried",
    "fail": "failed",
}
"""What is not listed (finish, advance, hand over, filter, skip) did what it was meant to."""

"""What is due: what a run would call now, what is in the queue, and what comes next."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_all

from . import planner
from .planner import RunPreview, RunRequest
from .platform_state import PlatformCapacity
from .targets import PolicyName, Target, TargetKind, TargetStatus

FURTHEST = dt.timedelta(days=366)


@dataclass(frozen=True, slots=True)
class DueTarget:
    """A target and when it is due."""

    source: int
    name: str
    platform: str
    kind: TargetKind
    status: TargetStatus
    priority: int
    due_at: dt.datetime | None
    """None: not until a person changes something."""
    last_success_at: dt.datetime | None
    new_jobs_last: int | None
    fail_count: int
    queued: bool


@dataclass(frozen=True, slots=True)
class DueList:
    """Due targets in calling order, and platforms that cannot be called, with the reason."""

    targets: list[DueTarget]
    unavailable: Mapping[str, str]


async def list_due(
    tx: Tx,
    request: RunRequest,
    at: dt.datetime,
    environ: Mapping[str, str],
    *,
    ahead: dt.timedelta = dt.timedelta(),
    limit: int | None = None,
) -> DueList:
    """What a manual run of this request would call now, in its order, then what is in the queue,
    then what is due within `ahead`."""
    async with planner.preview_run(tx, request, at, environ) as preview:
        places = len(preview.ids) + SHOWN_BEYOND_RUN if limit is None else limit
        rows = await _rows(tx, preview.ids[:places])
        order = {id: n for n, id in enumerate(preview.ids)}
        due = [replace(row, due_at=at) for row in sorted(rows, key=lambda row: order[row.source])]
        if len(due) < places:
            due += await _queued(tx, request, places - len(due))
        if ahead and len(due) < places:
            due += await _upcoming(tx, request, preview, at, at + ahead, places - len(due))
    return DueList(due, preview.capacity.unavailable)


SHOWN_BEYOND_RUN = 50
"""Queued and coming targets that are listed without a limit."""


async def next_due_at(
    tx: Tx, request: RunRequest, at: dt.datetime, environ: Mapping[str, str]
) -> dt.datetime | None:
    """When a run has something to call: now, or later; None if nothing can run."""
    async with planner.preview_run(tx, request, at, environ) as preview:
        if preview.ids:
            return at
        upcoming = await _upcoming(tx, request, preview, at, at + FURTHEST, 1)
    return upcoming[0].due_at if upcoming else None


def target_due_at(
    target: Target, policy: PolicyName, capacity: PlatformCapacity, at: dt.datetime
) -> dt.datetime | None:
    """When a target may be called next, never in the past; None if it cannot run until a person
    changes something."""
    if target.status == "paused" or (target.status == "active" and not target.enabled):
        return None
    if target.platform in capacity.unavailable and target.platform not in capacity.opens_at:
        return None
    moments = [target.due_at, target.blocked_until]
    if policy == "seed" or target.status == "bad":
        moments = [target.next_allowed_at]
    opens_at = capacity.opens_at.get(target.platform, at)
    return max(at, opens_at, *(moment for moment in moments if moment))


async def _rows(tx: Tx, ids: Sequence[int]) -> list[DueTarget]:
    return await fetch_all(
        tx,
        DueTarget,
        """
        SELECT source_id AS source, source.name, target.platform, kind, target.status, priority,
               due_at, last_success_at, new_jobs_last, fail_count, queued_at IS NOT NULL AS queued
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE source_id = ANY (%s)
        """,
        [list(ids)],
    )


async def _queued(tx: Tx, request: RunRequest, limit: int) -> list[DueTarget]:
    """Targets that wait for a worker or are being called, the first one first."""
    return await fetch_all(
        tx,
        DueTarget,
        """
        SELECT source_id AS source, source.name, target.platform, kind, target.status, priority,
               queued_at AS due_at, last_success_at, new_jobs_last, fail_count, true AS queued
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE queued_at IS NOT NULL
           AND (%(all)s OR target.platform = ANY (%(platforms)s))
           AND (%(kind)s::rotation.kind IS NULL OR kind = %(kind)s)
         ORDER BY queued_at, source_id LIMIT %(limit)s
        """,
        {
            "all": not request.platforms,
            "platforms": list(request.platforms),
            "kind": request.kind,
            "limit": limit,
        },
    )


async def _upcoming(
    tx: Tx,
    request: RunRequest,
    preview: RunPreview,
    at: dt.datetime,
    until: dt.datetime,
    limit: int,
) -> list[DueTarget]:
    """Targets that come after this run: when they and their platform may be called."""
    capacity = preview.capacity
    callable_later = [name for name in capacity.unavailable if name in capacity.opens_at]
    opens_at = {
        name: max(at, capacity.opens_at.get(name, at))
        for name in (*capacity.remaining, *callable_later)
    }
    parameters = {
        "at": at,
        "until": until,
        "names": list(opens_at),
        "opens": list(opens_at.values()),
        "chosen": preview.ids,
        "limit": limit,
    }
    if request.policy == "seed":
        return await _upcoming_by_interval(tx, parameters)
    return await _upcoming_by_yield(tx, parameters)


async def _upcoming_by_interval(tx: Tx, parameters: Mapping[str, object]) -> list[DueTarget]:
    return await fetch_all(
        tx,
        DueTarget,
        """
        SELECT source_id AS source, board AS name, due.platform, kind, status, priority,
               greatest(next_allowed_at, opens_at) AS due_at, last_success_at, new_jobs_last,
               fail_count, false AS queued
          FROM unnest(%(names)s::text[], %(opens)s::timestamptz[]) AS open (platform, opens_at)
         CROSS JOIN LATERAL (
            SELECT source_id, source.name AS board, target.platform, kind, target.status, priority,
                   next_allowed_at, last_success_at, new_jobs_last, fail_count
              FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform AND target.status = 'active' AND enabled
               AND queued_at IS NULL AND source_id <> ALL (%(chosen)s)
               AND (next_allowed_at IS NULL OR next_allowed_at <= %(until)s)
             ORDER BY greatest(next_allowed_at, %(at)s), priority DESC,
                      last_success_at NULLS FIRST, source_id
             LIMIT %(limit)s) AS due
         ORDER BY due_at, priority DESC, last_success_at NULLS FIRST, source_id
         LIMIT %(limit)s
        """,
        parameters,
    )


async def _upcoming_by_yield(tx: Tx, parameters: Mapping[str, object]) -> list[DueTarget]:
    """Read each group by its own index: targets with a due time, and untried targets."""
    return await fetch_all(
        tx,
        DueTarget,
        """
        SELECT source_id AS source, source.name, due.platform, kind, due.status, priority,
               greatest(due.due_at, blocked_until, opens_at) AS due_at, last_success_at, new_jobs_last,
               fail_count, false AS queued
          FROM unnest(%(names)s::text[], %(opens)s::timestamptz[]) AS open (platform, opens_at)
         CROSS JOIN LATERAL (
            (SELECT source_id, platform, kind, status, priority, due_at, blocked_until, last_success_at,
                    new_jobs_last, fail_count
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL)
                AND due_at <= %(until)s AND source_id <> ALL (%(chosen)s)
              ORDER BY due_at LIMIT %(limit)s)
            UNION ALL
            (SELECT source_id, platform, kind, status, priority, %(at)s, blocked_until, last_success_at,
                    new_jobs_last, fail_count
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND new_per_day IS NULL AND blocked_until IS NULL
                AND source_id <> ALL (%(chosen)s)
              ORDER BY health DESC, page_cap DESC, priority DESC, source_id LIMIT %(limit)s)
            ) AS due
          JOIN catalog.source ON source.id = source_id AND source.status = 'active'
         WHERE greatest(due.due_at, blocked_until, opens_at) <= %(until)s
         ORDER BY 7, source_id
         LIMIT %(limit)s
        """,
        parameters,
    )

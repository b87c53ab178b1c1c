"""Targets as shown to people: value, calls and priority."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx, fetch_all

from . import due_targets, platform_state, targets
from .calls import CallOutcome
from .due_targets import DueTarget
from .policies import yield_model
from .targets import PolicyName, TargetStatus


async def call_values(tx: Tx, at: dt.datetime, ids: Sequence[int]) -> dict[int, float]:
    """New listings that a call of each target would find now, beyond what a later call would find."""
    platforms = await platform_state.load_all(tx)
    rules = yield_model.YieldRules()
    values: dict[int, float] = {}
    for target in await targets.by_ids(tx, ids):
        state = platforms.get(target.platform)
        values[target.source_id] = yield_model.value_of(
            target.yield_state,
            at.timestamp(),
            kind=target.kind,
            page_cap=target.page_cap,
            platform=state.average if state else yield_model.PlatformAverage(),
            rules=rules,
        )
    return values


@dataclass(frozen=True, slots=True)
class TargetRow(DueTarget):
    """A target in a list."""

    enabled: bool


async def list_targets(
    tx: Tx,
    at: dt.datetime,
    policy: PolicyName,
    environ: Mapping[str, str],
    *,
    status: TargetStatus | None = None,
    platform: str | None = None,
    after: int = 0,
    limit: int = 50,
) -> list[TargetRow]:
    """Targets ordered by source, starting after `after`, with the time of their next call."""
    rows = await fetch_all(
        tx,
        TargetRow,
        """
        SELECT source_id AS source, source.name, target.platform, kind, target.status, enabled,
               priority, due_at, last_success_at, new_jobs_last, fail_count,
               queued_at IS NOT NULL AS queued
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE source_id > %(after)s
           AND (%(status)s::rotation.status IS NULL OR target.status = %(status)s)
           AND (%(platform)s::text IS NULL OR target.platform = %(platform)s)
         ORDER BY source_id LIMIT %(limit)s
        """,
        {"after": after, "status": status, "platform": platform, "limit": limit},
    )
    capacity = await platform_state.remaining_calls(tx, at, environ)
    due = {
        target.source_id: due_targets.target_due_at(target, policy, capacity, at)
        for target in await targets.by_ids(tx, [row.source for row in rows])
    }
    return [replace(row, due_at=due[row.source]) for row in rows]


@dataclass(frozen=True, slots=True)
class TargetCall(CallOutcome):
    """One call of a target."""

    run_id: int | None
    """None for a manual run."""


async def list_calls(tx: Tx, source_id: int, *, limit: int = 200) -> list[TargetCall]:
    """The last calls of a target, newest first."""
    return await fetch_all(
        tx,
        TargetCall,
        """
        SELECT called_at, answer::text, detail, requests, result_count, new, duplicates, run_id
          FROM rotation.call WHERE source_id = %s ORDER BY called_at DESC LIMIT %s
        """,
        [source_id, limit],
    )

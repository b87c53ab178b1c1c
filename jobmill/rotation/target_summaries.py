"""Turns as people see them: what a call is worth, what calls brought, and who comes first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.catalog import history
from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid

from . import platform_state, targets
from .policies import yield_model
from .targets import Kind, Status, Target

LAST = 1_000_000
"""Nothing stands further behind."""


async def worths(tx: Tx, at: dt.datetime, ids: Sequence[int]) -> dict[int, float]:
    """New listings that a call of each of these would bring now, beyond what calling later would."""
    known = await platform_state.standings(tx)
    rules = yield_model.Rules()
    found: dict[int, float] = {}
    for one in await targets.by_ids(tx, ids):
        standing = known.get(one.platform)
        found[one.source_id] = yield_model.value_of(
            one.yields,
            at.timestamp(),
            kind=one.kind,
            page_cap=one.page_cap,
            platform=standing.average if standing else yield_model.Platform(),
            rules=rules,
        )
    return found


@dataclass(frozen=True, slots=True)
class Turn:
    """A target in a list."""

    source: int
    name: str
    platform: str
    kind: Kind
    status: Status
    enabled: bool
    """As its source is."""
    priority: int
    due_at: dt.datetime
    last_success_at: dt.datetime | None
    new_jobs_last: int | None
    fail_count: int
    queued: bool


async def find(
    tx: Tx,
    *,
    status: Status | None = None,
    platform: str | None = None,
    after: int = 0,
    limit: int = 50,
) -> list[Turn]:
    """Targets in the order of their sources, from the one after `after` on."""
    return await fetch_all(
        tx,
        Turn,
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


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a target."""

    called_at: dt.datetime
    answer: str
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int
    run_id: int | None
    """None: somebody ran the source by hand."""


async def calls(tx: Tx, source_id: int, *, limit: int = 200) -> list[Call]:
    """The last calls of a target, newest first."""
    return await fetch_all(
        tx,
        Call,
        """
        SELECT called_at, answer::text, detail, requests, result_count, new, duplicates, run_id
          FROM rotation.call WHERE source_id = %s ORDER BY called_at DESC LIMIT %s
        """,
        [source_id, limit],
    )


async def put(tx: Tx, source_id: int, priority: int, *, actor: str | None = None) -> Target:
    """Put a target further ahead (lower) or behind; Invalid beyond 0 and LAST."""
    if not 0 <= priority <= LAST:
        raise Invalid(f"a priority is 0 to {LAST:,}")
    target = await targets.get(tx, source_id, lock=True)
    if target.priority == priority:
        return target
    await targets.prioritise(tx, [source_id], priority)
    said = {"before": target.priority, "after": priority}
    await history.record(tx, "source", source_id, "prioritised", actor=actor, **said)
    return await targets.get(tx, source_id)

"""Targets for tests that name only what they are about."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from psycopg import sql

from jobmill.catalog.crawl_results import CrawlResult, RunCounts, SavedRun
from jobmill.catalog.source_health import FailureEffect
from jobmill.db import Tx
from jobmill.rotation import call_outcomes, targets
from jobmill.rotation.targets import Target
from tests.catalog.helpers import make_source

NOW = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
KEYS = {"JOOBLE_API_KEY": "x", "REED_API_KEY": "x", "ADZUNA_APP_ID": "x", "ADZUNA_APP_KEY": "x"}


async def make_target(tx: Tx, platform: str = "greenhouse", **columns: Any) -> int:
    """An active source and its target, with these columns set."""
    [id] = await make_targets(tx, 1, platform, **columns)
    return id


async def make_targets(
    tx: Tx, count: int, platform: str = "greenhouse", **columns: Any
) -> list[int]:
    ids = [await make_source(tx, source_type=platform) for _ in range(count)]
    await targets.sync_changed_sources(tx)
    for id in ids:
        await put(tx, id, **{"added_at": NOW - DAY, "due_at": NOW - DAY, **columns})
    return ids


async def put(tx: Tx, id: int, **columns: Any) -> None:
    sets = [
        sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in columns
    ]
    statement = sql.SQL("UPDATE rotation.target SET {} WHERE source_id = %(id)s")
    await tx.execute(statement.format(sql.SQL(", ").join(sets)), {**columns, "id": id})


async def answer(
    tx: Tx,
    id: int,
    at: dt.datetime,
    *,
    new: int = 0,
    duplicates: int = 0,
    seen: int | None = None,
    verdict: FailureEffect | None = None,
    retry_after: dt.timedelta | None = None,
    item: int | None = 1,
    **facts: Any,
) -> Target:
    """Record a run of an item, or of a person where `item` is None, and the target after it."""
    crawl = replace(CrawlResult(at, "complete", calls=1, vendor="greenhouse"), **facts)
    added = new + duplicates
    shown = added if seen is None else seen
    counts = RunCounts(seen=shown, added=added, duplicates=duplicates)
    saved = SavedRun(1, crawl.outcome, counts, verdict or FailureEffect(counted=False))
    await call_outcomes.record_outcome(
        tx, id, crawl, saved, at=at, item=item, retry_after=retry_after
    )
    return await targets.get(tx, id)


def failed(cause: str = "server", **facts: Any) -> Mapping[str, Any]:
    return {"outcome": "failed", "failure": cause, "detail": cause, **facts}

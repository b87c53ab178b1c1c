"""Replays snapshots of real feeds through the catalog, and checks the counts of new, changed,
closed and reopened listings."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.goal import Goal, Report
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import crawl_results, listings, sources
from jobmill.catalog.crawl_results import CrawlResult, Outcome, RunCounts, SeenPosting
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.extract.fields import dates

Snapshot = dict[str, Posting]

TROUBLES: tuple[tuple[str, Outcome, str | None], ...] = (
    ("failed", "failed", "server"),
    ("unreadable", "failed", "unreadable"),
    ("partial", "partial", "timeout"),
    ("429", "held", "rate_limited"),
    ("truncated", "truncated", None),
    ("empty by error", "complete", None),
)
"""Runs that did not read the complete feed: name, outcome, failure."""


@dataclass
class Tally:
    steps: int = 0
    exact: int = 0
    wrongly_closed: int = 0
    troubles: int = 0


def report(data: Path) -> Report:
    snapshots = [_read(file) for file in sorted((data / "listing_snapshots").glob("*.json"))]
    # Backwards, closed listings return, so the same snapshots test reopening.
    there_and_back = list(
        map(_with_edits, range(len(snapshots) * 2 - 1), snapshots + snapshots[-2::-1])
    )
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedServer(Path(folder) / "postgres", durable=False)
        with server.use() as url:
            rows, tally = asyncio.run(_replay(url, there_and_back))
    return Report(
        title="Churn: snapshots of a real feed, forwards and backwards, with troubled runs between",
        columns=("step", "open", "new", "changed", "closed", "reopened", "exact"),
        rows=rows,
        goals=[
            Goal("churn.exact", tally.exact / tally.steps, 1.0),
            Goal("churn.closed_by_troubled_runs", tally.wrongly_closed, 0, at_most=True),
        ],
        notes=[f"{tally.troubles} troubled runs: {', '.join(name for name, *_ in TROUBLES)}"],
    )


def _read(file: Path) -> Snapshot:
    feed = json.loads(file.read_text())
    return {record["id"]: _posting(record) for record in feed["jobs"]}


def _posting(record: dict[str, Any]) -> Posting:
    return Posting(
        title=record["title"],
        company=record["company"],
        location=record["location"],
        locations=(record["location"],) if record["location"] else (),
        url=record["url"],
        posted_at=dates.parse_date(record["posted_at"]),
        platform="snapshot",
        board="feed",
        vendor_id=record["id"],
    )


def _with_edits(step: int, snapshot: Snapshot) -> Snapshot:
    """Rename every fifth posting in every other snapshot, because the feed itself has no edits."""
    if step % 2 == 0:
        return snapshot
    return {
        id: replace(posting, title=f"{posting.title} (edited)") if place % 5 == 0 else posting
        for place, (id, posting) in enumerate(snapshot.items())
    }


async def _replay(url: str, snapshots: list[Snapshot]) -> tuple[list[tuple[str, ...]], Tally]:
    rows: list[tuple[str, ...]] = []
    tally = Tally()
    async with connect(url) as database:
        async with database.transaction() as tx:
            await migrate(tx)
            new = NewSource("feed", "snapshot", "feed", {"board_token": "feed"})
            source, _ = await sources.add(tx, new, enabled=True)
        clock = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        ever: Snapshot = {}
        before: Snapshot = {}
        for step, now in enumerate(snapshots):
            for trouble in TROUBLES if step else ():
                clock += dt.timedelta(minutes=1)
                tally.troubles += 1
                tally.wrongly_closed += await _trouble(database, source, clock, trouble, before)
            clock += dt.timedelta(hours=1)
            got = await _save(database, source, CrawlResult(clock, "complete", _seen(now)))
            expected = _truth(ever, before, now)
            same = (got.added, got.changed, got.closed, got.reopened) == expected
            tally.steps += 1
            tally.exact += same and await _is_open(database, source, now)
            rows.append(
                (str(step), str(len(now)), *map(str, expected), "yes" if same else f"no: {got}")
            )
            ever, before = ever | now, now
    return rows, tally


def _truth(ever: Snapshot, before: Snapshot, now: Snapshot) -> tuple[int, int, int, int]:
    """New, changed, closed and reopened listings, computed from sets without the catalog."""
    repeated = [id for id in now if id in ever]
    changed = sum(_without_date(now[id]) != _without_date(ever[id]) for id in repeated)
    reopened = sum(id not in before for id in repeated)
    return len(now) - len(repeated), changed, len(before.keys() - now.keys()), reopened


def _without_date(posting: Posting) -> Posting:
    return replace(posting, posted_at=None)


def _seen(snapshot: Snapshot) -> list[SeenPosting]:
    return [SeenPosting(posting, listings.listed_hash(posting)) for posting in snapshot.values()]


async def _save(database: Database, source: int, crawl: CrawlResult) -> RunCounts:
    async with database.transaction() as tx:
        return (await crawl_results.save(tx, source, crawl, PLATFORM_RULES)).counts


async def _trouble(
    database: Database,
    source: int,
    clock: dt.datetime,
    trouble: tuple[str, Outcome, str | None],
    before: Snapshot,
) -> int:
    """How many listings an incomplete run closed; it should close none."""
    name, outcome, failure = trouble
    part = _seen(before)[: len(before) // 2] if outcome in ("partial", "truncated") else []
    counts = await _save(
        database, source, CrawlResult(clock, outcome, part, failure=failure, detail=name)
    )
    still = await _is_open(database, source, before)
    return counts.closed + (not still)


async def _is_open(database: Database, source: int, snapshot: Snapshot) -> bool:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT vendor_id FROM catalog.listing WHERE source_id = %s AND closed_at IS NULL",
            [source],
        )
        return {id for (id,) in await cursor.fetchall()} == snapshot.keys()

"""Helpers that create sources, postings and runs with defaults."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeAlias

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import crawl_results, listings, sources
from jobmill.catalog.crawl_results import CrawlResult, SavedRun, SeenPosting
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import NewSource, SourceId
from jobmill.db import Database, Tx

Act: TypeAlias = Callable[[Tx], Awaitable[object]]

START = dt.datetime(2026, 3, 1, 8, 0, tzinfo=dt.UTC)
_tokens = count(1)

TEXT = (
    "We build pumps that people rely on. You will look after the controllers of our wells, talk to "
    "the crews who use them, and make sure that what we ship works in the field."
)


def posting(id: int | str = 1, title: str = "Pump Engineer", **facts: Any) -> Posting:
    facts.setdefault("description", f"{TEXT} Vacancy {id}.")
    facts.setdefault("url", f"https://boards.example/wells/postings/{id}")
    facts.setdefault("company", "Wells & Co")
    return Posting(
        title=title,
        platform="greenhouse",
        board="wells",
        vendor_id=str(id),
        **facts,
    )


def seen(*postings: Posting) -> list[SeenPosting]:
    return [SeenPosting(item, listings.listed_hash(item)) for item in postings]


async def make_source(tx: Tx, *, enabled: bool = True, **facts: Any) -> SourceId:
    token = facts.pop("token", f"wells{next(_tokens)}")
    new = NewSource(
        name=f"{token} board",
        source_type=facts.pop("source_type", "greenhouse"),
        token=token,
        config={"board_token": token},
        **facts,
    )
    id, _ = await sources.add(tx, new, enabled=enabled)
    return id


def at(hour: float) -> dt.datetime:
    return START + dt.timedelta(hours=hour)


async def run(
    tx: Tx,
    source: int,
    hour: float,
    postings: Sequence[Posting] = (),
    **facts: Any,
) -> SavedRun:
    """Save a run; complete by default."""
    crawl = CrawlResult(started_at=at(hour), outcome="complete", postings=seen(*postings))
    return await crawl_results.save(tx, source, replace(crawl, **facts), PLATFORM_RULES)


async def open_titles(tx: Tx, source: int) -> list[str]:
    cursor = await tx.execute(
        "SELECT title FROM catalog.listing WHERE source_id = %s AND closed_at IS NULL ORDER BY title",
        [source],
    )
    return [title for (title,) in await cursor.fetchall()]


async def overlap(database: Database, first: Act, second: Act) -> list[object]:
    """Run the first action, and the second before the first commits or while the first waits for
    it."""

    async def alone(act: Act) -> object:
        async with database.transaction() as tx:
            return await act(tx)

    async with database.transaction() as tx:
        done = await first(tx)
        other = asyncio.create_task(alone(second))
        while not other.done() and not await somebody_waits(tx):
            await asyncio.sleep(0.001)
    return [done, *await asyncio.gather(other, return_exceptions=True)]


async def somebody_waits(tx: Tx) -> bool:
    cursor = await tx.execute(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = "
        "ANY(pg_blocking_pids(pid)))"
    )
    return await cursor.fetchone() == (True,)

"""Snapshots of a feed, forwards and backwards, with failed runs in between.

The small form of `evaluation/churn.py`: the counts of new, changed, closed and reopened listings
are exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from jobmill.catalog.posting import Posting
from jobmill.db import Tx

from .helpers import make_source, posting, run

Snapshot: TypeAlias = dict[str, Posting]
Expected: TypeAlias = tuple[int, int, int, int]
"""The expected counts of new, changed, closed and reopened listings."""


def feed(**titles: str) -> Snapshot:
    return {id: posting(id, title) for id, title in titles.items()}


FIRST = feed(a="Anchor", b="Baker", c="Carver", d="Driver")
EDITED = feed(a="Anchor", b="Head Baker", c="Carver", d="Driver")
REPLACED = feed(a="Anchor", b="Head Baker", e="Editor", f="Fitter")
MOVED = REPLACED | {"e": replace(REPLACED["e"], location="Porto", locations=("Porto",))}
RETURNED = feed(b="Baker", c="Carver", e="Editor", g="Gardener")
SMALL = feed(g="Gardener")
EVERYTHING = FIRST | REPLACED | SMALL

FORWARDS: tuple[tuple[Snapshot, Expected], ...] = (
    (FIRST, (4, 0, 0, 0)),
    (FIRST, (0, 0, 0, 0)),
    (EDITED, (0, 1, 0, 0)),
    (REPLACED, (2, 0, 2, 0)),
    (MOVED, (0, 1, 0, 0)),
    (RETURNED, (1, 2, 2, 1)),
    (SMALL, (0, 0, 3, 0)),
    (EVERYTHING, (0, 1, 0, 6)),
)
BACKWARDS: tuple[tuple[Snapshot, Expected], ...] = (
    (SMALL, (0, 0, 6, 0)),
    (RETURNED, (0, 1, 0, 3)),
    (MOVED, (0, 2, 2, 2)),
    (REPLACED, (0, 1, 0, 0)),
    (EDITED, (0, 0, 2, 2)),
    (FIRST, (0, 1, 0, 0)),
)
TROUBLES: tuple[dict[str, Any], ...] = (
    {"outcome": "failed", "failure": "server"},
    {"outcome": "failed", "failure": "unreadable"},
    {"outcome": "partial", "failure": "timeout"},
    {"outcome": "held", "failure": "rate_limited"},
    {"outcome": "truncated"},
    {"outcome": "complete"},
)
"""Incomplete runs; the last one returned an empty list by mistake."""


async def open_postings(tx: Tx, source: int) -> dict[str, tuple[str, str | None]]:
    cursor = await tx.execute(
        """
        SELECT vendor_id, title, location FROM catalog.listing
         WHERE source_id = %s AND closed_at IS NULL
        """,
        [source],
    )
    return {id: (title, location) for id, title, location in await cursor.fetchall()}


def shown(snapshot: Snapshot) -> dict[str, tuple[str, str | None]]:
    return {id: (posting.title, posting.location) for id, posting in snapshot.items()}


async def test_replaying_snapshots_with_failed_runs_in_between_is_exact(tx: Tx) -> None:
    source = await make_source(tx)
    before: Snapshot = {}
    for step, (snapshot, expected) in enumerate(FORWARDS + BACKWARDS):
        for number, trouble in enumerate(TROUBLES if before else (), 1):
            sees_half = trouble["outcome"] in ("partial", "truncated")
            half = list(before.values())[: len(before) // 2] if sees_half else []
            counts = (await run(tx, source, step - 1 + number / 10, half, **trouble)).counts
            changes = (counts.added, counts.changed, counts.closed, counts.reopened)
            assert changes == (0, 0, 0, 0), (step, trouble)
            assert await open_postings(tx, source) == shown(before), (step, trouble)
        counts = (await run(tx, source, step, list(snapshot.values()))).counts
        assert (counts.added, counts.changed, counts.closed, counts.reopened) == expected, step
        assert await open_postings(tx, source) == shown(snapshot), step
        before = snapshot

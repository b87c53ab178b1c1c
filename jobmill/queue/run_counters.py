"""Counters of runs by outcome, kept in memory and written every few seconds for /metrics."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from jobmill.db import Tx

BUCKET_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds, in seconds, of the run time buckets; the last bucket has no bound."""


@dataclass(slots=True)
class RunCount:
    runs: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKET_BOUNDS) + 1))


class RunCounters:
    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], RunCount] = {}
        self._written: dict[tuple[str, str, str], RunCount] = {}
        """By the newest transaction, which may still fail to commit."""

    def add(self, kind: str, stage: str, outcome: str, seconds: float) -> None:
        count = self._counts.get((kind, stage, outcome))
        if count is None:
            count = self._counts[kind, stage, outcome] = RunCount()
        count.runs += 1
        count.seconds += seconds
        count.buckets[bisect_left(BUCKET_BOUNDS, seconds)] += 1

    async def write(self, tx: Tx) -> None:
        """Add the counts since the last write; a killed worker loses those of its last seconds. The
        caller calls `restore` if `tx` fails to commit."""
        counts, self._counts, self._written = self._counts, {}, {}
        try:
            await _write(tx, counts)
        except BaseException:
            self._merge(counts)
            raise
        self._written = counts

    def restore(self) -> None:
        """Keep the counts of the newest write for the next one, because it was not committed."""
        counts, self._written = self._written, {}
        self._merge(counts)

    def _merge(self, counts: dict[tuple[str, str, str], RunCount]) -> None:
        for key, count in counts.items():
            total = self._counts.setdefault(key, RunCount())
            total.runs += count.runs
            total.seconds += count.seconds
            total.buckets = [a + b for a, b in zip(total.buckets, count.buckets, strict=True)]


async def _write(tx: Tx, counts: dict[tuple[str, str, str], RunCount]) -> None:
    # A worker that was stopped during its write must not block the others.
    await tx.execute("SET LOCAL lock_timeout = '2s'")
    # Sorted, so that two workers lock the same rows in the same order.
    for (kind, stage, outcome), count in sorted(counts.items()):
        await tx.execute(
            """
            INSERT INTO queue.run_counter (kind, stage, outcome, runs, seconds, buckets)
            VALUES (%(kind)s, %(stage)s, %(outcome)s, %(runs)s, %(seconds)s, %(buckets)s)
            ON CONFLICT (kind, stage, outcome) DO UPDATE
               SET runs = run_counter.runs + excluded.runs, seconds = run_counter.seconds + excluded.seconds,
                   buckets = ARRAY(SELECT a + b FROM unnest(run_counter.buckets, excluded.buckets)
                                                  WITH ORDINALITY AS pair(a, b, n) ORDER BY n)
            """,
            {
                "kind": kind,
                "stage": stage,
                "outcome": outcome,
                "runs": count.runs,
                "seconds": count.seconds,
                "buckets": count.buckets,
            },
        )

"""Counts of what was run, added up in memory and written now and then for /metrics."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from jobmill.db import Tx

BUCKET_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds, in seconds, of the buckets of run times; the last bucket has none."""


@dataclass(slots=True)
class RunCount:
    runs: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKET_BOUNDS) + 1))


class RunCounters:
    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], RunCount] = {}

    def add(self, kind: str, stage: str, outcome: str, seconds: float) -> None:
        count = self._counts.get((kind, stage, outcome))
        if count is None:
            count = self._counts[kind, stage, outcome] = RunCount()
        count.runs += 1
        count.seconds += seconds
        count.buckets[bisect_left(BUCKET_BOUNDS, seconds)] += 1

    async def write(self, tx: Tx) -> None:
        """Add what came in since the last time; a killed worker takes its last seconds with it."""
        counts, self._counts = self._counts, {}
        try:
            await _write(tx, counts)
        except BaseException:
            self._merge(counts)
            raise

    def _merge(self, counts: dict[tuple[str, str, str], RunCount]) -> None:
        for key, count in counts.items():
            mine = self._counts.setdefault(key, RunCount())
            mine.runs += count.runs
            mine.seconds += count.seconds
            mine.buckets = [a + b for a, b in zip(mine.buckets, count.buckets, strict=True)]


async def _write(tx: Tx, counts: dict[tuple[str, str, str], RunCount]) -> None:
    # A worker that was stopped while it wrote must not stop the others.
    await tx.execute("SET LOCAL lock_timeout = '2s'")
    # Sorted: two workers that write the same rows must lock them in the same order.
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

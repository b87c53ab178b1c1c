"""Measures a run of the rotation on PostgreSQL: how long choosing and claiming take, by the number of targets.

python -m bench.rotation.table
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation.goal import Goal
from evaluation.run import line
from jobmill.db import Database, Tx, connect, open_connection
from jobmill.db.embedded import Embedded
from jobmill.db.migrate import migrate
from jobmill.ingest.rotation import imports, plan
from jobmill.ingest.rotation.plan import Wish
from jobmill.ingest.rotation.selection import PolicyName

SIZES = (1_000, 100_000, 1_000_000)
ROUNDS = 15
BUDGET = 20
"""What the usual pace saves up in 24 minutes."""
LINES = 30_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="how many targets")
    options = asked.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Embedded(Path(folder) / "postgres", durable=False).use() as url,
    ):
        asyncio.run(_measure(url, options.sizes))


async def _measure(url: str, sizes: list[int]) -> None:
    async with await open_connection(url) as tx, tx.transaction():
        await migrate(tx)
    async with connect(url) as database:
        imported = await _import(database)
        took: dict[tuple[int, PolicyName], float] = {}
        for size in sizes:
            async with database.transaction() as tx:
                await _fill(tx, size)
            async with await open_connection(url) as alone:
                await alone.execute("VACUUM ANALYZE")
            for policy in ("seed", "yield"):
                took[size, policy] = await _choose(database, policy)
    _print(took)
    print(f"import of {LINES:,} lines: {imported:.1f} s")
    for goal in _goals(took, sizes, imported):
        print(line(goal, "rotation"))


async def _import(database: Database) -> float:
    text = "".join(f"{('greenhouse', 'lever')[n % 2]},board{n}\n" for n in range(LINES))
    began = time.perf_counter()
    async with database.transaction() as tx:
        await imports.keep(tx, imports.read(text))
    return time.perf_counter() - began


async def _fill(tx: Tx, size: int) -> None:
    """Sources of five platforms: a tenth never called, the rest in the last weeks, some of them due."""
    await tx.execute("TRUNCATE catalog.source CASCADE")
    await tx.execute("ALTER TABLE catalog.source DISABLE TRIGGER source_came")
    await tx.execute(
        """
        INSERT INTO catalog.source (name, source_type, token, config, status, discovered_via)
        SELECT 'board', (ARRAY['greenhouse', 'lever', 'ashby', 'recruitee', 'personio'])[1 + n %% 5],
               n::text, '{"board_token": "x"}', 'active', 'import'
          FROM generate_series(1, %s) AS n
        """,
        [size],
    )
    await tx.execute("ALTER TABLE catalog.source ENABLE TRIGGER source_came")
    await tx.execute(
        """
        INSERT INTO rotation.target
               (source_id, kind, platform, min_interval, known_at, last_called_at, last_ok_at,
                last_success_at, rho, d, gate_at, next_allowed_at, due_at)
        SELECT id, 'company', source_type, '1 day', now() - interval '90 days', called, called,
               called, r * r, 0.05, called + interval '6 hours', called + interval '1 day',
               now() + (random() * 60 - 3) * interval '1 day'
          FROM (SELECT id, source_type, 0.1 + random() AS r,
                       now() - random() * interval '28 days' AS called
                  FROM catalog.source) AS board
        """
    )
    await tx.execute(
        """
        UPDATE rotation.target
           SET last_called_at = NULL, last_ok_at = NULL, last_success_at = NULL, rho = NULL,
               d = NULL, gate_at = NULL, next_allowed_at = NULL, due_at = known_at
         WHERE source_id %% 10 = 0
        """,
        [],
    )


async def _choose(database: Database, policy: PolicyName) -> float:
    """Milliseconds of a run, as the median of some."""
    took: list[float] = []
    for _ in range(ROUNDS):
        async with database.transaction() as tx:
            at = await plan.clock(tx)
            began = time.perf_counter()
            await plan.start(tx, Wish(policy, "manual", most=BUDGET), at, {})
            took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took[2:])


def _goals(
    took: dict[tuple[int, PolicyName], float], sizes: list[int], imported: float
) -> list[Goal]:
    goals = [Goal("rotation.import_seconds", imported, 10.0, at_most=True)]
    if len(sizes) > 1:
        # Ten times as many may take the time of one more step in an index, and the noise of a busy machine.
        for policy in ("seed", "yield"):
            growth = took[sizes[-1], policy] / took[sizes[-2], policy]
            goals.append(Goal(f"rotation.table_growth_{policy}", growth, 2.0, at_most=True))
    return goals


def _print(took: dict[tuple[int, PolicyName], float]) -> None:
    table = Table("targets", "policy", "ms a run", title=f"Choosing and claiming {BUDGET}")
    for (size, policy), milliseconds in took.items():
        table.add_row(f"{size:,}", policy, f"{milliseconds:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()

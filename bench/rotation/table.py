"""Measure rotation on PostgreSQL: the time for choosing, claiming and reports by the number of
targets.

python -m bench.rotation.table
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation.goal import Goal
from evaluation.run import line
from jobmill.db import Database, Tx, connect, fetch_value, open_connection
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.rotation import board_import, due_targets, planner, platform_state, rotation_status
from jobmill.rotation.planner import RunPlan, RunRequest

SIZES = (1_000, 100_000, 1_000_000)
WARM_UP = 8
"""Runs that are not counted, while plans are cached and pages are read."""
ROUNDS = 60
BUDGET = 20
"""The calls that the usual pace allows in 24 minutes."""
DUE = 400
"""The number of due targets is the same at each size, because the price limits it."""
PRICE = 4.0
"""The value of an untried target on an unknown platform."""
FLOOD = 2
"""After a price that was far too low, one of this many targets is due and must be postponed."""
LINES = 30_000
NAMES = ["greenhouse", "lever", "ashby", "recruitee", "personio"]


@dataclass(frozen=True, slots=True)
class TableTiming:
    """Some rounds of one measurement at one size."""

    targets: int
    what: str
    due: int
    """Due targets, on average."""
    median: float
    """Milliseconds."""
    slow: float
    """90th percentile."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="how many targets")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedServer(Path(folder) / "postgres", durable=False).use() as url,
    ):
        asyncio.run(_measure(url, options.sizes))


async def _measure(url: str, sizes: Sequence[int]) -> None:
    async with await open_connection(url) as tx, tx.transaction():
        await migrate(tx)
    async with connect(url) as database:
        imported = await _import(database)
        measurements: list[TableTiming] = []
        for size in sizes:
            await fill(url, size)
            measurements.append(
                await _rounds(database, "seed", RunRequest("seed", "manual", max_calls=BUDGET))
            )
            request = RunRequest("yield", "manual", max_calls=BUDGET)
            measurements.append(await _rounds(database, "yield", request))
            measurements += await _looks(database)
            if size >= 100_000:
                await _flood(url)
                measurements.append(await _rounds(database, "yield, flood", request, rounds=10))
    _print(measurements)
    print(f"import of {LINES:,} lines: {imported:.1f} s")
    for goal in _goals(measurements, sizes, imported):
        print(line(goal, "rotation"))


async def _import(database: Database) -> float:
    text = "".join(f"{NAMES[n % 2]},board{n}\n" for n in range(LINES))
    began = time.perf_counter()
    async with database.transaction() as tx:
        await board_import.import_boards(tx, board_import.parse_boards(text))
    return time.perf_counter() - began


async def fill(url: str, size: int) -> None:
    """Targets of five platforms, as a rotation with a settled price leaves them."""
    async with await open_connection(url) as tx:
        async with tx.transaction():
            await _sources(tx, size)
            await _targets(tx)
            await _calls(tx)
        await tx.execute("VACUUM ANALYZE")


async def _sources(tx: Tx, size: int) -> None:
    await tx.execute("TRUNCATE catalog.source, rotation.run CASCADE")
    await tx.execute("ALTER TABLE catalog.source DISABLE TRIGGER source_added")
    await tx.execute(
        """
        INSERT INTO catalog.source (name, source_type, token, config, status, discovered_via)
        SELECT 'board', (%(names)s::text[])[1 + n %% 5], n::text, '{"board_token": "x"}',
               'active', 'import'
          FROM generate_series(1, %(size)s) AS n
         ORDER BY random()
        """,
        {"names": NAMES, "size": size},
    )
    await tx.execute("ALTER TABLE catalog.source ENABLE TRIGGER source_added")
    await platform_state.add_platforms(tx, NAMES)


async def _targets(tx: Tx) -> None:
    """A tenth never tried, a tenth dead and backing off, 2 % bad. Of the others this many are due,
    each with the rate at which it is about worth the price at its due time."""
    await tx.execute(
        """
        INSERT INTO rotation.target
               (source_id, kind, platform, status, min_interval, added_at, last_called_at,
                last_ok_at, last_success_at, new_per_day, loss_rate, health, blocked_until, next_allowed_at, due_at, price)
        SELECT id, 'company', source_type,
               CASE WHEN lot = 2 AND id %% 5 = 0 THEN 'bad' ELSE 'active' END::rotation.status,
               '1 day', now() - interval '90 days',
               CASE WHEN lot <> 1 THEN called END,
               CASE WHEN lot > 2 THEN called END,
               CASE WHEN lot > 2 THEN called END,
               CASE WHEN lot > 2 THEN
                    (0.9 + 0.3 * random()) * %(price)s * 0.05 / (1 - (1 + z) * exp(-z)) END,
               CASE WHEN lot > 2 THEN 0.05 END,
               CASE WHEN lot = 2 THEN 0.1 ELSE 1 END,
               CASE lot WHEN 1 THEN NULL WHEN 2 THEN now() + random() * interval '20 days'
                        ELSE called + interval '6 hours' END,
               CASE lot WHEN 1 THEN NULL WHEN 2 THEN now() + random() * interval '20 days'
                        ELSE called + interval '1 day' END,
               CASE lot WHEN 1 THEN now() - interval '90 days'
                        WHEN 2 THEN now() + random() * interval '20 days' ELSE due END,
               %(price)s
          FROM (SELECT *, greatest(0.05 * extract(epoch FROM due - called) / 86400, 0.013)::float8 AS z
                  FROM (SELECT id, source_type, 1 + place %% 10 AS lot,
                               now() - interval '1 day' - random() * interval '27 days' AS called,
                               CASE WHEN place %% 10 > 1 AND place <= %(first)s
                                    THEN now() - random() * interval '1 hour'
                                    ELSE now() + random() * interval '30 days' END AS due
                          -- Those that are due stand anywhere in the table.
                          FROM (SELECT *, row_number() OVER (ORDER BY random()) AS place
                                  FROM catalog.source ORDER BY id) AS board) AS timed) AS moved
        """,
        {"first": DUE * 10 // 8, "price": PRICE},
    )
    await tx.execute(
        "UPDATE rotation.call_allowance SET price = %s, balance = 0, refilled_at = now(), overdue_quota = 0",
        [PRICE],
    )


async def _calls(tx: Tx) -> None:
    """Two weeks of calls at the usual pace."""
    await tx.execute(
        """
        INSERT INTO rotation.call
               (source_id, platform, signature, key, called_at, answer, requests, result_count, new,
                duplicates)
        SELECT id, source_type, 'x', '', now() - random() * interval '14 days', 'ok', 1, 20,
               (random() * 3)::int, 1
          FROM generate_series(1, 16800 / least(16800, (SELECT count(*)::int FROM catalog.source)))
         CROSS JOIN (SELECT * FROM catalog.source LIMIT 16800) AS board
        """
    )


async def _flood(url: str) -> None:
    """Make targets due that are not worth the price."""
    async with await open_connection(url) as tx:
        await tx.execute(
            """
            UPDATE rotation.target SET due_at = now() - random() * interval '1 hour'
             WHERE source_id %% %s = 0 AND new_per_day IS NOT NULL
            """,
            [FLOOD],
        )
        await tx.execute("VACUUM ANALYZE")


async def _rounds(
    database: Database, what: str, request: RunRequest, *, rounds: int = ROUNDS
) -> TableTiming:
    """Runs one after the other; between them the calls are answered and as many other targets
    become due."""
    took: list[float] = []
    due: list[int] = []
    for turn in range(WARM_UP + rounds):
        async with database.transaction() as tx:
            at = await planner.clock(tx)
            began = time.perf_counter()
            planned = await planner.start_run(tx, request, at, {})
            lasted = 1000 * (time.perf_counter() - began)
            if turn >= WARM_UP:
                took.append(lasted)
        async with database.transaction() as tx:
            due.append(await _count_due(tx))
            await _answer(tx, planned, at)
    async with database.transaction() as tx:
        size = await fetch_value(tx, int, "SELECT count(*) FROM rotation.target") or 0
    slow = statistics.quantiles(took, n=10)[-1]
    return TableTiming(size, what, round(statistics.mean(due)), statistics.median(took), slow)


async def _count_due(tx: Tx) -> int:
    count = await fetch_value(
        tx,
        int,
        """
        SELECT count(*) FROM rotation.target
         WHERE status = 'active' AND enabled AND queued_at IS NULL
           AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL) AND due_at <= now()
           AND platform = ANY (%s)
        """,
        [NAMES],
    )
    return count or 0


async def _answer(tx: Tx, planned: RunPlan, at: dt.datetime) -> None:
    """Record the calls, let a day pass, and make other targets due."""
    await tx.execute(
        """
        UPDATE rotation.target
           SET queued_at = NULL, last_called_at = called, last_ok_at = called,
               last_success_at = called, new_per_day = coalesce(new_per_day, 0.1), loss_rate = 0.05, health = 1,
               status = 'active', blocked_until = called + interval '6 hours',
               next_allowed_at = called + interval '1 day',
               due_at = called + (2 + random() * 28) * interval '1 day', price = %(price)s
          FROM (SELECT %(at)s - interval '1 day' AS called) AS before
         WHERE source_id = ANY (%(ids)s)
        """,
        {"ids": [target.source_id for target in planned.claimed], "at": at, "price": PRICE},
    )
    await tx.execute(
        """
        UPDATE rotation.target AS target
           SET due_at = %(at)s, last_ok_at = last_ok_at - (target.due_at - %(at)s),
               new_per_day = (0.9 + 0.3 * random()) * %(price)s * 0.05 / (1 - (1 + z) * exp(-z))
          FROM (SELECT next.source_id, 0.05 * extract(epoch FROM due_at - last_ok_at)::float8 / 86400 AS z
                  FROM unnest(%(names)s::text[]) AS open (name)
                 CROSS JOIN LATERAL (
                    SELECT source_id, due_at, last_ok_at FROM rotation.target
                     WHERE status = 'active' AND enabled AND queued_at IS NULL
                       AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL) AND new_per_day IS NOT NULL
                       AND platform = name AND due_at > %(at)s
                     ORDER BY due_at
                     LIMIT greatest(%(due)s - (
                        SELECT count(*) FROM rotation.target
                         WHERE status = 'active' AND enabled AND queued_at IS NULL
                           AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL)
                           AND platform = name AND due_at <= %(at)s), 0)) AS next) AS coming
         WHERE target.source_id = coming.source_id
        """,
        {"at": at, "names": NAMES, "due": DUE // len(NAMES), "price": PRICE},
    )


async def _looks(database: Database) -> list[TableTiming]:
    """The queries behind the reports."""
    looks: dict[str, Callable[[Tx, dt.datetime], Awaitable[object]]] = {
        "rotate due": lambda tx, at: due_targets.list_due(tx, RunRequest("yield"), at, {}),
        "rotate due, seed": lambda tx, at: due_targets.list_due(tx, RunRequest("seed"), at, {}),
        "status: platforms": lambda tx, at: rotation_status.yield_by_platform(
            tx, at, dt.timedelta(hours=24)
        ),
        "status: days": lambda tx, at: rotation_status.calls_by_day(tx, at),
        "status: ages": lambda tx, at: rotation_status.target_ages(tx, at),
        "status: standstill": lambda tx, at: rotation_status.blocked_targets(tx, at, {}),
        "rotate report": lambda tx, _: rotation_status.run_report(tx),
    }
    async with database.transaction() as tx:
        size = await fetch_value(tx, int, "SELECT count(*) FROM rotation.target") or 0
        at, due = await planner.clock(tx), await _count_due(tx)
        measurements: list[TableTiming] = []
        for what, look in looks.items():
            took: list[float] = []
            for _ in range(5):
                began = time.perf_counter()
                await look(tx, at)
                took.append(1000 * (time.perf_counter() - began))
            measurements.append(TableTiming(size, what, due, statistics.median(took), max(took)))
    return measurements


def _goals(
    measurements: Sequence[TableTiming], sizes: Sequence[int], imported: float
) -> list[Goal]:
    goals = [Goal("rotation.import_seconds", imported, 10.0, at_most=True)]
    took = {(measured.targets, measured.what): measured.median for measured in measurements}
    if len(sizes) > 1:
        # A thousand times as many targets are twice as many steps in an index.
        for what in ("seed", "yield"):
            growth = took[sizes[-1], what] / took[sizes[0], what]
            goals.append(Goal(f"rotation.table_growth_{what}", growth, 2.0, at_most=True))
    slowest = max(measured.median for measured in measurements if measured.targets == sizes[-1])
    goals.append(Goal("rotation.look_ms", slowest, 1_000.0, at_most=True))
    return goals


def _print(measurements: Sequence[TableTiming]) -> None:
    title = f"Choosing and claiming {BUDGET}, and looking on"
    table = Table("targets", "what", "due", "ms, median", "one in ten over", title=title)
    for measured in measurements:
        numbers = f"{measured.due:,}", f"{measured.median:.1f}", f"{measured.slow:.1f}"
        table.add_row(f"{measured.targets:,}", measured.what, *numbers)
    Console().print(table)


if __name__ == "__main__":
    main()

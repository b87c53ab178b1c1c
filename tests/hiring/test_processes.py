"""Each deadline fires once on three hosts, while workers are killed and the database restarts."""

from __future__ import annotations

import asyncio
import datetime as dt
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from jobmill.db import Database, connect, is_connection_lost
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.records.openings import Opening
from tests.hiring.helpers import make_applicant, make_opening
from tests.hiring.log_rules import check_log
from tests.queue.test_processes import cut_power

ROOT = Path(__file__).parents[2]
OPENINGS = 8
SILENT = 6
"""Applicants per opening that never answer."""
LONGEST = 100.0


def start(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.hiring.process", url]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout
    process.stdout.close()


async def offer_to_the_silent(database: Database) -> list[Opening]:
    """Openings in which the first occupants leave, so that applicants that never answer get offers."""
    made: list[Opening] = []
    for _ in range(OPENINGS):
        async with database.transaction() as tx:
            window = dt.timedelta(seconds=1)
            opening = await make_opening(tx, 2, acknowledge_window=window, max_missed=2)
            applicant_ids = [(await make_applicant(tx)).id for _ in range(2 + SILENT)]
            placed = [await submissions.apply(tx, opening.id, id, LOCAL) for id in applicant_ids]
            for placement in placed[:2]:
                await withdrawals.withdraw(tx, placement.application.id, LOCAL)
        made.append(opening)
    return made


async def left(url: str) -> int | None:
    """The number of live applications; None while the database is down."""
    try:
        async with connect(url, size=1) as database, database.transaction() as tx:
            cursor = await tx.execute(
                "SELECT count(*) FROM hiring.application WHERE status <> 'INACTIVE'"
            )
            row = await cursor.fetchone()
            return row[0] if row else 0
    except Exception as error:
        if is_connection_lost(error) or is_connection_lost(error.__cause__ or error):
            return None
        raise


async def test_each_deadline_fires_once_while_workers_are_killed_and_the_database_restarts(
    tmp_path: Path,
) -> None:
    server = EmbeddedServer(tmp_path / "postgres", durable=False)
    with server.use() as url, ExitStack() as stack:
        async with connect(url) as database:
            async with database.transaction() as tx:
                await migrate(tx)
            made = await offer_to_the_silent(database)
        workers = [start(url) for _ in range(3)]
        stack.callback(lambda: [end(worker) for worker in workers])
        deadline, kills = time.monotonic() + LONGEST, 0
        while await left(url) != 0:
            assert time.monotonic() < deadline
            await asyncio.sleep(1)
            end(workers.pop(0))
            kills += 1
            if kills == 2:
                cut_power(tmp_path / "postgres")
            # Every process that uses the bundled server does this.
            await asyncio.to_thread(server.maintain)
            workers.append(start(url))
        assert kills > 2
        async with connect(url) as database, database.transaction() as tx:
            for opening in made:
                checker = await check_log(tx, opening.id)
                # Each silent applicant was offered a slot twice, and missed it twice.
                assert (checker.promotions, checker.misses) == (2 * SILENT, 2 * SILENT)
                assert (await verification.verify_log(tx, opening.id)).faults == []

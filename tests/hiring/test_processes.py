"""Each deadline fires once on three hosts, while workers are killed and the database restarts."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import ExitStack
from pathlib import Path

from jobmill.db import Database, connect, is_connection_lost, open_connection
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.records.openings import Opening
from tests.cli.forked import ForkedProgram
from tests.hiring import process
from tests.hiring.helpers import make_applicant, make_opening
from tests.hiring.log_rules import check_log
from tests.queue.helpers import fetch
from tests.queue.test_processes import cut_power

OPENINGS = 6
SILENT = 4
"""Applicants per opening that never answer."""
MISSES = OPENINGS * SILENT * 2
KILLS = 4
LONGEST = 120.0
"""Seconds without progress after which the test fails instead of waiting for ever."""


def make_quiet_hours(now: dt.datetime) -> dict[str, dt.time]:
    """Quiet hours that end soon: the first offers of the opening wait for their end."""
    return {
        "quiet_from": (now - dt.timedelta(hours=1)).time(),
        "quiet_until": (now + dt.timedelta(seconds=2)).time(),
    }


async def offer_to_the_silent(database: Database) -> list[Opening]:
    """Openings in which the first occupants leave, so that applicants that never answer get offers."""
    made: list[Opening] = []
    for n in range(OPENINGS):
        async with database.transaction() as tx:
            window = dt.timedelta(seconds=1)
            quiet_hours = make_quiet_hours(dt.datetime.now(dt.UTC)) if n % 2 else {}
            opening = await make_opening(
                tx, 2, acknowledge_window=window, max_missed=2, **quiet_hours
            )
            applicant_ids = [(await make_applicant(tx)).id for _ in range(2 + SILENT)]
            placed = [await submissions.apply(tx, opening.id, id, LOCAL) for id in applicant_ids]
            for placement in placed[:2]:
                await withdrawals.withdraw(tx, placement.application.id, LOCAL)
        made.append(opening)
    return made


async def count_missed(url: str) -> int | None:
    """The number of offers that were taken back; None while the database is down."""
    try:
        async with await open_connection(url) as tx:
            [missed] = await fetch(
                tx,
                "SELECT count(*) FROM hiring.event WHERE type IN ('DECAY_TRIGGERED', 'LAPSED')",
            )
            return missed
    except Exception as error:
        if is_connection_lost(error):
            return None
        raise


async def wait_until_missed(server: EmbeddedServer, url: str, number: int) -> None:
    """Wait until this number of offers was taken back, so that kills follow the progress of the workers."""
    async with asyncio.timeout(LONGEST):
        while (await count_missed(url) or 0) < number:
            # Restarts a killed server: every process that uses the bundled one does this now and then.
            await asyncio.to_thread(server.maintain)
            await asyncio.sleep(0.1)


async def test_each_deadline_fires_once_while_workers_are_killed_and_the_database_restarts(
    tmp_path: Path,
) -> None:
    server = EmbeddedServer(tmp_path / "postgres", durable=False)
    with server.use() as url, ExitStack() as stack:
        async with connect(url) as database:
            async with database.transaction() as tx:
                await migrate(tx)
            made = await offer_to_the_silent(database)
        workers = [ForkedProgram(process.run, url) for _ in range(3)]
        stack.callback(lambda: [worker.close() for worker in workers])
        for kill in range(KILLS):
            # After some of the work, never before a worker has started.
            await wait_until_missed(server, url, MISSES * kill // KILLS + 1)
            # Until the worker works, or has ended because the database is down.
            await asyncio.to_thread(workers[0].stdout.readline)
            workers.pop(0).close()
            if kill == 1:
                cut_power(tmp_path / "postgres")
            workers.append(ForkedProgram(process.run, url))
        await wait_until_missed(server, url, MISSES)
        async with connect(url) as database, database.transaction() as tx:
            for opening in made:
                checker = await check_log(tx, opening.id)
                # Each silent applicant was offered a slot twice, and missed it twice.
                assert (checker.promotions, checker.misses) == (2 * SILENT, 2 * SILENT)
                assert not checker.occupied | checker.waiting.keys()
                assert (await verification.verify_log(tx, opening.id)).faults == []

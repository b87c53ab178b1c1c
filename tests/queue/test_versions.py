"""A worker claims nothing from a database of another version, and uses up no retry."""

from __future__ import annotations

import asyncio

from jobmill.db import Database, Tx
from jobmill.queue import Finish, Move, Work
from jobmill.queue.alerts import list_alerts
from jobmill.queue.retry import BLOCKED_ON_SCHEMA

from .helpers import drain, fetch, new, put, running, stages, statuses

NEWER = "9999_from_the_future.sql"


async def nothing(work: Work) -> Move:
    return Finish()


async def alerts(database: Database) -> list[str]:
    async with database.transaction() as tx:
        return [alert.detail for alert in await list_alerts(tx)]


async def set_newer(database: Database, newer: bool) -> None:
    async with database.transaction() as tx:
        await tx.execute("DELETE FROM public.jobmill_migration WHERE name = %s", [NEWER])
        if newer:
            await tx.execute(
                "INSERT INTO public.jobmill_migration (name, sha256) VALUES (%s, '')", [NEWER]
            )


async def test_a_worker_claims_nothing_from_a_schema_newer_than_it_knows(
    database: Database,
) -> None:
    table = stages(tea=nothing)
    await put(database, table)
    async with running(database, table) as worker:
        await set_newer(database, True)
        async with asyncio.timeout(20):
            while not await alerts(database):
                await asyncio.sleep(0.02)
        await put(database, table, new("tea"))
        await asyncio.sleep(0.5)
        assert worker.runs == 0
        assert await statuses(database) == {"PENDING": 1}
        [detail] = await alerts(database)
        assert NEWER in detail
        assert "Upgrade Jobmill" in detail
        # A restored backup makes the versions fit again.
        await set_newer(database, False)
        async with asyncio.timeout(20):
            while not worker.runs:
                await asyncio.sleep(0.02)


async def read_the_cups(tx: Tx) -> None:
    await tx.execute("SELECT size FROM public.cup")


async def test_a_renamed_column_uses_up_no_retry(database: Database) -> None:
    async def run(work: Work) -> Move:
        if work.key.startswith("in the stage"):
            async with database.transaction() as tx:
                await read_the_cups(tx)
        return Finish(save=read_the_cups)

    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.cup (volume int)")
    table = stages(tea=run)
    keys = [*(f"in the stage {n}" for n in range(25)), *(f"in the save {n}" for n in range(25))]
    await put(database, table, *(new("tea", key) for key in keys))
    await drain(database, table)
    assert await fetch(
        database,
        "SELECT DISTINCT status::text, retry_count, blocked_on FROM queue.items",
    ) == [("BLOCKED", 0, BLOCKED_ON_SCHEMA)]
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE public.cup RENAME volume TO size")
    # The next worker with the right version does not wait until blocked items are due again.
    await drain(database, table)
    assert await statuses(database) == {"SUCCESS": 50}

"""The claimer: leases that are lost during a claim, and start rates shared by several workers."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt

from jobmill.db import Database, open_connection
from jobmill.queue import Stage, Stages
from jobmill.queue.processor_pool import ProcessorPool
from jobmill.queue.stages import StartRate

from .helpers import LeasedProcess, never, new, put, stages, until_statements_wait


async def start_process(database: Database, table: Stages) -> LeasedProcess:
    pools = {phase: ProcessorPool(*phase, stage) for phase, stage in table.items()}
    process = LeasedProcess(database.url, table, pools)
    await process.register(database)
    return process


async def test_items_claimed_while_the_lease_is_lost_are_not_run(database: Database) -> None:
    table = stages(tea=never)
    await put(database, table, new("tea"))
    process = await start_process(database, table)
    async with await open_connection(database.url) as connection:
        async with database.transaction() as rival:
            # A claim reads the pauses; no other statement of the claimer does.
            await rival.execute("LOCK TABLE queue.pause")
            claiming = asyncio.create_task(process.claimer.claim_or_wait(connection))
            await until_statements_wait(database)
            process.lose_lease()
            await process.register(database)
        await claiming
    assert process.claims() == []


async def test_two_concurrent_claims_share_a_start_rate(database: Database) -> None:
    """The second claim counts what the first one starts, although it cannot see that before the commit."""
    rate = StartRate(3, dt.timedelta(minutes=5))
    table = stages({"tea": Stage(never, rate=rate)})
    await put(database, table, *(new("tea", str(n)) for n in range(10)))
    processes = [await start_process(database, table) for _ in range(2)]
    async with contextlib.AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(await open_connection(database.url)) for _ in processes
        ]
        async with database.transaction() as rival:
            # A claim reads the pauses after it has locked its allowance of the rate.
            await rival.execute("LOCK TABLE queue.pause")
            claims = [
                asyncio.create_task(process.claimer.claim_or_wait(connection))
                for process, connection in zip(processes, connections, strict=True)
            ]
            await until_statements_wait(database, len(processes))
        await asyncio.gather(*claims)
    assert sorted(len(process.claims()) for process in processes) == [0, 3]

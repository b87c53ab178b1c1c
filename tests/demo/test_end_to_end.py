"""The complete demo: sites through the real pipelines, applicants through the real rules, and its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import LiteralString

from jobmill import queue
from jobmill.catalog import sources
from jobmill.db import Database
from jobmill.hiring.audit_log.verification import verify_log
from jobmill.hiring.records import openings
from jobmill.pipelines import source
from tests.demo.helpers import begin, running
from tests.queue.helpers import fetch

PATIENCE = 150.0

BEGINNING = {
    "companies known well": "SELECT count(*) >= 20 FROM catalog.company WHERE analysis_status = 'complete'",
    "every vendor": "SELECT count(DISTINCT source_type) = 7 FROM catalog.source WHERE status = 'active'",
    "all of them read": "SELECT count(*) >= 21 FROM catalog.source WHERE last_scraped_at IS NOT NULL",
    "something to approve": "SELECT count(*) >= 2 FROM catalog.source WHERE status = 'pending_validation'",
    "listings": "SELECT count(*) > 60 FROM catalog.listing",
    "duplicates": "SELECT count(*) > 0 FROM catalog.listing WHERE duplicate_of IS NOT NULL",
    "every verdict": "SELECT count(DISTINCT outcome) = 3 FROM matching.verdict",
    "matches": "SELECT count(*) > 2 FROM matching.match",
    "nothing left to judge": "SELECT count(*) = 0 FROM matching.judging_queue",
    "the loop": "SELECT count(*) > 0 FROM queue.items WHERE error_text LIKE '%%in a loop%%'",
    "a miss": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'DECAY_TRIGGERED'",
    "an offer": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'PROMOTED'",
    "a yes": "SELECT count(*) > 0 FROM hiring.event WHERE type = 'ACKNOWLEDGED'",
}
TROUBLE = {
    "listings that came": "SELECT count(*) > 0 FROM catalog.run WHERE added BETWEEN 1 AND 3",
    "a turn of the rotation": "SELECT count(*) > 0 FROM rotation.call JOIN rotation.run ON run.id = run_id",
    "listings that went": "SELECT count(*) > 0 FROM catalog.listing WHERE closed_at IS NOT NULL",
    "a broken board": "SELECT count(*) > 0 FROM catalog.run WHERE detail LIKE '%%500%%'",
    "a lie": "SELECT count(*) > 0 FROM catalog.run WHERE detail LIKE '%%complete message body%%'",
    "a new format": "SELECT count(*) > 0 FROM catalog.source WHERE last_cause = 'changed_format'",
    "a limit": "SELECT count(*) > 0 FROM catalog.run WHERE cause = 'rate_limited'",
}


async def see(database: Database, signs: Mapping[str, LiteralString]) -> None:
    """Wait until all conditions hold."""
    deadline = time.monotonic() + PATIENCE
    while left := [name for name, sql in signs.items() if await fetch(database, sql) != [True]]:
        assert time.monotonic() < deadline, left
        await asyncio.sleep(0.3)


async def test_every_part_of_the_demo_has_data(database: Database) -> None:
    await begin(database, day=30)
    async with running(database):
        await see(database, BEGINNING)
    async with database.transaction() as tx:
        # A longer day: what fails at this moment still fails when the boards are read.
        await tx.execute("UPDATE demo.world SET day = '15 minutes'")
        await tx.execute("UPDATE demo.world SET began_at = now() - 1.55 * day")
        ids = await sources.find_enabled_ids(tx)
        await queue.submit_all(tx, [source.new_item(id) for id in ids])
    async with running(database):
        await see(database, TROUBLE)
    async with database.transaction() as tx:
        for opening in await openings.list_openings(tx):
            assert not (await verify_log(tx, opening.id)).faults

"""The complete demo: sites through the real pipelines, applicants through the real rules, and its end."""

from __future__ import annotations

from jobmill.db import Database
from jobmill.hiring.audit_log.verification import verify_log
from jobmill.hiring.records import openings
from tests.demo.helpers import begin, running, see, set_clock

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


async def live_until_trouble(database: Database) -> None:
    """Run the real pipelines until everything was read once, and let the failures begin."""
    await begin(database, day=30)
    await set_clock(database, 0)
    async with running(database):
        await see(database, BEGINNING)
    await set_clock(database, 1.55)


async def test_every_part_of_the_demo_has_data(database: Database) -> None:
    await live_until_trouble(database)
    async with database.transaction() as tx:
        # Due by the demo's clock, so that the rotation reads all of them.
        await tx.execute(
            "UPDATE catalog.source SET last_scraped_at = last_scraped_at - INTERVAL '1 day'"
        )
    async with running(database):
        await see(database, TROUBLE)
    async with database.transaction() as tx:
        for opening in await openings.list_openings(tx):
            assert not (await verify_log(tx, opening.id)).faults

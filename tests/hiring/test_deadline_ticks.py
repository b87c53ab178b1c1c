"""The deadline worker is watched like the scheduler."""

from __future__ import annotations

import psycopg
import pytest

from jobmill.db import Database
from jobmill.hiring.waitlist import deadlines
from jobmill.queue import alerts
from tests.hiring.helpers import apply, let_pass, make_opening


async def open_alerts(database: Database) -> list[str]:
    async with database.transaction() as tx:
        await alerts.check_rules(tx)
        return [alert.rule for alert in await alerts.list_alerts(tx)]


async def run_cycle(database: Database) -> None:
    async with database.transaction() as tx:
        await deadlines.run_cycle(tx)


async def test_a_deadline_worker_that_fails_falls_silent_and_raises_an_alert(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        await apply(tx, opening)
        await let_pass(tx, opening, opening.acknowledge_window)
        await tx.execute(
            "INSERT INTO queue.tick VALUES ('deadlines', clock_timestamp() - interval '31 s')"
        )
        await tx.execute("ALTER TABLE hiring.event ADD CONSTRAINT broken CHECK (false) NOT VALID")
    with pytest.raises(psycopg.errors.CheckViolation):
        await run_cycle(database)
    assert await open_alerts(database) == ["deadlines"]
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE hiring.event DROP CONSTRAINT broken")
    await run_cycle(database)
    assert await open_alerts(database) == []

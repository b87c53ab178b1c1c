"""What every connection of ours has."""

from __future__ import annotations

from jobmill.db import Database


async def test_a_day_has_24_hours_wherever_the_server_stands(database: Database) -> None:
    async with database.transaction() as tx:
        cursor = await tx.execute("SHOW timezone")
        assert await cursor.fetchone() == ("UTC",)

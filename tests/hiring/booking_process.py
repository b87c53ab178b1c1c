"""A client that books interview times until it is killed."""

from __future__ import annotations

import asyncio
import random

from jobmill.db import connect
from jobmill.errors import Conflict
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.interviews import bookings


async def main(url: str, seed: int) -> None:
    chance = random.Random(seed)
    async with connect(url, size=2) as database:
        async with database.transaction() as tx:
            cursor = await tx.execute("SELECT id FROM hiring.opening WHERE parent_id IS NOT NULL")
            times = [id for (id,) in await cursor.fetchall()]
            cursor = await tx.execute("SELECT id FROM hiring.application WHERE parent_id IS NULL")
            own = [id for (id,) in await cursor.fetchall()]
        while True:
            person, time = chance.choice(own), chance.choice(times)
            try:
                async with database.transaction() as tx:
                    booked = await bookings.book(tx, person, time, LOCAL)
            except Conflict:
                continue
            print(booked.application.id, flush=True)


def run(url: str, seed: int) -> None:
    """The whole process."""
    asyncio.run(main(url, seed))

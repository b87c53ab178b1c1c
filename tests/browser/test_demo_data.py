"""The complete demo: sites through the real pipelines, applicants through the real rules.

It needs no browser. It is here because the other tests of this folder share its data, which take half a
minute to make.
"""

from __future__ import annotations

from psycopg.conninfo import make_conninfo

from jobmill.db import connect
from jobmill.hiring.audit_log.verification import verify_log
from jobmill.hiring.records import openings
from tests.browser.world import TROUBLE
from tests.queue.helpers import fetch as fetch_rows


async def test_every_part_of_the_demo_has_data(server: str, lived_in: str) -> None:
    async with connect(make_conninfo(server, dbname=lived_in)) as database:
        missing = [
            name for name, sql in TROUBLE.items() if await fetch_rows(database, sql) != [True]
        ]
        async with database.transaction() as tx:
            faults = [
                fault
                for opening in await openings.list_openings(tx)
                for fault in (await verify_log(tx, opening.id)).faults
            ]
    assert (missing, faults) == ([], [])

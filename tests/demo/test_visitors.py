"""Visitors of the demo can take part in it."""

from __future__ import annotations

import random

from jobmill.db import Database
from jobmill.demo import hiring
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.records import applicants, openings
from tests.demo.helpers import begin


async def test_the_demo_acts_only_for_its_own_applicants(database: Database) -> None:
    await begin(database)
    visitor = applicants.parse_contact("Zed", "zed@example.org")
    async with database.transaction() as tx:
        for opening in await openings.list_openings(tx):
            await submissions.apply_all(tx, opening.id, [ApplyRequest(visitor)])
        dice = random.Random(1)
        for _ in range(60):
            await hiring.act_once(tx, dice)
        cursor = await tx.execute(
            """
            SELECT count(*) FROM hiring.event JOIN hiring.applicant
                ON event.actor = 'applicant:' || applicant.id
             WHERE email = 'zed@example.org' AND type <> 'APPLIED'
            """
        )
        assert await cursor.fetchone() == (0,)

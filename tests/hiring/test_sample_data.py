"""Tests of the sample data."""

from __future__ import annotations

import asyncio

from jobmill.db import Database, Tx
from jobmill.hiring import sample_data
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import openings
from jobmill.hiring.sample_data import SampleData


async def test_the_sample_shows_every_state(tx: Tx) -> None:
    found = await sample_data.add_sample_data(tx, LOCAL)
    assert (found.added, len(found.openings), len(found.applicants)) == (True, 3, 5)
    states = [
        sorted(one.status for one in await applicant_lists.list_applications(tx, id))
        for id in found.openings
    ]
    assert states == [
        ["ACTIVE", "INACTIVE", "PENDING_ACKNOWLEDGMENT", "WAITLIST", "WAITLIST"],
        ["ACTIVE", "WAITLIST", "WAITLIST"],
        ["ACTIVE"],
    ]


async def test_adding_the_sample_again_changes_nothing_and_says_so(tx: Tx) -> None:
    first = await sample_data.add_sample_data(tx, LOCAL)
    before = [await openings.get(tx, id) for id in first.openings]
    again = await sample_data.add_sample_data(tx, LOCAL)
    assert again == SampleData(False, first.openings, first.applicants)
    assert [await openings.get(tx, id) for id in first.openings] == before


async def test_concurrent_calls_add_one_sample(database: Database) -> None:
    async def seed() -> SampleData:
        async with database.transaction() as tx:
            return await sample_data.add_sample_data(tx, LOCAL)

    found = await asyncio.gather(seed(), seed(), seed())
    assert sorted(one.added for one in found) == [False, False, True]
    async with database.transaction() as tx:
        assert len(await openings.list_openings(tx)) == 3

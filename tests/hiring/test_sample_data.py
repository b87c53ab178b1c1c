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
    sample = await sample_data.add_sample_data(tx, LOCAL)
    assert (sample.added, len(sample.openings), len(sample.applicants)) == (True, 3, 5)
    states = [
        sorted(
            application.status for application in await applicant_lists.list_applications(tx, id)
        )
        for id in sample.openings
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

    samples = await asyncio.gather(seed(), seed(), seed())
    assert sorted(sample.added for sample in samples) == [False, False, True]
    async with database.transaction() as tx:
        assert len(await openings.list_openings(tx)) == 3

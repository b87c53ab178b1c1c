"""The judging feed: every waiting listing is taken exactly once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from jobmill.catalog.listings import ListingId
from jobmill.db import Database, Tx
from jobmill.errors import NotFound
from jobmill.matching import judging_feed, profiles, verdicts
from jobmill.matching.profile import Profile
from jobmill.queue.store import CHANNEL
from tests.catalog import helpers as catalog

from . import judged


async def taken(tx: Tx, most: int = 100) -> list[tuple[str, ListingId]]:
    """Taken rows, with the names of their profiles."""
    pending_rows = await judging_feed.claim_due(tx, most)
    return [
        ((await profiles.get_by_id(tx, row.profile_id)).name, row.listing_id)
        for row in pending_rows
    ]


async def test_new_listings_are_queued_for_every_profile_that_is_not_paused(tx: Tx) -> None:
    place = await judged.make(tx, listings=2)
    for name in ("night", "day"):
        await profiles.save(tx, name, Profile())
    await profiles.pause(tx, "day")
    assert await judging_feed.add(tx, place.listings, parent_item=7) == 4
    assert await judging_feed.add(tx, place.listings) == 0
    assert await judging_feed.count(tx) == 4
    assert await judging_feed.count(tx, place.profile) == 2
    pending_rows = await judging_feed.claim_due(tx, 100)
    night = (await profiles.get(tx, "night")).profile_id
    assert {row.profile_id for row in pending_rows} == {place.profile, night}
    assert {row.parent_item for row in pending_rows} == {7}
    assert pending_rows[0].url == "https://boards.example/wells/postings/1"
    assert await judging_feed.count(tx) == 0


async def test_listings_can_be_queued_for_one_profile(tx: Tx) -> None:
    place = await judged.make(tx, listings=2)
    await profiles.save(tx, "night", Profile())
    assert await judging_feed.add(tx, place.listings[:1], profile_id=place.profile) == 1
    assert await taken(tx) == [("main", place.listing)]


async def test_a_new_profile_queues_every_open_listing(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    await judged.close(tx, place.listings[0])
    first = await profiles.save(tx, "night", Profile(titles=("Cook",)))
    assert await judging_feed.add_for_new_profile(tx, first) == 2
    again = await profiles.save(tx, "night", Profile(titles=("Cook",)))
    assert await judging_feed.add_for_new_profile(tx, again) == 0
    second = await profiles.save(tx, "night", Profile(titles=("Diver",)))
    assert await judging_feed.add_for_new_profile(tx, second) == 0
    assert await taken(tx) == [("night", id) for id in place.listings[1:]]


async def test_a_new_profile_notifies_the_feeds(url: str, database: Database) -> None:
    async with await psycopg.AsyncConnection[Any].connect(url, autocommit=True) as listener:
        await listener.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(CHANNEL)))
        async with database.transaction() as tx:
            await judging_feed.add_for_new_profile(tx, await profiles.save(tx, "main", Profile()))
        payloads = [notice.payload async for notice in listener.notifies(timeout=5, stop_after=1)]
    assert payloads == ["feed"]


async def test_listings_of_a_paused_profile_keep_waiting(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    await judging_feed.add(tx, place.listings[:1])
    assert await profiles.pause(tx, "main")
    assert not await profiles.pause(tx, "main")
    assert await profiles.is_paused(tx, place.profile)
    assert await taken(tx) == []
    assert await judging_feed.add(tx, place.listings[1:]) == 0
    assert await profiles.resume(tx, "main")
    assert not await profiles.resume(tx, "main")
    assert await taken(tx) == [("main", place.listing)]
    with pytest.raises(NotFound):
        await profiles.pause(tx, "nobody")


async def test_listings_found_during_a_pause_are_judged_after_it(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    await verdicts.save(tx, place.word(91))
    await judged.close(tx, place.listings[1])
    assert await judging_feed.add_unjudged(tx, place.profile) == 1
    assert await taken(tx) == [("main", place.listings[2])]


async def test_the_oldest_rows_are_taken_first_up_to_the_limit(tx: Tx) -> None:
    place = await judged.make(tx, listings=5)
    for age, id in enumerate(reversed(place.listings)):
        await judging_feed.add(tx, [id])
        await tx.execute(
            "UPDATE matching.judging_queue SET since = now() - %s * interval '1 hour' WHERE listing_id = %s",
            [10 - age, id],
        )
    backwards = list(place.listings)[::-1]
    assert [id for _, id in await taken(tx, 2)] == backwards[:2]
    assert [id for _, id in await taken(tx)] == backwards[2:]


async def test_a_forced_listing_stays_forced_when_judged_again(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    await verdicts.save(tx, replace(place.word(20), forced=True))
    await verdicts.save(tx, place.word(90, place.listings[1]))
    await judging_feed.add(tx, place.listings)
    assert [pending.forced for pending in await judging_feed.claim_due(tx, 10)] == [
        True,
        False,
        False,
    ]


async def test_a_requeued_listing_waits_a_minute(tx: Tx) -> None:
    place = await judged.make(tx)
    await judging_feed.add(tx, place.listings)
    await judging_feed.claim_due(tx, 1)
    await judging_feed.requeue(tx, place.profile, place.listing)
    await judging_feed.requeue(tx, place.profile, place.listing)
    assert (await judging_feed.count(tx), await taken(tx)) == (1, [])
    await tx.execute("UPDATE matching.judging_queue SET since = since - interval '1 minute'")
    assert len(await taken(tx)) == 1


async def test_two_concurrent_takers_share_no_row(database: Database) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=10)
        await judging_feed.add(tx, place.listings)
    first, second = await catalog.overlap(
        database, lambda tx: taken(tx, 6), lambda tx: taken(tx, 6)
    )
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert (len(first), len(second)) == (6, 4)
    assert len({*first, *second}) == 10


async def test_many_concurrent_takers_take_each_row_once(database: Database) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=40)
        await judging_feed.add(tx, place.listings)

    async def drain() -> list[Any]:
        pending_rows: list[Any] = []
        while True:
            async with database.transaction() as tx:
                page = await taken(tx, 3)
            if not page:
                return pending_rows
            pending_rows += page

    all_rows = [row for part in await asyncio.gather(*(drain() for _ in range(6))) for row in part]
    assert len(all_rows) == len(set(all_rows)) == 40


async def test_a_row_is_available_again_after_its_taker_fails(database: Database) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        await judging_feed.add(tx, place.listings)
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as tx:
            assert len(await taken(tx)) == 1
            raise ZeroDivisionError
    async with database.transaction() as tx:
        assert len(await taken(tx)) == 1


async def test_a_listing_that_changes_while_taken_is_judged_with_its_new_content(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        await judging_feed.add(tx, place.listings)

    async def change(tx: Tx) -> int:
        await tx.execute("UPDATE catalog.listing SET title = 'Diver'")
        return await judging_feed.add(tx, place.listings)

    assert await catalog.overlap(database, change, taken) == [0, []]
    async with database.transaction() as tx:
        assert await taken(tx) == [("main", place.listing)]


async def begin(tx: Tx) -> None:
    await judging_feed.add_for_new_profile(tx, await profiles.save(tx, "night", Profile()))


async def resume(tx: Tx) -> None:
    await profiles.resume(tx, "night")
    await judging_feed.add_unjudged(tx, (await profiles.get(tx, "night")).profile_id)


@pytest.mark.parametrize("start", [begin, resume])
@pytest.mark.parametrize("found_first", [True, False])
async def test_listings_found_while_a_profile_starts_or_resumes_are_judged_for_it(
    database: Database, start: catalog.Act, found_first: bool
) -> None:
    async with database.transaction() as tx:
        source = await catalog.make_source(tx)
        if start is resume:
            await profiles.save(tx, "night", Profile())
            await profiles.pause(tx, "night")

    async def find(tx: Tx) -> None:
        saved = await catalog.run(tx, source, 0, [catalog.posting()])
        await judging_feed.add(tx, saved.added)

    await catalog.overlap(database, *((find, start) if found_first else (start, find)))
    async with database.transaction() as tx:
        assert await judging_feed.count(tx) == 1

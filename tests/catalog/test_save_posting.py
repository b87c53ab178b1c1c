"""Postings saved from their own page, next to those of sources."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, history, listings, save_posting
from jobmill.catalog.posting import Posting
from jobmill.db import Database, Tx

from .helpers import TEXT, make_source, posting, run

PAGE = Posting(
    title="Well Digger",
    url="https://deepwells.example/jobs/digger",
    company="Deep Wells",
    description=TEXT,
)


async def whats(tx: Tx, id: int) -> list[str]:
    return [event.what for event in await history.find_events(tx, "listing", id)]


async def test_saving_a_page_creates_the_listing_and_its_company(tx: Tx) -> None:
    id = await save_posting.save(
        tx, PAGE, website="https://deepwells.example", platforms=PLATFORM_RULES
    )
    listing = await listings.get(tx, id)
    assert (listing.title, listing.source_id, listing.closed_at) == ("Well Digger", None, None)
    company = await companies.get(tx, listing.company_id or 0)
    assert (company.name, company.website) == ("Deep Wells", "https://deepwells.example")
    assert await whats(tx, id) == ["opened"]


async def test_saving_a_page_again_updates_the_listing(tx: Tx) -> None:
    id = await save_posting.save(tx, PAGE, platforms=PLATFORM_RULES)
    changed = replace(PAGE, title="Senior Well Digger")
    assert await save_posting.save(tx, changed, platforms=PLATFORM_RULES) == id
    seen_at = (await listings.get(tx, id)).last_seen_at
    assert await save_posting.save(tx, changed, platforms=PLATFORM_RULES) == id
    assert (await listings.get(tx, id)).title == "Senior Well Digger"
    assert (await listings.get(tx, id)).last_seen_at > seen_at
    assert await whats(tx, id) == ["opened", "changed"]


async def test_saving_the_page_of_a_closed_listing_reopens_it(tx: Tx) -> None:
    id = await save_posting.save(tx, PAGE, platforms=PLATFORM_RULES)
    await listings.close(tx, id, "the page does not exist")
    await listings.close(tx, id, "the page does not exist")
    assert (await listings.get(tx, id)).closed_at is not None
    await save_posting.save(tx, PAGE, platforms=PLATFORM_RULES)
    assert (await listings.get(tx, id)).closed_at is None
    assert await whats(tx, id) == ["opened", "closed", "reopened"]


async def test_a_listing_of_an_enabled_source_is_not_changed_by_its_page(tx: Tx) -> None:
    source = await make_source(tx)
    [id] = (await run(tx, source, 0, [posting(1)])).added
    assert await save_posting.save(tx, posting(1, "Another title"), platforms=PLATFORM_RULES) == id
    assert (await listings.get(tx, id)).title == "Pump Engineer"
    assert (
        await save_posting.save(
            tx, posting(1, "Another title"), source_id=source, platforms=PLATFORM_RULES
        )
        == id
    )
    assert (await listings.get(tx, id)).title == "Another title"


async def test_a_page_that_duplicates_a_listing_is_linked_to_it(tx: Tx) -> None:
    source = await make_source(tx)
    [first] = (await run(tx, source, 0, [posting(1)])).added
    copy = replace(posting(1), platform=None, board=None, vendor_id=None)
    id = await save_posting.save(tx, copy, platforms=PLATFORM_RULES)
    assert id != first
    assert (await listings.get(tx, id)).duplicate_of == first


async def test_concurrent_saves_of_a_page_create_one_listing(database: Database) -> None:
    async def keep() -> int:
        async with database.transaction() as tx:
            return await save_posting.save(tx, PAGE, platforms=PLATFORM_RULES)

    ids = await asyncio.gather(*(keep() for _ in range(6)))
    assert len(set(ids)) == 1


async def test_a_page_with_and_without_its_id_as_a_parameter_is_one_listing(tx: Tx) -> None:
    plain = replace(PAGE, url="https://deepwells.example/careers/401")
    id = await save_posting.save(tx, plain, platforms=PLATFORM_RULES)
    again = replace(plain, url="https://www.deepwells.example/careers/401?gh_jid=401")
    assert await save_posting.save(tx, again, platforms=PLATFORM_RULES) == id
    assert await listings.find_by_url(tx, again.url, PLATFORM_RULES) == id


async def test_a_second_page_of_a_company_with_the_same_text_is_a_duplicate(tx: Tx) -> None:
    first = await save_posting.save(tx, PAGE, platforms=PLATFORM_RULES)
    second_page = replace(PAGE, url="https://deepwells.example/team/well-digger")
    second = await listings.get(
        tx, await save_posting.save(tx, second_page, platforms=PLATFORM_RULES)
    )
    other = replace(
        second_page, url="https://deepwells.example/team/x", description=TEXT + " Nights."
    )
    third = await listings.get(tx, await save_posting.save(tx, other, platforms=PLATFORM_RULES))
    assert (second.duplicate_of, second.duplicate_kind) == (first, "same")
    assert second.duplicate_why == "two pages with the same title and text at Deep Wells"
    assert third.duplicate_of is None

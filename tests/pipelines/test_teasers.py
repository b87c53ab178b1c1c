"""Listings that a source shows only in part: their own page is read, merged and remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobmill import app
from jobmill.catalog import listing_pages, listings
from jobmill.catalog.crawl_results import SavedRun
from jobmill.catalog.posting import Posting, Salary
from jobmill.catalog.posting_merge import merge_page
from jobmill.db import Database
from jobmill.outside.request import FetchFailure, PageGone
from jobmill.pipelines import judging
from jobmill.queue.feed import feed_batch
from jobmill.settings import Settings
from tests.catalog.helpers import make_source, run
from tests.fakes import Net, ok
from tests.pipelines.test_listing import PROFILE, TEXT, URL, ListingPipeline, page
from tests.queue.helpers import fetch

TEASER = "Deep Wells is hiring. Read the full description on our site to learn about this job…"


def teaser(**facts: Any) -> Posting:
    posting = Posting(
        "Senior Backend Engineer", URL, "Deep Wells", platform="rss", vendor_id=URL,
        description=TEASER, location="Remote", arrangement="remote",
    )  # fmt: skip
    return replace(posting, **facts)


@pytest.fixture
async def bed(database: Database) -> ListingPipeline:
    net = Net()
    net.on(URL, ok(page(baseSalary={"currency": "USD", "value": {
        "minValue": 150000, "maxValue": 180000, "unitText": "YEAR"}}), URL))  # fmt: skip
    return await ListingPipeline(database, net).begin()


async def crawl(bed: ListingPipeline, posting: Posting, hour: float = 0) -> SavedRun:
    """Save a run of a feed and judge what it shows."""
    async with bed.database.transaction() as tx:
        cursor = await tx.execute("SELECT id FROM catalog.source")
        row = await cursor.fetchone()
        source = row[0] if row else await make_source(tx, source_type="rss", token="deepwells")
        saved = await run(tx, source, hour, [posting], inventory=False)
        await judging.add_listings(tx, [*saved.added, *saved.changed])
        while await feed_batch(tx, judging.FEED):
            pass
    await bed.drain()
    return saved


async def stored_text(bed: ListingPipeline) -> str:
    [text] = await fetch(bed.database, "SELECT description FROM catalog.listing")
    return text


@pytest.mark.parametrize(
    "short",
    [
        teaser(),
        teaser(description=None, partial=True),
        teaser(platform="adzuna", via="Adzuna", vendor_id="7", partial=True),
        teaser(platform="greenhouse", board="deepwells", vendor_id="7", description=None, partial=True),
    ],
    ids=["feed", "no text", "aggregator", "board"],
)  # fmt: skip
async def test_a_listing_shown_in_part_is_judged_by_its_own_page(
    bed: ListingPipeline, short: Posting
) -> None:
    await crawl(bed, short)
    [match] = await bed.matches()
    assert {"Python", "PostgreSQL"} <= set(match.matched_skills)
    assert match.scrape_method == "page:json-ld"
    async with bed.database.transaction() as tx:
        [listing] = await listings.by_ids(tx, [match.listing_id])
        page_read = await listing_pages.get(tx, listing.id)
    assert "Nice to have" in (listing.description or "")
    assert (listing.salary_max, listing.partial) == (180000, False)
    assert page_read
    assert (page_read.outcome, page_read.url) == ("read", URL)
    assert {"description", "salary"} <= set(page_read.fields)
    assert not {"title", "company", "url"} & set(page_read.fields)


async def test_a_page_is_read_once_for_all_profiles_and_runs(bed: ListingPipeline) -> None:
    await crawl(bed, teaser())
    saved = await crawl(bed, teaser(), hour=1)
    assert saved.counts.changed == 0
    async with bed.database.transaction() as tx:
        await judging.add_listings(tx, [(await bed.matches())[0].listing_id])
        await feed_batch(tx, judging.FEED)
    await bed.drain()
    assert [request.url for request in bed.net.requests].count(URL) == 1


async def test_a_changed_teaser_keeps_the_text_of_the_page_and_reads_it_again(
    bed: ListingPipeline,
) -> None:
    await crawl(bed, teaser())
    bed.net.on(URL, ok(page(text=TEXT.replace("Kubernetes", "Docker")), URL))
    await crawl(bed, teaser(description=f"{TEASER} New!", location="Remote, US"), hour=1)
    assert "Docker" in await stored_text(bed)
    assert await fetch(bed.database, "SELECT location FROM catalog.listing") == ["Remote, US"]


async def test_a_page_that_cannot_be_read_leaves_the_teaser_and_says_why(
    bed: ListingPipeline,
) -> None:
    bed.net.on(URL, FetchFailure(URL, "refused", "status 403", 403))
    await crawl(bed, teaser())
    assert await stored_text(bed) == TEASER
    [row] = await fetch(bed.database, "SELECT outcome, note FROM catalog.listing_page")
    assert row[0] == "unreadable"
    assert "403" in row[1]
    assert await fetch(bed.database, "SELECT status FROM queue.items WHERE kind = 'listing'") != [
        "FAILED"
    ]


async def test_a_page_about_another_job_is_not_merged(bed: ListingPipeline) -> None:
    bed.net.on(URL, ok(page("Head Gardener"), URL))
    await crawl(bed, teaser())
    assert await stored_text(bed) == TEASER


async def test_a_page_that_is_gone_closes_the_listing_until_the_feed_changes(
    bed: ListingPipeline,
) -> None:
    bed.net.on(URL, PageGone(URL, 410))
    closed = "SELECT closed_at IS NOT NULL FROM catalog.listing"
    await crawl(bed, teaser())
    assert await fetch(bed.database, closed) == [True]
    saved = await crawl(bed, teaser(), hour=1)
    assert (saved.counts.reopened, await fetch(bed.database, closed)) == (0, [True])
    bed.net.on(URL, ok(page(), URL))
    await crawl(bed, teaser(description=f"{TEASER} Open again."), hour=2)
    assert await fetch(bed.database, closed) == [False]


async def test_an_excluded_title_costs_no_request(database: Database) -> None:
    stops = PROFILE.stop_lists.model_copy(update={"keywords": ("backend",)})
    bed = await ListingPipeline(database, Net()).begin(
        PROFILE.model_copy(update={"stop_lists": stops})
    )
    await crawl(bed, teaser())
    assert bed.net.requests == []


async def test_pages_beyond_the_days_budget_wait_and_are_read_when_there_is_room(
    bed: ListingPipeline,
) -> None:
    bed.stages = app.build_stages(bed.tools, Settings(rotation_calls_per_day=0))
    await crawl(bed, teaser())
    assert URL not in [request.url for request in bed.net.requests]
    assert await fetch(bed.database, "SELECT outcome FROM catalog.listing_page") == ["postponed"]
    async with bed.database.transaction() as tx:
        assert await judging.add_postponed(tx, per_day=0) == 0
        assert await judging.add_postponed(tx, per_day=10) == 1
        await feed_batch(tx, judging.FEED)
    bed.stages = app.build_stages(bed.tools, Settings())
    await bed.drain()
    assert "Nice to have" in await stored_text(bed)


def test_the_source_keeps_what_it_states_and_the_page_adds_the_rest() -> None:
    predicted = Salary(1, 2, "USD", "year", "predicted")
    offered = Salary(3, 4, "USD", "year", "structured")
    source = teaser(salary=predicted, location="Oslo", arrangement=None, partial=True)
    own_page = Posting(
        "Backend Engineer (Senior)", "https://other.example", "DEEP WELLS INC", location="Bergen",
        arrangement="hybrid", description=TEXT, requirements="Python", salary=offered,
        department="Platform",
    )  # fmt: skip
    merged, fields = merge_page(source, own_page)
    assert (merged.title, merged.company, merged.url, merged.location) == (
        source.title, source.company, source.url, "Oslo",
    )  # fmt: skip
    assert (merged.description, merged.salary, merged.arrangement) == (TEXT, offered, "hybrid")
    assert fields == ("arrangement", "department", "description", "requirements", "salary")
    assert not merged.partial

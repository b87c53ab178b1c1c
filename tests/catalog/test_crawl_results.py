"""Runs add, change, close and reopen exactly the right listings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, crawl_results, history, listings, posting_identity, sources
from jobmill.catalog.crawl_results import CrawlResult, Outcome, SavedRun, SeenPosting
from jobmill.catalog.posting import Posting, Salary
from jobmill.db import Database, Tx
from jobmill.outside.request import Validators
from jobmill.queue import alerts
from tests.recorded_calls import recorded_calls

from .helpers import at, make_source, open_titles, overlap, posting, run, seen

A, B, C = posting(1, "Anchor"), posting(2, "Baker"), posting(3, "Carver")


async def test_a_complete_run_adds_changes_closes_and_reopens_listings(tx: Tx) -> None:
    source = await make_source(tx)
    first = await run(tx, source, 0, [A, B])
    assert (first.counts.added, first.counts.closed) == (2, 0)
    second = await run(tx, source, 1, [replace(A, title="Anchorman"), C])
    assert (second.counts.added, second.counts.changed, second.counts.closed) == (1, 1, 1)
    assert await open_titles(tx, source) == ["Anchorman", "Carver"]
    third = await run(tx, source, 2, [replace(A, title="Anchorman"), B, C])
    assert (third.counts.added, third.counts.changed, third.counts.reopened) == (0, 0, 1)
    assert await open_titles(tx, source) == ["Anchorman", "Baker", "Carver"]


async def test_repeating_a_run_changes_nothing(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    again = await run(tx, source, 1, [A, B])
    assert (again.counts.seen, again.counts.added, again.counts.changed) == (2, 0, 0)


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        ("failed", "server"),
        ("failed", "unreadable"),
        ("held", "rate_limited"),
        ("partial", "timeout"),
        ("truncated", None),
    ],
)
async def test_an_incomplete_run_closes_nothing(
    tx: Tx, outcome: Outcome, failure: str | None
) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    after = await run(tx, source, 1, [C], outcome=outcome, failure=failure)
    assert after.counts.closed == 0
    assert await open_titles(tx, source) == ["Anchor", "Baker", "Carver"]


async def test_an_unreadable_record_does_not_close_a_listing_immediately(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    assert (await run(tx, source, 1, [A], stubs=1)).counts.closed == 0
    assert (await run(tx, source, 2, [A], stubs=1)).counts.closed == 1
    await run(tx, source, 3, [A, B, C])
    assert (await run(tx, source, 4, [A])).counts.closed == 2


async def test_texts_are_compared_in_a_thread(tx: Tx) -> None:
    """The texts of a large board take seconds, in which this process must answer others."""
    text = "We build pumps that people rely on and look after the controllers of our wells. " * 5
    wells = [posting(id, description=f"{text} Team {id}.", location="Porto") for id in range(3)]
    source = await make_source(tx)
    with recorded_calls() as calls:
        first = await run(tx, source, 0, wells)
        changed = [replace(well, description=f"{well.description} New.") for well in wells]
        second = await run(tx, source, 1, changed)
    assert (first.counts.added, second.counts.changed) == (3, 3)
    assert calls["link_new_listings"], "its caller runs here"
    assert (calls["split_words"], calls["find_groups"]) == (0, 0)


async def test_a_search_closes_no_listings(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B], inventory=False)
    assert (await run(tx, source, 1, [A], inventory=False)).counts.closed == 0


async def test_the_third_empty_run_is_accepted_and_raises_an_alert(
    tx: Tx,
) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    assert [(await run(tx, source, hour)).outcome for hour in (1, 2)] == ["empty", "empty"]
    assert await open_titles(tx, source) == ["Anchor", "Baker"]
    third = await run(tx, source, 3)
    assert (third.outcome, third.counts.closed) == ("complete", 2)
    [alert] = await alerts.list_alerts(tx)
    assert alert.subject == f"source {source}"
    assert "had 2 open jobs, and its last 3 runs found none" in alert.detail


async def test_empty_runs_of_unreliable_platforms_are_never_accepted(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A])
    outcomes = [(await run(tx, source, hour, may_be_empty=False)).outcome for hour in range(1, 6)]
    assert set(outcomes) == {"empty"}
    await run(tx, source, 9, [A])
    assert await alerts.list_alerts(tx) == []


async def test_an_empty_run_of_a_source_that_allows_it_is_accepted_immediately(tx: Tx) -> None:
    source = await make_source(tx)
    await tx.execute("UPDATE catalog.source SET allow_empty = true")
    await run(tx, source, 0, [A])
    assert (await run(tx, source, 1)).counts.closed == 1


async def test_an_unchanged_run_marks_listings_as_seen(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A], validators=Validators(etag='"one"'))
    await run(tx, source, 5, outcome="unchanged")
    await run(tx, source, 6, [A, B])
    assert await open_titles(tx, source) == ["Anchor", "Baker"]
    listing = (
        await listings.find_by_identity(tx, [posting_identity.identity(A, PLATFORM_RULES)])
    ).popitem()[1]
    assert (await listings.get(tx, listing.id)).last_seen_at == at(6)


async def test_only_a_complete_run_stores_validators(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A], validators=Validators(etag='"one"'))
    await run(tx, source, 1, [A], outcome="truncated", validators=Validators(etag='"two"'))
    await run(tx, source, 2, [], validators=Validators(etag='"three"'))
    assert (await sources.get(tx, source)).etag == '"one"'


async def test_a_run_overtaken_by_a_newer_one_is_ignored(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    await run(tx, source, 2, [A])
    late = await run(tx, source, 1, [A, B, C])
    assert late.run_id is None
    assert await open_titles(tx, source) == ["Anchor"]


async def test_a_failed_run_does_not_overtake_a_slow_successful_one(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 2, outcome="failed", failure="timeout")
    assert (await run(tx, source, 1, [A])).counts.added == 1


async def test_old_values_of_a_listing_stay_in_its_history(tx: Tx) -> None:
    source = await make_source(tx)
    pay = Salary(50_000, 60_000, "EUR", "year", "structured")
    added = (await run(tx, source, 0, [replace(A, salary=pay)])).added
    new = replace(A, title="Anchorman", salary=replace(pay, max=70_000), description="Other text")
    await run(tx, source, 1, [new])
    changed = [
        event
        for event in await history.find_events(tx, "listing", added[0])
        if event.what == "changed"
    ]
    assert changed[0].data == {
        "title": ["Anchor", "Anchorman"],
        "salary_max": [60_000, 70_000],
        "description": [A.description, "Other text"],
    }


async def test_a_relative_date_is_not_a_change(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [replace(A, posted_at=at(-24))])
    again = await run(tx, source, 1, [replace(A, posted_at=at(-48))])
    assert again.counts.changed == 0
    cursor = await tx.execute("SELECT posted_at FROM catalog.listing")
    assert await cursor.fetchone() == (at(-24),)


async def test_a_list_without_text_keeps_the_stored_detail(tx: Tx) -> None:
    source = await make_source(tx)
    listed = replace(A, description=None, partial=True)
    detailed = SeenPosting(A, listings.listed_hash(listed))
    await crawl_results.save(tx, source, CrawlResult(at(0), "complete", [detailed]), PLATFORM_RULES)
    same = await crawl_results.save(
        tx, source, CrawlResult(at(1), "complete", seen(listed)), PLATFORM_RULES
    )
    renamed = replace(listed, title="Anchorman")
    changed = await crawl_results.save(
        tx, source, CrawlResult(at(2), "complete", seen(renamed)), PLATFORM_RULES
    )
    assert (same.counts.changed, changed.counts.changed) == (0, 1)
    listing = await listings.get(tx, changed_id := (await _only(tx)))
    assert changed_id
    assert (listing.title, listing.description, listing.partial) == (
        "Anchorman",
        A.description,
        False,
    )


async def test_an_unread_detail_is_read_by_the_next_run(tx: Tx) -> None:
    source = await make_source(tx)
    listed = replace(A, description=None, partial=True)
    await crawl_results.save(
        tx,
        source,
        CrawlResult(at(0), "complete", [SeenPosting(A, listings.listed_hash(listed))]),
        PLATFORM_RULES,
    )
    renamed = replace(listed, title="Anchorman")
    await crawl_results.save(
        tx, source, CrawlResult(at(1), "complete", seen(renamed)), PLATFORM_RULES
    )
    (state,) = (
        await listings.find_by_identity(tx, [posting_identity.identity(A, PLATFORM_RULES)])
    ).values()
    assert state.listed_hash != listings.listed_hash(renamed)
    detailed = SeenPosting(replace(A, title="Anchorman"), listings.listed_hash(renamed))
    await crawl_results.save(tx, source, CrawlResult(at(2), "complete", [detailed]), PLATFORM_RULES)
    (state,) = (
        await listings.find_by_identity(tx, [posting_identity.identity(A, PLATFORM_RULES)])
    ).values()
    assert state.listed_hash == listings.listed_hash(renamed)


async def test_the_fingerprint_includes_fields_kept_from_the_detail(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A])
    await run(tx, source, 1, [replace(A, description=None, department="Wells", partial=True)])
    cursor = await tx.execute("SELECT fingerprint FROM catalog.listing")
    row = await cursor.fetchone()
    assert row
    assert row[0].hex == posting_identity.fingerprint(A)


async def test_an_identity_without_id_does_not_change_with_the_company(
    tx: Tx,
) -> None:
    source = await make_source(tx, company_name="Wells & Co")
    nameless = Posting("Cook", url="https://wells.example/careers", platform="html")
    await run(tx, source, 0, [nameless])
    again = await run(tx, source, 1, [nameless])
    assert (again.counts.added, again.counts.closed) == (0, 0)
    assert await open_titles(tx, source) == ["Cook"]


async def test_a_listing_closed_by_one_source_is_reopened_by_another(tx: Tx) -> None:
    first, second = await make_source(tx), await make_source(tx)
    await run(tx, first, 0, [A, B])
    await run(tx, second, 0, [A])
    await run(tx, first, 1, [B])
    assert (await run(tx, second, 1, [A])).counts.reopened == 1
    assert await open_titles(tx, second) == ["Anchor"]
    await run(tx, first, 2, [A, B])
    assert await open_titles(tx, second) == ["Anchor"]


async def test_an_enabled_source_takes_over_listings_of_a_disabled_one(tx: Tx) -> None:
    first, second = await make_source(tx), await make_source(tx)
    await run(tx, first, 0, [A])
    await sources.disable(tx, first, "moved")
    await run(tx, second, 1, [A, B])
    assert (await run(tx, second, 2, [B])).counts.closed == 1
    assert await open_titles(tx, first) == []


async def test_the_same_run_saved_twice_counts_once(tx: Tx) -> None:
    source = await make_source(tx)
    for _ in range(2):
        last = await run(tx, source, 0, outcome="failed", failure="server")
    assert last.run_id is None
    assert (await sources.get(tx, source)).consecutive_failures == 1


async def test_a_run_with_unreadable_records_is_never_accepted_as_empty(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    outcomes = {(await run(tx, source, hour, stubs=2)).outcome for hour in range(1, 9)}
    assert outcomes == {"empty"}
    assert await open_titles(tx, source) == ["Anchor", "Baker"]


async def test_the_alert_is_lifted_when_the_source_shows_postings_again(
    tx: Tx,
) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A])
    for hour in (1, 2, 3):
        await run(tx, source, hour)
    assert await alerts.list_alerts(tx)
    await run(tx, source, 4, [A])
    assert await alerts.list_alerts(tx) == []


async def test_on_a_group_board_each_posting_belongs_to_the_company_it_names(tx: Tx) -> None:
    group = await companies.get_or_create(tx, "Wells Group")
    source = await make_source(tx, company_id=group, relation="group")
    own_board = await make_source(tx, company_id=group)
    await run(tx, source, 0, [replace(A, company="Brine AG")])
    await run(tx, own_board, 0, [replace(B, company="Wells Holding")])
    cursor = await tx.execute(
        "SELECT company.name FROM catalog.listing JOIN catalog.company ON company.id = company_id "
        "ORDER BY listing.id"
    )
    assert await cursor.fetchall() == [("Brine AG",), ("Wells Group",)]


async def test_a_board_larger_than_one_batch_is_saved_completely(tx: Tx) -> None:
    source = await make_source(tx)
    many = [posting(id, f"Post {id}", description=None) for id in range(listings.BATCH_SIZE + 5)]
    assert (await run(tx, source, 0, many)).counts.added == len(many)
    renamed = [replace(item, title=f"{item.title} now") for item in many]
    assert (await run(tx, source, 1, renamed)).counts.changed == len(many)


async def _only(tx: Tx) -> int:
    cursor = await tx.execute("SELECT id FROM catalog.listing")
    (row,) = await cursor.fetchall()
    return row[0]


@pytest.mark.parametrize(
    "odd",
    [
        {"title": "An\x00chor \ud800", "tags": ("a\x00b",), "description": "x" * 2_000_000},
        {"vendor_id": "1\x00"},
        {"url": "https://wells.example/\x00"},
        {"board": "w\ud800"},
        {"company": "We\x00lls \ud800"},
        {"company": " ".join(f"word{number}" for number in range(300_000))},
        {"location": " ".join(f"word{number}" for number in range(300_000))},
        {"requisition_id": "".join(chr(0x4E00 + number) for number in range(5_000))},
        {"salary": Salary(float("inf"), float("nan"), "EUR", "year", "text")},
        {"salary": Salary(10**400, None, "EUR", "year", "text")},
        {"description": " ".join(f"a{number}.co/b{number}" for number in range(20_000))},
    ],
    ids=lambda odd: next(iter(odd)),
)
async def test_any_content_of_a_site_can_be_stored(tx: Tx, odd: dict[str, Any]) -> None:
    source = await make_source(tx)
    odd_posting = replace(A, **odd)
    assert (await run(tx, source, 0, [odd_posting])).counts.added == 1
    again = replace(odd_posting, department="Wells")
    assert (await run(tx, source, 1, [again])).counts.changed == 1
    assert (await run(tx, source, 2, [again])).counts.changed == 0


async def test_a_title_of_any_length_fits(tx: Tx) -> None:
    source = await make_source(tx)
    assert (await run(tx, source, 0, [replace(A, title="日" * 5_000)])).counts.added == 1


async def test_a_run_creates_the_companies_of_its_postings(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, replace(B, company=None)])
    cursor = await tx.execute(
        "SELECT listing.title, company.name FROM catalog.listing LEFT JOIN catalog.company "
        "ON company.id = company_id ORDER BY 1"
    )
    assert await cursor.fetchall() == [("Anchor", "Wells & Co"), ("Baker", None)]


async def test_concurrent_runs_store_each_listing_once(database: Database) -> None:
    async with database.transaction() as tx:
        first, second = await make_source(tx), await make_source(tx)
    postings = [posting(id, f"Post {id}") for id in range(60)]

    async def save(source: int, hour: float, order: int) -> int:
        async with database.transaction() as tx:
            return (await run(tx, source, hour, postings[::order])).counts.added

    added = await asyncio.gather(
        save(first, 0, 1), save(second, 0, -1), save(first, 1, -1), save(second, 1, 1)
    )
    assert sum(added) == 60
    async with database.transaction() as tx:
        cursor = await tx.execute("SELECT count(*) FROM catalog.listing WHERE closed_at IS NULL")
        assert await cursor.fetchone() == (60,)


async def test_concurrent_runs_with_the_same_companies_do_not_deadlock(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        first, second = await make_source(tx), await make_source(tx)
        await run(tx, first, 0, [replace(A, company=None)])
        await run(tx, second, 0, [replace(B, company=None)])

    async def save(source: int, hour: int, changed: str, new: str) -> None:
        listed = A if source == first else B
        fresh = posting(f"{source} {hour}", company=f"{new} {hour}")
        async with database.transaction() as tx:
            listed = replace(listed, company=f"{changed} {hour}")
            await run(tx, source, hour, [listed, fresh], outcome="truncated")

    for hour in range(1, 9):
        await asyncio.gather(
            save(first, hour, "Alder", "Birch"), save(second, hour, "Birch", "Alder")
        )


async def test_concurrent_runs_that_link_listings_do_not_deadlock(
    database: Database,
) -> None:
    places = ["Porto", "Faro", "Braga", "Evora"]
    async with database.transaction() as tx:
        copies, boards = await make_source(tx), [await make_source(tx) for _ in range(3)]
    own_posts = [posting(place, f"Cook {place}", location=place) for place in places]
    copied = [
        replace(item, platform="x", vendor_id=f"x{item.vendor_id}", url=f"https://x.example/{item.vendor_id}", via="X")
        for item in own_posts
    ]  # fmt: skip

    async def save(source: int, hour: int, order: int) -> None:
        if source == copies:
            changed = [replace(item, department=f"{hour}") for item in copied]
        else:
            changed = [replace(item, board=str(source), url=f"https://{source}.example/{item.vendor_id}/{hour}") for item in own_posts]  # fmt: skip
        async with database.transaction() as tx:
            await run(tx, source, hour, changed[::order])

    for hour in range(6):
        await asyncio.gather(
            *(save(source, hour, order) for order, source in zip((1, -1, 1, -1), (copies, *boards), strict=True))
        )  # fmt: skip
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT count(*) FROM catalog.listing JOIN catalog.listing AS root "
            "ON root.id = listing.duplicate_of WHERE root.duplicate_of IS NOT NULL"
        )
        assert await cursor.fetchone() == (0,)


async def test_only_one_of_two_concurrent_sources_reopens_a_listing(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        before, source, other_source = [await make_source(tx) for _ in range(3)]
        await run(tx, before, 0, [A, B])
        await run(tx, before, 1, [B])
    first, second = await overlap(
        database, lambda tx: run(tx, source, 2, [A]), lambda tx: run(tx, other_source, 2, [A])
    )
    assert isinstance(first, SavedRun)
    assert isinstance(second, SavedRun)
    assert (first.counts.reopened, second.counts.reopened) == (1, 0)
    async with database.transaction() as tx:
        assert await open_titles(tx, source) == ["Anchor"]


async def test_occasional_empty_runs_are_not_accepted(tx: Tx) -> None:
    source = await make_source(tx)
    outcomes = [
        (await run(tx, source, hour, [A] if hour % 3 == 0 else [])).outcome for hour in range(9)
    ]
    assert outcomes == ["complete", "empty", "empty"] * 3


async def test_listings_of_an_unchanged_run_have_been_seen(tx: Tx) -> None:
    source = await make_source(tx)
    (id,) = (await run(tx, source, 0, [A])).added
    await run(tx, source, 5, outcome="unchanged")
    assert (await listings.get(tx, id)).last_seen_at == at(5)


async def test_a_detail_read_later_is_stored(tx: Tx) -> None:
    source = await make_source(tx)
    listed = replace(A, description=None, partial=True)
    (id,) = (await run(tx, source, 0, [listed])).added
    detailed = SeenPosting(A, listings.listed_hash(listed))
    await crawl_results.save(tx, source, CrawlResult(at(1), "complete", [detailed]), PLATFORM_RULES)
    listing = await listings.get(tx, id)
    assert (listing.description, listing.partial) == (A.description, False)


async def test_an_aggregators_posting_belongs_to_the_company_it_names(tx: Tx) -> None:
    collector = await companies.get_or_create(tx, "Remote Posts")
    source = await make_source(tx, company_id=collector)
    (id,) = (await run(tx, source, 0, [replace(A, via="Remote Posts")])).added
    named = await companies.get_by_name(tx, "Wells & Co")
    assert (await listings.get(tx, id)).company_id == named.id


async def test_the_posting_date_stays_when_other_fields_change(tx: Tx) -> None:
    source = await make_source(tx)
    (id,) = (await run(tx, source, 0, [replace(A, posted_at=at(-24))])).added
    await run(tx, source, 1, [replace(A, title="Anchorman", posted_at=at(-48))])
    assert (await listings.get(tx, id)).posted_at == at(-24)
    assert listings.listed_hash(A) == listings.listed_hash(replace(A, posted_at=at(0)))


@pytest.mark.parametrize(
    ("facts", "anew"),
    [
        ({"apply_url": "https://boards.example/apply?visit=2"}, False),
        ({"valid_through": at(99)}, False),
        ({"apply_url": "https://boards.example/apply?visit=2", "title": "Anchorman"}, True),
    ],
)
async def test_fields_without_effect_on_judging_are_stored_but_not_reported(
    tx: Tx, facts: dict[str, Any], anew: bool
) -> None:
    source = await make_source(tx)
    first = await run(tx, source, 0, [A])
    again = await run(tx, source, 1, [replace(A, **facts)])
    assert again.counts.changed == 1
    assert again.changed == (first.added if anew else ())

"""New, changed, closed, opened again: exactly what complete runs saw."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from jobmill.catalog import history, listings, runs, sources
from jobmill.catalog.posting import Salary
from jobmill.catalog.runs import Harvest, Outcome, Seen
from jobmill.db import Database, Tx
from jobmill.outside.request import Validators
from jobmill.queue import watch

from .kit import at, make_source, open_titles, posting, run, seen

A, B, C = posting(1, "Anchor"), posting(2, "Baker"), posting(3, "Carver")


async def test_a_complete_run_adds_changes_closes_and_opens_again(tx: Tx) -> None:
    source = await make_source(tx)
    first = await run(tx, source, 0, [A, B])
    assert (first.counts.added, first.counts.closed) == (2, 0)
    second = await run(tx, source, 1, [replace(A, title="Anchorman"), C])
    assert (second.counts.added, second.counts.changed, second.counts.closed) == (1, 1, 1)
    assert await open_titles(tx, source) == ["Anchorman", "Carver"]
    third = await run(tx, source, 2, [replace(A, title="Anchorman"), B, C])
    assert (third.counts.added, third.counts.changed, third.counts.reopened) == (0, 0, 1)
    assert await open_titles(tx, source) == ["Anchorman", "Baker", "Carver"]


async def test_the_same_run_again_changes_nothing(tx: Tx) -> None:
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
async def test_a_run_that_did_not_see_all_closes_nothing(
    tx: Tx, outcome: Outcome, failure: str | None
) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    after = await run(tx, source, 1, [C], outcome=outcome, failure=failure)
    assert after.counts.closed == 0
    assert await open_titles(tx, source) == ["Anchor", "Baker", "Carver"]


async def test_a_record_that_could_not_be_read_costs_no_listing_at_once(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    assert (await run(tx, source, 1, [A], stubs=1)).counts.closed == 0
    assert (await run(tx, source, 2, [A], stubs=1)).counts.closed == 1
    await run(tx, source, 3, [A, B, C])
    assert (await run(tx, source, 4, [A])).counts.closed == 2


async def test_a_search_closes_nothing_by_not_showing_it(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B], inventory=False)
    assert (await run(tx, source, 1, [A], inventory=False)).counts.closed == 0


async def test_an_empty_answer_is_believed_at_the_third_time_and_an_alert_tells_of_it(
    tx: Tx,
) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    assert [(await run(tx, source, hour)).outcome for hour in (1, 2)] == ["empty", "empty"]
    assert await open_titles(tx, source) == ["Anchor", "Baker"]
    third = await run(tx, source, 3)
    assert (third.outcome, third.counts.closed) == ("complete", 2)
    assert f"source {source}" in [alert.subject for alert in await watch.alerts(tx)]


async def test_a_platform_that_answers_empty_for_unknown_boards_is_never_believed(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A])
    outcomes = [(await run(tx, source, hour, believe_empty=False)).outcome for hour in range(1, 6)]
    assert set(outcomes) == {"empty"}
    await run(tx, source, 9, [A])
    assert await watch.alerts(tx) == []


async def test_a_source_that_may_be_empty_is_believed_at_once(tx: Tx) -> None:
    source = await make_source(tx)
    await tx.execute("UPDATE catalog.source SET allow_empty = true")
    await run(tx, source, 0, [A])
    assert (await run(tx, source, 1)).counts.closed == 1


async def test_unchanged_counts_as_seen(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A], validators=Validators(etag='"one"'))
    await run(tx, source, 5, outcome="unchanged")
    await run(tx, source, 6, [A, B])
    assert await open_titles(tx, source) == ["Anchor", "Baker"]
    listing = (await listings.known(tx, [listings.identity.identity(A)])).popitem()[1]
    assert (await listings.get(tx, listing.id)).last_seen_at == at(6)


async def test_only_a_run_that_kept_all_leaves_validators(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A], validators=Validators(etag='"one"'))
    await run(tx, source, 1, [A], outcome="truncated", validators=Validators(etag='"two"'))
    await run(tx, source, 2, [], validators=Validators(etag='"three"'))
    assert (await sources.get(tx, source)).etag == '"one"'


async def test_a_slow_run_that_was_overtaken_counts_for_nothing(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, B])
    await run(tx, source, 2, [A])
    late = await run(tx, source, 1, [A, B, C])
    assert late.run_id is None
    assert await open_titles(tx, source) == ["Anchor"]


async def test_a_failed_run_does_not_stand_in_the_way_of_a_slow_good_one(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 2, outcome="failed", failure="timeout")
    assert (await run(tx, source, 1, [A])).counts.added == 1


async def test_what_a_listing_said_before_is_kept(tx: Tx) -> None:
    source = await make_source(tx)
    pay = Salary(50_000, 60_000, "EUR", "year", "structured")
    added = (await run(tx, source, 0, [replace(A, salary=pay)])).added
    new = replace(A, title="Anchorman", salary=replace(pay, max=70_000), description="Other text")
    await run(tx, source, 1, [new])
    changed = [one for one in await history.of(tx, "listing", added[0]) if one.what == "changed"]
    assert changed[0].data == {
        "title": ["Anchor", "Anchorman"],
        "salary_max": [60_000, 70_000],
        "description": [A.description, "Other text"],
    }


async def test_a_date_that_moves_by_itself_is_no_change(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [replace(A, posted_at=at(-24))])
    again = await run(tx, source, 1, [replace(A, posted_at=at(-48))])
    assert again.counts.changed == 0
    cursor = await tx.execute("SELECT posted_at FROM catalog.listing")
    assert await cursor.fetchone() == (at(-24),)


async def test_a_list_without_text_takes_nothing_from_what_the_detail_said(tx: Tx) -> None:
    source = await make_source(tx)
    listed = replace(A, description=None, partial=True)
    whole = Seen(A, listings.listed_hash(listed))
    await runs.save(tx, source, Harvest(at(0), "complete", [whole]))
    same = await runs.save(tx, source, Harvest(at(1), "complete", seen(listed)))
    renamed = replace(listed, title="Anchorman")
    changed = await runs.save(tx, source, Harvest(at(2), "complete", seen(renamed)))
    assert (same.counts.changed, changed.counts.changed) == (0, 1)
    listing = await listings.get(tx, changed_id := (await _only(tx)))
    assert changed_id
    assert (listing.title, listing.description, listing.partial) == (
        "Anchorman",
        A.description,
        False,
    )


async def _only(tx: Tx) -> int:
    cursor = await tx.execute("SELECT id FROM catalog.listing")
    (found,) = await cursor.fetchall()
    return found[0]


async def test_odd_characters_are_kept_out_of_the_way_of_the_database(tx: Tx) -> None:
    source = await make_source(tx)
    odd = replace(A, title="An\x00chor \ud800", tags=("a\x00b",), description="x" * 2_000_000)
    assert (await run(tx, source, 0, [odd])).counts.added == 1


async def test_a_title_of_any_length_fits(tx: Tx) -> None:
    source = await make_source(tx)
    assert (await run(tx, source, 0, [replace(A, title="日" * 5_000)])).counts.added == 1


async def test_the_company_of_a_posting_is_known_afterwards(tx: Tx) -> None:
    source = await make_source(tx)
    await run(tx, source, 0, [A, replace(B, company=None)])
    cursor = await tx.execute(
        "SELECT listing.title, company.name FROM catalog.listing LEFT JOIN catalog.company "
        "ON company.id = company_id ORDER BY 1"
    )
    assert await cursor.fetchall() == [("Anchor", "Wells & Co"), ("Baker", None)]


async def test_two_runs_at_once_keep_every_listing_once(database: Database) -> None:
    async with database.transaction() as tx:
        one, two = await make_source(tx), await make_source(tx)
    postings = [posting(id, f"Post {id}") for id in range(60)]

    async def save(source: int, hour: float, order: int) -> int:
        async with database.transaction() as tx:
            return (await run(tx, source, hour, postings[::order])).counts.added

    added = await asyncio.gather(
        save(one, 0, 1), save(two, 0, -1), save(one, 1, -1), save(two, 1, 1)
    )
    assert sum(added) == 60
    async with database.transaction() as tx:
        cursor = await tx.execute("SELECT count(*) FROM catalog.listing WHERE closed_at IS NULL")
        assert await cursor.fetchone() == (60,)

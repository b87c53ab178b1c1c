"""Duplicates are linked, and every link can be undone."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import duplicate_links, history, listings
from jobmill.catalog.crawl_results import SavedRun
from jobmill.catalog.posting import Posting
from jobmill.db import Database, Tx
from jobmill.errors import Conflict

from .helpers import at, make_source, overlap, posting, run

OWN = posting(1, "Pump Engineer", location="Porto", locations=("Porto",))
COPY = replace(
    OWN, platform="remoteok", board="remoteok", vendor_id="ro-1", url="https://copy.example/a/1",
    via="Remote OK",
)  # fmt: skip


OTHER_COPY = replace(
    COPY, platform="jobicy", board="jobicy", vendor_id="j-2", url="https://b.example/b/2"
)


async def add(tx: Tx, hour: float, *postings: Posting) -> list[int]:
    source = await make_source(tx)
    return [int(id) for id in (await run(tx, source, hour, postings)).added]


async def root_of(tx: Tx, id: int) -> int | None:
    return (await listings.get(tx, id)).duplicate_of


async def test_a_copy_is_linked_to_the_listing_it_repeats(tx: Tx) -> None:
    (own_post,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    listing = await listings.get(tx, copy)
    assert (listing.duplicate_of, listing.duplicate_kind) == (own_post, "same")
    assert listing.duplicate_why
    assert await duplicate_links.find_linked(tx, own_post) == [copy]
    assert (await history.find_events(tx, "listing", copy))[-1].what == "linked"


async def test_a_copy_is_replaced_by_the_companys_own_post(tx: Tx) -> None:
    (copy,) = await add(tx, 0, COPY)
    (other,) = await add(tx, 1, OTHER_COPY)
    assert await root_of(tx, other) == copy
    (own_post,) = await add(tx, 2, OWN)
    assert [await root_of(tx, id) for id in (copy, other, own_post)] == [own_post, own_post, None]


async def test_a_marked_copy_is_not_replaced(tx: Tx) -> None:
    (copy,) = await add(tx, 0, COPY)
    await listings.mark(tx, copy)
    (own_post,) = await add(tx, 1, OWN)
    assert [await root_of(tx, copy), await root_of(tx, own_post)] == [None, copy]


async def test_an_undone_link_is_not_made_again(tx: Tx) -> None:
    (own_post,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    await duplicate_links.unlink(tx, copy, actor="me")
    (third,) = await add(tx, 2, OTHER_COPY)
    assert await root_of(tx, copy) is None
    assert await root_of(tx, third) in (own_post, copy)
    with pytest.raises(Conflict):
        await duplicate_links.unlink(tx, copy)


async def test_links_by_hand_never_chain(tx: Tx) -> None:
    first, second, third = await add(
        tx, 0, *(posting(id, title) for id, title in enumerate(("Anchor", "Baker", "Carver"), 10))
    )
    await duplicate_links.link(tx, second, first)
    await duplicate_links.link(tx, first, third)
    assert [await root_of(tx, id) for id in (first, second, third)] == [third, third, None]
    with pytest.raises(Conflict):
        await duplicate_links.link(tx, third, first)


async def test_posts_of_one_vacancy_in_several_places_are_grouped(tx: Tx) -> None:
    posts = [
        replace(
            OWN,
            vendor_id=place,
            url=f"https://boards.example/wells/{place}",
            location=place,
            locations=(place,),
            requisition_id="R-77",
        )
        for place in ("Porto", "Lisbon", "Faro")
    ]
    ids = await add(tx, 0, *posts)
    kinds = {(await listings.get(tx, id)).duplicate_kind for id in ids}
    assert kinds == {None, "multi_location"}
    cursor = await tx.execute("SELECT count(*) FROM catalog.listing WHERE closed_at IS NULL")
    assert await cursor.fetchone() == (3,)


async def test_pruning_keeps_marked_listings_and_link_targets(
    tx: Tx,
) -> None:
    gone, marked, root = await add(
        tx, 0, *(posting(id, title) for id, title in enumerate(("Anchor", "Baker", "Carver"), 10))
    )
    (linked,) = await add(tx, 1, posting(20, "Dyer"))
    await listings.mark(tx, marked)
    await duplicate_links.link(tx, linked, root)
    await tx.execute(
        "UPDATE catalog.listing SET closed_at = now() - interval '200 days' WHERE id <> %s",
        [linked],
    )
    assert await listings.prune(tx, dt.timedelta(days=180)) == 1
    cursor = await tx.execute("SELECT id FROM catalog.listing ORDER BY id")
    assert await cursor.fetchall() == [(marked,), (root,), (linked,)]
    assert gone not in (marked, root)


async def test_a_listing_linked_by_hand_does_not_become_a_root(tx: Tx) -> None:
    (copy,) = await add(tx, 0, COPY)
    (own_post,) = await add(tx, 1, OWN)
    await tx.execute("UPDATE catalog.listing SET duplicate_of = NULL, duplicate_kind = NULL")
    await duplicate_links.link(tx, own_post, copy, actor="me")
    (third,) = await add(tx, 2, OTHER_COPY)
    assert [await root_of(tx, id) for id in (copy, own_post, third)] == [None, copy, copy]


async def test_an_unlinked_listing_gets_no_linked_event(tx: Tx) -> None:
    (own_post,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    await duplicate_links.unlink(tx, copy)
    await duplicate_links.link(tx, own_post, copy)
    await duplicate_links.unlink(tx, own_post)
    await tx.execute("DELETE FROM catalog.listing WHERE id = %s", [own_post])
    source = await make_source(tx)
    again = await run(tx, source, 2, [OWN])
    assert await root_of(tx, copy) is None
    assert [event.what for event in await history.find_events(tx, "listing", copy)][
        -1
    ] == "unlinked"
    assert again.counts.duplicates == 0


async def test_a_link_by_hand_has_that_reason(tx: Tx) -> None:
    (own_post,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    (other,) = await add(tx, 1, posting(9, "Diver"))
    await duplicate_links.link(tx, copy, other)
    listing = await listings.get(tx, copy)
    assert (listing.duplicate_of, listing.duplicate_why) == (other, "linked by hand")
    assert own_post != other


async def test_concurrent_links_cannot_form_a_cycle(database: Database) -> None:
    async with database.transaction() as tx:
        first, second = await add(tx, 0, posting(1, "Anchor"), posting(2, "Baker"))
    done = await overlap(
        database,
        lambda tx: duplicate_links.link(tx, first, second),
        lambda tx: duplicate_links.link(tx, second, first),
    )
    assert isinstance(done[1], Conflict)


@pytest.mark.parametrize("order", [1, -1])
async def test_links_do_not_chain_when_a_copy_and_the_own_post_arrive_together(
    database: Database, order: int
) -> None:
    async with database.transaction() as tx:
        (copy,) = await add(tx, 0, COPY)
        source, other_source = [await make_source(tx) for _ in range(2)]
    first, second = (OWN, OTHER_COPY)[::order]
    saved = await overlap(
        database,
        lambda tx: run(tx, source, 1, [first]),
        lambda tx: run(tx, other_source, 1, [second]),
    )
    own_post, other = [
        saved_run.added[0] for saved_run in saved if isinstance(saved_run, SavedRun)
    ][::order]
    async with database.transaction() as tx:
        assert [await root_of(tx, id) for id in (own_post, copy, other)] == [
            None,
            own_post,
            own_post,
        ]


async def test_nothing_is_linked_to_a_listing_being_pruned(database: Database) -> None:
    async with database.transaction() as tx:
        await add(tx, 0, OWN)
        source = await make_source(tx)
        await tx.execute("UPDATE catalog.listing SET closed_at = %s", [at(0)])
    pruned, saved = await overlap(
        database,
        lambda tx: listings.prune(tx, dt.timedelta(days=1)),
        lambda tx: run(tx, source, 1, [COPY]),
    )
    assert pruned == 1
    assert isinstance(saved, SavedRun)
    assert saved.counts.duplicates == 0


async def test_a_listing_linked_to_during_pruning_stays(database: Database) -> None:
    async with database.transaction() as tx:
        (own_post,) = await add(tx, 0, OWN)
        source = await make_source(tx)
        await tx.execute("UPDATE catalog.listing SET closed_at = %s", [at(0)])
    saved, pruned = await overlap(
        database,
        lambda tx: run(tx, source, 1, [COPY]),
        lambda tx: listings.prune(tx, dt.timedelta(days=1)),
    )
    assert pruned == 0
    assert isinstance(saved, SavedRun)
    async with database.transaction() as tx:
        assert await root_of(tx, saved.added[0]) == own_post


URL = "https://jobs.lever.co/wells/11111111-1111-4111-8111-111111111111"
NAMELESS = Posting(
    "Pump Engineer",
    "https://a.example/posts/1-pump-engineer",
    description=" ".join(f"word{number}" for number in range(300)),
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Posting("Pump Engineer", URL), Posting("Engineer for pumps", f"{URL}/apply")),
        (NAMELESS, replace(NAMELESS, url="https://b.example/posts/7-pump-engineer", via="B")),
    ],
    ids=["page", "text"],
)
async def test_duplicates_are_found_by_page_or_text(
    tx: Tx, first: Posting, second: Posting
) -> None:
    (original,) = await add(tx, 0, replace(first, platform="x", vendor_id="1"))
    (duplicate,) = await add(tx, 1, replace(second, platform="y", vendor_id="2"))
    assert await root_of(tx, duplicate) == original


async def test_a_url_finds_the_listing_that_duplicates_are_linked_to(tx: Tx) -> None:
    first, second = await add(tx, 0, posting(1, "Anchor", url=URL), posting(2, "Baker", url=URL))
    await tx.execute("UPDATE catalog.listing SET duplicate_of = NULL, duplicate_kind = NULL")
    await duplicate_links.link(tx, first, second)
    assert await listings.find_by_url(tx, f"{URL}?utm_source=x", PLATFORM_RULES) == second
    await duplicate_links.unlink(tx, first)
    await duplicate_links.link(tx, second, first)
    assert await listings.find_by_url(tx, URL, PLATFORM_RULES) == first


async def test_pruned_listings_leave_no_history(tx: Tx) -> None:
    (id,) = await add(tx, 0, OWN)
    await tx.execute("UPDATE catalog.listing SET closed_at = %s", [at(0)])
    await listings.prune(tx, dt.timedelta(days=1))
    assert await history.find_events(tx, "listing", id) == []

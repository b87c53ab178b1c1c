"""Duplicates are linked, and every link can be undone."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from jobmill.catalog import history, links, listings
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.errors import Conflict

from .kit import make_source, posting, run

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
    (own,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    found = await listings.get(tx, copy)
    assert (found.duplicate_of, found.duplicate_kind) == (own, "same")
    assert found.duplicate_why
    assert await links.linked_to(tx, own) == [copy]
    assert (await history.of(tx, "listing", copy))[-1].what == "linked"


async def test_a_copy_makes_way_for_the_companys_own_post(tx: Tx) -> None:
    (copy,) = await add(tx, 0, COPY)
    (other,) = await add(tx, 1, OTHER_COPY)
    assert await root_of(tx, other) == copy
    (own,) = await add(tx, 2, OWN)
    assert [await root_of(tx, id) for id in (copy, other, own)] == [own, own, None]


async def test_what_a_person_marked_stays_where_it_is(tx: Tx) -> None:
    (copy,) = await add(tx, 0, COPY)
    await listings.mark(tx, copy)
    (own,) = await add(tx, 1, OWN)
    assert [await root_of(tx, copy), await root_of(tx, own)] == [None, copy]


async def test_a_link_that_was_undone_is_not_made_again(tx: Tx) -> None:
    (own,) = await add(tx, 0, OWN)
    (copy,) = await add(tx, 1, COPY)
    await links.unlink(tx, copy, actor="me")
    (third,) = await add(tx, 2, OTHER_COPY)
    assert await root_of(tx, copy) is None
    assert await root_of(tx, third) in (own, copy)
    with pytest.raises(Conflict):
        await links.unlink(tx, copy)


async def test_a_person_may_link_and_links_stay_one_step(tx: Tx) -> None:
    one, two, three = await add(
        tx, 0, *(posting(id, title) for id, title in enumerate(("Anchor", "Baker", "Carver"), 10))
    )
    await links.link(tx, two, one)
    await links.link(tx, one, three)
    assert [await root_of(tx, id) for id in (one, two, three)] == [three, three, None]
    with pytest.raises(Conflict):
        await links.link(tx, three, one)


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


async def test_clean_up_removes_what_is_long_closed_but_nothing_marked_or_linked_to(
    tx: Tx,
) -> None:
    gone, marked, root = await add(
        tx, 0, *(posting(id, title) for id, title in enumerate(("Anchor", "Baker", "Carver"), 10))
    )
    (linked,) = await add(tx, 1, posting(20, "Dyer"))
    await listings.mark(tx, marked)
    await links.link(tx, linked, root)
    await tx.execute(
        "UPDATE catalog.listing SET closed_at = now() - interval '200 days' WHERE id <> %s",
        [linked],
    )
    assert await listings.prune(tx, dt.timedelta(days=180)) == 1
    cursor = await tx.execute("SELECT id FROM catalog.listing ORDER BY id")
    assert await cursor.fetchall() == [(marked,), (root,), (linked,)]
    assert gone not in (marked, root)

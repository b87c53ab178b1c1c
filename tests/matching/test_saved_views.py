from __future__ import annotations

import asyncio

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching import matches, saved_views
from jobmill.matching.profiles import ProfileId
from jobmill.matching.saved_views import MAX_VIEWS, InboxFilters

from . import judged


async def profile(tx: Tx, name: str = "main") -> ProfileId:
    return (await judged.make(tx, name=name)).profile


async def test_a_view_keeps_what_was_asked_for_under_its_name(tx: Tx) -> None:
    mine = await profile(tx)
    asked = InboxFilters("saved", 85, "remote", "pump -valve", newest=True)
    kept = await saved_views.save(tx, mine, "  Good   ones ", asked, actor="ada")
    assert (kept.name, kept.filters, kept.made_by) == ("Good ones", asked, "ada")
    assert await saved_views.find_all(tx, mine) == [kept]
    assert await saved_views.find_by_name(tx, mine, "good ONES") == kept


async def test_a_view_finds_what_the_inbox_would(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    low, high, saved = [
        await matches.save_verdict(tx, place.word(score, listing))
        for listing, score in zip(place.listings, (82, 95, 90), strict=True)
    ]
    assert low
    assert high
    assert saved
    await matches.set_status(tx, saved, "dismissed")

    async def found(filters: InboxFilters) -> list[int]:
        return [one.id for one in await matches.find(tx, filters.to_query(place.profile))]

    assert await found(InboxFilters()) == [high, low]
    assert await found(InboxFilters(least_score=90)) == [high]
    assert await found(InboxFilters("dismissed")) == [saved]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\0b", "a\u202eb"])
async def test_what_is_no_name_is_refused(tx: Tx, name: str) -> None:
    with pytest.raises(Invalid):
        await saved_views.save(tx, await profile(tx), name, InboxFilters())


async def test_words_that_are_too_long_are_refused(tx: Tx) -> None:
    with pytest.raises(Invalid):
        await saved_views.save(tx, await profile(tx), "Long", InboxFilters(words="x" * 201))


async def test_a_name_is_taken_once_for_a_profile(tx: Tx) -> None:
    mine, other = await profile(tx), await profile(tx, "other")
    await saved_views.save(tx, mine, "Good", InboxFilters())
    with pytest.raises(Conflict, match="already"):
        await saved_views.save(tx, mine, "gOOd", InboxFilters())
    await saved_views.save(tx, other, "Good", InboxFilters())
    assert len(await saved_views.find_all(tx, mine)) == 1


async def test_there_is_an_end_to_them_also_for_two_who_save_at_once(database: Database) -> None:
    async with database.transaction() as tx:
        mine = await profile(tx)
        for number in range(MAX_VIEWS - 1):
            await saved_views.save(tx, mine, f"view {number}", InboxFilters())

    async def save(name: str) -> bool:
        try:
            async with database.transaction() as tx:
                await saved_views.save(tx, mine, name, InboxFilters())
        except saved_views.TooManyViews:
            return False
        return True

    assert sorted(await asyncio.gather(save("one"), save("two"))) == [False, True]


async def test_a_view_that_was_removed_can_be_taken_back(tx: Tx) -> None:
    mine, other = await profile(tx), await profile(tx, "other")
    kept = await saved_views.save(tx, mine, "Good", InboxFilters(least_score=85))
    with pytest.raises(NotFound):
        await saved_views.remove(tx, other, kept.id)
    await saved_views.remove(tx, mine, kept.id, actor="ada")
    assert await saved_views.find_all(tx, mine) == []
    with pytest.raises(NotFound):
        await saved_views.find_by_name(tx, mine, "Good")
    assert (await saved_views.restore(tx, mine, kept.id)).filters == kept.filters
    assert await saved_views.find_all(tx, mine) == [kept]


async def test_it_is_not_taken_back_where_its_name_was_given_away(tx: Tx) -> None:
    mine = await profile(tx)
    kept = await saved_views.save(tx, mine, "Good", InboxFilters(least_score=85))
    await saved_views.remove(tx, mine, kept.id)
    again = await saved_views.save(tx, mine, "Good", InboxFilters("saved"))
    with pytest.raises(Conflict, match="already"):
        await saved_views.restore(tx, mine, kept.id)
    assert await saved_views.find_all(tx, mine) == [again]


async def test_what_was_removed_long_ago_is_gone(tx: Tx) -> None:
    mine = await profile(tx)
    old, new = [await saved_views.save(tx, mine, name, InboxFilters()) for name in ("Old", "New")]
    await saved_views.remove(tx, mine, old.id)
    await tx.execute(
        "UPDATE matching.view SET removed_at = now() - interval '8 days' WHERE id = %s", [old.id]
    )
    await saved_views.remove(tx, mine, new.id)
    with pytest.raises(NotFound):
        await saved_views.restore(tx, mine, old.id)
    assert await saved_views.restore(tx, mine, new.id)

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


async def test_a_view_stores_its_filters_under_a_name(tx: Tx) -> None:
    profile_id = await profile(tx)
    filters = InboxFilters("saved", 85, "remote", "pump -valve", newest=True)
    view = await saved_views.save(tx, profile_id, "  Good   ones ", filters, actor="ada")
    assert (view.name, view.filters, view.created_by) == ("Good ones", filters, "ada")
    assert await saved_views.find_all(tx, profile_id) == [view]
    assert await saved_views.find_by_name(tx, profile_id, "good ONES") == view


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
        return [match.id for match in await matches.find(tx, filters.to_query(place.profile))]

    assert await found(InboxFilters()) == [high, low]
    assert await found(InboxFilters(min_score=90)) == [high]
    assert await found(InboxFilters("dismissed")) == [saved]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\0b", "a\u202eb"])
async def test_invalid_view_names_are_refused(tx: Tx, name: str) -> None:
    with pytest.raises(Invalid):
        await saved_views.save(tx, await profile(tx), name, InboxFilters())


async def test_words_that_are_too_long_are_refused(tx: Tx) -> None:
    with pytest.raises(Invalid):
        await saved_views.save(tx, await profile(tx), "Long", InboxFilters(words="x" * 201))


async def test_a_name_is_taken_once_for_a_profile(tx: Tx) -> None:
    profile_id, other = await profile(tx), await profile(tx, "other")
    await saved_views.save(tx, profile_id, "Good", InboxFilters())
    with pytest.raises(Conflict, match="already"):
        await saved_views.save(tx, profile_id, "gOOd", InboxFilters())
    await saved_views.save(tx, other, "Good", InboxFilters())
    assert len(await saved_views.find_all(tx, profile_id)) == 1


async def test_the_limit_of_views_holds_for_concurrent_saves(database: Database) -> None:
    async with database.transaction() as tx:
        profile_id = await profile(tx)
        for number in range(MAX_VIEWS - 1):
            await saved_views.save(tx, profile_id, f"view {number}", InboxFilters())

    async def save(name: str) -> bool:
        try:
            async with database.transaction() as tx:
                await saved_views.save(tx, profile_id, name, InboxFilters())
        except saved_views.TooManyViews:
            return False
        return True

    assert sorted(await asyncio.gather(save("one"), save("two"))) == [False, True]


async def test_a_removed_view_can_be_restored(tx: Tx) -> None:
    profile_id, other = await profile(tx), await profile(tx, "other")
    view = await saved_views.save(tx, profile_id, "Good", InboxFilters(min_score=85))
    with pytest.raises(NotFound):
        await saved_views.remove(tx, other, view.id)
    await saved_views.remove(tx, profile_id, view.id, actor="ada")
    assert await saved_views.find_all(tx, profile_id) == []
    with pytest.raises(NotFound):
        await saved_views.find_by_name(tx, profile_id, "Good")
    assert (await saved_views.restore(tx, profile_id, view.id)).filters == view.filters
    assert await saved_views.find_all(tx, profile_id) == [view]


async def test_a_view_is_not_restored_if_its_name_is_taken(tx: Tx) -> None:
    profile_id = await profile(tx)
    view = await saved_views.save(tx, profile_id, "Good", InboxFilters(min_score=85))
    await saved_views.remove(tx, profile_id, view.id)
    again = await saved_views.save(tx, profile_id, "Good", InboxFilters("saved"))
    with pytest.raises(Conflict, match="already"):
        await saved_views.restore(tx, profile_id, view.id)
    assert await saved_views.find_all(tx, profile_id) == [again]


async def test_views_removed_long_ago_are_deleted(tx: Tx) -> None:
    profile_id = await profile(tx)
    old, new = [
        await saved_views.save(tx, profile_id, name, InboxFilters()) for name in ("Old", "New")
    ]
    await saved_views.remove(tx, profile_id, old.id)
    await tx.execute(
        "UPDATE matching.view SET removed_at = now() - interval '8 days' WHERE id = %s", [old.id]
    )
    await saved_views.remove(tx, profile_id, new.id)
    with pytest.raises(NotFound):
        await saved_views.restore(tx, profile_id, old.id)
    assert await saved_views.restore(tx, profile_id, new.id)

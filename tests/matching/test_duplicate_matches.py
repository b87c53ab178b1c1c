"""A list of matches shows a vacancy once, even if several sources post it."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.catalog import duplicate_links
from jobmill.catalog.listings import ListingId
from jobmill.db import Tx
from jobmill.matching import duplicate_matches, inbox, matches
from jobmill.matching.matches import MatchId, MatchQuery, Status
from jobmill.matching.profiles import ProfileId
from tests.catalog import helpers

from . import judged

MANY = 1_000


async def fill(tx: Tx, *scores: int, **more: Any) -> tuple[judged.Place, list[MatchId]]:
    """Matches with these scores; every listing but the first is a duplicate of the first."""
    place = await judged.make(tx, listings=len(scores), **more)
    made: list[MatchId] = []
    for listing, score in zip(place.listings, scores, strict=True):
        made.append(MatchId(await matches.save_verdict(tx, place.word(score, listing)) or 0))
        if listing != place.listing:
            await duplicate_links.link(tx, listing, place.listing)
    return place, made


async def listed(tx: Tx, profile: ProfileId, status: Status = "new", **more: Any) -> list[int]:
    """The matches that a list shows; its tab shows the same number."""
    page = await inbox.read_page(tx, MatchQuery(profile, statuses=[status], **more))
    if not more:
        counts = {
            match.status: match.count
            for match in await matches.count_shown(tx, profile, limit=MANY)
        }
        assert counts[status] == len(page.matches)
    return [match.id for match in page.matches]


@pytest.mark.parametrize(
    ("scores", "best"), [((85, 91), 1), ((91, 85), 0), ((88, 88), 0), ((85, 88, 91), 2)]
)
async def test_of_untouched_duplicates_the_best_is_listed(
    tx: Tx, scores: tuple[int, ...], best: int
) -> None:
    place, made = await fill(tx, *scores)
    assert await listed(tx, place.profile) == [made[best]]
    assert await listed(tx, place.profile, order="newest") == [made[best]]
    assert len(await listed(tx, place.profile, include_duplicates=True)) == len(scores)
    assert (await matches.get(tx, made[1 - min(best, 1)])).status == "new"


@pytest.mark.parametrize("status", ["saved", "applied", "dismissed"])
async def test_a_status_on_a_duplicate_counts_for_all_and_can_be_undone(
    tx: Tx, status: Status
) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, status)
    assert await listed(tx, place.profile) == []
    assert await listed(tx, place.profile, status) == [low]
    await matches.undo_status(tx, low)
    assert await listed(tx, place.profile) == [high]


async def test_matches_that_a_person_touched_are_never_hidden(tx: Tx) -> None:
    place, (first, other, _) = await fill(tx, 85, 91, 95)
    await matches.set_status(tx, first, "saved")
    await matches.set_status(tx, other, "dismissed")
    assert await listed(tx, place.profile, "saved") == [first]
    assert await listed(tx, place.profile, "dismissed") == [other]
    assert await listed(tx, place.profile) == []


async def test_a_closed_duplicate_hides_nothing(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await judged.close(tx, place.listings[1])
    assert await listed(tx, place.profile) == [low]
    assert await listed(tx, place.profile, include_closed=True) == [low]
    await judged.close(tx, place.listings[0])
    assert await listed(tx, place.profile, include_closed=True) == [high]


async def test_a_dropped_duplicate_hides_nothing(tx: Tx) -> None:
    place, (low, _) = await fill(tx, 85, 91)
    await matches.save_verdict(tx, place.word(10, place.listings[1]))
    assert await listed(tx, place.profile) == [low]


async def test_an_unlinked_duplicate_is_listed_again(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await duplicate_links.unlink(tx, place.listings[1])
    assert await listed(tx, place.profile) == [high, low]


async def test_a_match_of_another_profile_hides_nothing(tx: Tx) -> None:
    place = await judged.make(tx, listings=2)
    other = await judged.make(tx, postings=[helpers.posting(3)], name="other")
    first, second = place.listings
    await duplicate_links.link(tx, second, first)
    await matches.save_verdict(tx, judged.Place(other.profile, [second]).word(95))
    match_id = await matches.save_verdict(tx, place.word(85, first))
    assert await listed(tx, place.profile) == [match_id]


@pytest.mark.parametrize(("places", "shown"), [(("Porto", "Lisbon"), 2), (("Porto", "PORTO"), 1)])
async def test_the_same_role_in_another_location_is_listed_separately(
    tx: Tx, places: tuple[str, str], shown: int
) -> None:
    postings = [
        helpers.posting(number, location=location) for number, location in enumerate(places, 1)
    ]
    place, made = await fill(tx, 85, 91, postings=postings)
    await _call(tx, place.listings[1], "multi_location")
    assert len(await listed(tx, place.profile)) == shown
    assert len(await duplicate_matches.find_duplicates(tx, made)) == (2 if shown == 1 else 0)


async def _call(tx: Tx, listing: ListingId, kind: str) -> None:
    await tx.execute(
        "UPDATE catalog.listing SET duplicate_kind = %s WHERE id = %s", [kind, listing]
    )


async def test_a_match_names_its_duplicates(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, "saved")
    found_matches = await duplicate_matches.find_duplicates(tx, [low, high])
    assert [(duplicate.match_id, duplicate.status) for duplicate in found_matches[high]] == [
        (low, "saved")
    ]
    assert [(duplicate.match_id, duplicate.status) for duplicate in found_matches[low]] == [
        (high, "new")
    ]
    assert found_matches[low][0].source_name.endswith(" board")
    await tx.execute("UPDATE catalog.listing SET source_id = NULL")
    assert (await duplicate_matches.find_duplicates(tx, [low]))[low][
        0
    ].source_name == "boards.example"
    await judged.close(tx, *place.listings)
    # A duplicate that the person applied to is named even if it is closed.
    assert list(await duplicate_matches.find_duplicates(tx, [low, high])) == [high]


async def test_unjudged_duplicates_are_named_up_to_a_limit(tx: Tx) -> None:
    place = await judged.make(tx, listings=duplicate_matches.MAX_DUPLICATES + 3)
    first, *others = place.listings
    id = MatchId(await matches.save_verdict(tx, place.word(91, first)) or 0)
    for other in others:
        await duplicate_links.link(tx, other, first)
    found_matches = (await duplicate_matches.find_duplicates(tx, [id]))[id]
    assert [other.listing_id for other in found_matches] == others[
        : duplicate_matches.MAX_DUPLICATES
    ]
    assert {other.match_id for other in found_matches} == {None}


async def test_a_filter_finds_a_match_although_a_better_duplicate_lacks_it(
    tx: Tx,
) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await tx.execute(
        "UPDATE catalog.listing SET arrangement = CASE id WHEN %s THEN 'remote' END",
        [place.listing],
    )
    assert await listed(tx, place.profile, arrangement="remote") == [low]
    assert await listed(tx, place.profile, min_score=80) == [high]
    # A search for words shows all matches that contain them.
    assert await listed(tx, place.profile, q="engineer") == [high, low]


async def test_of_open_and_closed_duplicates_the_one_above_the_limit_is_listed(tx: Tx) -> None:
    place, (_, high) = await fill(tx, 85, 91)
    await judged.close(tx, place.listings[1])
    assert await listed(tx, place.profile, include_closed=True, min_score=90) == [high]


async def test_a_note_keeps_a_duplicate_visible(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, "new", note="call Ann")
    assert await listed(tx, place.profile) == [high, low]

"""One vacancy that several sources tell of stands once in a list of matches."""

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
    """Matches with these scores, of listings of which all but the first repeat it."""
    place = await judged.make(tx, listings=len(scores), **more)
    made: list[MatchId] = []
    for listing, score in zip(place.listings, scores, strict=True):
        made.append(MatchId(await matches.save_verdict(tx, place.word(score, listing)) or 0))
        if listing != place.listing:
            await duplicate_links.link(tx, listing, place.listing)
    return place, made


async def listed(tx: Tx, profile: ProfileId, status: Status = "new", **more: Any) -> list[int]:
    """What a list shows; its tab says as many."""
    page = await inbox.read_page(tx, MatchQuery(profile, statuses=[status], **more))
    if not more:
        counts = {
            one.status: one.count for one in await matches.count_shown(tx, profile, limit=MANY)
        }
        assert counts[status] == len(page.matches)
    return [one.id for one in page.matches]


@pytest.mark.parametrize(
    ("scores", "best"), [((85, 91), 1), ((91, 85), 0), ((88, 88), 0), ((85, 88, 91), 2)]
)
async def test_of_copies_that_nobody_spoke_of_the_best_is_listed(
    tx: Tx, scores: tuple[int, ...], best: int
) -> None:
    place, made = await fill(tx, *scores)
    assert await listed(tx, place.profile) == [made[best]]
    assert await listed(tx, place.profile, order="newest") == [made[best]]
    assert len(await listed(tx, place.profile, include_duplicates=True)) == len(scores)
    assert (await matches.get(tx, made[1 - min(best, 1)])).status == "new"


@pytest.mark.parametrize("status", ["saved", "applied", "dismissed"])
async def test_what_a_person_said_of_a_copy_stands_for_all_and_can_be_undone(
    tx: Tx, status: Status
) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, status)
    assert await listed(tx, place.profile) == []
    assert await listed(tx, place.profile, status) == [low]
    await matches.undo_status(tx, low)
    assert await listed(tx, place.profile) == [high]


async def test_nothing_that_a_person_said_is_hidden(tx: Tx) -> None:
    place, (one, other, _) = await fill(tx, 85, 91, 95)
    await matches.set_status(tx, one, "saved")
    await matches.set_status(tx, other, "dismissed")
    assert await listed(tx, place.profile, "saved") == [one]
    assert await listed(tx, place.profile, "dismissed") == [other]
    assert await listed(tx, place.profile) == []


async def test_a_copy_that_is_gone_hides_nothing(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await judged.close(tx, place.listings[1])
    assert await listed(tx, place.profile) == [low]
    assert await listed(tx, place.profile, include_closed=True) == [low]
    await judged.close(tx, place.listings[0])
    assert await listed(tx, place.profile, include_closed=True) == [high]


async def test_a_copy_that_fits_no_longer_hides_nothing(tx: Tx) -> None:
    place, (low, _) = await fill(tx, 85, 91)
    await matches.save_verdict(tx, place.word(10, place.listings[1]))
    assert await listed(tx, place.profile) == [low]


async def test_what_is_unlinked_is_listed_again(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await duplicate_links.unlink(tx, place.listings[1])
    assert await listed(tx, place.profile) == [high, low]


async def test_a_match_of_somebody_else_hides_nothing(tx: Tx) -> None:
    place = await judged.make(tx, listings=2)
    other = await judged.make(tx, postings=[helpers.posting(3)], name="other")
    one, two = place.listings
    await duplicate_links.link(tx, two, one)
    await matches.save_verdict(tx, judged.Place(other.profile, [two]).word(95))
    mine = await matches.save_verdict(tx, place.word(85, one))
    assert await listed(tx, place.profile) == [mine]


@pytest.mark.parametrize(("places", "shown"), [(("Porto", "Lisbon"), 2), (("Porto", "PORTO"), 1)])
async def test_the_same_work_at_another_place_is_another_offer(
    tx: Tx, places: tuple[str, str], shown: int
) -> None:
    postings = [helpers.posting(number, location=one) for number, one in enumerate(places, 1)]
    place, made = await fill(tx, 85, 91, postings=postings)
    await _call(tx, place.listings[1], "multi_location")
    assert len(await listed(tx, place.profile)) == shown
    assert len(await duplicate_matches.find_duplicates(tx, made)) == (2 if shown == 1 else 0)


async def _call(tx: Tx, listing: ListingId, kind: str) -> None:
    await tx.execute(
        "UPDATE catalog.listing SET duplicate_kind = %s WHERE id = %s", [kind, listing]
    )


async def test_a_match_says_where_else_its_vacancy_stands(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, "saved")
    found = await duplicate_matches.find_duplicates(tx, [low, high])
    assert [(one.match_id, one.status) for one in found[high]] == [(low, "saved")]
    assert [(one.match_id, one.status) for one in found[low]] == [(high, "new")]
    assert found[low][0].source_name.endswith(" board")
    await tx.execute("UPDATE catalog.listing SET source_id = NULL")
    assert (await duplicate_matches.find_duplicates(tx, [low]))[low][
        0
    ].source_name == "boards.example"
    await judged.close(tx, *place.listings)
    # What one applied for is told of when it is closed, too.
    assert list(await duplicate_matches.find_duplicates(tx, [low, high])) == [high]


async def test_a_copy_that_was_never_judged_is_told_of_and_no_more_than_a_few(tx: Tx) -> None:
    place = await judged.make(tx, listings=duplicate_matches.MAX_DUPLICATES + 3)
    first, *others = place.listings
    id = MatchId(await matches.save_verdict(tx, place.word(91, first)) or 0)
    for one in others:
        await duplicate_links.link(tx, one, first)
    found = (await duplicate_matches.find_duplicates(tx, [id]))[id]
    assert [one.listing_id for one in found] == others[: duplicate_matches.MAX_DUPLICATES]
    assert {one.match_id for one in found} == {None}


async def test_what_a_list_asks_for_is_found_also_where_a_better_copy_does_not_have_it(
    tx: Tx,
) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await tx.execute(
        "UPDATE catalog.listing SET arrangement = CASE id WHEN %s THEN 'remote' END",
        [place.listing],
    )
    assert await listed(tx, place.profile, arrangement="remote") == [low]
    assert await listed(tx, place.profile, least_score=80) == [high]
    # Who asks for words sees all that hold them.
    assert await listed(tx, place.profile, q="engineer") == [high, low]


async def test_of_open_and_closed_the_one_that_is_good_enough_is_listed(tx: Tx) -> None:
    place, (_, high) = await fill(tx, 85, 91)
    await judged.close(tx, place.listings[1])
    assert await listed(tx, place.profile, include_closed=True, least_score=90) == [high]


async def test_a_note_on_a_copy_keeps_it_in_sight(tx: Tx) -> None:
    place, (low, high) = await fill(tx, 85, 91)
    await matches.set_status(tx, low, "new", note="call Ann")
    assert await listed(tx, place.profile) == [high, low]

"""Verdicts: the newest word on each listing, and what they add up to."""

from __future__ import annotations

import pytest

from jobmill.catalog.listings import ListingId
from jobmill.db import Database, Tx
from jobmill.matching import profiles, verdicts
from jobmill.matching.profile import Profile
from jobmill.matching.verdicts import Verdict
from tests.catalog import helpers as catalog
from tests.matching import judged


async def saved(tx: Tx, word: Verdict) -> Verdict:
    assert await verdicts.save(tx, word)
    found = await verdicts.get(tx, word.profile_id, word.listing_id)
    assert found is not None
    return found


async def test_what_was_said_is_read_as_it_was_said(tx: Tx) -> None:
    place = await judged.make(tx)
    assert await verdicts.get(tx, place.profile, place.listing) is None
    for word in (
        place.word(91, scored_by="claude", dropped_claims=("skills: Rust",), local_score=84),
        place.word(40),
        place.filtered(why=judged.STRUCK),
        place.filtered(why=judged.REJECTED),
    ):
        found = await saved(tx, word)
        assert found.judged_at is not None
        assert (found.outcome, found.score, found.local_score) == (
            word.outcome, word.score, word.local_score,
        )  # fmt: skip
        assert (found.filter_result, found.match_result) == (word.filter_result, word.match_result)


async def test_the_newest_word_stands_and_each_has_its_own(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    other = await judged.make(tx, name="night", listings=0, postings=[catalog.posting(9)])
    first, second, third = place.listings
    await verdicts.save(tx, place.word(91, first))
    await verdicts.save(tx, place.filtered(first))
    await verdicts.save(tx, place.word(85, second, local_score=70))
    await verdicts.save(tx, other.word(99, second))
    found = await verdicts.read_summaries(tx, place.profile, [first, second, third])
    assert {id: (one.outcome, one.score, one.local_score) for id, one in found.items()} == {
        first: ("filtered", None, None),
        second: ("matched", 85, 70),
    }


async def test_an_older_version_is_not_heard(tx: Tx) -> None:
    place = await judged.make(tx)
    await profiles.save(tx, "main", Profile(titles=("Diver",)))
    await saved(tx, place.word(91, version=2))
    assert not await verdicts.save(tx, place.filtered())
    found = await verdicts.get(tx, place.profile, place.listing)
    assert found is not None
    assert (found.profile_version, found.score) == (2, 91)


@pytest.mark.parametrize("newer_first", [True, False])
async def test_of_two_at_once_the_newer_version_stands(
    database: Database, newer_first: bool
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        await profiles.save(tx, "main", Profile(titles=("Diver",)))
    words = [place.filtered(version=2), place.word(91)]
    first, second = words if newer_first else words[::-1]
    answers = await catalog.overlap(
        database, lambda tx: verdicts.save(tx, first), lambda tx: verdicts.save(tx, second)
    )
    assert answers == [True, not newer_first]
    async with database.transaction() as tx:
        found = await verdicts.read_summaries(tx, place.profile, [place.listing])
    assert found[place.listing].outcome == "filtered"


async def test_a_listing_that_is_gone_meanwhile_has_no_verdict(tx: Tx) -> None:
    place = await judged.make(tx)
    assert not await verdicts.save(tx, place.word(91, ListingId(place.listing + 1)))


async def test_outcomes_are_counted(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    for listing, score in zip(place.listings, (91, 85, 40), strict=False):
        await verdicts.save(tx, place.word(score, listing))
    await verdicts.save(tx, place.filtered(place.listings[3]))
    counted = {one.outcome: one.count for one in await verdicts.count_by_outcome(tx, place.profile)}
    assert counted == {"filtered": 1, "skipped": 1, "matched": 2}
    assert await verdicts.count_by_outcome(tx, place.profile + 1) == []


async def test_the_rules_that_turn_most_down_come_first(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    whys = (judged.STRUCK, judged.REJECTED, judged.REJECTED)
    for listing, why in zip(place.listings, whys, strict=False):
        await verdicts.save(tx, place.filtered(listing, why=why))
    await verdicts.save(tx, place.word(91, place.listings[3]))
    found = [
        (one.rule, one.kind, one.count) for one in await verdicts.count_by_rule(tx, place.profile)
    ]
    assert found == [
        ("arrangement", "rejection", 2),
        ("location", "strike", 1),
        ("seniority", "strike", 1),
    ]
    assert len(await verdicts.count_by_rule(tx, place.profile, limit=1)) == 1

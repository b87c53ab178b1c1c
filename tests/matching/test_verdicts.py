"""Stored verdicts: the latest on each listing, and their counts."""

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
    verdict = await verdicts.get(tx, word.profile_id, word.listing_id)
    assert verdict is not None
    return verdict


async def test_a_stored_verdict_is_read_back_unchanged(tx: Tx) -> None:
    place = await judged.make(tx)
    assert await verdicts.get(tx, place.profile, place.listing) is None
    for word in (
        place.word(91, scored_by="claude", dropped_claims=("skills: Rust",), local_score=84),
        place.word(40),
        place.filtered(why=judged.STRUCK),
        place.filtered(why=judged.REJECTED),
    ):
        verdict = await saved(tx, word)
        assert verdict.judged_at is not None
        assert (verdict.outcome, verdict.score, verdict.local_score) == (
            word.outcome, word.score, word.local_score,
        )  # fmt: skip
        assert (verdict.filter_result, verdict.match_result) == (
            word.filter_result,
            word.match_result,
        )


async def test_the_newest_verdict_replaces_older_ones_per_listing(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    other = await judged.make(tx, name="night", listings=0, postings=[catalog.posting(9)])
    first, second, third = place.listings
    await verdicts.save(tx, place.word(91, first))
    await verdicts.save(tx, place.filtered(first))
    await verdicts.save(tx, place.word(85, second, local_score=70))
    await verdicts.save(tx, other.word(99, second))
    summaries = await verdicts.read_summaries(tx, place.profile, [first, second, third])
    assert {id: (item.outcome, item.score, item.local_score) for id, item in summaries.items()} == {
        first: ("filtered", None, None),
        second: ("matched", 85, 70),
    }


async def test_a_verdict_of_an_older_version_is_ignored(tx: Tx) -> None:
    place = await judged.make(tx)
    await profiles.save(tx, "main", Profile(titles=("Diver",)))
    await saved(tx, place.word(91, version=2))
    assert not await verdicts.save(tx, place.filtered())
    verdict = await verdicts.get(tx, place.profile, place.listing)
    assert verdict is not None
    assert (verdict.profile_version, verdict.score) == (2, 91)


@pytest.mark.parametrize("newer_first", [True, False])
async def test_of_concurrent_verdicts_the_newer_version_wins(
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
        summaries = await verdicts.read_summaries(tx, place.profile, [place.listing])
    assert summaries[place.listing].outcome == "filtered"


async def test_a_deleted_listing_gets_no_verdict(tx: Tx) -> None:
    place = await judged.make(tx)
    assert not await verdicts.save(tx, place.word(91, ListingId(place.listing + 1)))


async def test_outcomes_are_counted(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    for listing, score in zip(place.listings, (91, 85, 40), strict=False):
        await verdicts.save(tx, place.word(score, listing))
    await verdicts.save(tx, place.filtered(place.listings[3]))
    counted = {
        count.outcome: count.count for count in await verdicts.count_by_outcome(tx, place.profile)
    }
    assert counted == {"filtered": 1, "skipped": 1, "matched": 2}
    assert await verdicts.count_by_outcome(tx, place.profile + 1) == []


async def test_rules_with_most_rejections_come_first(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    whys = (judged.STRUCK, judged.REJECTED, judged.REJECTED)
    for listing, why in zip(place.listings, whys, strict=False):
        await verdicts.save(tx, place.filtered(listing, why=why))
    await verdicts.save(tx, place.word(91, place.listings[3]))
    counts = [
        (count.rule, count.kind, count.count)
        for count in await verdicts.count_by_rule(tx, place.profile)
    ]
    assert counts == [
        ("arrangement", "rejection", 2),
        ("location", "strike", 1),
        ("seniority", "strike", 1),
    ]
    assert len(await verdicts.count_by_rule(tx, place.profile, limit=1)) == 1

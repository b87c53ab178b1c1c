"""Preview of what another version of a profile would change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Posting
from jobmill.db import Database, Tx
from jobmill.matching import matches, rescore, verdicts
from jobmill.matching.local_verdict import LocalVerdict
from jobmill.matching.profile import Profile
from jobmill.matching.rescore import Kind, ScoredOutcome, VerdictChange
from jobmill.matching.verdicts import Outcome, VerdictSummary
from tests.catalog import helpers
from tests.matching import judged
from tests.queue.helpers import fetch

NEVER = ScoredOutcome()
FILTERED = ScoredOutcome("filtered")


def skipped(score: int) -> ScoredOutcome:
    return ScoredOutcome("skipped", score)


def matched(score: int) -> ScoredOutcome:
    return ScoredOutcome("matched", score)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (NEVER, matched(80), "in"),
        (NEVER, skipped(70), "other"),
        (NEVER, FILTERED, "other"),
        (FILTERED, matched(80), "in"),
        (FILTERED, skipped(70), "other"),
        (FILTERED, FILTERED, "same"),
        (skipped(70), matched(80), "in"),
        (skipped(70), skipped(71), "other"),
        (skipped(70), skipped(70), "same"),
        (skipped(70), FILTERED, "other"),
        (matched(80), matched(81), "moved"),
        (matched(80), matched(80), "same"),
        (matched(80), skipped(79), "out"),
        (matched(80), FILTERED, "out"),
    ],
)
def test_changes_are_classified_by_their_effect_on_the_list(
    before: ScoredOutcome, after: ScoredOutcome, kind: Kind
) -> None:
    assert rescore.classify_change(before, after) == kind


def brief(outcome: Outcome, score: int | None, local: int | None) -> VerdictSummary:
    return VerdictSummary(ListingId(1), 1, outcome, score, local, False)


@pytest.mark.parametrize(
    ("stored", "local", "predicted"),
    [
        (None, 82, matched(82)),
        (None, 79, skipped(79)),
        (brief("filtered", None, None), 82, matched(82)),
        (brief("matched", 85, 85), 82, matched(82)),
        (brief("skipped", 70, 70), 82, matched(82)),
        # A model gave 91 for a local score of 86; its score moves by the same amount.
        (brief("matched", 91, 86), 82, matched(87)),
        (brief("matched", 91, 86), 70, skipped(75)),
        (brief("skipped", 60, 86), 90, skipped(64)),
        (brief("matched", 98, 80), 100, matched(100)),
        (brief("skipped", 5, 80), 60, skipped(0)),
    ],
)
def test_a_models_score_is_predicted_to_move_with_the_local_score(
    stored: VerdictSummary | None, local: int, predicted: ScoredOutcome
) -> None:
    verdict = LocalVerdict(judged.PASSED, judged.result(local))
    assert rescore.predict_outcome(stored, verdict) == predicted


def test_a_filtered_listing_has_no_score() -> None:
    verdict = LocalVerdict(judged.STRUCK, None)
    assert rescore.predict_outcome(brief("matched", 91, 86), verdict) == FILTERED


WORDS = (
    "Requirements: 5+ years of experience with Python. Strong PostgreSQL. You build services that "
    "move freight data, and you look after them together with two colleagues. Reference {id}."
)


def offer(id: int, title: str = "Senior Backend Engineer", **facts: object) -> Posting:
    facts.setdefault("arrangement", "remote")
    facts.setdefault("location", "Remote, US")
    facts.setdefault("description", WORDS.format(id=id))
    return helpers.posting(id, title, **facts)


def profile(**changed: object) -> Profile:
    """No text, because computing its embedding takes a while."""
    return Profile(seniority=("senior",)).model_copy(update=changed)


async def compared(
    database: Database, place: judged.Place, other: Profile
) -> dict[int, VerdictChange]:
    return {
        change.listing_id: change
        async for change in rescore.compare_open_listings(
            database, place.profile, other, PLATFORM_RULES
        )
    }


async def make(tx: Tx, *postings: Posting) -> judged.Place:
    return await judged.make(tx, postings=postings, profile=profile())


async def test_every_open_listing_is_compared_and_nothing_is_stored(database: Database) -> None:
    async with database.transaction() as tx:
        place = await make(tx, offer(1), offer(2), offer(3), offer(4, location="Lyon, France"))
        await judged.close(tx, place.listings[2])
    changes = await compared(database, place, profile())
    assert set(changes) == {place.listings[0], place.listings[1], place.listings[3]}
    assert {change.before for change in changes.values()} == {NEVER}
    first = changes[place.listings[0]]
    assert (first.title, first.company) == ("Senior Backend Engineer", "Wells & Co")
    assert first.after.score is not None
    assert await fetch(database, "SELECT count(*) FROM matching.verdict") == [0]
    assert await fetch(database, "SELECT count(*) FROM matching.judging_queue") == [0]


async def test_changes_are_reported_against_the_stored_verdicts(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        place = await make(tx, *(offer(id) for id in range(1, 5)))
    scores = {
        id: item.after.score for id, item in (await compared(database, place, profile())).items()
    }
    first, second, third, fourth = place.listings
    now = scores[first]
    assert now is not None
    async with database.transaction() as tx:
        id = await matches.save_verdict(tx, place.word(now, first, threshold=0))
        assert id is not None
        await matches.save_verdict(tx, place.word(now - 1, second, threshold=0))
        await matches.save_verdict(tx, place.word(now, third, threshold=100))
        await matches.save_verdict(tx, place.filtered(fourth))
        await matches.set_status(tx, id, "applied")
    low = profile().rules.match.model_copy(update={"score": 0, "with_home_city": 0})
    rules = profile().rules.model_copy(update={"match": low})
    changes = await compared(database, place, profile(rules=rules))
    assert [changes[id].kind for id in place.listings] == ["same", "moved", "in", "in"]
    assert [changes[id].status for id in place.listings] == ["applied", None, None, None]
    high = low.model_copy(update={"score": 100, "with_home_city": 100})
    rules = profile().rules.model_copy(update={"match": high})
    changes = await compared(database, place, profile(rules=rules))
    assert [changes[id].kind for id in place.listings] == ["out", "out", "same", "other"]
    async with database.transaction() as tx:
        assert (await matches.get(tx, id)).status == "applied"


async def test_forced_listings_and_duplicates_are_not_compared(database: Database) -> None:
    async with database.transaction() as tx:
        place = await make(tx, offer(1), offer(2), offer(3), offer(4))
        await verdicts.save(tx, replace(place.word(20), forced=True))
        await tx.execute(
            "UPDATE catalog.listing SET duplicate_of = %s, duplicate_kind = 'repost',"
            " duplicate_why = 'the same text' WHERE id = %s",
            [place.listings[0], place.listings[1]],
        )
        await tx.execute(
            "UPDATE catalog.listing SET duplicate_of = %s, duplicate_kind = 'multi_location',"
            " duplicate_why = 'the same text' WHERE id = %s",
            [place.listings[0], place.listings[2]],
        )
    assert set(await compared(database, place, profile())) == set(place.listings[2:])


async def test_more_than_a_page_is_compared_once_each(database: Database) -> None:
    async with database.transaction() as tx:
        place = await make(tx, *(offer(id) for id in range(1, rescore.PAGE_SIZE + 6)))
    changes = rescore.compare_open_listings(database, place.profile, profile(), PLATFORM_RULES)
    ids = [change.listing_id async for change in changes]
    assert sorted(ids) == sorted(place.listings)

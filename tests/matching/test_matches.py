"""Matches are saved from verdicts, and judging never overwrites a person's status."""

from __future__ import annotations

import asyncio
import datetime as dt
from itertools import permutations

import pytest

from jobmill.catalog import listings
from jobmill.db import Database, Tx
from jobmill.errors import Conflict, NotFound
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchId, MatchQuery, Status
from jobmill.matching.profile import Profile
from tests.catalog import helpers as catalog
from tests.matching import judged

SPOKEN: list[Status] = ["saved", "applied", "interviewing", "offer", "rejected", "dismissed"]


async def told(tx: Tx, id: int) -> list[str]:
    return [event.what for event in await matches.read_events(tx, id)]


async def test_a_fitting_listing_is_saved_as_a_complete_match(tx: Tx) -> None:
    place = await judged.make(tx)
    id = await matches.save_verdict(tx, place.word(91), scrape_method="greenhouse")
    assert id is not None
    match = await matches.get(tx, id)
    assert (match.match_score, match.application_priority, match.status) == (91, "High", "new")
    assert (match.profile, match.profile_version, match.scored_by) == ("main", 1, "local")
    assert (match.title, match.company, match.scrape_method) == (
        "Pump Engineer", "Wells & Co", "greenhouse",
    )  # fmt: skip
    assert match.company_id is not None
    assert match.matched_skills == ["Python"]
    assert match.skill_gaps == ["Go"]
    assert match.resume_intake["professional_summary"] == "Keeps water running."
    assert sum(item["points"] for item in match.items) == 91
    (event,) = await matches.read_events(tx, id)
    assert (event.what, event.data) == ("created", {"score": 91, "version": 1})


async def test_a_listing_that_does_not_fit_is_not_a_match(tx: Tx) -> None:
    place = await judged.make(tx)
    assert await matches.save_verdict(tx, place.word(40)) is None
    assert await matches.save_verdict(tx, place.filtered()) is None
    assert (
        await matches.find(tx, MatchQuery(place.profile, include_closed=True, include_dropped=True))
        == []
    )


async def test_judged_again_it_is_the_same_match_with_the_new_score(tx: Tx) -> None:
    place = await judged.make(tx)
    first = await matches.save_verdict(tx, place.word(91), scrape_method="greenhouse")
    assert first is not None
    assert await matches.save_verdict(tx, place.word(91)) == first
    assert await matches.save_verdict(tx, place.word(85)) == first
    match = await matches.get(tx, first)
    assert (match.match_score, match.scrape_method) == (85, "greenhouse")
    *_, last = await matches.read_events(tx, first)
    assert (last.what, last.data) == ("rescored", {"before": 91, "score": 85, "version": 1})
    assert await told(tx, first) == ["created", "rescored"]


async def test_judging_again_uses_no_ids(tx: Tx) -> None:
    place = await judged.make(tx, listings=2)
    first = await matches.save_verdict(tx, place.word(91))
    for score in (92, 40, 93):
        await matches.save_verdict(tx, place.word(score))
    assert first is not None
    assert await matches.save_verdict(tx, place.word(91, place.listings[1])) == first + 1


async def make_match(tx: Tx) -> tuple[judged.Place, MatchId]:
    place = await judged.make(tx)
    id = await matches.save_verdict(tx, place.word(91))
    assert id is not None
    return place, id


async def test_an_untouched_match_drops_out_and_may_come_back(tx: Tx) -> None:
    place, id = await make_match(tx)
    await matches.save_verdict(tx, place.word(40))
    await matches.save_verdict(tx, place.filtered())
    assert await matches.find(tx, MatchQuery(place.profile)) == []
    assert [
        match.id
        for match in await matches.find(tx, MatchQuery(place.profile, include_dropped=True))
    ] == [id]
    assert await matches.count_by_status(tx, place.profile) == []
    assert await matches.save_verdict(tx, place.word(91)) == id
    assert [match.id for match in await matches.find(tx, MatchQuery(place.profile))] == [id]
    assert await told(tx, id) == ["created", "dropped", "back"]


@pytest.mark.parametrize("status", SPOKEN)
async def test_a_status_survives_judging_in_any_order(tx: Tx, status: Status) -> None:
    place, id = await make_match(tx)
    await matches.set_status(tx, id, status, note="mine", actor="dana")
    words = [place.word(99), place.word(40), place.filtered(), place.word(82)]
    for order in permutations(words):
        for word in order:
            await matches.save_verdict(tx, word)
            match = await matches.get(tx, id)
            assert (match.status, match.note, match.status_by) == (status, "mine", "dana")
            assert match.dropped_at is None
    assert [listed.id for listed in await matches.find(tx, MatchQuery(place.profile))] == [id]


async def test_a_status_given_to_a_dropped_match_brings_it_back_for_good(tx: Tx) -> None:
    place, id = await make_match(tx)
    await matches.save_verdict(tx, place.word(40))
    await matches.set_status(tx, id, "applied")
    await matches.save_verdict(tx, place.filtered())
    assert (await matches.get(tx, id)).dropped_at is None


async def test_a_listing_with_a_status_is_kept_forever(tx: Tx) -> None:
    place, id = await make_match(tx)
    await matches.set_status(tx, id, "saved")
    assert (await listings.get(tx, place.listing)).marked_at is not None


async def test_a_status_change_is_recorded_and_can_be_undone(tx: Tx) -> None:
    _, id = await make_match(tx)
    with pytest.raises(Conflict, match="nothing to undo"):
        await matches.undo_status(tx, id)
    await matches.set_status(tx, id, "saved", actor="dana")
    await matches.set_status(tx, id, "applied", note="by mail", actor="dana")
    await matches.set_status(tx, id, "applied", note="they answered", actor="dana")
    before, after = await matches.undo_status(tx, id, actor="dana")
    assert (before.status, after.status, after.note) == ("applied", "saved", "they answered")
    before, after = await matches.undo_status(tx, id)
    assert (before.status, after.status) == ("saved", "applied")
    assert (await matches.read_events(tx, id))[1].data == {"before": "new", "after": "saved"}


async def test_the_same_status_again_is_no_change(tx: Tx) -> None:
    _, id = await make_match(tx)
    await matches.set_status(tx, id, "new")
    assert await told(tx, id) == ["created"]


async def test_a_match_that_is_not_there_has_no_status(tx: Tx) -> None:
    with pytest.raises(NotFound):
        await matches.set_status(tx, 7, "saved")
    with pytest.raises(NotFound):
        await matches.undo_status(tx, 7)


async def test_matches_are_found_by_query(tx: Tx) -> None:
    place = await judged.make(tx, listings=4)
    scores = (91, 75, 75, 60)
    ids = [
        await matches.save_verdict(tx, place.word(score, listing, threshold=50))
        for listing, score in zip(place.listings, scores, strict=True)
    ]
    a, b, c, d = (id for id in ids if id is not None)
    await matches.set_status(tx, c, "saved")
    await judged.close(tx, place.listings[1], place.listings[2])

    async def found(**filters: object) -> list[MatchId]:
        return [match.id for match in await matches.find(tx, MatchQuery(place.profile, **filters))]  # type: ignore[arg-type]

    # A match with a status is shown even if its listing is closed.
    assert await found() == [a, c, d]
    assert await found(include_closed=True) == [a, c, b, d]
    assert await found(include_closed=True, order="newest") == [d, c, b, a]
    assert await found(statuses=["saved", "applied"]) == [c]
    assert await found(priority="High") == [a]
    assert await found(min_score=75) == [a, c]
    assert await found(q='"vacancy 4"') == [d]
    assert await found(q="plumber") == []
    assert await matches.find(tx, MatchQuery(place.profile + 1)) == []
    counted = {
        count.status: count.count for count in await matches.count_by_status(tx, place.profile)
    }
    assert counted == {"new": 3, "saved": 1}
    assert await matches.read_statuses(tx, place.profile) == {place.listings[2]: "saved"}


@pytest.mark.parametrize("order", ["best", "newest"])
async def test_pages_show_each_match_once(tx: Tx, order: matches.Order) -> None:
    place = await judged.make(tx, listings=7)
    for number, listing in enumerate(place.listings):
        await matches.save_verdict(tx, place.word(80 + number % 2, listing))
    all_ids = [match.id for match in await matches.find(tx, MatchQuery(place.profile, order=order))]
    seen_ids: list[MatchId] = []
    while page := await matches.find(
        tx,
        MatchQuery(place.profile, order=order, limit=2, after=seen_ids[-1] if seen_ids else None),
    ):
        seen_ids += [match.id for match in page]
    assert seen_ids == all_ids
    assert len(seen_ids) == 7
    with pytest.raises(NotFound):
        await matches.find(tx, MatchQuery(place.profile, order=order, after=max(seen_ids) + 1))


async def test_concurrent_verdicts_make_one_match(database: Database) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
    first, second = await catalog.overlap(
        database,
        lambda tx: matches.save_verdict(tx, place.word(91)),
        lambda tx: matches.save_verdict(tx, place.word(85)),
    )
    assert first == second
    async with database.transaction() as tx:
        (match,) = await matches.find(tx, MatchQuery(place.profile))
        assert (match.id, match.match_score) == (first, 85)
        assert await told(tx, match.id) == ["created", "rescored"]


@pytest.mark.parametrize("person_first", [True, False])
async def test_a_status_set_while_it_is_judged_stays(
    database: Database, person_first: bool
) -> None:
    async with database.transaction() as tx:
        place, id = await make_match(tx)

    async def speak(tx: Tx) -> object:
        return await matches.set_status(tx, id, "saved")

    async def drop(tx: Tx) -> object:
        return await matches.save_verdict(tx, place.word(40))

    acts = (speak, drop) if person_first else (drop, speak)
    await catalog.overlap(database, *acts)
    async with database.transaction() as tx:
        match = await matches.get(tx, id)
    assert (match.status, match.dropped_at) == ("saved", None)


async def test_of_concurrent_status_changes_the_later_sees_the_first(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        _, id = await make_match(tx)
    await catalog.overlap(
        database,
        lambda tx: matches.set_status(tx, id, "saved"),
        lambda tx: matches.set_status(tx, id, "applied"),
    )
    async with database.transaction() as tx:
        events = [
            event.data for event in await matches.read_events(tx, id) if event.what == "status"
        ]
    assert events == [
        {"before": "new", "after": "saved"},
        {"before": "saved", "after": "applied"},
    ]


@pytest.mark.parametrize("newer_first", [True, False])
async def test_a_newer_version_wins_over_a_slower_older_one(
    database: Database, newer_first: bool
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        await profiles.save(tx, "main", Profile(titles=("Diver",)))
    older, newer = place.word(95), place.word(82, version=2)
    words = (newer, older) if newer_first else (older, newer)
    await catalog.overlap(
        database, *(lambda tx, word=word: matches.save_verdict(tx, word) for word in words)
    )
    async with database.transaction() as tx:
        (match,) = await matches.find(tx, MatchQuery(place.profile))
    assert (match.match_score, match.profile_version) == (82, 2)


async def test_an_older_version_does_not_drop_what_a_newer_one_found(tx: Tx) -> None:
    place = await judged.make(tx)
    await profiles.save(tx, "main", Profile(titles=("Diver",)))
    id = await matches.save_verdict(tx, place.word(82, version=2))
    assert await matches.save_verdict(tx, place.filtered()) is None
    assert [match.id for match in await matches.find(tx, MatchQuery(place.profile))] == [id]


async def test_many_concurrent_verdicts_leave_one_match_and_one_created_event(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx)

    async def save(score: int) -> None:
        async with database.transaction() as tx:
            await matches.save_verdict(tx, place.word(score))

    await asyncio.gather(*(save(score) for score in range(78, 86)))
    async with database.transaction() as tx:
        found_matches = await matches.find(tx, MatchQuery(place.profile, include_dropped=True))
        events = [what for match in found_matches for what in await told(tx, match.id)]
    assert len(found_matches) == 1
    assert events.count("created") == 1


async def test_setting_a_status_keeps_the_listing_from_being_deleted(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        _, id = await make_match(tx)
        await tx.execute("UPDATE catalog.listing SET closed_at = now() - interval '1 year'")

    async def speak(tx: Tx) -> None:
        await matches.set_status(tx, id, "saved")

    async with database.transaction() as tx:
        await matches.lock(tx, id)
        # Neither transaction waits for the other, in either order.
        async with database.transaction() as other:
            await other.execute("SET LOCAL lock_timeout = '5s'")
            assert await listings.prune(other, dt.timedelta(days=180)) == 0
        await speak(tx)
    async with database.transaction() as tx:
        assert (await matches.get(tx, id)).status == "saved"

"""A profile and everything of it belongs to one person, or to the local user."""

from __future__ import annotations

import asyncio

import pytest

from jobmill.catalog import companies, submissions
from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Conflict, NotFound
from jobmill.matching import job_search_erasure, judging_feed, matches, profiles, saved_views
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profile import Profile
from jobmill.matching.saved_views import InboxFilters
from jobmill.people import changes, persons
from jobmill.people.persons import LOCAL
from tests.matching import judged
from tests.matching.test_company_tiers import analyzed, points, profile
from tests.people.helpers import make_person

COOK, DIVER = Profile(titles=("Cook",)), Profile(titles=("Diver",))


async def count(tx: Tx, table: str) -> int:
    tables = {
        "match": "SELECT count(*) FROM matching.match",
        "event": "SELECT count(*) FROM matching.event",
        "submission": "SELECT count(*) FROM catalog.submission",
    }
    return await fetch_value(tx, int, tables[table]) or 0


async def test_names_and_defaults_are_separate_for_each_owner(database: Database) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id
    async with database.transaction() as tx:
        await profiles.save(tx, "main", COOK)
        await profiles.save(tx, "main", DIVER, owner=anna)
        await profiles.save(tx, "other", COOK, owner=anna)
        assert (await profiles.get(tx)).profile() == COOK
        assert (await profiles.get(tx, owner=anna)).profile() == DIVER
        await profiles.set_default(tx, "other", owner=anna)
        assert (await profiles.get(tx)).name == "main"
        assert (await profiles.get(tx, owner=anna)).name == "other"
        with pytest.raises(NotFound):
            await profiles.get(tx, "other")
        with pytest.raises(NotFound):
            await profiles.pause(tx, "other")
        assert [entry.name for entry in await profiles.find_all(tx)] == ["main"]
        assert len(await profiles.find_of_everyone(tx)) == 3


async def test_two_first_profiles_at_once_leave_one_default_per_owner(database: Database) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id

    async def save(number: int) -> None:
        async with database.transaction() as tx:
            await profiles.save(tx, f"p{number}", COOK, owner=anna)

    await asyncio.gather(*(save(number) for number in range(6)))
    async with database.transaction() as tx:
        summaries = await profiles.find_all(tx, owner=anna)
    assert len(summaries) == 6
    assert sum(summary.is_default for summary in summaries) == 1


async def test_a_profile_is_given_with_everything_of_it(database: Database) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id
    async with database.transaction(by="local") as tx:
        place = await judged.make(tx)
        match_id = await matches.save_verdict(tx, place.word(91))
        assert match_id is not None
        await submissions.add(tx, "https://a.example/", "job", profile_id=place.profile)
        await profiles.save(tx, "other", COOK)
        await profiles.give(tx, "main", owner=LOCAL, to=anna)
    async with database.transaction() as tx:
        assert (await profiles.get(tx)).name == "other"
        assert (await profiles.get(tx, owner=anna)).profile_id == place.profile
        assert (await matches.get(tx, match_id, owner=anna)).id == match_id
        with pytest.raises(NotFound):
            await matches.get(tx, match_id)
        assert await submissions.find(tx) == []
        assert len(await submissions.find(tx, owner=anna)) == 1
        [change] = [row for row in await changes.find_recent(tx) if row.noun == "profile"]
        assert (change.what, change.became) == ("changed", {"owner_id": anna})
        await profiles.save(tx, "main", DIVER)
        with pytest.raises(Conflict):
            await profiles.give(tx, "main", owner=LOCAL, to=anna)
        assert (await profiles.get(tx, "main")).profile() == DIVER


async def test_erasing_a_job_search_leaves_those_of_others(database: Database) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id
    async with database.transaction() as tx:
        own = await judged.make(tx, owner=anna)
        await matches.save_verdict(tx, own.word(91))
        await saved_views.save(tx, own.profile, "Good ones", InboxFilters("saved"))
        await judging_feed.add(tx, own.listings, profile_id=own.profile)
        for owner in (anna, LOCAL):
            await submissions.add(tx, "https://a.example/", "job", owner=owner)
        await profiles.save(tx, "main", COOK)
        local = (await profiles.get(tx)).profile_id
        await matches.save_verdict(tx, judged.Place(local, own.listings).word(92))
        assert (await count(tx, "match"), await count(tx, "submission")) == (2, 2)
        assert await job_search_erasure.erase_search(tx, anna) == 1
    async with database.transaction() as tx:
        counts = [await count(tx, table) for table in ("match", "event", "submission")]
        assert counts == [1, 1, 1]
        assert await profiles.find_all(tx, owner=anna) == []
        assert len(await matches.find(tx, MatchQuery(local))) == 1
        [change] = [row for row in await changes.find_recent(tx) if row.noun == "profile"]
        assert (change.what, change.was["name"]) == ("removed", "…")
        assert await job_search_erasure.erase_search(tx, anna) == 0


async def test_nothing_is_scored_for_a_person_without_access(database: Database) -> None:
    person = await make_person(database, "anna@example.org", "seeker")
    async with database.transaction() as tx:
        place = await judged.make(tx, owner=person.id)
        await judging_feed.add(tx, place.listings)
        assert await judging_feed.count(tx, place.profile) == 1
        await persons.deactivate(tx, person.email)
        assert await judging_feed.claim_due(tx, 10) == []
        assert (await profiles.get(tx, owner=person.id)).profile_id == place.profile
        await profiles.save(tx, "main", COOK)
        [taken] = [await judging_feed.add(tx, place.listings)]
        assert taken == 1


async def test_a_company_counts_as_much_as_the_best_default_profile(database: Database) -> None:
    person = await make_person(database, "anna@example.org", "seeker")
    async with database.transaction() as tx:
        id = await analyzed(tx)
        await profiles.save(tx, "main", profile("COBOL"))
        assert await points(tx, id) == 25
        await profiles.save(tx, "main", profile("Python", "Go"), owner=person.id)
        assert await points(tx, id) == 125
        await profiles.save(tx, "main", profile("COBOL", "Fortran"))
        assert await points(tx, id) == 125
        await job_search_erasure.erase_search(tx, person.id)
        assert await points(tx, id) == 25
        assert (await companies.get(tx, id)).tier is not None

"""Applications in the database: concurrent moves, limits, statistics and erasure."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, listing_search
from jobmill.catalog.listing_search import ListingQuery
from jobmill.catalog.posting import Posting
from jobmill.db import Database, fetch_value
from jobmill.errors import Conflict, NotFound
from jobmill.matching import job_search_erasure, judging_feed, matches, profiles
from jobmill.matching.job_applications import (
    board,
    csv_import,
    custom_statuses,
    details,
    entries,
    files,
    statistics,
)
from jobmill.matching.job_applications.board import MovedMeanwhile
from jobmill.matching.job_applications.details import ApplicationDetails
from jobmill.matching.job_applications.entries import ContactFields
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from jobmill.people.persons import LOCAL
from tests.catalog import helpers
from tests.matching import judged
from tests.matching.judged import Place
from tests.people.helpers import make_person


async def make(database: Database, count: int = 1) -> tuple[Place, list[MatchId]]:
    made: list[MatchId] = []
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=count)
        for listing in place.listings:
            id = await matches.save_verdict(tx, place.word(90, listing))
            assert id is not None
            await matches.set_status(tx, id, "saved")
            made.append(id)
    return place, made


async def test_of_two_moves_at_once_one_is_refused_and_nothing_is_lost(database: Database) -> None:
    _, [id] = await make(database)
    async with database.transaction() as tx:
        seen = (await matches.get(tx, id)).status_at.isoformat()

    async def move(column: str) -> None:
        async with database.transaction() as tx:
            await board.move(tx, id, column, seen=seen)

    results = await asyncio.gather(move("applied"), move("offer"), return_exceptions=True)
    assert sorted(type(result) for result in results if result) == [MovedMeanwhile]
    async with database.transaction() as tx:
        events = [event for event in await matches.read_events(tx, id) if event.what == "status"]
        assert (await matches.get(tx, id)).status == events[-1].data["after"]
    assert len(events) == 2


async def test_the_same_file_imported_at_once_adds_each_row_once(database: Database) -> None:
    place, _ = await make(database)
    file = await csv_import.read_file(
        b"title,company,url\nCook,Acme,https://a.example/jobs/123\nBaker,Bun,\n"
    )

    async def run() -> list[str]:
        async with database.transaction() as tx:
            version = await profiles.get(tx, None)
            rows = await csv_import.import_rows(tx, version, file, PLATFORM_RULES)
            return [row.outcome for row in rows]

    outcomes = sorted(await asyncio.gather(run(), run()))
    assert outcomes == [["known", "known"], ["new", "new"]]
    async with database.transaction() as tx:
        titles = [card.title for card in await board.find_all(tx, place.profile)]
    assert sorted(title for title in titles if title in ("Cook", "Baker")) == ["Baker", "Cook"]


async def test_a_custom_status_belongs_to_one_profile_and_its_status(database: Database) -> None:
    place, [id] = await make(database)
    async with database.transaction() as tx:
        other = (
            await profiles.save(tx, "other", (await profiles.get(tx, "main")).profile())
        ).profile_id
        foreign = await custom_statuses.add(
            tx, other, "Foreign", status="applied", shown_after="applied"
        )
        await matches.set_status(tx, id, "applied", custom_status_id=foreign)
        assert await custom_statuses.find_key(tx, id) == "applied"
        with pytest.raises(NotFound):
            await custom_statuses.remove(tx, place.profile, foreign)
        for number in range(custom_statuses.MAX_CUSTOM_STATUSES):
            await custom_statuses.add(
                tx, place.profile, f"s{number}", status="applied", shown_after="saved"
            )
        with pytest.raises(Conflict):
            await custom_statuses.add(
                tx, place.profile, "more", status="applied", shown_after="saved"
            )


async def test_the_same_entry_again_is_no_further_one_at_the_limit(database: Database) -> None:
    _, [id] = await make(database)
    async with database.transaction() as tx:
        for number in range(entries.MAX_ENTRIES):
            await entries.add_note(tx, id, f"note {number}")
            await entries.save_contact(tx, id, ContactFields(f"person {number}"))
        for number in range(files.MAX_FILES):
            await files.add(tx, id, f"{number}.txt", b"text")
        last = (await entries.find_notes(tx, id))[0]
        assert await entries.add_note(tx, id, last.body) == last.id
        await entries.save_contact(tx, id, ContactFields("Person 0", role="Recruiter"))
        await files.add(tx, id, "0.txt", b"text")
        for add in (
            entries.add_note(tx, id, "another"),
            entries.save_contact(tx, id, ContactFields("another")),
            files.add(tx, id, "another.txt", b"text"),
        ):
            with pytest.raises(Conflict, match="at most"):
                async with tx.transaction():
                    await add
        assert len(await entries.find_notes(tx, id)) == entries.MAX_ENTRIES
        contacts = await entries.find_contacts(tx, id)
        assert len(contacts) == entries.MAX_ENTRIES
        assert contacts[0].role == "Recruiter"


async def test_statistics_count_replies_weeks_and_days(database: Database) -> None:
    place, ids = await make(database, 4)
    async with database.transaction() as tx:
        for id, status in zip(
            ids, ("applied", "rejected", "interviewing", "rejected"), strict=True
        ):
            if id != ids[3]:
                await matches.set_status(tx, id, "applied")
            await matches.set_status(tx, id, status)  # type: ignore[arg-type]
        await tx.execute(
            "UPDATE matching.event SET at = at - interval '4 days' WHERE data->>'after' = 'saved'"
        )
        await details.save(tx, ids[0], ApplicationDetails(applied_on=dt.date(2020, 1, 1)))
        counted = await statistics.read_statistics(tx, place.profile)
    # The fourth was rejected before the person applied.
    assert (counted.replies.applied, counted.replies.replied, counted.replies.percent) == (3, 2, 67)
    assert [week.count for week in counted.weeks][-1] == 2
    medians = {duration.name: round(duration.median_days) for duration in counted.durations}
    assert medians == {"Saved": 4, "Applied": 0, "Interviewing": 0, "Rejected": 0}


async def test_erasing_a_search_erases_its_applications(database: Database) -> None:
    place, [id] = await make(database)
    async with database.transaction() as tx:
        custom = await custom_statuses.add(
            tx, place.profile, "Call", status="applied", shown_after="applied"
        )
        await board.move(tx, id, f"custom-{custom}")
        await details.save(tx, id, ApplicationDetails(next_step="Ring"))
        await entries.add_note(tx, id, "a note")
        await entries.save_contact(tx, id, ContactFields("Ann"))
        await files.add(tx, id, "cv.txt", b"text")
    async with database.transaction() as tx:
        await job_search_erasure.erase_search(tx, LOCAL)
        for table in ("custom_status", "application", "application_note", "application_contact",
                      "application_file"):  # fmt: skip
            assert await fetch_value(tx, int, f"SELECT count(*) FROM matching.{table}") == 0  # type: ignore[arg-type]


async def test_an_imported_job_stays_private_until_a_source_lists_it(database: Database) -> None:
    text = b"title,company,url\nWard nurse,City Clinic,https://clinic.example/jobs/7\n"
    file = await csv_import.read_file(text)
    ana = (await make_person(database, "ana@example.org", "seeker")).id
    ben = (await make_person(database, "ben@example.org", "seeker")).id
    async with database.transaction() as tx:
        for owner in (ana, ben):
            await profiles.save(tx, "main", Profile(titles=("Nurse",)), owner=owner)
        version = await profiles.get(tx, "main", owner=ana)
        await csv_import.import_rows(tx, version, file, PLATFORM_RULES)
        [application] = await board.find_all(tx, version.profile_id, limit=9)
        listing = (await matches.get(tx, application.id, owner=ana)).listing_id
        assert (await listing_search.find(tx, ListingQuery())).hits == []
        assert await companies.find(tx) == []
        other = await profiles.get(tx, "main", owner=ben)
        assert await judging_feed.add_open(tx, other.profile_id) == 0
        assert await judging_feed.add(tx, [listing]) == 0
        assert await matches.has_match(tx, listing, owner=ana)
        assert not await matches.has_match(tx, listing, owner=ben)
    async with database.transaction() as tx:
        # The same vacancy elsewhere is not hidden behind the private one.
        source = await helpers.make_source(tx)
        await helpers.run(tx, source, 0, [Posting("Ward nurse", "https://clinic.example/jobs/7")])
        [hit] = (await listing_search.find(tx, ListingQuery())).hits
        assert hit.title == "Ward nurse"


async def test_erasing_a_search_deletes_its_private_jobs_only(database: Database) -> None:
    file = await csv_import.read_file(b"title,company\nWard nurse,City Clinic\n")
    async with database.transaction() as tx:
        place = await judged.make(tx)
        version = await profiles.get(tx, "main")
        await csv_import.import_rows(tx, version, file, PLATFORM_RULES)
        await job_search_erasure.erase_search(tx, LOCAL)
        cursor = await tx.execute("SELECT id FROM catalog.listing")
        kept = [id for (id,) in await cursor.fetchall()]
    assert kept == place.listings

"""Tests of notes, mentions, ratings and tags of applications."""

from __future__ import annotations

import asyncio
import json

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Conflict, Forbidden, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, Actor
from jobmill.hiring.records.applications import ApplicationNotFound
from jobmill.hiring.reviews import application_reviews, mentions, notes, ratings, tags
from jobmill.hiring.reviews.mentions import Member
from jobmill.people import changes, persons
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.people.helpers import PASSWORD

EVE, IDA = Actor("company", "person:901"), Actor("company", "person:902")


async def make_application(tx: Tx) -> int:
    return (await apply(tx, await make_opening(tx))).application.id


def test_a_mention_is_a_name_or_the_start_of_an_address_after_an_at_sign() -> None:
    members = [
        Member(1, "Ann", "ann@example.org"),
        Member(2, "Ann Lee", "lee.a@example.org"),
        Member(3, "Bo Ek", "bo@example.org"),
        Member(4, "Bo Ek", "bo.ek@example.org"),
    ]

    def find(text: str) -> set[int]:
        return mentions.find_mentioned(text, members)

    assert find("@Ann Lee: call her") == {2}
    assert find("@ann, and @LEE.A!") == {1, 2}
    assert find("@Bo Ek") == {3, 4}
    assert find("mail@ann.example, Ann, @Anna, @nobody") == set()
    assert mentions.find_mentioned("@Ann", []) == set()


async def test_notes_belong_to_their_authors_and_deleting_leaves_a_trace(tx: Tx) -> None:
    id = await make_application(tx)
    person = await persons.add(tx, "Cy Tran", "cy@example.org", "recruiter", PASSWORD)
    note = await notes.add_note(tx, id, "  Strong.\r\nAsk @Cy Tran.  ", EVE)
    assert (note.body, note.mentioned) == ("Strong.\nAsk @Cy Tran.", [person.id])
    # The same form sent twice is one note.
    assert (await notes.add_note(tx, id, "Strong.\nAsk @Cy Tran.", EVE)).id == note.id
    for change in (notes.edit_note(tx, note.id, "Weak", IDA), notes.delete_note(tx, note.id, IDA)):
        with pytest.raises(Forbidden):
            await change
    for text in (" ", "x" * 10_001):
        with pytest.raises(Invalid):
            await notes.add_note(tx, id, text, EVE)
    with pytest.raises(ApplicationNotFound):
        await notes.add_note(tx, 0, "Nobody", EVE)

    [unread] = await mentions.list_unread(tx, person.id, limit=5)
    assert (unread.note_id, unread.application_id, unread.applicant_name) == (note.id, id, "Ada")
    await mentions.mark_read(tx, note.id, person.id)
    # A note that was read stays read after an edit.
    edited = await notes.edit_note(tx, note.id, "Weak. @cy", EVE)
    assert (edited.body, edited.edited_at is not None, edited.unread_by) == ("Weak. @cy", True, [])
    assert (await notes.edit_note(tx, note.id, "Weak", EVE)).mentioned == []
    await notes.delete_note(tx, note.id, EVE)
    assert await notes.list_notes(tx, id) == []
    history = [
        (change.what, change.subject, list(change.was.values()))
        for change in await changes.find_recent(tx)
        if change.noun == "note"
    ]
    assert history[0] == ("removed", str(id), ["…", "person:901"])
    assert "Weak" not in repr(await changes.find_recent(tx))


async def test_every_reviewer_counts_once_in_the_average(tx: Tx) -> None:
    first, second = await make_application(tx), await make_application(tx)
    await ratings.rate(tx, first, 5, EVE)
    await ratings.rate(tx, first, 1, IDA, criterion="  Team  work ")
    await ratings.rate(tx, first, 2, IDA, criterion="Baking")
    await ratings.rate(tx, first, 3, IDA)
    assert await ratings.average_rating(tx, [first, second]) == {first: 3.5}
    await ratings.rate(tx, first, 4, EVE)
    assert await ratings.average_rating(tx, [first]) == {first: 3.0}
    await ratings.rate(tx, first, None, EVE)
    review = await application_reviews.read_review(tx, first)
    assert (review.average, review.reviewer_count) == (2.0, 1)
    assert [rating.criterion for rating in review.ratings] == ["", "Baking", "Team work"]
    for score in (0, 6):
        with pytest.raises(Invalid):
            await ratings.rate(tx, first, score, EVE)


async def test_tags_are_short_words_in_lower_case(tx: Tx) -> None:
    id = await make_application(tx)
    for tag in ("Senior", " senior ", "Night  shift"):
        await tags.add_tag(tx, id, tag, EVE)
    assert await tags.list_tags(tx, [id]) == {id: ["night shift", "senior"]}
    await tags.remove_tag(tx, id, "SENIOR")
    assert await tags.suggest_tags(tx) == ["night shift"]
    for tag in ("", "x" * 41, "a\x07"):
        with pytest.raises(Invalid):
            await tags.add_tag(tx, id, tag, EVE)
    for n in range(tags.MAX_TAGS - 1):
        await tags.add_tag(tx, id, f"tag {n}", EVE)
    with pytest.raises(Invalid):
        await tags.add_tag(tx, id, "one more", EVE)


async def test_erasing_an_applicant_deletes_their_reviews_and_an_export_contains_them(
    tx: Tx,
) -> None:
    ada, ben = await make_applicant(tx, "Ada"), await make_applicant(tx, "Ben")
    opening = await make_opening(tx, 2)
    about_ada, about_ben = [
        (await apply(tx, opening, applicant.id)).application.id for applicant in (ada, ben)
    ]
    person = await persons.add(tx, "Cy", "cy@example.org", "recruiter", PASSWORD)
    for id in (about_ada, about_ben):
        await notes.add_note(tx, id, f"about {id} @cy", EVE)
        await ratings.rate(tx, id, 4, EVE)
        await tags.add_tag(tx, id, "senior", EVE)
    export = await privacy.export_personal_data(tx, ada.id)
    assert [note["body"] for note in export["reviewNotes"]] == [f"about {about_ada} @cy"]
    assert (export["ratings"][0]["score"], export["tags"][0]["tag"]) == (4, "senior")
    assert f"about {about_ben}" not in json.dumps(export)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    review = await application_reviews.read_review(tx, about_ada)
    assert (review.average, review.tags, review.notes) == (None, [], [])
    unread = await mentions.list_unread(tx, person.id, limit=5)
    assert [mention.application_id for mention in unread] == [about_ben]
    with pytest.raises(Conflict):
        await notes.add_note(tx, about_ada, "after the erasure", EVE)


async def test_nothing_is_written_about_an_applicant_while_they_are_erased(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        ada = await make_applicant(tx)
        id = (await apply(tx, await make_opening(tx), ada.id)).application.id

    async def write() -> str:
        try:
            async with database.transaction() as tx:
                await notes.add_note(tx, id, "too late", EVE)
        except Conflict:
            return "refused"
        return "written"

    async with database.transaction() as tx:
        await privacy.erase_applicant(tx, ada.id, LOCAL)
        writing = asyncio.create_task(write())
        await wait_for_blocked(database)
    assert await writing == "refused"
    async with database.transaction() as tx:
        assert await notes.list_notes(tx, id) == []


async def wait_for_blocked(database: Database) -> None:
    """Return once a connection of this database waits for a lock."""
    while True:
        async with database.transaction() as tx:
            waiting = await fetch_value(
                tx,
                int,
                """
                SELECT count(*) FROM pg_stat_activity
                 WHERE wait_event_type = 'Lock' AND datname = current_database()
                """,
            )
        if waiting:
            return

"""Stored documents: versions, what was sent, and changes at the same time."""

from __future__ import annotations

import asyncio
import hashlib

import psycopg
import pytest

from jobmill.db import Database
from jobmill.documents import store
from jobmill.documents.document import ApplicationDocument, edit_line, map_lines
from jobmill.documents.store import DocumentId
from jobmill.errors import ChangedMeanwhile, Conflict, NotFound
from jobmill.matching import job_search_erasure, matches
from jobmill.matching.matches import MatchId
from jobmill.people.persons import LOCAL
from tests.documents.samples import make_resume
from tests.matching import judged
from tests.people.helpers import make_person
from tests.queue.helpers import fetch


async def make_match(database: Database) -> MatchId:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        id = await matches.save_verdict(tx, place.word(90, place.listing))
        assert id is not None
    return id


def edited(document: ApplicationDocument, text: str) -> ApplicationDocument:
    return map_lines(
        document, lambda line: edit_line(line, text) if line.key == "summary" else line
    )


async def create(database: Database, match_id: int) -> DocumentId:
    async with database.transaction() as tx:
        return await store.create(tx, match_id, make_resume(), actor="ana")


async def test_the_same_document_asked_for_twice_at_once_is_one_document(
    database: Database,
) -> None:
    match_id = await make_match(database)
    ids = await asyncio.gather(*(create(database, match_id) for _ in range(4)))
    assert len(set(ids)) == 1
    assert await fetch(database, "SELECT version FROM matching.document_version") == [1]
    events = await fetch(database, "SELECT type FROM matching.event WHERE type LIKE 'resume%%'")
    assert events == ["resume written"]
    assert await fetch(database, "SELECT marked_at IS NOT NULL FROM catalog.listing") == [True]


async def test_of_two_tabs_that_save_at_once_one_is_refused_and_nothing_is_lost(
    database: Database,
) -> None:
    id = await create(database, await make_match(database))

    async def save(text: str) -> int:
        async with database.transaction() as tx:
            return await store.save(tx, id, edited(make_resume(), text), based_on=1)

    results = await asyncio.gather(save("One"), save("Two"), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["ChangedMeanwhile", "int"]
    async with database.transaction() as tx:
        assert (await store.get(tx, id)).version == 2
        assert (await store.get(tx, id, version=1)).document() == make_resume()
        assert await store.save(tx, id, (await store.get(tx, id)).document(), based_on=2) == 2
        with pytest.raises(ChangedMeanwhile, match="version 2 is newer than yours"):
            await store.save(tx, id, make_resume(), based_on=1)


async def test_versions_end_somewhere(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_VERSIONS", 1)
    id = await create(database, await make_match(database))
    async with database.transaction() as tx:
        with pytest.raises(Conflict, match="at most 1 versions"):
            await store.save(tx, id, edited(make_resume(), "x"), based_on=1)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE matching.sent_document SET data = 'other'",
        "UPDATE matching.sent_document SET sent_at = now()",
        "DELETE FROM matching.sent_document",
        "UPDATE matching.document_version SET content = '{}'",
        "DELETE FROM matching.document_version",
    ],
)
async def test_what_was_sent_cannot_be_changed_or_deleted(database: Database, change: str) -> None:
    id = await create(database, await make_match(database))
    async with database.transaction() as tx:
        digest = await store.mark_sent(tx, id, 1, "txt", b"what I sent", actor="ana")
        again = await store.mark_sent(tx, id, 1, "txt", b"printed differently today", actor="ana")
    assert digest == hashlib.sha256(b"what I sent").digest() != again
    with pytest.raises(psycopg.errors.RestrictViolation):
        async with database.transaction() as tx:
            await tx.execute(change)  # pyright: ignore[reportArgumentType]
    async with database.transaction() as tx:
        assert await store.get_sent(tx, id, 1, "txt") == b"what I sent"
        [sent] = await store.find_sent(tx, id)
        assert (sent.sha256, sent.size) == (digest, 11)
        events = [event for event in await matches.read_events(tx, 1) if "sent" in event.what]
        assert [event.data["sha256"] for event in events] == [digest.hex()]
        with pytest.raises(NotFound):
            await store.get_sent(tx, id, 1, "pdf")


async def test_a_wrong_hash_is_refused(database: Database) -> None:
    id = await create(database, await make_match(database))
    with pytest.raises(psycopg.errors.CheckViolation):
        async with database.transaction() as tx:
            await tx.execute(
                "INSERT INTO matching.sent_document VALUES (%s, 1, 'txt', 'data', 'hash')", [id]
            )


async def test_documents_belong_to_the_owner_of_the_match_and_go_with_the_job_search(
    database: Database,
) -> None:
    id = await create(database, await make_match(database))
    other = (await make_person(database, "bob@example.org", "seeker")).id
    async with database.transaction() as tx:
        await store.mark_sent(tx, id, 1, "txt", b"sent")
        with pytest.raises(NotFound):
            await store.get(tx, id, owner=other)
        with pytest.raises(NotFound):
            await store.mark_sent(tx, id, 1, "pdf", b"sent", owner=other)
        assert await store.find_all(tx, owner=other) == []
        assert [summary.id for summary in await store.find_all(tx)] == [id]
        await job_search_erasure.erase_search(tx, LOCAL)
    left = "SELECT count(*) FROM matching.document UNION ALL SELECT count(*) FROM matching.sent_document"
    assert await fetch(database, left) == [0, 0]

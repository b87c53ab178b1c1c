"""Every write of hiring happens once or not at all: with killed connections, repeated, and twice at once."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import pytest

from jobmill.db import Database, Tx, connect
from jobmill.errors import AppError, Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.audit_log import explanations, replay, verification
from jobmill.hiring.forms import uploads
from jobmill.hiring.forms.uploads import CheckedFile
from jobmill.hiring.reviews import tags
from tests.conftest import clone
from tests.hiring.helpers import make_opening
from tests.hiring.hiring_writes import CONTENT, WRITES, HiringWrite, make_waiting
from tests.hiring.killed_connections import (
    Content,
    Write,
    kill_at_every_statement,
    read_content,
    run_two_at_once,
)
from tests.hiring.log_rules import check_log
from tests.queue.helpers import fetch

every_write = pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))

ORPHANS = (
    "SELECT id FROM hiring.notice WHERE application_id IS NULL AND apply_request_id IS NULL",
    """
    SELECT id FROM hiring.uploaded_file
      LEFT JOIN (SELECT file_id, sum(length(data)) AS stored FROM hiring.file_chunk GROUP BY 1) AS chunks
             ON file_id = id
     WHERE size IS DISTINCT FROM stored
    """,
)
"""Queries for letters without a cause, and for files without all of their content."""


@pytest.fixture(scope="module")
def shared_url(server: str, template: str) -> Iterator[str]:
    """One database for all writes: each prepares openings of its own."""
    with clone(server, template) as url:
        yield url


@pytest.fixture
async def shared(shared_url: str) -> AsyncIterator[Database]:
    async with connect(shared_url, size=2) as database:
        async with database.transaction() as tx:
            # What writes of one name would share: single rows, addresses and large files.
            await tx.execute(
                "TRUNCATE hiring.company, hiring.letter_template, hiring.apply_request CASCADE"
            )
            await tx.execute("UPDATE hiring.applicant SET email_key = email_key || id")
            await tx.execute("TRUNCATE hiring.uploaded_file CASCADE")
        yield database


@dataclass
class Prepared:
    """A write that is ready to run, and the database before it."""

    run: Write
    content: Content
    last_opening: int
    """The last opening that other writes have made."""


async def prepare(database: Database, write: HiringWrite) -> Prepared:
    async with database.transaction() as tx:
        [last] = await fetch(tx, "SELECT coalesce(max(id), 0) FROM hiring.opening")
        run = await write.prepare(tx)
        return Prepared(run, await read_content(tx), last)


async def read(database: Database) -> Content:
    async with database.transaction() as tx:
        return await read_content(tx)


def count_rows(content: Content) -> Counter[str]:
    """Events by type, letters by kind, and the rows of other tables. The log verifies those of the waitlist."""
    counts: Counter[str] = Counter()
    for (name, _), number in content.items():
        counts[name] += number
    del counts["hiring.waitlist_block"]
    return counts


def find_changes(after: Content, before: Content) -> dict[str, int]:
    """How many rows were added, or removed if negative."""
    counts = count_rows(after)
    counts.subtract(count_rows(before))
    return {name: number for name, number in counts.items() if number}


async def check_database(database: Database, last_opening: int) -> None:
    """The logs verify, the replays equal the tables, and every file and letter belongs to something."""
    async with database.transaction() as tx:
        for id in await fetch(tx, "SELECT id FROM hiring.opening WHERE id > %s", [last_opening]):
            await check_log(tx, id)
            assert (await verification.verify_log(tx, id)).faults == []
            await check_replay(tx, id)
        for query in ORPHANS:
            assert await fetch(tx, query) == []


async def check_replay(tx: Tx, opening_id: int) -> None:
    replayed = await replay.replay_at(tx, opening_id)
    shown = {
        (row.application_id, row.status)
        for row in (*replayed.active, *replayed.waiting, *replayed.in_review)
    }
    live = await fetch(
        tx,
        "SELECT id, status FROM hiring.application WHERE opening_id = %s AND status <> 'INACTIVE'",
        [opening_id],
    )
    assert shown == set(live)
    assert (await explanations.explain_event(tx, opening_id, replayed.seq)).sentences


@every_write
async def test_a_write_happens_once_wherever_its_connection_is_killed(
    shared: Database, write: HiringWrite
) -> None:
    prepared = await prepare(shared, write)
    await kill_at_every_statement(shared.url, prepared.run)
    assert await read(shared) == prepared.content, "something was half written"

    async with shared.transaction() as tx:
        await prepared.run(tx)
    after = await read(shared)
    assert find_changes(after, prepared.content) == write.leaves
    await check_database(shared, prepared.last_opening)

    # The answer to COMMIT was lost, and the client repeats the write.
    with nullcontext() if write.is_repeatable else pytest.raises(AppError):
        async with shared.transaction() as tx:
            await prepared.run(tx)
    assert count_rows(await read(shared)) == count_rows(after), "the repeated write happened again"


@every_write
async def test_of_two_writes_at_once_one_takes_effect(shared: Database, write: HiringWrite) -> None:
    prepared = await prepare(shared, write)
    _, second = await run_two_at_once(shared.url, prepared.run, prepared.run)
    assert isinstance(second, AppError) != write.is_repeatable, second
    assert find_changes(await read(shared), prepared.content) == write.leaves
    await check_database(shared, prepared.last_opening)


async def test_an_upload_is_stored_complete_or_not_at_all(shared: Database) -> None:
    async with shared.transaction() as tx:
        opening = await make_opening(tx)
        content = await read_content(tx)
    checked = CheckedFile("cv", "cv.pdf", "application/pdf", len(CONTENT), "192.0.2.1")

    async def upload(tx: Tx) -> object:
        return await uploads.store(tx, opening.id, checked, io.BytesIO(CONTENT))

    await kill_at_every_statement(shared.url, upload)
    assert await read(shared) == content
    await run_two_at_once(shared.url, upload, upload)
    assert find_changes(await read(shared), content) == {
        "hiring.uploaded_file": 2,
        "hiring.file_chunk": 6,
    }
    await check_database(shared, opening.id)


async def test_two_tags_at_once_keep_the_limit(shared: Database) -> None:
    async with shared.transaction() as tx:
        _, [id, *_] = await make_waiting(tx)
        for number in range(tags.MAX_TAGS - 1):
            await tags.add_tag(tx, id, f"tag {number}", LOCAL)
    first, second = (
        partial(tags.add_tag, application_id=id, text=text, by=LOCAL)
        for text in ("baker", "miller")
    )
    _, refusal = await run_two_at_once(shared.url, first, second)
    assert isinstance(refusal, Invalid)

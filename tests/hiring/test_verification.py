"""Tests that any change of a log is found, and where."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import LiteralString

import pytest
from psycopg.errors import RaiseException

from jobmill.db import Database, Tx
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.audit_log.verification import ChainHead, VerificationFault
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningNotFound
from jobmill.hiring.waitlist import overdue_offers
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import apply, make_applicant, make_opening

from .change_past import age, reseal, unguarded

MINUTES = dt.timedelta(minutes=6)


async def make_log(tx: Tx) -> Opening:
    """
    1 OPENED, 2-5 APPLIED, 6 WITHDRAWN with a note, 7 PROMOTED, 8 DECAY_TRIGGERED, 9 PROMOTED,
    10 ACKNOWLEDGED, 11 CAPACITY_CHANGED and 12 PROMOTED, both with a note.
    """
    opening = await make_opening(tx, 1)
    ids = [(await apply(tx, opening)).application.id for _ in range(4)]
    await withdrawals.withdraw(tx, ids[0], LOCAL, reason="no longer there")
    await age(tx, opening.id, MINUTES)
    await expire_due_openings(tx)
    await offers.acknowledge(tx, ids[2], LOCAL)
    await offers.offer_out_of_turn(tx, ids[1], LOCAL, reason="an old friend", add_slot=True)
    return await openings.get(tx, opening.id)


async def faults(tx: Tx, opening: Opening, *against: ChainHead) -> list[VerificationFault]:
    return (await verification.verify_log(tx, opening.id, against=against)).faults


async def test_an_unchanged_log_has_no_faults(tx: Tx) -> None:
    opening = await make_log(tx)
    report = await verification.verify_log(tx, opening.id)
    assert report.faults == []
    assert report.events == report.head.seq == opening.last_seq == 12
    assert report.head.hash == opening.last_hash.hex()
    with pytest.raises(OpeningNotFound):
        await verification.verify_log(tx, opening.id + 1)


@pytest.mark.parametrize(
    ("sql", "seq", "what"),
    [
        (
            "UPDATE hiring.event SET metadata = metadata || '{\"jobId\": 0}' WHERE seq = 3",
            3,
            "was changed",
        ),
        ("UPDATE hiring.event SET actor = 'person:9' WHERE seq = 12", 12, "was changed"),
        ("UPDATE hiring.event SET request = 'x' WHERE seq = 2", 2, "was changed"),
        ("UPDATE hiring.event SET why = '{}' WHERE seq = 7", 7, "was changed"),
        ("UPDATE hiring.event SET queue_key = 9 WHERE seq = 4", 4, "was changed"),
        ("UPDATE hiring.event SET hash = '' WHERE seq = 5", 5, "was changed"),
        ("UPDATE hiring.event SET note_digest = '' WHERE seq = 6", 6, "was changed"),
        (
            "UPDATE hiring.event SET created_at = created_at - interval '1 h' WHERE seq = 9",
            9,
            "before that of the previous event",
        ),
        ("UPDATE hiring.event SET note = 'was rude' WHERE seq = 6", 6, "note was changed"),
        (
            "UPDATE hiring.event SET note = NULL, note_salt = NULL WHERE seq = 11",
            11,
            "note is missing",
        ),
        ("DELETE FROM hiring.event WHERE seq = 5", 5, "event 5 is missing"),
        ("DELETE FROM hiring.event WHERE seq IN (4, 5)", 4, "events 4 to 5 are missing"),
        ("DELETE FROM hiring.event WHERE seq = 1", 1, "event 1 is missing"),
        ("DELETE FROM hiring.event WHERE seq > 10", 11, "events 11 to 12 are missing at the end"),
        (
            (
                "UPDATE hiring.event SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END"
                " WHERE seq IN (3, 4);"
                "UPDATE hiring.event SET seq = -seq WHERE seq < 0"
            ),
            3,
            "was changed",
        ),
        (
            (
                "INSERT INTO hiring.event (opening_id, seq, type, metadata, why, actor, created_at, hash)"
                " SELECT opening_id, 13, 'PAUSED', '{}', '{}', actor, created_at, hash"
                "   FROM hiring.event WHERE seq = 12"
            ),
            13,
            "has no event after 12",
        ),
        (
            (
                "UPDATE hiring.event SET seq = seq - 100 WHERE seq > 5;"
                "UPDATE hiring.event SET seq = seq + 101 WHERE seq < 0;"
                "INSERT INTO hiring.event (opening_id, seq, type, metadata, why, actor, created_at, hash)"
                " SELECT opening_id, 6, 'PAUSED', '{}', '{}', actor, created_at, hash"
                "   FROM hiring.event WHERE seq = 5"
            ),
            6,
            "was changed",
        ),
        (
            "UPDATE hiring.event SET from_status = 'PENDING_ACKNOWLEDGMENT' WHERE seq = 6",
            6,
            "starts from PENDING_ACKNOWLEDGMENT but was ACTIVE",
        ),
        ("UPDATE hiring.event SET type = 'LAPSED' WHERE seq = 10", 10, "LAPSED cannot lead to"),
        (
            (
                "UPDATE hiring.application SET status = 'ACTIVE', queue_key = NULL"
                " WHERE status = 'WAITLIST'"
            ),
            5,
            "status should be WAITLIST but is ACTIVE",
        ),
        (
            "UPDATE hiring.application SET queue_key = 900 WHERE status = 'WAITLIST'",
            5,
            "queue_key should be 3 but is 900",
        ),
        (
            (
                "UPDATE hiring.application SET acknowledge_deadline = acknowledge_deadline + '1 h'"
                " WHERE acknowledge_deadline IS NOT NULL"
            ),
            12,
            "acknowledge_deadline should be",
        ),
        (
            "UPDATE hiring.application SET penalty_count = 0 WHERE penalty_count > 0",
            12,
            "penalty_count should be 1 but is 0",
        ),
        (
            "UPDATE hiring.application SET applicant_id = 0 WHERE status = 'ACTIVE'",
            10,
            "applicant_id should be",
        ),
        ("DELETE FROM hiring.application WHERE status = 'WAITLIST'", 5, "it is not in the table"),
        ("UPDATE hiring.opening SET occupied = 1", None, "occupied should be 2 but is 1"),
        ("UPDATE hiring.opening SET waiting = 7", None, "waiting should be 1 but is 7"),
        ("UPDATE hiring.opening SET capacity = 9", None, "capacity should be 2 but is 9"),
        ("UPDATE hiring.opening SET status = 'closed'", None, "status should be open"),
        ("UPDATE hiring.opening SET excess = 5", None, "excess should be 0 but is 5"),
        ("UPDATE hiring.opening SET max_key = 2", None, "queue key 3, greater than 2"),
        ("UPDATE hiring.opening SET next_deadline_at = NULL", None, "checks at None"),
        ("UPDATE hiring.opening SET last_seq = 11", 12, "has no event after 11"),
        ("UPDATE hiring.opening SET last_hash = ''", 12, "has the hash"),
        (
            "UPDATE hiring.opening SET last_event_at = last_event_at + '1 h'",
            12,
            "the opening has the time",
        ),
        (
            "UPDATE hiring.waitlist_block SET waiting = 4",
            None,
            "block 0 of the waitlist should hold 1",
        ),
        ("DELETE FROM hiring.waitlist_block", None, "should hold 1 but holds 0"),
    ],
)
async def test_tampering_is_reported_at_the_changed_event(
    tx: Tx, sql: LiteralString, seq: int | None, what: str
) -> None:
    opening = await make_log(tx)
    async with unguarded(tx):
        for statement in sql.split(";"):
            await tx.execute(statement)
    reported = await faults(tx, opening)
    assert any(fault.seq == seq and what in fault.what for fault in reported), reported
    # No fault is reported for the events before it.
    early = [fault for fault in reported if fault.seq and seq and fault.seq < seq]
    assert all(fault.what.startswith("application") for fault in early)


async def test_a_log_of_many_batches_is_verified_to_its_end(tx: Tx) -> None:
    opening = await make_opening(tx)
    last = 2 * verification.BATCH + 1
    async with unguarded(tx):
        await tx.execute(
            """
            INSERT INTO hiring.event
                   (opening_id, seq, type, metadata, why, actor, created_at, hash)
            SELECT %s, seq, 'EDITED', '{}', '{}', 'local', %s, '' FROM generate_series(2, %s) AS seq
            """,
            [opening.id, opening.last_event_at, last],
        )
        await reseal(tx, opening.id)
        report = await verification.verify_log(tx, opening.id)
        assert (report.events, report.head.seq, report.faults) == (last, last, [])
        await tx.execute("UPDATE hiring.event SET actor = 'x' WHERE seq = %s", [last - 1])
    assert [fault.seq for fault in await faults(tx, opening)] == [last - 1]


async def test_an_application_without_events_is_reported(tx: Tx) -> None:
    opening = await make_log(tx)
    ada = await make_applicant(tx)
    cursor = await tx.execute(
        """
        INSERT INTO hiring.application (opening_id, applicant_id, status, applied_at, entered_at)
        VALUES (%s, %s, 'ACTIVE', now(), now()) RETURNING id
        """,
        [opening.id, ada.id],
    )
    row = await cursor.fetchone()
    assert row
    assert await faults(tx, opening) == [
        VerificationFault(None, f"application {row[0]}: it has no event")
    ]


async def test_a_rewritten_chain_is_found_by_an_earlier_head(tx: Tx) -> None:
    opening = await make_log(tx)
    early = ChainHead(4, (await at(tx, opening, 4)).hex())
    head = (await verification.verify_log(tx, opening.id)).head
    assert await faults(tx, opening, early, head) == []
    async with unguarded(tx):
        await tx.execute("UPDATE hiring.event SET actor = 'person:9' WHERE seq = 6")
        await reseal(tx, opening.id)
    # The new chain is consistent: only an earlier head reveals it.
    assert await faults(tx, opening) == []
    assert [fault.seq for fault in await faults(tx, opening, early, head)] == [head.seq]


async def test_a_truncated_and_rehashed_log_is_found_by_an_earlier_head(tx: Tx) -> None:
    opening = await make_log(tx)
    await lifecycle.pause(tx, opening.id, LOCAL)
    head = (await verification.verify_log(tx, opening.id)).head
    async with unguarded(tx):
        await tx.execute("DELETE FROM hiring.event WHERE seq = 13")
        await tx.execute(
            "UPDATE hiring.opening SET status = 'open', last_event_at = %s", [opening.last_event_at]
        )
        await reseal(tx, opening.id)
    assert await faults(tx, opening) == []
    assert await faults(tx, opening, head) == [
        VerificationFault(13, f"its hash was {head.hash} and is now missing")
    ]


async def at(tx: Tx, opening: Opening, seq: int) -> bytes:
    cursor = await tx.execute(
        "SELECT hash FROM hiring.event WHERE opening_id = %s AND seq = %s", [opening.id, seq]
    )
    row = await cursor.fetchone()
    assert row
    return row[0]


async def test_erasing_a_person_causes_no_fault(tx: Tx) -> None:
    opening = await make_log(tx)
    head = (await verification.verify_log(tx, opening.id)).head
    cursor = await tx.execute(
        "SELECT DISTINCT applicant_id FROM hiring.application WHERE opening_id = %s", [opening.id]
    )
    for (id,) in await cursor.fetchall():
        await privacy.erase_applicant(tx, id, LOCAL)
    cursor = await tx.execute("SELECT count(note) FROM hiring.event")
    assert await cursor.fetchone() == (0,)
    assert await faults(tx, opening, head) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE hiring.event SET actor = 'x'",
        "UPDATE hiring.event SET note = 'other' WHERE note IS NOT NULL",
        "UPDATE hiring.event SET note = NULL, note_salt = NULL, note_digest = NULL",
        "UPDATE hiring.event SET note = NULL, note_salt = NULL, created_at = now()",
        "DELETE FROM hiring.event",
        "TRUNCATE hiring.event",
    ],
)
async def test_the_log_refuses_changes(tx: Tx, sql: LiteralString) -> None:
    await make_log(tx)
    with pytest.raises(RaiseException, match="the log of openings only grows"):
        await tx.execute(sql)


async def test_notes_about_a_person_can_be_erased_from_the_log(tx: Tx) -> None:
    await make_log(tx)
    cursor = await tx.execute(
        "UPDATE hiring.event SET note = NULL, note_salt = NULL WHERE note IS NOT NULL"
    )
    assert cursor.rowcount == 3


@pytest.mark.parametrize("frozen", [True, False])
async def test_concurrent_writes_do_not_look_like_faults(database: Database, frozen: bool) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 2, require_acknowledgement=True)
    stop = asyncio.Event()

    async def write() -> None:
        while not stop.is_set():
            async with database.transaction() as tx:
                placement = await apply(tx, opening)
            async with database.transaction() as tx:
                await withdrawals.withdraw(tx, placement.application.id, LOCAL)

    async def look() -> int:
        async with database.transaction() as tx:
            if frozen:
                await overdue_offers.begin_snapshot(tx)
            report = await verification.verify_log(tx, opening.id)
        assert report.faults == []
        return report.events

    writers = [asyncio.create_task(write()) for _ in range(2)]
    reports = [await look() for _ in range(15)]
    stop.set()
    await asyncio.gather(*writers)
    assert reports[-1] > reports[0]

"""Tests of one action on many applications."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from jobmill.db import Database, Tx
from jobmill.db.live_channel import LIVE_CHANNEL, announce_change
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import bulk_actions, withdrawals
from jobmill.hiring.applications.bulk_actions import BulkResult
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import Opening
from tests.hiring.helpers import apply, make_opening


async def fill(tx: Tx, capacity: int, people: int, **terms: Any) -> tuple[Opening, list[int]]:
    """An opening and its applications, in order."""
    opening = await make_opening(tx, capacity, **terms)
    return opening, [(await apply(tx, opening)).application.id for _ in range(people)]


async def states(tx: Tx, ids: list[int]) -> list[str]:
    return [(await applications.get(tx, id)).status for id in ids]


def list_outcomes(lines: list[BulkResult]) -> list[tuple[int, str]]:
    return [(line.application_id, line.outcome) for line in lines]


async def count_notices(tx: Tx, kind: str, opening: Opening) -> int:
    cursor = await tx.execute(
        "SELECT count(*) FROM hiring.notice WHERE kind = %s AND opening_id = %s",
        [kind, opening.id],
    )
    (count,) = await cursor.fetchone() or (0,)
    return count


async def test_freed_slots_go_to_remaining_applicants_only(tx: Tx) -> None:
    opening, ids = await fill(tx, 2, 6)
    leaving = [ids[0], ids[1], ids[2]]
    lines = await bulk_actions.run_bulk_action(
        tx, opening.id, "withdraw", leaving, LOCAL, reason="budget cut"
    )
    assert list_outcomes(lines) == [
        *((id, "withdrawn") for id in leaving),
        (ids[3], "offered"),
        (ids[4], "offered"),
    ]
    assert await states(tx, ids) == [
        *["INACTIVE"] * 3,
        *["PENDING_ACKNOWLEDGMENT"] * 2,
        "WAITLIST",
    ]
    # No removed applicant got an offer.
    assert await count_notices(tx, "promoted", opening) == 2
    after = await openings.get(tx, opening.id)
    assert (after.occupied, after.waiting) == (2, 1)


async def test_a_refused_application_does_not_stop_the_others(tx: Tx) -> None:
    opening, ids = await fill(tx, 5, 2)
    _, (foreign,) = await fill(tx, 1, 1)
    await withdrawals.withdraw(tx, ids[0], LOCAL)
    named = [foreign, 2**70, ids[0], ids[1], ids[1]]
    lines = await bulk_actions.run_bulk_action(tx, opening.id, "withdraw", named, LOCAL, reason="x")
    assert list_outcomes(lines) == [
        (foreign, "refused"),
        (2**70, "refused"),
        (ids[0], "refused"),
        (ids[1], "withdrawn"),
    ]
    assert lines[2].detail == "it has ended already"
    assert await states(tx, [foreign]) == ["ACTIVE"]


async def test_a_dry_run_has_the_same_results_and_changes_nothing(tx: Tx) -> None:
    opening, ids = await fill(tx, 2, 5)
    before = await openings.get(tx, opening.id)
    dry = await bulk_actions.run_bulk_action(
        tx, opening.id, "withdraw", ids[:2], LOCAL, reason="x", dry_run=True
    )
    assert await openings.get(tx, opening.id) == before
    assert await states(tx, ids) == [*["ACTIVE"] * 2, *["WAITLIST"] * 3]
    assert await count_notices(tx, "removed", opening) == 0
    assert dry == await bulk_actions.run_bulk_action(
        tx, opening.id, "withdraw", ids[:2], LOCAL, reason="x"
    )


async def test_a_dry_run_on_its_own_connection_changes_nothing(database: Database) -> None:
    async with database.transaction() as tx:
        opening, ids = await fill(tx, 1, 3)
    async with database.transaction() as tx:
        lines = await bulk_actions.run_bulk_action(
            tx, opening.id, "promote", None, LOCAL, reason="x", add_slots=True, dry_run=True
        )
    assert list_outcomes(lines) == [(ids[1], "offered"), (ids[2], "offered")]
    async with database.transaction() as tx:
        assert await states(tx, ids) == ["ACTIVE", "WAITLIST", "WAITLIST"]
        assert (await openings.get(tx, opening.id)).capacity == 1


async def test_many_are_promoted_while_slots_are_free_or_added(tx: Tx) -> None:
    opening, ids = await fill(tx, 1, 5)
    await lifecycle.pause(tx, opening.id, LOCAL)
    await withdrawals.withdraw(tx, ids[0], LOCAL)
    named = [ids[3], ids[2], ids[0]]
    lines = await bulk_actions.run_bulk_action(
        tx, opening.id, "promote", named, LOCAL, reason="knows the pumps"
    )
    assert list_outcomes(lines) == [(ids[3], "offered"), (ids[2], "refused"), (ids[0], "refused")]
    assert [line.detail for line in lines[1:]] == [
        "no place is free",
        "it is not on the waitlist",
    ]
    lines = await bulk_actions.run_bulk_action(
        tx, opening.id, "promote", [ids[2]], LOCAL, reason="knows them, too", add_slots=True
    )
    assert list_outcomes(lines) == [(ids[2], "offered")]
    after = await openings.get(tx, opening.id)
    assert (after.capacity, after.occupied, after.waiting) == (2, 2, 2)


async def test_a_message_to_the_waitlist_changes_nothing_else(tx: Tx) -> None:
    opening, ids = await fill(tx, 1, 4)
    before = await openings.get(tx, opening.id)
    lines = await bulk_actions.run_bulk_action(
        tx, opening.id, "message", None, LOCAL, reason="delay", message="We need another week."
    )
    assert list_outcomes(lines) == [(id, "told") for id in ids[1:]]
    assert await count_notices(tx, "message", opening) == 3
    assert await openings.get(tx, opening.id) == before


async def test_a_form_that_is_submitted_twice_sends_one_message(
    database: Database, url: str
) -> None:
    async with database.transaction() as tx:
        opening, _ = await fill(tx, 1, 3)

    async def send(text: str) -> list[BulkResult]:
        async with database.transaction() as tx:
            return await bulk_actions.run_bulk_action(
                tx, opening.id, "message", None, LOCAL, reason="delay", message=text
            )

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as listener:
        await listener.execute(f"LISTEN {LIVE_CHANNEL}")
        answers = await asyncio.gather(*(send("We need another week.") for _ in range(3)))
        async with database.transaction() as tx:
            await announce_change(tx, "end")
        heard = [notice.payload async for notice in listener.notifies(timeout=5, stop_after=2)]
    assert heard == ["hiring", "end"]
    assert {line.outcome for lines in answers for line in lines} == {"told"}
    details = [line.detail for lines in answers for line in lines]
    assert details.count(bulk_actions.ALREADY_SENT) == 4
    async with database.transaction() as tx:
        assert await count_notices(tx, "message", opening) == 2
        await tx.execute("UPDATE hiring.notice SET created_at = created_at - interval '11 minutes'")
    await send("We need another week.")
    await send("It starts today.")
    async with database.transaction() as tx:
        assert await count_notices(tx, "message", opening) == 6


@pytest.mark.parametrize(
    ("action", "reason", "message", "says"),
    [
        ("withdraw", " ", None, "Enter a reason"),
        ("message", "x", None, "message to send"),
        ("message", "x", "  ", "message to send"),
        ("message", "x", "y" * 10_001, "10,000 characters"),
    ],
)
async def test_a_missing_reason_or_message_is_refused(
    tx: Tx, action: bulk_actions.BulkAction, reason: str, message: str | None, says: str
) -> None:
    opening, ids = await fill(tx, 1, 1)
    with pytest.raises(Invalid, match=says):
        await bulk_actions.run_bulk_action(
            tx, opening.id, action, ids, LOCAL, reason=reason, message=message
        )


async def test_too_many_applications_at_once_are_refused(tx: Tx) -> None:
    opening, _ = await fill(tx, 1, 1)
    with pytest.raises(Invalid, match="5,000"):
        await bulk_actions.run_bulk_action(
            tx, opening.id, "withdraw", range(1, 5_002), LOCAL, reason="x"
        )

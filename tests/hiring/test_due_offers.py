"""Tests of many offers that end together: in parts, in parallel, and with the position that applicants see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.applications.outcomes import MissedOffer
from jobmill.hiring.audit_log import events, verification
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import DEFAULT_ACKNOWLEDGE_WINDOW as WINDOW
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import deadlines
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import apply, let_pass, make_opening
from tests.hiring.log_rules import check_log


async def make_overdue(tx: Tx, count: int, **terms: Any) -> Opening:
    """An opening in which this many offers have ended, all at once."""
    opening = await make_opening(tx, count, require_acknowledgement=True, **terms)
    for _ in range(count):
        await apply(tx, opening)
    await let_pass(tx, opening, WINDOW)
    return opening


async def test_very_many_offers_expire_in_parts_and_none_is_accepted_meanwhile(
    tx: Tx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "EXPIRED_AT_ONCE", 2)
    opening = await make_overdue(tx, 5, max_missed=1)
    at = (await openings.get(tx, opening.id)).now
    last = (await applications.find_expired(tx, "acknowledge_deadline", opening.id, at, limit=9))[
        -1
    ]
    assert isinstance(await offers.acknowledge(tx, last.id, LOCAL), MissedOffer)
    assert isinstance(await offers.decline(tx, last.id, LOCAL), MissedOffer)
    assert (await openings.get(tx, opening.id)).occupied == 1
    # A newcomer takes a free place: the waitlist is empty.
    assert (await apply(tx, opening)).application.status == "PENDING_ACKNOWLEDGMENT"
    cycles = 0
    while await expire_due_openings(tx):
        cycles += 1
    assert cycles <= 2
    assert (await openings.get(tx, opening.id)).occupied == 1
    assert (await check_log(tx, opening.id)).misses == 5
    assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_an_opening_is_not_locked_while_many_offers_of_others_expire(
    tx: Tx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "EVENTS_PER_CYCLE", 2)
    due = [await make_overdue(tx, 2, max_missed=1) for _ in range(2)]

    async def list_left() -> list[int]:
        return [(await openings.get(tx, opening.id)).occupied for opening in due]

    assert await expire_due_openings(tx)
    assert sorted(await list_left()) == [0, 2]
    assert await expire_due_openings(tx)
    assert await list_left() == [0, 0]


async def test_the_position_after_a_missed_offer_is_the_one_the_waitlist_shows(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    first, second, *_ = [await apply(tx, opening) for _ in range(7)]
    for placement in (first, second):
        await withdrawals.withdraw(tx, placement.application.id, LOCAL)
    await let_pass(tx, opening, WINDOW)
    assert await expire_due_openings(tx)
    shown = {
        row.application_id: row.queue_position
        for row in await applicant_lists.list_waiting(tx, opening.id, limit=9)
    }
    log = await events.find_by_opening(tx, opening.id)
    logged = {
        event.application_id: event.metadata["newPosition"]
        for event in log
        if event.type == "DECAY_TRIGGERED"
    }
    assert len(logged) == 2
    assert logged.items() <= shown.items()
    cursor = await tx.execute(
        "SELECT application_id, (data->>'position')::int FROM hiring.notice WHERE kind = 'decayed'"
    )
    assert dict(await cursor.fetchall()) == logged


async def test_an_opening_that_fails_does_not_keep_others_from_their_deadlines(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        broken, *others = [await make_overdue(tx, 1, max_missed=1) for _ in range(6)]
        await tx.execute(
            f"""
            ALTER TABLE hiring.event
              ADD CONSTRAINT broken CHECK (opening_id <> {broken.id}) NOT VALID
            """  # pyright: ignore[reportArgumentType]
        )
    async with database.transaction() as tx:
        assert await expire_due_openings(tx)
        for opening in others:
            assert (await openings.get(tx, opening.id)).occupied == 0
        assert (await openings.get(tx, broken.id)).occupied == 1


async def test_parallel_workers_expire_each_offer_once(database: Database) -> None:
    async with database.transaction() as tx:
        made = [await make_overdue(tx, 3, max_missed=1) for _ in range(30)]

    async def work(run: Callable[[Tx], Awaitable[bool]]) -> None:
        has_more = True
        while has_more:
            async with database.transaction() as tx:
                has_more = await run(tx)

    await asyncio.gather(*(work(expire_due_openings) for _ in range(4)))
    async with database.transaction() as tx:
        # A worker that found all others locked has stopped early.
        while await expire_due_openings(tx):
            pass
        lapsed = await fetch_value(
            tx, int, "SELECT count(*) FROM hiring.event WHERE type = 'LAPSED'"
        )
        assert lapsed == 3 * len(made)

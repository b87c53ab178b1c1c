"""Tests of slots, the waitlist and its order."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Conflict
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.applications.outcomes import MissedOffer, Placement
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application, DuplicateApplication
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import apply, let_pass, make_applicant, make_opening

WINDOW = dt.timedelta(minutes=5)


async def queue(tx: Tx, opening: Opening) -> list[int]:
    """The waitlist, in order."""
    return [
        application.id for application in await applications.find_first_waiting(tx, opening.id, 100)
    ]


async def now(tx: Tx, placed: Placement) -> Application:
    return await applications.get(tx, placed.application.id)


async def test_applicants_get_slots_until_none_is_left_and_then_wait(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    placed = [await apply(tx, opening) for _ in range(4)]
    assert [placement.application.status for placement in placed] == [
        "ACTIVE",
        "ACTIVE",
        "WAITLIST",
        "WAITLIST",
    ]
    assert [placement.position for placement in placed] == [None, None, 1, 2]
    after = await openings.get(tx, opening.id)
    assert (after.occupied, after.waiting) == (2, 2)


async def test_an_applicant_with_a_live_application_cannot_apply_again(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    ada = await make_applicant(tx)
    await apply(tx, opening, ada.id)
    with pytest.raises(
        DuplicateApplication, match=f"Applicant {ada.id} already has an active application"
    ):
        await apply(tx, opening, ada.id)


async def test_no_application_is_taken_after_apply_until(tx: Tx) -> None:
    current = await server_time(tx)
    ended = await make_opening(tx, 2, apply_until=current - WINDOW)
    with pytest.raises(Conflict, match="Applications closed on"):
        await apply(tx, ended)
    await apply(tx, await make_opening(tx, 2, apply_until=current + WINDOW))


async def test_a_waitlist_has_a_limit(tx: Tx) -> None:
    opening = await make_opening(tx, 1, waitlist_limit=1)
    assert [(await apply(tx, opening)).position for _ in range(2)] == [None, 1]
    with pytest.raises(Conflict, match="The waitlist is full"):
        await apply(tx, opening)


async def test_a_paused_opening_takes_no_application_and_promotes_no_applicant(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    active, waiting = [await apply(tx, opening) for _ in range(2)]
    await lifecycle.pause(tx, opening.id, LOCAL)
    with pytest.raises(Conflict, match="Applications are paused"):
        await apply(tx, opening)
    await withdrawals.withdraw(tx, active.application.id, LOCAL)
    assert (await now(tx, waiting)).status == "WAITLIST"


async def test_a_freed_slot_goes_to_the_head_of_the_waitlist(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second, third = [await apply(tx, opening) for _ in range(3)]
    await withdrawals.withdraw(tx, first.application.id, LOCAL, reason="no longer there")
    promoted = await now(tx, second)
    assert promoted.status == "PENDING_ACKNOWLEDGMENT"
    assert promoted.acknowledge_deadline == promoted.entered_at + WINDOW
    assert await queue(tx, opening) == [third.application.id]
    assert isinstance(await offers.acknowledge(tx, promoted.id, by_applicant(1)), Placement)
    assert (await now(tx, second)).status == "ACTIVE"


async def test_a_missed_offer_puts_later_applicants_ahead_within_the_penalty(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second, third = [await apply(tx, opening) for _ in range(3)]
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    await let_pass(tx, opening, WINDOW)
    assert isinstance(await offers.acknowledge(tx, second.application.id, LOCAL), MissedOffer)
    assert (await now(tx, third)).status == "PENDING_ACKNOWLEDGMENT"
    newcomers = [await apply(tx, opening) for _ in range(3)]
    late = second.application.id
    ids = [placement.application.id for placement in newcomers]
    # One missed offer costs one place: the first newcomer fills the gap, the others come after.
    assert await queue(tx, opening) == [ids[0], late, ids[1], ids[2]]
    assert [placement.position for placement in newcomers] == [1, 3, 4]


async def test_a_penalty_costs_a_place_even_if_the_last_applicants_have_left(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second, third, *gone = [await apply(tx, opening) for _ in range(6)]
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    for placement in gone:
        await withdrawals.withdraw(tx, placement.application.id, LOCAL)
    await let_pass(tx, opening, WINDOW)
    await expire_due_openings(tx)
    assert (await now(tx, third)).status == "PENDING_ACKNOWLEDGMENT"
    newcomers = [(await apply(tx, opening)).application.id for _ in range(2)]
    assert await queue(tx, opening) == [newcomers[0], second.application.id, newcomers[1]]


async def test_a_penalty_is_counted_from_the_last_waiting_application(tx: Tx) -> None:
    opening = await make_opening(tx, 1, max_missed=9)
    first, second, third = [await apply(tx, opening) for _ in range(3)]
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    await let_pass(tx, opening, WINDOW)
    await expire_due_openings(tx)
    # The second waits behind a gap and leaves: the third is not placed relative to it.
    await withdrawals.withdraw(tx, second.application.id, LOCAL)
    waiting = await apply(tx, opening)
    await let_pass(tx, opening, WINDOW)
    await expire_due_openings(tx)
    assert (await now(tx, waiting)).status == "PENDING_ACKNOWLEDGMENT"
    newcomers = [(await apply(tx, opening)).application.id for _ in range(2)]
    assert await queue(tx, opening) == [newcomers[0], third.application.id, newcomers[1]]


async def test_later_arrivals_do_not_take_the_place_of_a_penalized_applicant_that_left(
    tx: Tx,
) -> None:
    opening = await make_opening(tx, 2)
    first, second, third, fourth, *_ = [await apply(tx, opening) for _ in range(6)]
    for application in (first, second):
        await withdrawals.withdraw(tx, application.application.id, LOCAL)
    await let_pass(tx, opening, WINDOW)
    await expire_due_openings(tx)
    assert await queue(tx, opening) == [third.application.id, fourth.application.id]
    await withdrawals.withdraw(tx, third.application.id, LOCAL)
    newcomers = [(await apply(tx, opening)).application.id for _ in range(3)]
    # Both missed one offer: two newcomers pass the remaining one, a third does not.
    assert await queue(tx, opening) == [*newcomers[:2], fourth.application.id, newcomers[2]]


async def test_an_expired_offer_does_not_end_another_one(tx: Tx) -> None:
    opening = await make_opening(tx, 2, require_acknowledgement=True)
    early = await apply(tx, opening)
    await let_pass(tx, opening, WINDOW / 2)
    late = await apply(tx, opening)
    await let_pass(tx, opening, WINDOW / 2)
    assert await expire_due_openings(tx)
    assert (await now(tx, early)).penalty_count == 1
    unchanged = await now(tx, late)
    assert (unchanged.status, unchanged.penalty_count) == ("PENDING_ACKNOWLEDGMENT", 0)


async def test_an_application_lapses_after_the_maximum_of_missed_offers(tx: Tx) -> None:
    opening = await make_opening(tx, 1, max_missed=3)
    first, second = [await apply(tx, opening) for _ in range(2)]
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    statuses: list[str] = []
    for _ in range(4):
        await let_pass(tx, opening, WINDOW)
        await expire_due_openings(tx)
        statuses.append((await now(tx, second)).status)
    assert statuses == ["PENDING_ACKNOWLEDGMENT", "PENDING_ACKNOWLEDGMENT", "INACTIVE", "INACTIVE"]
    assert not await expire_due_openings(tx)


async def test_more_capacity_makes_offers_and_less_takes_no_slot_away(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    placed = [await apply(tx, opening) for _ in range(4)]
    after = await lifecycle.set_capacity(tx, opening.id, 3, LOCAL)
    assert (after.occupied, after.waiting) == (3, 1)
    after = await lifecycle.set_capacity(tx, opening.id, 1, LOCAL)
    assert (after.occupied, after.excess, after.waiting) == (3, 2, 1)
    for placement in placed[:2]:
        await withdrawals.withdraw(tx, placement.application.id, LOCAL)
    after = await openings.get(tx, opening.id)
    assert (after.occupied, after.excess, after.waiting) == (1, 0, 1)


async def test_an_ended_application_cannot_be_withdrawn_again(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    placement = await apply(tx, opening)
    await withdrawals.withdraw(tx, placement.application.id, LOCAL)
    with pytest.raises(Conflict):
        await withdrawals.withdraw(tx, placement.application.id, LOCAL)


async def read_notified_positions(tx: Tx, opening: Opening) -> dict[int, list[int]]:
    """The positions that each applicant got a letter about."""
    cursor = await tx.execute(
        """
        SELECT application_id, array_agg((data->>'position')::int ORDER BY id) FROM hiring.notice
         WHERE opening_id = %s AND kind = 'position' GROUP BY application_id
        """,
        [opening.id],
    )
    return dict(await cursor.fetchall())


async def test_reaching_or_skipping_a_milestone_is_notified_once(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    ids = [(await apply(tx, opening)).application.id for _ in range(16)][1:]
    await lifecycle.set_capacity(tx, opening.id, 5, LOCAL)
    # The fifth is the first now, and so on: letters report positions ten, three and one.
    leapt = {5: 1, 6: 2, 7: 3, 11: 7, 12: 8, 13: 9, 14: 10}
    assert await read_notified_positions(tx, opening) == {
        ids[n - 1]: [place] for n, place in leapt.items()
    }
    await lifecycle.set_capacity(tx, opening.id, 6, LOCAL)
    again = {5: [1], 6: [2, 1], 7: [3], 8: [3], 11: [7], 12: [8], 13: [9], 14: [10], 15: [10]}
    assert await read_notified_positions(tx, opening) == {
        ids[n - 1]: places for n, places in again.items()
    }


async def test_an_applicant_that_fell_back_is_notified_when_moving_up_again(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    ada, bob, eve, joe = [await apply(tx, opening) for _ in range(4)]
    await let_pass(tx, opening, WINDOW)
    assert await expire_due_openings(tx)
    # Ada is third and last now, and knows it from the letter about the missed offer.
    assert ada.application.id not in await read_notified_positions(tx, opening)
    for applicant in (bob, eve):
        await withdrawals.withdraw(tx, applicant.application.id, LOCAL)
    assert (await read_notified_positions(tx, opening))[ada.application.id] == [1]
    assert joe.application.id in await read_notified_positions(tx, opening)


async def test_a_withdrawn_applicant_may_apply_again_with_a_new_application(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    applicant = await make_applicant(tx)
    first = await apply(tx, opening, applicant.id)
    waiting = await apply(tx, opening)
    await withdrawals.withdraw(tx, first.application.id, LOCAL)
    second = await apply(tx, opening, applicant.id)
    assert second.application.id != first.application.id
    assert (second.application.status, second.position) == ("WAITLIST", 1)
    assert (await now(tx, first)).status == "INACTIVE"
    assert (await now(tx, waiting)).status == "PENDING_ACKNOWLEDGMENT"

"""Tests of openings as readers see them, also between a deadline and the worker that handles it."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Gone, Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import applicant_applications, timeline, withdrawals
from jobmill.hiring.openings import applicant_lists, lifecycle, public_openings
from jobmill.hiring.records.applicants import ApplicantNotFound
from jobmill.hiring.records.openings import OpeningNotFound
from jobmill.hiring.waitlist import overdue_offers
from tests.hiring.helpers import apply, let_pass, make_applicant, make_opening

HOUR = dt.timedelta(hours=1)


async def test_counts_agree_with_rows(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    placed = [await apply(tx, opening) for _ in range(5)]
    detail = await applicant_lists.get_detail(tx, opening.id)
    assert (detail.opening.active_count, detail.opening.waitlist_count) == (2, 3)
    assert [row.application_id for row in detail.active + detail.waiting] == [
        placement.application.id for placement in placed
    ]
    assert [row.queue_position for row in detail.waiting] == [1, 2, 3]


async def test_an_overdue_offer_takes_no_slot_and_comes_last(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    late, waiting = [await apply(tx, opening) for _ in range(2)]
    await let_pass(tx, opening, HOUR)
    detail = await applicant_lists.get_detail(tx, opening.id)
    assert (detail.opening.active_count, detail.opening.waitlist_count, detail.active) == (0, 2, [])
    assert [(row.application_id, row.status, row.queue_position) for row in detail.waiting] == [
        (waiting.application.id, "WAITLIST", 1),
        (late.application.id, "PENDING_ACKNOWLEDGMENT", None),
    ]
    assert await overdue_offers.find_overdue_opening(tx, opening.id) == [opening.id]
    applicant_id = waiting.application.applicant_id
    assert await overdue_offers.find_overdue_openings_of(tx, applicant_id) == [opening.id]


async def test_no_opening_is_overdue_before_its_deadlines(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    placement = await apply(tx, opening)
    assert await overdue_offers.find_overdue_opening(tx, opening.id) == []
    assert (
        await overdue_offers.find_overdue_openings_of(tx, placement.application.applicant_id) == []
    )
    assert (await applicant_lists.get_counts(tx, opening.id)).active_count == 1


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7])
async def test_pages_of_any_size_add_up_to_the_full_list(tx: Tx, limit: int) -> None:
    opening = await make_opening(tx, 3, require_acknowledgement=True)
    for _ in range(7):
        await apply(tx, opening)
    full = await applicant_lists.get_detail(tx, opening.id)
    rows: list[applicant_lists.ApplicantRow] = []
    page = await applicant_lists.get_detail(tx, opening.id, limit=limit)
    while True:
        assert len(page.active) + len(page.waiting) <= limit
        rows += page.active + page.waiting
        if page.next is None:
            break
        page = await applicant_lists.get_detail(tx, opening.id, after=page.next, limit=limit)
    assert rows == full.active + full.waiting


async def test_only_waiting_applications_have_a_position(tx: Tx) -> None:
    full, free = await make_opening(tx, 1), await make_opening(tx, 1)
    person = await make_applicant(tx)
    await apply(tx, full)
    await apply(tx, full)
    for opening in (full, free):
        await apply(tx, opening, person.id)
    applicant, listed = await applicant_applications.list_by_applicant(tx, person.id)
    assert applicant == person
    assert [(standing.job_id, standing.status, standing.queue_position) for standing in listed] == [
        (full.id, "WAITLIST", 2),
        (free.id, "ACTIVE", None),
    ]
    assert all(0 <= standing.time_in_current_state_seconds < 60 for standing in listed)


async def test_a_timeline_continues_after_a_cursor(tx: Tx) -> None:
    person = await make_applicant(tx)
    for _ in range(3):
        placed = await apply(tx, await make_opening(tx), person.id)
        await withdrawals.withdraw(tx, placed.application.id, LOCAL)
    full = await timeline.list_timeline(tx, person.id)
    assert [event.type for event in full] == ["APPLIED", "WITHDRAWN"] * 3
    rest = await timeline.list_timeline(tx, person.id, after=timeline.timeline_cursor(full[1]))
    assert rest == full[2:]
    assert await timeline.list_timeline(tx, person.id, limit=4) == full[:4]
    assert await timeline.list_timeline(tx, person.id, limit=4, newest=True) == full[2:]


async def test_a_missing_applicant_or_opening_raises_not_found(tx: Tx) -> None:
    with pytest.raises(OpeningNotFound):
        await applicant_lists.get_detail(tx, 10**9)
    with pytest.raises(ApplicantNotFound):
        await applicant_applications.list_by_applicant(tx, 10**9)
    with pytest.raises(ApplicantNotFound):
        await timeline.list_timeline(tx, 10**9)
    opening = await make_opening(tx)
    with pytest.raises(Invalid):
        await applicant_lists.get_detail(tx, opening.id, after="nowhere")


async def test_all_statements_of_a_snapshot_see_one_instant(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1)
    async with database.transaction() as tx:
        await overdue_offers.begin_snapshot(tx)
        assert (await applicant_lists.get_counts(tx, opening.id)).active_count == 0
        async with database.transaction() as other:
            await apply(other, opening)
        assert (await applicant_lists.get_detail(tx, opening.id)).active == []


async def test_only_openings_that_take_applications_are_published(tx: Tx) -> None:
    now = dt.datetime.now(dt.UTC)
    open, soon = await make_opening(tx), await make_opening(tx, apply_until=now + HOUR)
    over, paused, closed = [
        await make_opening(tx, apply_until=until) for until in (now - HOUR, None, None)
    ]
    await lifecycle.pause(tx, paused.id, LOCAL)
    await lifecycle.close(tx, closed.id, LOCAL)
    ours = {opening.id for opening in (open, soon, over, paused, closed)}
    published = [
        opening.id
        for opening in await public_openings.search(tx, limit=10_000)
        if opening.id in ours
    ]
    assert published == [soon.id, open.id]
    assert (await public_openings.get(tx, over.id)).is_over
    with pytest.raises(Gone):
        await public_openings.get(tx, closed.id)

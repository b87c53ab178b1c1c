"""Tests of the key figures, which come from the log."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.audit_log import summary
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records.openings import OpeningNotFound
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.change_past import age
from tests.hiring.helpers import apply, make_opening

MINUTE = dt.timedelta(minutes=1)


async def test_the_summary_of_a_new_opening_is_empty(tx: Tx) -> None:
    opening = await make_opening(tx, 3)
    assert await summary.summarize(tx, opening.id) == summary.OpeningSummary(
        opening.id, "Baker", 3, 0, 0, 0, 0, None, None, 0
    )
    with pytest.raises(OpeningNotFound):
        await summary.summarize(tx, opening.id + 1)


async def test_times_and_counts_come_from_the_log(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, _, third = [(await apply(tx, opening)).application.id for _ in range(3)]
    await age(tx, opening.id, 2 * MINUTE)
    await withdrawals.withdraw(tx, first, LOCAL)
    await age(tx, opening.id, 6 * MINUTE)
    await expire_due_openings(tx)
    await age(tx, opening.id, MINUTE)
    await offers.acknowledge(tx, third, LOCAL)
    await lifecycle.edit(tx, opening.id, LOCAL, title="Cook")
    await lifecycle.set_capacity(tx, opening.id, 2, LOCAL)
    figures = await summary.summarize(tx, opening.id)
    assert (figures.title, figures.capacity, figures.decay_events) == ("Cook", 2, 1)
    assert (figures.active_count, figures.waitlist_count, figures.inactive_count) == (2, 0, 1)
    assert figures.total_applications == 3
    # The second waited two minutes for its first offer, the third eight.
    assert figures.avg_time_to_promotion_seconds == pytest.approx(5 * 60, abs=20)
    assert figures.avg_acknowledgment_time_seconds == pytest.approx(60, abs=20)


async def test_an_offer_for_a_free_slot_counts_from_applying_to_confirming(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    application = (await apply(tx, opening)).application
    await age(tx, opening.id, MINUTE)
    await offers.acknowledge(tx, application.id, LOCAL)
    figures = await summary.summarize(tx, opening.id)
    assert figures.avg_acknowledgment_time_seconds == pytest.approx(60, abs=20)
    assert figures.avg_time_to_promotion_seconds is None


async def test_a_missed_offer_does_not_add_to_the_time_of_the_next(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    first, second = [(await apply(tx, opening)).application.id for _ in range(2)]
    await withdrawals.withdraw(tx, first, LOCAL)
    await age(tx, opening.id, 6 * MINUTE)
    await expire_due_openings(tx)
    await age(tx, opening.id, MINUTE)
    await offers.acknowledge(tx, second, LOCAL)
    figures = await summary.summarize(tx, opening.id)
    assert figures.avg_acknowledgment_time_seconds == pytest.approx(60, abs=20)


async def test_an_expired_offer_counts_as_in_the_live_tables(tx: Tx) -> None:
    opening = await make_opening(tx, 2, require_acknowledgement=True)
    await apply(tx, opening)
    await age(tx, opening.id, 6 * MINUTE)
    figures = await summary.summarize(tx, opening.id)
    live = await applicant_lists.get_counts(tx, opening.id)
    assert (figures.active_count, figures.waitlist_count) == (0, 1)
    assert (live.active_count, live.waitlist_count) == (0, 1)

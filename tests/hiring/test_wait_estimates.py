"""Tests of wait estimates."""

from __future__ import annotations

import datetime as dt
from random import Random

import pytest

from jobmill.db import Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.waitlist import wait_estimates
from tests.hiring.helpers import apply, make_opening

NOW = dt.datetime(2026, 11, 15, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)


def ago(*days: float) -> list[dt.datetime]:
    return [NOW - day * DAY for day in days]


@pytest.mark.parametrize(
    ("position", "offers", "days", "least", "most"),
    [
        # Too few observations: none, two, or a hundred at two instants.
        (1, [], 30, None, None),
        (1, [3, 9], 30, None, None),
        (9, [3] * 60 + [9] * 40, 30, None, None),
        # Thirty in thirty days: one a day.
        (1, range(1, 31), 30, 0.05, 4),
        (10, range(1, 31), 30, 5.5, 17),
        (100, range(1, 31), 30, 75, 140),
        # More observations make the range narrower.
        (100, [n / 10 for n in range(1, 301)], 30, 8, 12.5),
        (10, [5, 15, 25], 30, 40, 320),
        # Slots that come ten at a time are awaited ten at a time.
        (10, [5] * 10 + [15] * 10 + [25] * 10, 30, 0.5, 50),
        # A new opening is estimated over its own lifetime.
        (1, [0.01, 0.02, 0.03], 0.04, 0.001, 0.08),
        (10**4, [10, 20, 29], 30, 10**4, 10**6),
    ],
)
def test_a_wait_is_a_range_based_on_past_offers(
    position: int, offers: list[float], days: float, least: float | None, most: float | None
) -> None:
    wait = wait_estimates.estimate_wait(position, ago(*offers), NOW - days * DAY, NOW)
    if least is None or most is None:
        assert wait is None
    else:
        assert wait
        assert least * DAY < wait.least < wait.most < most * DAY


@pytest.mark.parametrize("position", [1, 3, 20, 200])
@pytest.mark.parametrize("rate", [0.2, 1, 10])
def test_the_range_is_right_as_often_as_promised(position: int, rate: float) -> None:
    chance = Random(position * rate)
    correct = estimated = 0
    for _ in range(500):
        offers, at = list[float](), chance.expovariate(rate)
        while at < 30:
            offers.append(at)
            at += chance.expovariate(rate)
        wait = wait_estimates.estimate_wait(position, ago(*offers), NOW - 30 * DAY, NOW)
        if wait:
            estimated += 1
            came = sum(chance.expovariate(rate) for _ in range(position)) * DAY
            correct += wait.least <= came <= wait.most
    assert estimated > 400
    assert 0.74 < correct / estimated < 0.88


def test_an_extreme_wait_does_not_overflow() -> None:
    assert wait_estimates.estimate_wait(1, ago(1, 2, 3), NOW, NOW) is None
    far = wait_estimates.estimate_wait(10**12, ago(1, 2, 3), NOW - 30 * DAY, NOW)
    assert far
    assert NOW + far.least


async def test_the_pace_counts_offers_in_turn(tx: Tx) -> None:
    opening = await make_opening(tx)
    first, second, third, last = [(await apply(tx, opening)).application.id for _ in range(4)]
    await withdrawals.withdraw(tx, first, LOCAL)
    await offers.offer_out_of_turn(tx, last, LOCAL, reason="out of turn", add_slot=True)
    await withdrawals.withdraw(tx, second, LOCAL)
    pace = (await wait_estimates.find_paces(tx, [opening.id]))[opening.id]
    assert len(pace.offered_at) == 2
    assert pace.since == opening.created_at
    assert pace.estimate(1) is None
    for application in (third, last):
        await withdrawals.withdraw(tx, application, LOCAL)
        await apply(tx, opening)
    await lifecycle.pause(tx, opening.id, LOCAL)
    assert (await wait_estimates.find_paces(tx, [opening.id]))[opening.id].status == "paused"
    assert await wait_estimates.find_paces(tx, []) == {}


async def test_old_offers_do_not_count_for_the_pace(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    await tx.execute(
        "UPDATE hiring.opening SET created_at = now() - interval '90 days', last_seq = 7 WHERE id = %s",
        [opening.id],
    )
    await tx.execute(
        """
        INSERT INTO hiring.event (opening_id, seq, application_id, type, to_status, from_status,
                                  metadata, why, actor, created_at, hash)
        SELECT %(opening)s, 1 + n, %(application)s, 'PROMOTED', 'PENDING_ACKNOWLEDGMENT', 'WAITLIST',
               '{}', '{"rule": "next in line"}', 'worker', now() - make_interval(days => 70 - 10 * n), ''
          FROM generate_series(1, 6) AS n
        """,
        {
            "opening": opening.id,
            "application": (await apply(tx, await make_opening(tx))).application.id,
        },
    )
    pace = (await wait_estimates.find_paces(tx, [opening.id]))[opening.id]
    assert len(pace.offered_at) == 2
    assert pace.now - pace.since == wait_estimates.LOOK_BACK

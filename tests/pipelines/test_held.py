"""How long work waits for a budget."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.outside.question import Blocked
from jobmill.pipelines import held

MINUTES = dt.timedelta(minutes=1)


@pytest.mark.parametrize(
    ("opens_in", "at_least", "at_most"),
    [
        (None, held.LATEST, held.LATEST),
        (dt.timedelta(hours=20), held.LATEST, held.LATEST),
        (5 * MINUTES, 4 * MINUTES, 5 * MINUTES),
        (-MINUTES, held.SOONEST, held.SOONEST),
    ],
)
def test_work_waits_until_the_budget_opens_but_looks_now_and_then(
    opens_in: dt.timedelta | None, at_least: dt.timedelta, at_most: dt.timedelta
) -> None:
    until = dt.datetime.now(dt.UTC) + opens_in if opens_in else None
    move = held.block(Blocked("busy", "others have reserved it", until, locally=False))
    assert (move.on, move.message) == ("budget", "others have reserved it")
    assert at_least <= move.recheck <= at_most

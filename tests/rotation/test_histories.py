"""Weeks of rotation on the database with a simulated clock: the invariants that always hold."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pytest

from jobmill.db import Tx
from jobmill.rotation import targets
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.target_selection import RunLimits
from jobmill.rotation.targets import CLAIM_LIFETIME, Target

from .helpers import DAY, HOUR, KEYS, NOW, answer, failed, make_target

PER_DAY = 8.0
DAYS = 45


def an_answer(fate: random.Random, rate: float) -> dict[str, Any]:
    roll = fate.random()
    if roll < 0.05:
        return dict(failed("gone"))
    if roll < 0.15:
        return dict(failed())
    if roll < 0.18:
        return {"outcome": "held", "failure": "rate_limited", "retry_after": HOUR}
    if roll < 0.3:
        return {"outcome": "unchanged"}
    return {"new": fate.choices([0, 1, 9], [1 - rate, rate / 2, rate / 2])[0]}


def times(fate: random.Random) -> list[dt.datetime]:
    """Every eight hours, but for days off, and a clock that is once put back."""
    moments = [NOW + n * 8 * HOUR for n in range(DAYS * 3)]
    off = fate.randrange(20, 75)
    moments = moments[:off] + moments[off + fate.randrange(3, 9) :]
    back = fate.randrange(10, 100)
    return [*moments[:back], moments[back] - HOUR, *moments[back:]]


def may_be_called(target: Target, policy: str, at: dt.datetime) -> bool:
    gate = target.next_allowed_at if policy == "seed" else target.blocked_until
    if target.status == "bad":
        gate = target.next_allowed_at
    free = target.queued_at is None or target.queued_at <= at - CLAIM_LIFETIME
    return free and (gate is None or gate <= at) and target.status != "paused"


@pytest.mark.parametrize(("number", "policy"), [(0, "seed"), (1, "yield")])
async def test_nothing_is_early_nothing_waits_for_ever_and_no_run_is_a_burst(
    tx: Tx, number: int, policy: Any
) -> None:
    fate = random.Random(number)
    platforms = ["greenhouse"] * 14 + ["lever"] * 8 + ["jooble"] * 6
    rates = {await make_target(tx, name): fate.choice([0.0, 0.1, 0.9]) for name in platforms}
    paused = await make_target(tx, status="paused")
    await tx.execute("UPDATE rotation.call_allowance SET refilled_at = %s", [NOW])
    called: dict[int, dt.datetime] = dict.fromkeys(rates, NOW)
    longest = dt.timedelta()
    for at in times(fate):
        before = {claim.source_id: claim for claim in await targets.by_ids(tx, [*rates, paused])}
        planned = await start_run(
            tx, RunRequest(policy, limits=RunLimits(4, 4), per_day=PER_DAY), at, KEYS
        )
        for claim in planned.claimed:
            target = before[claim.source_id]
            assert may_be_called(target, policy, at)
            if target.status == "active":
                longest = max(longest, at - called[claim.source_id])
            called[claim.source_id] = at
            lost = fate.random() < 0.03
            if not lost:
                await answer(tx, claim.source_id, at, **an_answer(fate, rates[claim.source_id]))
        # An hour's calls at most, those included that were given up before.
        assert len(planned.claimed) <= (12 if policy == "seed" else max(1, PER_DAY / 24))
    assert set(called.values()) - {NOW}
    assert paused not in called
    assert longest < 40 * DAY
    waiting = await targets.by_ids(tx, list(rates))
    assert all(
        at - called[claim.source_id] < 40 * DAY for claim in waiting if claim.status == "active"
    )

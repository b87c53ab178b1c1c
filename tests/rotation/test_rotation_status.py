"""The reports on the rotation."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.db import Tx
from jobmill.rotation import rotation_status

from .helpers import DAY, HOUR, NOW, make_target


async def test_ages_count_every_active_target_once(tx: Tx) -> None:
    for last in (None, None, NOW + HOUR, NOW - HOUR, NOW - 7 * HOUR, NOW - 2 * DAY, NOW - 99 * DAY):
        await make_target(tx, last_success_at=last)
    await make_target(tx, status="paused")
    counts = {age.age: age.targets for age in await rotation_status.target_ages(tx, NOW)}
    assert counts == {
        "never": 2,
        "under 6 hours": 2,
        "under a day": 1,
        "under 3 days": 1,
        "under a week": 0,
        "under 30 days": 0,
        "older": 1,
    }


async def due(tx: Tx, policy: Any, **options: Any) -> list[int]:
    return [
        target.source for target in await rotation_status.due_targets(tx, NOW, policy, **options)
    ]


async def test_due_under_yield_is_by_moment_whatever_line_a_target_stands_in(tx: Tx) -> None:
    state: Any = {"rho": 1.0, "d": 0.05, "last_ok_at": NOW - 9 * DAY}
    moment = await make_target(tx, due_at=NOW - 2 * HOUR, **state)
    queued = await make_target(tx, "lever", due_at=NOW - HOUR, queued_at=NOW, **state)
    untried = await make_target(tx, "lever", due_at=NOW - 3 * HOUR)
    failed = await make_target(tx, due_at=NOW, gate_at=NOW)
    soon = await make_target(tx, due_at=NOW + HOUR, **state)
    await make_target(tx, status="bad")
    assert await due(tx, "yield") == [untried, moment, queued, failed]
    assert await due(tx, "yield", ahead=HOUR) == [untried, moment, queued, failed, soon]
    assert await due(tx, "yield", platform="lever") == [untried, queued]
    assert await due(tx, "yield", limit=2) == [untried, moment]
    assert [
        target.source
        for target in await rotation_status.due_targets(tx, NOW, "yield")
        if target.queued
    ] == [queued]


async def test_due_under_seed_is_by_priority_then_by_the_last_success(tx: Tx) -> None:
    old = await make_target(tx, last_success_at=NOW - 3 * DAY)
    never = await make_target(tx, "lever")
    first = await make_target(tx, "lever", priority=1, last_success_at=NOW - DAY, queued_at=NOW)
    soon = await make_target(tx, next_allowed_at=NOW + HOUR, last_success_at=NOW - 2 * DAY)
    assert await due(tx, "seed") == [first, never, old]
    assert await due(tx, "seed", ahead=HOUR) == [first, never, old, soon]
    assert await due(tx, "seed", limit=1) == [first]
    assert await due(tx, "seed", platform="greenhouse") == [old]


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_a_source_that_may_not_run_is_not_due(tx: Tx, policy: Any) -> None:
    id = await make_target(tx)
    await tx.execute("UPDATE catalog.source SET status = 'rejected' WHERE id = %s", [id])
    assert await due(tx, policy) == []

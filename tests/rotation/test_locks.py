"""Lock order: sources before targets, ascending, and some statements never wait.

Each test holds the row that must be locked first, and checks that no later row was locked:
transactions that follow one order cannot deadlock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, LiteralString

import pytest

from jobmill.catalog import sources
from jobmill.db import Database, Tx
from jobmill.rotation import (
    board_import,
    calls,
    due_targets,
    planner,
    platform_state,
    searches,
    targets,
)
from jobmill.rotation.planner import RunRequest
from tests.catalog.helpers import make_source
from tests.queue.helpers import fetch

from .helpers import DAY, NOW, answer, failed, make_target, put

Act = Callable[[Tx], Awaitable[Any]]
MANUAL = RunRequest(trigger="manual")

TARGET: LiteralString = "SELECT 1 FROM rotation.target WHERE source_id = %s FOR UPDATE NOWAIT"
SOURCE: LiteralString = "SELECT 1 FROM catalog.source WHERE id = %s FOR UPDATE NOWAIT"
NOTE: LiteralString = "SELECT 1 FROM rotation.changed_source WHERE source_id = %s FOR UPDATE NOWAIT"
PLATFORM: LiteralString = "SELECT 1 FROM rotation.platform WHERE name = %s FOR UPDATE NOWAIT"
PACE: LiteralString = "SELECT 1 FROM rotation.call_allowance WHERE only_row = %s FOR UPDATE NOWAIT"


async def run(database: Database, act: Act) -> Any:
    async with database.transaction() as tx:
        # Without ORDER BY, rows come in physical order.
        for way in ("indexscan", "bitmapscan", "indexonlyscan"):
            await tx.execute(f"SET LOCAL enable_{way} = off")
        return await act(tx)


async def at_once(database: Database, act: Act) -> Any:
    """Its result, if it does not wait for a lock."""
    async with database.transaction() as tx:
        await tx.execute("SET LOCAL lock_timeout = '100ms'")
        return await act(tx)


async def waiting(database: Database, task: asyncio.Task[Any]) -> None:
    """Return when the task waits for a lock."""
    while not await fetch(
        database,
        """
        SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
        """,
    ):
        assert not task.done(), "it waits for nobody"
        await asyncio.sleep(0.01)


async def in_order(
    database: Database, act: Act, first: tuple[LiteralString, Any], later: tuple[LiteralString, Any]
) -> Any:
    """The result of `act`, after checking that it waits for the first row and has locked no later
    one."""
    async with database.transaction() as other:
        await other.execute(first[0], [first[1]])
        task = asyncio.create_task(run(database, act))
        await waiting(database, task)
        await other.execute(later[0], [later[1]])
    return await task


async def two(database: Database, platform: str = "greenhouse") -> tuple[int, int]:
    """Two targets, of which the lower lies behind the higher in its table."""
    async with database.transaction() as tx:
        low, high = await make_target(tx, platform), await make_target(tx, platform)
        await put(tx, low, priority=7)
    return low, high


async def test_priorities_are_given_to_the_lowest_first(database: Database) -> None:
    low, high = await two(database)
    await in_order(
        database,
        lambda tx: targets.set_priorities(tx, [high, low], 5),
        (TARGET, low),
        (TARGET, high),
    )


async def test_an_import_of_several_priorities_takes_the_lowest_first(database: Database) -> None:
    boards = [
        board_import.ImportedBoard(board_import.board_source("greenhouse", f"b{n}"), n)
        for n in range(2)
    ]
    async with database.transaction() as tx:
        await board_import.import_boards(tx, boards)
    low, high = await fetch(database, "SELECT source_id FROM rotation.target ORDER BY 1")
    again = [
        board_import.ImportedBoard(boards[1].new, 3),
        board_import.ImportedBoard(boards[0].new, 4),
    ]
    await in_order(
        database, lambda tx: board_import.import_boards(tx, again), (TARGET, low), (TARGET, high)
    )
    assert await fetch(database, "SELECT priority FROM rotation.target ORDER BY source_id") == [
        4,
        3,
    ]


async def test_what_a_search_does_not_want_any_more_rests_lowest_first(database: Database) -> None:
    async with database.transaction() as tx:
        search = await searches.add(tx, "jooble", ["cook", "diver"], [""])
    low, high = await fetch(database, "SELECT source_id FROM rotation.target ORDER BY 1")
    async with database.transaction() as tx:
        await put(tx, low, priority=7)
    await in_order(
        database,
        lambda tx: searches.update_search(tx, search.id, enabled=False),
        (TARGET, low),
        (TARGET, high),
    )
    rest = await fetch(database, "SELECT DISTINCT status FROM rotation.target")
    assert rest == ["paused"]


async def test_a_search_takes_its_sources_before_their_targets(database: Database) -> None:
    async with database.transaction() as tx:
        search = await searches.add(tx, "jooble", ["cook"], [""])
    (id,) = await fetch(database, "SELECT source_id FROM rotation.target")
    await in_order(
        database,
        lambda tx: searches.update_search(tx, search.id, priority=9),
        (SOURCE, id),
        (TARGET, id),
    )


async def test_sources_that_changed_are_taken_in_lowest_first(database: Database) -> None:
    low, high = await two(database)
    async with database.transaction() as tx:
        # The lower is to rest, the higher to run again.
        for id in (low, high):
            await sources.disable(tx, id, "not now")
        await sources.enable(tx, high)
    await in_order(database, targets.sync_changed_sources, (TARGET, low), (TARGET, high))


async def test_a_run_takes_the_pace_before_all(database: Database) -> None:
    low, _ = await two(database)
    async with database.transaction() as tx:
        await sources.disable(tx, low, "not now")
    start = RunRequest(trigger="manual")
    await in_order(
        database, lambda tx: planner.start_run(tx, start, NOW, {}), (PACE, True), (NOTE, low)
    )


@pytest.mark.parametrize("change", [targets.pause, targets.revive])
async def test_one_who_changes_a_turn_takes_the_source_before_its_target(
    database: Database, change: Callable[[Tx, int], Awaitable[Any]]
) -> None:
    low, _ = await two(database)
    async with database.transaction() as tx:
        await sources.disable(tx, low, "not now")
        await sources.enable(tx, low)

    async def act(tx: Tx) -> None:
        await targets.sync_source(tx, low)
        await change(tx, low)

    await in_order(database, act, (SOURCE, low), (TARGET, low))
    async with database.transaction() as tx:
        await sources.disable(tx, low, "not now")
    await in_order(database, lambda tx: targets.sync_source(tx, low), (SOURCE, low), (NOTE, low))


async def test_reviving_takes_the_source_before_its_target(database: Database) -> None:
    low, _ = await two(database)
    await in_order(database, lambda tx: targets.revive(tx, low), (SOURCE, low), (TARGET, low))


async def test_who_claims_a_question_takes_the_source_before_it(database: Database) -> None:
    id, _ = await two(database)

    async def claim(tx: Tx) -> calls.EarlierCall | None:
        return await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW)

    async with database.transaction() as other:
        # A manual run of it is saved.
        await other.execute(SOURCE, [id])
        task = asyncio.create_task(run(database, claim))
        await waiting(database, task)
        await answer(other, id, NOW, new=1)
    earlier = await task
    assert earlier
    assert earlier.called_at == NOW


async def test_a_source_that_somebody_changes_is_taken_in_the_next_time(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        id = await make_source(tx)
    async with database.transaction() as other:
        await other.execute(SOURCE, [id])
        assert await at_once(database, targets.sync_changed_sources) == 0
    assert await at_once(database, targets.sync_changed_sources) == 1


async def test_two_who_take_sources_in_do_not_wait_for_each_other(database: Database) -> None:
    async with database.transaction() as tx:
        await make_source(tx)
    async with database.transaction() as other:
        assert await targets.sync_changed_sources(other) == 1
        assert await at_once(database, targets.sync_changed_sources) == 0


async def test_moments_are_moved_past_a_target_that_somebody_has(database: Database) -> None:
    low, high = await two(database)
    due = {low: NOW + DAY, high: NOW + DAY}
    async with database.transaction() as other:
        await other.execute(TARGET, [low])
        await at_once(database, lambda tx: targets.set_due_times(tx, due, 0.5))
    moved = await fetch(database, "SELECT source_id FROM rotation.target WHERE price = 0.5")
    assert moved == [high]


async def test_a_probe_is_sent_while_another_call_of_its_platform_is_saved(
    database: Database,
) -> None:
    await two(database)
    async with database.transaction() as tx:
        await tx.execute("UPDATE rotation.platform SET open_count = 1")
    async with database.transaction() as other:
        await other.execute(PLATFORM, ["greenhouse"])
        await at_once(database, lambda tx: platform_state.mark_probed(tx, ["greenhouse"], NOW))
    await at_once(database, lambda tx: platform_state.mark_probed(tx, ["greenhouse"], NOW))
    assert await fetch(database, "SELECT probe_at FROM rotation.platform") == [NOW]


async def test_a_good_call_waits_for_no_other_of_its_platform(database: Database) -> None:
    low, _ = await two(database)
    async with database.transaction() as other:
        await other.execute(PLATFORM, ["greenhouse"])
        target = await at_once(database, lambda tx: answer(tx, low, NOW, new=1))
    assert target.new_jobs_last == 1


async def test_a_failure_is_counted_for_its_platform_whoever_has_it(database: Database) -> None:
    low, high = await two(database)
    async with database.transaction() as other:
        await answer(other, low, NOW, **failed())
        task = asyncio.create_task(run(database, lambda tx: answer(tx, high, NOW, **failed())))
        await waiting(database, task)
    await task
    assert await fetch(database, "SELECT streak FROM rotation.platform") == [2]


async def test_a_look_at_due_targets_stores_nothing_and_keeps_no_lock(database: Database) -> None:
    async with database.transaction() as tx:
        await make_target(tx)
        new = await make_source(tx)
    async with database.transaction() as looking:
        due = await due_targets.list_due(looking, RunRequest(), NOW, {})
        assert len(due.targets) == 2
        assert new in await fetch(looking, "SELECT source_id FROM rotation.changed_source")
        plan = await at_once(database, lambda tx: planner.start_run(tx, MANUAL, NOW, {}))
        assert len(plan.claimed) == 2

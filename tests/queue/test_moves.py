"""What each move of a stage does to its item."""

from __future__ import annotations

import datetime as dt

import psycopg
import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.errors import Invalid, OutsideError, RetryLater
from jobmill.queue import (
    Advance,
    Block,
    BlockedOn,
    Filter,
    Finish,
    HandOver,
    Move,
    Skip,
    Stage,
    WaitFor,
    WaitUntil,
    Work,
    operator_actions,
)
from jobmill.queue.items import TRANSITIONS
from jobmill.queue.stages import MAX_STEPS
from jobmill.queue.value_encoding import MAX_DATA_BYTES

from .helpers import drain, fetch, happened, item, make_due, new, put, stages, statuses


async def test_the_database_and_the_code_have_the_same_transitions(tx: Tx) -> None:
    legal: set[tuple[str | None, str]] = set()
    every = [status for status in TRANSITIONS if status]
    for was in TRANSITIONS:
        for became in every:
            await tx.execute("SAVEPOINT probe")
            try:
                await tx.execute(
                    "INSERT INTO queue.event (item_id, type, from_status, to_status) VALUES (0, 'x', %s, %s)",
                    [was, became],
                )
                legal.add((was, became))
            except psycopg.errors.CheckViolation:
                pass
            await tx.execute("ROLLBACK TO probe")
    born = {(None, status) for status in every}
    # An imported item may start with any status; every other change must be in the table.
    assert legal - born == {
        (was, became) for was, all in TRANSITIONS.items() if was for became in all
    }


async def test_an_item_goes_through_its_stages_and_leaves_a_timeline(database: Database) -> None:
    async def boil(work: Work) -> Move:
        return Advance("pour", data={"cups": work.data["cups"] + 1})

    async def pour(work: Work) -> Move:
        return Finish(f"{work.data['cups']} cups")

    table = stages({"tea/boil": Stage(boil), "tea/pour": Stage(pour)})
    [id] = await put(database, table, new("tea/boil", data={"cups": 2}))
    assert await drain(database, table) == 2

    done = await item(database, id)
    assert (done.status, done.stage, done.message, done.final) == (
        "SUCCESS",
        "pour",
        "3 cups",
        True,
    )
    assert await happened(database, id) == [
        "submitted",
        "started",
        "advanced",
        "started",
        "success",
    ]


async def test_an_item_that_advances_may_get_another_priority(database: Database) -> None:
    order: list[str] = []

    async def weigh(work: Work) -> Move:
        return Advance("pour", priority=work.data["weight"])

    async def pour(work: Work) -> Move:
        order.append(work.key)
        return Finish()

    table = stages({"tea/weigh": Stage(weigh), "tea/pour": Stage(pour, processors=1)})
    weights = {"late": 90, "first": 10, "second": 20}
    await put(database, table, *(new("tea/weigh", key, data={"weight": n}) for key, n in weights.items()))  # fmt: skip
    await drain(database, table, only=[("tea", "weigh")])
    await drain(database, table)
    assert order == ["first", "second", "late"]
    [id] = await put(database, table, new("tea/weigh", "huge", data={"weight": 40_000}))
    await drain(database, table)
    assert (await item(database, id)).status == "FAILED"


@pytest.mark.parametrize(
    ("move", "status"),
    [(Finish(), "SUCCESS"), (Filter("5 strikes"), "FILTERED"), (Skip("below 80"), "SKIPPED")],
)
async def test_a_move_that_ends_an_item_sets_its_status_and_message(
    database: Database, move: Move, status: str
) -> None:
    async def run(work: Work) -> Move:
        return move

    [id] = await put(database, stages(tea=run), new("tea"))
    await drain(database, stages(tea=run))
    done = await item(database, id)
    assert (done.status, done.message) == (status, move.message)
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [0]


async def test_a_hand_over_ends_the_item_and_a_child_continues(database: Database) -> None:
    async def boil(work: Work) -> Move:
        return HandOver("pour", data={"hot": True})

    async def pour(work: Work) -> Move:
        assert work.data == {"hot": True}
        return Finish("poured")

    table = stages({"tea/boil": Stage(boil), "tea/pour": Stage(pour)})
    [id] = await put(database, table, new("tea/boil"))
    await drain(database, table)
    [child] = await fetch(database, "SELECT id FROM queue.item WHERE parent_id = %s", [id])
    first, second = await item(database, id), await item(database, child)
    assert (first.status, first.final, second.status, second.final) == (
        "SUCCESS", False, "SUCCESS", True,
    )  # fmt: skip
    assert second.tracking_id == first.tracking_id
    assert (second.ancestry, second.spawn_depth, second.handed_over) == ([id], 1, True)


async def test_a_hand_over_that_goes_in_circles_fails(database: Database) -> None:
    async def boil(work: Work) -> Move:
        return HandOver("pour")

    async def pour(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            raise AssertionError("a move that was refused saves nothing")

        return HandOver("boil", save=save, spawn=[new("tea/boil", "never")])

    table = stages({"tea/boil": Stage(boil), "tea/pour": Stage(pour)})
    await put(database, table, new("tea/boil"))
    assert await drain(database, table) == 2
    assert await statuses(database) == {"SUCCESS": 1, "FAILED": 1}
    [why] = await fetch(database, "SELECT message FROM queue.items WHERE status = 'FAILED'")
    assert why == "Could not hand over: Already completed: tea/boil for earl-grey"


async def test_what_save_writes_commits_with_the_move_or_not_at_all(database: Database) -> None:
    async def run(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            await tx.execute("INSERT INTO public.cup VALUES (%s)", [work.key])
            if work.key == "chipped" and work.retry_count == 0:
                raise OutsideError("it leaks")

        return Finish(save=save, spawn=[new("wash", f"{work.key} cup")])

    async def wash(work: Work) -> Move:
        return Finish()

    table = stages(tea=run, wash=wash)
    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.cup (name text)")
    await put(database, table, new("tea", "whole"), new("tea", "chipped"))
    await drain(database, table)
    assert await fetch(database, "SELECT name FROM public.cup") == ["whole"]
    assert await fetch(database, "SELECT key FROM queue.item WHERE kind = 'wash'") == ["whole cup"]

    await make_due(database)
    await drain(database, table)
    assert sorted(await fetch(database, "SELECT name FROM public.cup")) == ["chipped", "whole"]
    assert await statuses(database) == {"SUCCESS": 4}


async def test_waiting_until_a_time_costs_no_retry(database: Database) -> None:
    async def run(work: Work) -> Move:
        if work.data:
            return Finish()
        return WaitUntil(dt.datetime.now(dt.UTC) + dt.timedelta(hours=1), data={"steeped": True})

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    assert await drain(database, table) == 1
    waiting = await item(database, id)
    assert (waiting.status, waiting.retry_count) == ("PENDING", 0)
    assert await drain(database, table) == 0
    await make_due(database)
    assert await drain(database, table) == 1
    assert (await item(database, id)).status == "SUCCESS"


async def test_an_item_waits_for_another_and_continues_when_that_ends(database: Database) -> None:
    order: list[str] = []

    async def tea(work: Work) -> Move:
        if work.waited_for is None:
            return WaitFor(new("kettle", "copper"))
        order.append("tea")
        return Finish()

    async def kettle(work: Work) -> Move:
        order.append("kettle")
        return Finish()

    table = stages(tea=tea, kettle=kettle)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    assert order == ["kettle", "tea"]
    assert (await item(database, id)).status == "SUCCESS"


async def test_a_waiting_item_never_starves_what_it_waits_for(database: Database) -> None:
    """There is one processor, and the waiting item is more urgent than the awaited one."""
    order: list[str] = []

    async def tea(work: Work) -> Move:
        if work.key == "guest" and work.waited_for is None:
            return WaitFor(new("tea", "host", priority=500))
        order.append(work.key)
        return Finish()

    table = stages({"tea": Stage(tea, processors=1)})
    await put(database, table, new("tea", "guest", priority=1))
    await drain(database, table)
    assert order == ["host", "guest"]


async def test_an_item_that_waits_for_a_handed_over_item_waits_for_its_last_stage(
    database: Database,
) -> None:
    order: list[str] = []

    async def guest(work: Work) -> Move:
        if work.waited_for is None:
            return WaitFor(new("tea/boil"))
        order.append("guest")
        return Finish()

    async def boil(work: Work) -> Move:
        order.append("boil")
        return HandOver("pour")

    async def pour(work: Work) -> Move:
        order.append("pour")
        return Finish()

    table = stages({"tea/boil": Stage(boil), "tea/pour": Stage(pour)}, guest=guest)
    await put(database, table, new("guest", "alice"))
    await drain(database, table)
    assert order == ["boil", "pour", "guest"]


async def test_a_wait_for_an_item_is_bounded(database: Database) -> None:
    async def tea(work: Work) -> Move:
        if work.waited_for is None:
            return WaitFor(new("kettle", "copper"), at_most=dt.timedelta(seconds=0.2))
        return Finish("cold")

    async def kettle(work: Work) -> Move:
        return Block("gas", "no gas")

    table = stages(tea=tea, kettle=kettle)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    await make_due(database)
    await drain(database, table)
    assert (await item(database, id)).message == "cold"


async def test_an_item_does_not_wait_for_one_that_has_already_ended(database: Database) -> None:
    async def tea(work: Work) -> Move:
        return WaitFor(ended) if work.waited_for is None else Finish()

    async def kettle(work: Work) -> Move:
        return Finish()

    table = stages(tea=tea, kettle=kettle)
    [ended] = await put(database, table, new("kettle", "copper"))
    await drain(database, table)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    assert (await item(database, id)).status == "SUCCESS"


async def test_a_blocked_item_is_parked_until_it_is_unblocked(database: Database) -> None:
    async def run(work: Work) -> Move:
        if await fetch(database, "SELECT 1 FROM pg_class WHERE relname = 'gas'"):
            return Finish()
        raise BlockedOn("gas", "The gas is out")

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    parked = await item(database, id)
    assert (parked.status, parked.blocked_on, parked.retry_count) == ("BLOCKED", "gas", 0)
    assert parked.message == "The gas is out"

    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.gas ()")
        assert await operator_actions.unblock_items(tx, "water") == 0
        assert await operator_actions.unblock_items(tx, "gas") == 1
    await drain(database, table)
    assert await happened(database, id) == [
        "submitted", "started", "blocked", "unblocked", "started", "success",
    ]  # fmt: skip


async def test_a_blocked_item_runs_again_after_its_recheck_time(database: Database) -> None:
    async def run(work: Work) -> Move:
        return Finish() if work.data else Block("gas", "none", data={"asked": True})

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    await make_due(database)
    await drain(database, table)
    assert (await item(database, id)).status == "SUCCESS"


async def test_an_item_that_never_ends_fails_after_its_maximum_of_steps(database: Database) -> None:
    async def run(work: Work) -> Move:
        return Advance("run")

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.live SET steps = %s", [MAX_STEPS - 3])
    assert await drain(database, table) == 4
    assert "it is in a loop" in ((await item(database, id)).message or "")


async def test_an_error_that_asks_to_wait_too_often_fails_its_item_only(database: Database) -> None:
    async def run(work: Work) -> Move:
        if work.key == "guest":
            raise RetryLater("the host is busy", dt.timedelta(minutes=1))
        return Finish()

    table = stages(tea=run)
    [id] = await put(database, table, new("tea", "guest"))
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.live SET steps = %s", [MAX_STEPS])
    await put(database, table, new("tea", "host"))
    await drain(database, table)
    failed = await item(database, id)
    assert (failed.status, "it is in a loop" in (failed.message or "")) == ("FAILED", True)
    assert await statuses(database) == {"FAILED": 1, "SUCCESS": 1}


@pytest.mark.parametrize(
    ("move", "says"),
    [
        (Finish(data={"x": "a\x00b"}), "NUL character"),
        (Finish(data={"x": "\ud800"}), "surrogate"),
        (Finish(data={"x": float("nan")}), "JSON"),
        (Finish(data={"x": object()}), "JSON"),
        (Finish(data={"x": "y" * MAX_DATA_BYTES}), "at most"),
        (Advance("nowhere"), "no stage 'nowhere'"),
        (HandOver("nowhere"), "no stage 'nowhere'"),
        (Finish(spawn=[new("nobody")]), "the stage spawned nobody/run, which is not a known phase"),
        (Finish(spawn=[new("tea", "")]), "the key must have"),
        (Finish(message="a\x00b"), "NUL character"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
async def test_an_outcome_that_cannot_be_stored_fails_only_its_item(
    database: Database, move: Move, says: str
) -> None:
    async def run(work: Work) -> Move:
        return move if work.key == "odd" else Finish()

    table = stages(tea=run)
    odd, even = await put(database, table, new("tea", "odd"), new("tea", "even"))
    await drain(database, table)
    failed = await item(database, odd)
    assert (failed.status, failed.error_class) == ("FAILED", "permanent")
    assert says in (failed.error_text or "")
    assert (await item(database, even)).status == "SUCCESS"


async def test_text_that_only_looks_like_a_nul_is_kept(database: Database) -> None:
    async def run(work: Work) -> Move:
        return Finish(data={"x": "\\u0000", "y": "\\\\u0000"})

    [id] = await put(database, stages(tea=run), new("tea"))
    await drain(database, stages(tea=run))
    assert (await item(database, id)).data == {"x": "\\u0000", "y": "\\\\u0000"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (new("Tea"), "kind 'Tea'"),
        (new("tea/Boil"), "stage 'Boil'"),
        (new("tea", "x" * 5000), "1 to 4000 characters"),
        (new("tea", "a\x00"), "control characters"),
        (new("tea", priority=40_000), "priority 40000"),
        (new("tea", data={"x": "\x00"}), "NUL"),
        (new("tea", delay=dt.timedelta.max), "use at most 3650 days"),
        (new("tea", max_retries=40_000), "max retries 40000"),
        (new("tea", max_spawn_depth=-1), "max spawn depth -1"),
        (new("coffee"), "there is no phase coffee/run; the phases are: tea/run"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_wrong_submission_is_refused_with_a_reason(
    tx: Tx, wrong: queue.NewItem, says: str
) -> None:
    async def run(work: Work) -> Move:
        return Finish()

    await queue.declare_stages(tx, stages(tea=run))
    with pytest.raises(Invalid, match=says.replace("'", ".")):
        await queue.submit(tx, wrong)
    assert await fetch(tx, "SELECT count(*) FROM queue.item") == [0]


async def test_a_wait_for_a_refused_spawn_ends_at_once(database: Database) -> None:
    """The kettle has already ended in this lineage, so there is nothing to wait for."""

    async def tea(work: Work) -> Move:
        if work.data.get("asked"):
            return (
                Finish("had asked before") if work.waited_for else WaitFor(new("kettle", "copper"))
            )
        if work.waited_for is None:
            return WaitFor(new("kettle", "copper"))
        return Advance("run", data={"asked": True})

    async def kettle(work: Work) -> Move:
        return Finish()

    table = stages(tea=tea, kettle=kettle)
    [id] = await put(database, table, new("tea"))
    assert await drain(database, table) == 5
    assert (await item(database, id)).message == "had asked before"


async def test_a_retry_after_a_wait_knows_what_it_waited_for(
    database: Database,
) -> None:
    async def tea(work: Work) -> Move:
        if work.waited_for is None:
            return WaitFor(new("kettle", "copper"))
        if work.retry_count == 0:
            raise OutsideError("spilt")
        return Finish()

    async def kettle(work: Work) -> Move:
        return Finish()

    table = stages(tea=tea, kettle=kettle)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    await make_due(database)
    assert await drain(database, table) == 1
    assert (await item(database, id)).status == "SUCCESS"


async def test_no_item_waits_for_an_ancestor_that_waits_for_it(database: Database) -> None:
    """The spawn is refused as circular; waiting for the live ancestor would be a deadlock."""

    async def tea(work: Work) -> Move:
        if work.waited_for is None:
            return WaitFor(new("tea", "guest" if work.key == "host" else "host"))
        return Finish()

    table = stages(tea=tea)
    await put(database, table, new("tea", "host"))
    assert await drain(database, table) == 4
    assert await statuses(database) == {"SUCCESS": 2}

"""When an item is retried, and the message when it is not."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill.db import Database
from jobmill.errors import Conflict, Invalid, NotFound, OutsideError, Unavailable
from jobmill.queue import (
    Advance,
    BlockedOn,
    Finish,
    HandOver,
    Move,
    Stage,
    Work,
    inspect,
    operator_actions,
)
from jobmill.queue.items import ItemId
from jobmill.queue.retry import backoff, classify_error, fingerprint_error, outcome_of_error
from jobmill.queue.stages import Block, Fail, Retry

from .helpers import drain, fetch, happened, item, make_due, new, put, stages


def work(retry_count: int = 0) -> Work:
    return Work(ItemId(7), "tea", "boil", "earl-grey", {}, 1, retry_count, 3, 0, 0, "t", None, None)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("bug"), "transient"),
        (TimeoutError(), "transient"),
        (ConnectionResetError(), "transient"),
        (OutsideError("busy"), "transient"),
        (Unavailable("no server"), "transient"),
        (OutsideError("gone", permanent=True), "permanent"),
        (Invalid("wrong"), "permanent"),
        (NotFound("page", 1), "permanent"),
        (Conflict("closed"), "permanent"),
        (BlockedOn("budget", "spent"), "blocked"),
    ],
)
def test_errors_are_classified(error: Exception, expected: str) -> None:
    assert classify_error(error) == expected


def test_the_backoff_doubles_and_jitter_only_adds_to_it() -> None:
    assert [backoff(n, 0).total_seconds() for n in range(4)] == [1, 2, 4, 8]
    assert [backoff(n, 1).total_seconds() for n in range(4)] == [1.25, 2.5, 5, 10]


def test_errors_that_differ_in_numbers_ids_and_addresses_are_the_same_error() -> None:
    first = fingerprint_error(
        ValueError("item 17 at 0xdeadbeef of 8a4f1d9c-0000-4000-8000-3f5b1c2d4e6f")
    )
    other = fingerprint_error(ValueError("item 4 at 0x1 of 11111111-2222-4333-8444-555555555555"))
    assert first == other
    assert first != fingerprint_error(KeyError("item 17"))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_transient_error_is_retried_with_the_count_in_the_message(n: int) -> None:
    outcome = outcome_of_error(work(n), RuntimeError("x"))
    assert isinstance(outcome, Retry)
    assert outcome.message == f"Processing failed. Will retry ({n + 1}/3)"
    assert dt.timedelta(seconds=2**n) <= outcome.delay <= dt.timedelta(seconds=2**n * 1.25)


@pytest.mark.parametrize(
    ("retries", "error", "failed_before", "message", "next_step"),
    [
        (
            3,
            RuntimeError("boom"),
            None,
            "Failed after 3 retries: RuntimeError: boom. ",
            "Look for the cause",
        ),
        (
            0,
            Invalid("no date"),
            None,
            "Failed, and a retry cannot help: no date. ",
            "Correct the data",
        ),
        (
            0,
            RuntimeError("x"),
            5,
            "Ancestor item failed with same error, not retrying. ",
            "Look for the cause",
        ),
        (
            0,
            RuntimeError("x"),
            7,
            "Failed again with same error, not retrying: RuntimeError: x. ",
            "Look for the cause",
        ),
    ],
)
def test_an_item_that_is_not_retried_fails_with_the_reason_and_a_next_step(
    retries: int, error: Exception, failed_before: ItemId | None, message: str, next_step: str
) -> None:
    outcome = outcome_of_error(work(retries), error, failed_before=failed_before)
    assert isinstance(outcome, Fail)
    assert outcome.message.startswith(f"{message}{next_step}")
    assert outcome.message.endswith(", then retry the task.")


def test_a_blocked_stage_is_not_a_failure() -> None:
    outcome = outcome_of_error(work(3), BlockedOn("budget", "spent"))
    assert isinstance(outcome, Block)
    assert (outcome.on, outcome.message) == ("budget", "spent")


async def test_a_retry_waits_and_keeps_the_details_of_the_failure(database: Database) -> None:
    async def run(work: Work) -> Move:
        raise RuntimeError("the kettle is cold")

    table = stages(tea=run)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    waiting = await item(database, id)
    assert (waiting.status, waiting.retry_count) == ("PENDING", 1)
    assert waiting.message == "Processing failed. Will retry (1/3)"
    assert (waiting.error_class, waiting.error_text) == (
        "transient", "RuntimeError: the kettle is cold",
    )  # fmt: skip
    assert waiting.available_at
    assert waiting.available_at - waiting.updated_at >= dt.timedelta(seconds=0.9)
    assert await drain(database, table) == 0


async def test_the_next_stage_starts_with_all_its_retries(database: Database) -> None:
    async def boil(work: Work) -> Move:
        if work.retry_count < 2:
            raise RuntimeError("cold")
        return HandOver("pour") if work.key == "handed" else Advance("pour")

    async def pour(work: Work) -> Move:
        assert work.retry_count == 0
        return Finish()

    table = stages({"tea/boil": Stage(boil), "tea/pour": Stage(pour)})
    await put(database, table, new("tea/boil", "handed"), new("tea/boil", "advanced"))
    for _ in range(3):
        await drain(database, table)
        await make_due(database)
    assert await fetch(database, "SELECT DISTINCT status FROM queue.items") == ["SUCCESS"]


async def test_an_item_that_was_put_back_is_retried_only_if_its_error_changed(
    database: Database,
) -> None:
    problem = "no route to host"

    async def run(work: Work) -> Move:
        raise RuntimeError(f"{problem} {work.attempt}")

    table = stages({"company/fetch": Stage(run, max_retries=1)})
    [id] = await put(database, table, new("company/fetch", "https://a.test"))

    async def run_until_parked() -> inspect.Item:
        await drain(database, table)
        await make_due(database)
        await drain(database, table)
        return await item(database, id)

    async def put_back() -> None:
        async with database.transaction() as tx:
            await operator_actions.retry_item(tx, id)

    assert (await run_until_parked()).message.startswith("Failed after 1 retries: ")  # pyright: ignore[reportOptionalMemberAccess]
    await put_back()
    again = await run_until_parked()
    assert (again.status, again.attempts) == ("FAILED", 3)
    expected = "Failed again with same error, not retrying: RuntimeError: no route to host 3. "
    assert (again.message or "").startswith(expected)
    await put_back()
    problem = "timed out"
    other = await run_until_parked()
    assert (other.status, other.attempts, other.retry_count) == ("FAILED", 5, 1)


async def test_a_stage_that_runs_too_long_is_cancelled_and_counted(database: Database) -> None:
    async def run(work: Work) -> Move:
        await asyncio.sleep(60 if work.retry_count == 0 else 0)
        return Finish()

    table = stages({"tea": Stage(run, run_limit=dt.timedelta(seconds=0.2))})
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    late = await item(database, id)
    assert (late.status, late.retry_count) == ("PENDING", 1)
    assert late.error_text == "TimeoutError: ran longer than 0.2 s"
    await make_due(database)
    await drain(database, table)
    assert await happened(database, id) == ["submitted", "started", "retry", "started", "success"]

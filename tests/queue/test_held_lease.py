"""How long a worker's settlements go unanswered."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from jobmill.queue.held_lease import Outages


def fail_unanswered(outages: Outages) -> None:
    with pytest.raises(psycopg.OperationalError), outages.watch():
        raise psycopg.OperationalError("the connection was reset")


async def test_time_counts_from_the_first_operation_that_got_no_answer() -> None:
    outages = Outages()
    assert outages.longest() == 0
    fail_unanswered(outages)
    await asyncio.sleep(0.05)
    fail_unanswered(outages)
    assert outages.longest() >= 0.05


@pytest.mark.parametrize("error", [None, psycopg.errors.UniqueViolation("taken")])
async def test_any_answer_ends_the_outage(error: Exception | None) -> None:
    outages = Outages()
    fail_unanswered(outages)
    if error:
        with pytest.raises(psycopg.errors.UniqueViolation), outages.watch():
            raise error
    else:
        with outages.watch():
            pass
    assert outages.longest() == 0


async def test_an_operation_of_a_lost_lease_does_not_count_against_the_next() -> None:
    outages = Outages()
    with pytest.raises(psycopg.OperationalError), outages.watch():
        outages.clear()
        raise psycopg.OperationalError("the connection was reset")
    assert outages.longest() == 0


async def test_a_task_with_nothing_left_to_settle_has_no_outage() -> None:
    outages = Outages()
    fail_unanswered(outages)
    outages.forget()
    assert outages.longest() == 0

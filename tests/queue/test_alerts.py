"""Alerts about suspected loops and silent periodic tasks."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill import queue
from jobmill.db import Tx
from jobmill.queue import Finish, Move, Work, alerts, ticks

from .helpers import fetch, new, stages


async def nothing(work: Work) -> Move:
    return Finish()


TABLE = stages(listing=nothing)


async def copy(tx: Tx, times: int, **changes: Any) -> None:
    """Items of one lineage that the spawn rules would refuse, as an older queue may have left them."""
    await tx.execute(
        """
        INSERT INTO queue.item (kind, stage, key, key_hash, data, priority, tracking_id, ancestry,
            ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries)
        SELECT CASE WHEN %(kinds)s THEN kind || n ELSE kind END, 'stage' || n, key, key_hash, data,
            priority, tracking_id, ancestry, ancestor_keys, %(depth)s, 10, %(handed)s, 3
          FROM queue.item, generate_series(1, %(times)s) AS n WHERE stage = 'run'
        """,
        {"times": times, "kinds": False, "depth": 0, "handed": False} | changes,
    )


async def root(tx: Tx) -> None:
    await queue.declare_stages(tx, TABLE)
    await queue.submit(tx, new("listing", "https://a.test/1"))


async def rules(tx: Tx) -> list[str]:
    await alerts.check_rules(tx)
    return sorted(alert.rule for alert in await alerts.list_alerts(tx))


async def test_a_healthy_queue_raises_no_alert(tx: Tx) -> None:
    await root(tx)
    assert await rules(tx) == []


@pytest.mark.parametrize(
    ("copies", "changes", "expected"),
    [
        (2, {}, ["same key"]),
        (3, {}, ["same key", "same work"]),
        (1, {}, []),
        (2, {"kinds": True}, ["same key"]),
        (1, {"depth": 9}, ["deep"]),
        (1, {"depth": 8}, []),
        (5, {"handed": True}, []),
    ],
)
async def test_repeated_and_deep_items_raise_alerts(
    tx: Tx, copies: int, changes: dict[str, Any], expected: list[str]
) -> None:
    await root(tx)
    await copy(tx, copies, **changes)
    assert await rules(tx) == expected


async def test_a_repeated_alert_is_one_row_and_one_log_line(
    tx: Tx, caplog: pytest.LogCaptureFixture
) -> None:
    await root(tx)
    await copy(tx, 2)
    await alerts.check_rules(tx)
    await tx.execute("UPDATE queue.tick SET mark = 0")
    await alerts.check_rules(tx)
    [alert] = await alerts.list_alerts(tx)
    assert alert.detail.startswith("https://a.test/1 appears 3 times in lineage ")
    assert [record.message for record in caplog.records] == ["alert"]
    assert await alerts.clear_alert(tx, alert.id)
    assert not await alerts.clear_alert(tx, alert.id)
    assert await alerts.list_alerts(tx) == []
    assert len(await alerts.list_alerts(tx, standing=False)) == 1


async def test_only_new_items_are_checked(tx: Tx) -> None:
    await root(tx)
    await copy(tx, 2)
    await alerts.check_rules(tx)
    await tx.execute("UPDATE queue.tick SET mark = mark + %s", [alerts.OVERLAP])
    await tx.execute("DELETE FROM queue.alert")
    assert await rules(tx) == []


@pytest.mark.parametrize(
    ("task", "detail"),
    [
        ("scheduler", "no worker has checked the schedules for 31 s: is one running?"),
        ("deadlines", "no worker has checked the deadlines of offers for 31 s: is one running, "),
    ],
)
async def test_an_alert_is_open_while_a_periodic_task_is_silent(
    tx: Tx, task: str, detail: str
) -> None:
    await tx.execute(
        "INSERT INTO queue.tick VALUES (%s, clock_timestamp() - interval '31 s')", [task]
    )
    assert await rules(tx) == [task]
    [alert] = await alerts.list_alerts(tx)
    assert alert.detail.startswith(detail)
    await ticks.record_tick(tx, task)
    assert await rules(tx) == []
    assert await fetch(tx, "SELECT cleared_at IS NOT NULL FROM queue.alert") == [True]


async def test_a_key_of_any_length_can_raise_an_alert(tx: Tx) -> None:
    await queue.declare_stages(tx, TABLE)
    await queue.submit(tx, new("listing", "https://a.test/" + "x" * 3900))
    await copy(tx, 3)
    assert await rules(tx) == ["same key", "same work"]

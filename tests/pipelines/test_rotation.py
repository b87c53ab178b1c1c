"""Rotation runs with concurrent schedulers and workers, from claim to recorded call."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from dataclasses import replace
from typing import Any

from jobmill import app, queue
from jobmill.catalog import sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database
from jobmill.outside.request import FetchFailure, FetchResult, Request
from jobmill.pipelines import rotation, source
from jobmill.queue import Worker, operator_actions
from jobmill.rotation import board_import, targets
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.target_selection import RunLimits
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source
from tests.fakes import Net, ok
from tests.queue.helpers import claim, fetch, lose_leases

BOARD = "https://boards-api.greenhouse.io/v1/boards/{}/jobs?content=true&pay_transparency=true"
WISH = RunRequest(trigger="manual", limits=RunLimits(100, 100))


def board(*titles: str) -> Any:
    return ok(
        {
            "jobs": [
                {
                    "id": number,
                    "title": title,
                    "absolute_url": f"https://wells.example/{title}",
                    "content": f"{title}s look after our wells.",
                    "location": {"name": "Porto"},
                }
                for number, title in enumerate(titles, 1)
            ]
        }
    )


async def declare(database: Database, net: Net) -> queue.Stages:
    table = app.build_stages(Tools(database, net), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
    return table


async def start(database: Database, request: RunRequest = WISH) -> list[int]:
    async with database.transaction() as tx:
        planned, _ = await rotation.start_run(tx, request, {})
    return [target.source_id for target in planned.claimed]


async def work(database: Database, table: queue.Stages) -> int:
    return await Worker(database, table, only=[(source.KIND, "scrape")]).drain()


async def of(database: Database, id: int) -> targets.Target:
    async with database.transaction() as tx:
        return await targets.get(tx, id)


async def test_a_new_source_is_called_in_its_turn_and_what_it_showed_counts(
    database: Database,
) -> None:
    net = Net()
    net.on(BOARD.format("wells"), board("Cook", "Diver"))
    table = await declare(database, net)
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")
    assert await start(database) == [id]
    assert (await of(database, id)).queued_at is not None
    assert await work(database, table) == 1
    target = await of(database, id)
    assert (target.queued_at, target.new_jobs_last, target.fail_count) == (None, 2, 0)
    rows = await fetch(database, "SELECT signature, answer, result_count, new FROM rotation.call")
    assert rows == [("greenhouse:board_token=wells", "ok", 2, 2)]
    assert await start(database) == []


async def test_two_schedulers_and_four_workers_call_nothing_twice(database: Database) -> None:
    net = Net()
    async with database.transaction() as tx:
        outcomes = [
            board_import.ImportedBoard(board_import.board_source("greenhouse", f"b{n}"), None)
            for n in range(60)
        ]
        await board_import.import_boards(tx, outcomes)
        # Two sources with the same request, written differently.
        for words in ("cook", "Cook "):
            config = {"keywords": words}
            await sources.add(tx, NewSource(words, "jooble", words, config), enabled=True)
    for n in range(60):
        net.on(BOARD.format(f"b{n}"), board("Cook"))
    net.on("https://jooble.org/api/{JOOBLE_API_KEY}", ok({"jobs": [], "totalCount": 0}))
    keyed = {"JOOBLE_API_KEY": "x"}
    stages = await declare(database, net)
    stage = queue.Stage(lambda work: source.scrape(Tools(database, net), keyed, work), processors=4)
    table = {**stages, (source.KIND, "scrape"): stage}

    async def schedule() -> None:
        for _ in range(6):
            async with database.transaction() as tx:
                await rotation.start_run(tx, WISH, keyed)
            await asyncio.sleep(0.01)

    async def worker() -> None:
        for _ in range(3):
            await work(database, table)
            await asyncio.sleep(0.02)

    await asyncio.gather(schedule(), schedule(), worker(), worker(), worker(), worker())
    await work(database, table)
    request_urls = Counter(request.url for request in net.requests)
    assert len(request_urls) == 61
    assert set(request_urls.values()) == {1}
    keys = await fetch(database, "SELECT key FROM rotation.call")
    assert len(keys) == len(set(keys)) == 61
    assert await fetch(database, "SELECT * FROM rotation.target WHERE queued_at IS NOT NULL") == []


async def test_targets_without_room_in_the_queue_are_left_for_the_next_run(
    database: Database,
) -> None:
    net = Net()
    table = app.build_stages(Tools(database, net), Settings(queue_capacity=3))
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        ids = [await make_source(tx) for _ in range(5)]
    assert len(await start(database)) == 3
    left = await fetch(
        database, "SELECT source_id FROM rotation.target WHERE queued_at IS NULL ORDER BY 1"
    )
    assert left == ids[3:]


async def test_retry_after_is_respected(database: Database) -> None:
    def slow(request: Request) -> FetchResult:
        return FetchFailure(request.url, "rate_limited", "429", 429, dt.timedelta(hours=3))

    net = Net()
    net.on(BOARD.format("wells"), slow)
    table = await declare(database, net)
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")
    await start(database)
    await work(database, table)
    target = await of(database, id)
    assert (target.fail_count, target.queued_at) == (0, None)
    held_targets = await fetch(
        database,
        "SELECT blocked_until > now() + interval '170 minutes' FROM rotation.platform",
    )
    assert held_targets == [True]


async def test_a_source_that_was_rejected_meanwhile_gives_its_claim_back(
    database: Database,
) -> None:
    table = await declare(database, Net())
    async with database.transaction() as tx:
        id = await make_source(tx)
    await start(database)
    async with database.transaction() as tx:
        await sources.reject(tx, id, "not wanted")
    await work(database, table)
    assert (await of(database, id)).queued_at is None


async def test_a_source_that_was_disabled_meanwhile_is_not_called(database: Database) -> None:
    net = Net()
    net.on(BOARD.format("wells"), board("Cook"))
    table = await declare(database, net)
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")
    await start(database)
    async with database.transaction() as tx:
        await sources.disable(tx, id, "not now")
    await work(database, table)
    assert (await of(database, id)).queued_at is None
    assert await fetch(database, "SELECT 1 FROM rotation.call") == []
    # After it is enabled again, it is read in its turn.
    async with database.transaction() as tx:
        await sources.enable(tx, id)
    assert await start(database) == [id]
    await work(database, table)
    assert (await of(database, id)).new_jobs_last == 1


async def test_five_failures_give_a_source_up_and_it_is_tried_again_rarely(
    database: Database,
) -> None:
    net = Net()
    table = await declare(database, net)
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")

    async def later(days: int) -> None:
        async with database.transaction() as tx:
            for column in ("blocked_until", "next_allowed_at", "last_called_at", "due_at"):
                await tx.execute(
                    f"UPDATE rotation.target SET {column} = {column} - make_interval(days => %s)",
                    [days],
                )
            await tx.execute("DELETE FROM rotation.platform")
            await tx.execute(
                "UPDATE catalog.source SET retry_at = retry_at - make_interval(days => %s)", [days]
            )

    for _ in range(5):
        await later(31)
        assert await start(database) == [id]
        await work(database, table)
    assert (await of(database, id)).status == "bad"
    # The source allows another try after a week, the rotation after 30 days.
    await later(29)
    assert await start(database) == []
    await later(1)
    net.on(BOARD.format("wells"), board("Cook"))
    assert await start(database) == [id]
    await work(database, table)
    target = await of(database, id)
    assert (target.status, target.fail_count) == ("active", 0)
    async with database.transaction() as tx:
        assert (await sources.get(tx, id)).status == "active"


async def test_the_recurring_run_keeps_its_pace(database: Database) -> None:
    table = await declare(database, Net())
    async with database.transaction() as tx:
        for _ in range(30):
            await make_source(tx)
        await tx.execute(
            "UPDATE rotation.call_allowance SET balance = 0, refilled_at = now() - interval '1 day'"
        )
        item = await queue.submit(tx, queue.NewItem(rotation.KIND, "run", "what is due"))
    request = rotation.request_from_settings(Settings(rotation_calls_per_day=240))
    stage = queue.Stage(lambda work: rotation.rotate(request, work))
    only = [(rotation.KIND, "run")]
    assert await Worker(database, {**table, only[0]: stage}, only=only).drain() == 1
    assert item
    queued = await fetch(
        database, "SELECT count(*) FROM rotation.target WHERE queued_at IS NOT NULL"
    )
    assert queued == [10]


async def test_a_manual_run_does_not_choose_targets_twice_after_its_worker_dies(
    database: Database,
) -> None:
    table = await declare(database, Net())
    async with database.transaction() as tx:
        for _ in range(5):
            await make_source(tx)
        await queue.submit(tx, rotation.new_item())
    only = [(rotation.KIND, "run")]
    request = rotation.request_from_settings(Settings(max_company_targets_per_run=2))
    stage = queue.Stage(lambda work: rotation.rotate(request, work))
    # The worker is killed before the item is settled.
    await stage.run(await claim(database, *only[0]))
    await lose_leases(database)
    assert await Worker(database, {**table, only[0]: stage}, only=only).drain() == 1
    chosen = await fetch(
        database, "SELECT count(*) FROM rotation.target WHERE queued_at IS NOT NULL"
    )
    assert chosen == [2]


JOOBLE = "https://jooble.org/api/{JOOBLE_API_KEY}"


async def work_with(database: Database, net: Net, environ: dict[str, str]) -> int:
    """Like a worker with these environment variables."""
    table = await declare(database, net)
    stage = queue.Stage(lambda item: source.scrape(Tools(database, net), environ, item))
    return await work(database, {**table, (source.KIND, "scrape"): stage})


async def test_every_page_of_a_search_is_a_call_of_its_own(database: Database) -> None:
    def page(request: Request) -> FetchResult:
        body: Any = request.json
        postings = [
            {"id": str(n), "title": f"Cook {n}", "link": f"https://j.example/{n}"}
            for n in (range(100) if body["page"] == 1 else range(100, 120))
        ]
        return ok({"jobs": postings, "totalCount": 120})

    net = Net()
    net.on(JOOBLE, page)
    await declare(database, net)
    async with database.transaction() as tx:
        new = NewSource("cook", "jooble", "cook", {"keywords": "Cook", "since": "2026-03-01"})
        await sources.add(tx, new, enabled=True)
        await rotation.start_run(tx, WISH, {"JOOBLE_API_KEY": "x"})
    await work_with(database, net, {"JOOBLE_API_KEY": "x"})
    rows = await fetch(
        database, "SELECT signature, result_count FROM rotation.call_page ORDER BY number"
    )
    assert rows == [
        ("jooble:keywords=cook&since=2026-03-01", 100),
        ("jooble:keywords=cook&page=2&since=2026-03-01", 20),
    ]
    assert await fetch(database, "SELECT requests, result_count FROM rotation.call") == [(2, 120)]


async def test_a_config_that_does_not_validate_fails_its_target_until_it_is_bad(
    database: Database,
) -> None:
    net = Net()
    table = await declare(database, net)
    async with database.transaction() as tx:
        new = NewSource("broken", "greenhouse", "broken", {"bord": "wells"})
        id, _ = await sources.add(tx, new, enabled=True)
    for count in range(1, 6):
        async with database.transaction() as tx:
            await tx.execute("UPDATE rotation.target SET blocked_until = NULL, due_at = now()")
        assert await start(database) == [id]
        await work(database, table)
        target = await of(database, id)
        assert (target.fail_count, target.queued_at) == (count, None)
        assert target.next_allowed_at
        assert target.blocked_until
    assert target.status == "bad"
    assert net.requests == []
    rows = await fetch(database, "SELECT DISTINCT answer, requests, detail FROM rotation.call")
    assert [(answer, requests) for answer, requests, _ in rows] == [("error", 0)]
    assert "the config of Greenhouse is not valid: board_token" in rows[0][2]
    async with database.transaction() as tx:
        broken = await sources.get(tx, id)
    assert broken.status == "disabled"
    assert "the config of Greenhouse is not valid" in (broken.disabled_reason or "")


async def test_a_source_without_its_key_is_held_and_comes_back_with_it(database: Database) -> None:
    net = Net()
    net.on("https://shop.example/jobs", ok([{"t": "Cook", "u": "https://shop.example/1"}]))
    await declare(database, net)
    config = {
        "base_url": "https://shop.example",
        "endpoints": {"search": "/jobs"},
        "auth_type": "bearer",
        "api_key_env": "SHOP_API_KEY",
        "fields": {"title": "t", "url": "u"},
    }
    async with database.transaction() as tx:
        id, _ = await sources.add(tx, NewSource("shop", "api", "shop", config), enabled=True)
    assert await start(database) == [id]
    await work_with(database, net, {})
    target = await of(database, id)
    assert (target.queued_at, target.fail_count, target.failures) == (None, 0, 0)
    assert net.requests == []
    for table in ("call", "signature"):
        assert await fetch(database, f"SELECT 1 FROM rotation.{table}") == []
    async with database.transaction() as tx:
        assert "set SHOP_API_KEY" in ((await sources.get(tx, id)).last_detail or "")
        (held_targets,) = await targets.uncalled_targets(tx, target.run_id or 0)
    assert "set SHOP_API_KEY" in held_targets.why
    # No run chooses the source while its item is blocked, however often the item rechecks.
    assert await start(database) == []
    await look_again(database)
    await work_with(database, net, {})
    assert await start(database) == []
    # Once the key is set, the item continues by itself.
    await look_again(database)
    await work_with(database, net, {"SHOP_API_KEY": "x"})
    target = await of(database, id)
    assert (target.new_jobs_last, target.queued_at, len(net.requests)) == (1, None, 1)
    async with database.transaction() as tx:
        assert (await sources.get(tx, id)).last_detail is None
        assert await targets.uncalled_targets(tx, target.run_id or 0) == []


async def look_again(database: Database) -> None:
    """The worker does this by itself after some minutes."""
    async with database.transaction() as tx:
        assert await operator_actions.unblock_items(tx, "key") == 1


async def test_only_the_named_sources_are_called_out_of_turn(database: Database) -> None:
    net = Net()
    for name in ("wells", "pipes"):
        net.on(BOARD.format(name), board("Cook"))
    table = await declare(database, net)
    async with database.transaction() as tx:
        wells = await make_source(tx, token="wells")
        await make_source(tx, token="pipes")
    assert len(await start(database)) == 2
    await work(database, table)
    # No target is due now, and claimed ones are not claimed again.
    assert await start(database) == []
    assert await start(database, replace(WISH, sources=[wells])) == [wells]
    assert await start(database, replace(WISH, sources=[wells])) == []
    await work(database, table)
    request_urls = [request.url for request in net.requests]
    assert [request_urls.count(BOARD.format(name)) for name in ("wells", "pipes")] == [2, 1]

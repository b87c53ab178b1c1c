"""The five spawn rules and the four scenarios of loop prevention."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import (
    AcceptedItem,
    Finish,
    HandOver,
    ItemId,
    Move,
    NewItem,
    RefusedItem,
    Stage,
    WaitFor,
    Work,
    store,
)
from jobmill.queue.feed import QueueFeed, feed_batch
from jobmill.queue.spawn_rules import ChildItem, spawn_children

from .helpers import drain, fetch, item, new, put, stages, statuses


async def nothing(work: Work) -> Move:
    return Finish()


KINDS = stages(listing=nothing, company=nothing, source=nothing)


async def root(tx: Tx, name: str = "listing", key: str = "https://a.test/1", **more: int) -> ItemId:
    await queue.declare_stages(tx, KINDS)
    return await queue.submit(tx, new(name, key, **more))


async def child(tx: Tx, parent: ItemId, name: str, key: str) -> AcceptedItem | RefusedItem:
    [answer] = await spawn_children(tx, [ChildItem(parent, new(name, key))])
    return answer


async def end(tx: Tx, id: ItemId, status: str = "SUCCESS") -> None:
    """Let an item end, as a worker would."""
    worker = await fetch(
        tx, "INSERT INTO queue.worker (name, lease) VALUES ('w', '1 min') RETURNING id"
    )
    await tx.execute(
        "UPDATE queue.live SET status = 'PROCESSING', worker = %s, attempt = 1 WHERE id = %s",
        [worker[0], id],
    )
    row = f'{{"id":{id},"attempt":1,"status":"{status}","message":"m"}}'
    assert await store.end_items(tx, worker[0], [row]) == [(id, 1)]


def why(answer: AcceptedItem | RefusedItem) -> str:
    assert isinstance(answer, RefusedItem)
    return answer.reason


def placed(answer: AcceptedItem | RefusedItem) -> ItemId:
    assert isinstance(answer, AcceptedItem), answer
    return answer.id


async def test_a_child_carries_its_lineage(tx: Tx) -> None:
    listing = await root(tx)
    company = placed(await child(tx, listing, "company", "https://a.test"))
    source = placed(await child(tx, company, "source", "https://a.test/careers"))
    [(tracking, ancestry, depth, parent)] = await fetch(
        tx,
        "SELECT tracking_id, ancestry, spawn_depth, parent_id FROM queue.item WHERE id = %s",
        [source],
    )
    [root_tracking] = await fetch(tx, "SELECT tracking_id FROM queue.item WHERE id = %s", [listing])
    assert (tracking, ancestry, depth, parent) == (root_tracking, [listing, company], 2, company)


# The basic cases of loop prevention.


async def test_prevents_circular_dependency(tx: Tx) -> None:
    listing = await root(tx, key="https://company.test/1")
    company = placed(await child(tx, listing, "company", "https://company.test"))
    again = await child(tx, company, "listing", "https://company.test/1")
    assert why(again) == "circular"
    assert isinstance(again, RefusedItem)
    assert again.message == "Circular dependency detected: https://company.test/1 already in chain"


async def test_prevents_excessive_depth(tx: Tx) -> None:
    listing = await root(tx)
    await tx.execute("UPDATE queue.item SET spawn_depth = 10")
    deep = await child(tx, listing, "company", "https://a.test")
    assert why(deep) == "depth"
    assert isinstance(deep, RefusedItem)
    assert deep.message == "Max spawn depth (10) reached"


async def test_prevents_duplicate_work(tx: Tx) -> None:
    listing = await root(tx)
    first = placed(await child(tx, listing, "company", "https://a.test"))
    second = await child(tx, listing, "company", "https://a.test")
    assert why(second) == "duplicate"
    assert isinstance(second, RefusedItem)
    assert second.live == first


async def test_work_that_ended_in_a_lineage_is_not_repeated_in_it(tx: Tx) -> None:
    for status in ("SUCCESS", "FILTERED", "SKIPPED", "FAILED"):
        listing = await root(tx, key=f"https://a.test/{status}")
        company = placed(await child(tx, listing, "company", f"https://{status}.test"))
        await end(tx, company, status)
        assert why(await child(tx, listing, "company", f"https://{status}.test")) == "finished"


async def test_work_that_ended_in_another_lineage_may_be_repeated(tx: Tx) -> None:
    company = placed(await child(tx, await root(tx), "company", "https://a.test"))
    await end(tx, company)
    other = await root(tx, key="https://a.test/2")
    placed(await child(tx, other, "company", "https://a.test"))


async def test_the_spawn_rules_are_checked_in_order(tx: Tx) -> None:
    """Each child breaks several rules; the first one is reported."""
    listing = await root(tx, max_spawn_depth=1)
    company = placed(await child(tx, listing, "company", "https://a.test"))
    # Depth before circular and duplicate.
    assert why(await child(tx, company, "company", "https://a.test")) == "depth"
    # Circular before duplicate: the root itself is alive and in the chain.
    assert why(await child(tx, listing, "listing", "https://a.test/1")) == "circular"
    # Finished before live elsewhere.
    await end(tx, company)
    other = await root(tx, key="https://b.test/1")
    placed(await child(tx, other, "company", "https://a.test"))
    assert why(await child(tx, listing, "company", "https://a.test")) == "finished"


async def test_every_refusal_leaves_an_event_on_the_spawner(tx: Tx) -> None:
    listing = await root(tx)
    await child(tx, listing, "listing", "https://a.test/1")
    assert await fetch(
        tx, "SELECT note FROM queue.event WHERE item_id = %s AND type = 'spawn refused'", [listing]
    ) == ["circular: listing/run https://a.test/1"]


async def test_many_children_are_spawned_at_once_and_each_gets_a_result(tx: Tx) -> None:
    source = await root(tx, "source", "https://a.test/careers")
    keys = [f"https://a.test/{n % 700}" for n in range(1000)]
    answers = await spawn_children(tx, [ChildItem(source, new("listing", key)) for key in keys])
    assert [isinstance(answer, AcceptedItem) for answer in answers] == [
        n < 700 for n in range(1000)
    ]
    assert {why(answer) for answer in answers[700:]} == {"duplicate"}


# The four scenarios of loop prevention, run by a worker.


async def test_scenario_1_a_failed_company_does_not_make_its_listing_loop(
    database: Database,
) -> None:
    async def listing(work: Work) -> Move:
        return Finish(spawn=[new("company", "https://a.test")])

    async def company(work: Work) -> Move:
        return Finish("no data", spawn=[new("listing", "https://a.test/1")])

    table = stages(listing=listing, company=company)
    await put(database, table, new("listing", "https://a.test/1"))
    assert await drain(database, table) == 2
    assert await statuses(database) == {"SUCCESS": 2}


async def test_scenario_2_a_cycle_of_three_ends(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async def listing(work: Work) -> Move:
        return Finish(spawn=[new("company", "https://a.test")])

    async def company(work: Work) -> Move:
        return Finish(spawn=[new("source", "https://a.test/careers")])

    async def source(work: Work) -> Move:
        return Finish(spawn=[new("company", "https://a.test")])

    table = stages(listing=listing, company=company, source=source)
    await put(database, table, new("listing", "https://a.test/1"))
    assert await drain(database, table) == 3
    [warning] = [record for record in caplog.records if record.message == "spawn refused"]
    assert warning.levelname == "WARNING"
    expected = "Circular dependency detected: https://a.test already in chain"
    assert vars(warning)["reason"] == expected
    [tracking_id] = await fetch(database, "SELECT DISTINCT tracking_id::text FROM queue.item")
    assert (vars(warning)["rule"], vars(warning)["tracking_id"]) == ("circular", tracking_id)


async def test_scenario_3_one_company_is_scraped_once_for_three_lineages(
    database: Database,
) -> None:
    runs: list[str] = []

    async def listing(work: Work) -> Move:
        return Finish(spawn=[new("company", "https://a.test")])

    async def company(work: Work) -> Move:
        runs.append(work.key)
        return Finish()

    table = stages(listing=listing, company=company)
    ids = await put(database, table, *(new("listing", f"https://a.test/{n}") for n in range(3)))
    await drain(database, stages(listing=listing, company=company), only=[("listing", "run")])
    [live] = await fetch(database, "SELECT id FROM queue.live")
    refused = await fetch(
        database, "SELECT item_id FROM queue.event WHERE note LIKE 'live elsewhere:%%' ORDER BY 1"
    )
    assert len(refused) == 2
    assert set(refused) < set(ids)
    await drain(database, table)
    assert runs == ["https://a.test"]
    assert (await item(database, live)).status == "SUCCESS"


async def test_scenario_3_the_spawner_is_given_the_live_item_of_another_lineage(
    database: Database,
) -> None:
    """However many connections race, one item is created, and the others get its id."""
    async with database.transaction() as tx:
        roots = [await root(tx, key=f"https://a.test/{n}") for n in range(8)]

    async def ask(parent: ItemId) -> AcceptedItem | RefusedItem:
        async with database.transaction() as tx:
            return await child(tx, parent, "company", "https://a.test")

    answers = await asyncio.gather(*map(ask, roots))
    [winner] = [answer.id for answer in answers if isinstance(answer, AcceptedItem)]
    others = [answer for answer in answers if isinstance(answer, RefusedItem)]
    assert {(other.reason, other.live) for other in others} == {("live elsewhere", winner)}


async def test_scenario_4_a_failing_item_is_tried_a_bounded_number_of_times(
    database: Database,
) -> None:
    async def run(work: Work) -> Move:
        raise RuntimeError("again")

    table = stages(listing=run)
    [id] = await put(database, table, new("listing"))
    for _ in range(10):
        await drain(database, table)
        async with database.transaction() as tx:
            await tx.execute("UPDATE queue.live SET available_at = now() WHERE parked")
    failed = await item(database, id)
    assert (failed.status, failed.attempts, failed.retry_count) == ("FAILED", 4, 3)
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [1]


async def test_a_pipeline_may_hand_over_to_its_next_stage_with_the_same_key(
    database: Database,
) -> None:
    async def fetch_pages(work: Work) -> Move:
        return HandOver("extract")

    table = stages({"company/fetch": Stage(fetch_pages), "company/extract": Stage(nothing)})
    await put(database, table, new("company/fetch", "https://a.test"))
    assert await drain(database, table) == 2
    assert await statuses(database) == {"SUCCESS": 2}


async def test_a_spawn_during_the_last_stage_of_a_hand_over_finds_the_live_item(tx: Tx) -> None:
    """The same kind and key is alive once, in whichever stage."""
    table = stages({"company/fetch": Stage(nothing), "company/extract": Stage(nothing)})
    await queue.declare_stages(tx, table)
    await queue.declare_stages(tx, KINDS)
    extract = await queue.submit(tx, NewItem("company", "extract", "https://a.test"))
    listing = await queue.submit(tx, new("listing"))
    answer = await child(tx, listing, "company/fetch", "https://a.test")
    assert isinstance(answer, RefusedItem)
    assert (answer.reason, answer.live) == ("live elsewhere", extract)


async def test_eight_connections_racing_for_500_keys_leave_500_live_items(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        roots = [await root(tx, key=f"https://root.test/{n}") for n in range(8)]

    async def ask(parent: ItemId) -> int:
        children = [ChildItem(parent, new("company", f"https://{n}.test")) for n in range(500)]
        async with database.transaction() as tx:
            answers = await spawn_children(tx, children)
        return sum(isinstance(answer, AcceptedItem) for answer in answers)

    assert sum(await asyncio.gather(*map(ask, roots))) == 500
    assert await fetch(database, "SELECT count(*) FROM queue.live WHERE kind = 'company'") == [500]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[tuple[object, ...]]:
    """Item, lineage, rule and reason of each refused spawn in the log."""
    return [
        tuple(vars(record)[name] for name in ("item", "tracking_id", "rule", "reason"))
        for record in caplog.records
        if (record.levelname, record.message) == ("WARNING", "spawn refused")
    ]


@pytest.mark.parametrize("path", ["spawn", "wait for", "hand over"])
async def test_a_refused_spawn_of_a_stage_is_a_warning_with_its_rule_and_lineage(
    database: Database, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    again = new("listing", "https://a.test/1")

    async def listing(work: Work) -> Move:
        if path == "hand over":
            return HandOver("run")
        if path == "wait for" and not work.steps:
            return WaitFor(again)
        return Finish(spawn=[again] if path == "spawn" else [])

    table = stages(listing=listing)
    [id] = await put(database, table, again)
    await drain(database, table)
    rule = "finished" if path == "hand over" else "circular"
    tracking_id = (await item(database, id)).tracking_id
    [(parent, lineage, named, reason)] = warnings_of(caplog)
    assert (parent, lineage, named) == (id, str(tracking_id), rule)
    assert "https://a.test/1" in str(reason)


async def test_a_refused_spawn_of_a_feed_is_a_warning_with_its_rule_and_lineage(
    tx: Tx, caplog: pytest.LogCaptureFixture
) -> None:
    parent = await root(tx)

    async def take(tx: Tx, limit: int) -> Sequence[NewItem | ChildItem]:
        return [ChildItem(parent, new("listing", "https://a.test/1")), new("company", "https://b")]

    async def release(tx: Tx, refused: Sequence[RefusedItem]) -> None:
        raise AssertionError("a circular spawn is never admitted later")

    assert await feed_batch(tx, QueueFeed("listing", "run", take, release)) == 2
    [tracking_id] = await fetch(
        tx, "SELECT tracking_id::text FROM queue.item WHERE id = %s", [parent]
    )
    reason = "Circular dependency detected: https://a.test/1 already in chain"
    assert warnings_of(caplog) == [(parent, tracking_id, "circular", reason)]

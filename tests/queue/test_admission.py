"""Admission: the four refusals, the capacity of a phase, and feeds."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.queue import (
    AcceptedItem,
    Finish,
    ItemId,
    Move,
    NewItem,
    NotAdmitted,
    RefusedItem,
    Stage,
    Work,
)
from jobmill.queue.feed import QueueFeed, feed_batch
from jobmill.queue.spawn_rules import ChildItem

from .helpers import drain, fetch, new, put, stages


async def nothing(work: Work) -> Move:
    return Finish()


SITE = stages({"site/analysis": Stage(nothing, capacity=5), "site/prompts": Stage(nothing)})


async def refusal(tx: Tx, new: NewItem) -> RefusedItem:
    with pytest.raises(NotAdmitted) as caught:
        await queue.submit(tx, new)
    return caught.value.refused


async def test_an_item_queued_in_the_same_phase_is_refused(tx: Tx) -> None:
    await queue.declare_stages(tx, SITE)
    live = await queue.submit(tx, new("site/analysis"))
    refused = await refusal(tx, new("site/analysis"))
    assert (refused.reason, refused.live) == ("queued", live)
    assert refused.message == "Already queued: site/analysis for earl-grey"


async def test_an_item_being_processed_is_refused(tx: Tx) -> None:
    await queue.declare_stages(tx, SITE)
    live = await queue.submit(tx, new("site/analysis"))
    await tx.execute("UPDATE queue.live SET status = 'PROCESSING', worker = 1")
    refused = await refusal(tx, new("site/analysis"))
    assert (refused.reason, refused.live) == ("processing", live)


async def test_an_item_queued_in_another_phase_is_refused(tx: Tx) -> None:
    await queue.declare_stages(tx, SITE)
    live = await queue.submit(tx, new("site/prompts"))
    refused = await refusal(tx, new("site/analysis"))
    assert (refused.reason, refused.live) == ("other phase", live)


async def test_a_full_phase_refuses_new_items(tx: Tx) -> None:
    await queue.declare_stages(tx, SITE)
    answers = await queue.submit_all(tx, [new("site/analysis", f"k{n}") for n in range(7)])
    assert [isinstance(answer, AcceptedItem) for answer in answers] == [True] * 5 + [False] * 2
    refused = await refusal(tx, new("site/analysis", "late"))
    assert (refused.reason, refused.live) == ("full", None)
    # The capacity of the other phase is separate.
    await queue.submit(tx, new("site/prompts", "late"))


async def test_concurrent_submissions_never_exceed_the_capacity(database: Database) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, SITE)

    async def pour(n: int) -> int:
        async with database.transaction() as tx:
            answers = await queue.submit_all(
                tx, [new("site/analysis", f"{n}-{m}") for m in range(2)]
            )
        return sum(isinstance(answer, AcceptedItem) for answer in answers)

    assert sum(await asyncio.gather(*map(pour, range(20)))) == 5


@pytest.mark.parametrize("capacity", [1_000, 1_000_000], ids=["near the cap", "far from the cap"])
async def test_one_of_many_concurrent_submissions_of_the_same_work_is_accepted(
    database: Database, capacity: int
) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, stages({"site/prompts": Stage(nothing, capacity=capacity)}))

    async def ask(_: int) -> str:
        try:
            async with database.transaction() as tx:
                await queue.submit(tx, new("site/prompts"))
        except NotAdmitted as error:
            return error.refused.reason
        return "in"

    assert sorted(await asyncio.gather(*map(ask, range(12)))) == ["in"] + ["queued"] * 11


async def test_a_rolled_back_transaction_submits_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as tx:
            await queue.declare_stages(tx, SITE)
            await queue.submit(tx, new("site/prompts"))
            raise ZeroDivisionError
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [0]


async def take_sites(tx: Tx, most: int) -> Sequence[NewItem]:
    """Take sites that are neither started nor in progress; the UPDATE locks them."""
    rows = await fetch(
        tx,
        """
        UPDATE public.site SET in_progress = true
         WHERE id IN (SELECT id FROM public.site WHERE state = 'not-started' AND NOT in_progress
                       ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED)
        RETURNING id
        """,
        [most],
    )
    return [new("site/analysis", f"site {id}", data={"site": id}) for id in rows]


async def release_sites(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    ids = [refusal.new.data["site"] for refusal in refused]
    await tx.execute("UPDATE public.site SET in_progress = false WHERE id = ANY(%s)", [ids])


FEED = QueueFeed("site", "analysis", take_sites, release_sites)


async def many_sites(database: Database, many: int) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, SITE)
        await tx.execute(
            "CREATE TABLE public.site (id int, state text, in_progress bool DEFAULT false, runs int DEFAULT 0)"
        )
        await tx.execute(
            "INSERT INTO public.site SELECT n, 'not-started' FROM generate_series(1, %s) AS n",
            [many],
        )


async def test_a_feed_submits_what_fits_and_a_full_queue_loses_nothing(database: Database) -> None:
    async def analyse(work: Work) -> Move:
        async def save(tx: Tx) -> None:
            await tx.execute(
                "UPDATE public.site SET state = 'done', in_progress = false, runs = runs + 1 WHERE id = %s",
                [work.data["site"]],
            )

        return Finish(save=save)

    await many_sites(database, 12)
    table = stages({"site/analysis": Stage(analyse, capacity=5)})
    fed: list[int] = []
    for _ in range(4):
        async with database.transaction() as tx:
            fed.append(await feed_batch(tx, FEED))
        async with database.transaction() as tx:
            assert await feed_batch(tx, FEED) == 0 or fed[-1] < 5
        await drain(database, table)
    assert sum(fed) == 12
    assert await fetch(database, "SELECT DISTINCT state, runs FROM public.site") == [("done", 1)]


async def test_two_concurrent_feed_scans_submit_each_row_once(database: Database) -> None:
    await many_sites(database, 40)
    async with database.transaction() as tx:
        await tx.execute("UPDATE queue.phase SET capacity = 1000")

    async def scan(_: int) -> int:
        async with database.transaction() as tx:
            return await feed_batch(tx, FEED)

    assert sum(await asyncio.gather(*map(scan, range(6)))) == 40
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [40]


async def test_rows_taken_in_a_failed_transaction_are_taken_again(database: Database) -> None:
    await many_sites(database, 3)
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as tx:
            await feed_batch(tx, FEED)
            raise ZeroDivisionError
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [0]
    async with database.transaction() as tx:
        assert await feed_batch(tx, FEED) == 3


async def test_a_fed_row_joins_the_lineage_that_found_it_or_starts_a_new_one(
    database: Database,
) -> None:
    async def find(work: Work) -> Move:
        return Finish()

    table = SITE | stages({"map/read": Stage(find)})
    [parent] = await put(database, table, new("map/read", "atlas"))
    await drain(database, table)

    async def take(tx: Tx, most: int) -> Sequence[NewItem | ChildItem]:
        return [
            ChildItem(parent, new("site/analysis", "its child")),
            ChildItem(parent, new("site/analysis", "atlas")),
            ChildItem(ItemId(999_999), new("site/analysis", "forgotten parent")),
        ]

    async with database.transaction() as tx:
        assert await feed_batch(tx, QueueFeed("site", "analysis", take, release_sites)) == 3
    assert await fetch(
        database,
        "SELECT key, parent_id, spawn_depth FROM queue.item WHERE kind = 'site' ORDER BY 1",
    ) == [("forgotten parent", None, 0), ("its child", parent, 1)]


async def test_rows_refused_because_their_work_is_alive_are_put_back(database: Database) -> None:
    await many_sites(database, 2)
    await put(database, SITE, new("site/analysis", "site 1"))

    async with database.transaction() as tx:
        assert await feed_batch(tx, FEED) == 2
    assert await fetch(database, "SELECT id FROM public.site WHERE NOT in_progress") == [1]


async def test_rows_taken_while_the_phase_fills_up_are_put_back(database: Database) -> None:
    await many_sites(database, 4)

    async def take(tx: Tx, most: int) -> Sequence[NewItem]:
        news = await take_sites(tx, most)
        # A worker with a smaller capacity starts after the room was counted.
        async with database.transaction() as other:
            await other.execute("UPDATE queue.phase SET capacity = 1")
        return news

    async with database.transaction() as tx:
        assert await feed_batch(tx, QueueFeed("site", "analysis", take, release_sites)) == 4
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [1]
    assert await fetch(database, "SELECT count(*) FROM public.site WHERE NOT in_progress") == [3]


class Interrupted(psycopg.AsyncConnection[Any]):
    """Lets the live item end just before the queue looks it up."""

    async def execute(self, query: Any, *args: Any, **options: Any) -> Any:
        if "live.status, item.tracking_id" in str(query):
            async with await psycopg.AsyncConnection.connect(self.info.dsn) as other:
                await other.execute("DELETE FROM queue.live")
        return await super().execute(query, *args, **options)


async def test_a_row_is_put_back_if_the_live_item_ended_before_it_was_looked_up(
    database: Database,
) -> None:
    await many_sites(database, 1)
    await put(database, SITE, new("site/analysis", "site 1"))
    async with await Interrupted.connect(database.url) as tx:
        assert await feed_batch(tx, FEED) == 1
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [0]
    assert await fetch(database, "SELECT id FROM public.site WHERE NOT in_progress") == [1]


async def test_spawns_and_next_stages_are_not_refused_by_a_full_phase(database: Database) -> None:
    """The capacity limits submissions; work that was admitted must be able to finish."""

    async def first(work: Work) -> Move:
        return Finish(spawn=[new("site/analysis", f"page {n}") for n in range(20)])

    table = stages({"site/analysis": Stage(nothing, capacity=5)}, first=first)
    await put(database, table, new("first"))
    await drain(database, table)
    assert await fetch(database, "SELECT count(*) FROM queue.ending") == [21]


# Large batches use COPY and must have the same result as INSERT.

ROOMY = stages({"site/analysis": Stage(nothing, capacity=1_000_000)})


async def test_a_large_batch_is_submitted_completely(tx: Tx) -> None:
    await queue.declare_stages(tx, ROOMY)
    odd = 'back\\slash "quote" %s {brace} ünïcode 日本'
    news = [new("site/analysis", f"{odd} {n}", data={"text": odd, "n": n}) for n in range(300)]
    news[7] = new("site/analysis", "later", delay=dt.timedelta(hours=1))
    news[8] = new("site/analysis", "own limits", max_retries=0, max_spawn_depth=2, priority=5)
    answers = await queue.submit_all(tx, news)
    assert all(isinstance(answer, AcceptedItem) for answer in answers)
    rows = await fetch(
        tx,
        """
        SELECT key, data, max_retries, max_spawn_depth, priority,
               live.parked, live.available_at > now() + interval '59 min', live.key_hash = md5(key)::uuid
          FROM queue.item JOIN queue.live USING (id, kind, stage, priority) ORDER BY item.id
        """,
    )
    plain = (3, 10, 100, False, False, True)
    expected = [(new_item.key, new_item.data, *plain) for new_item in news]
    expected[7] = ("later", {}, 3, 10, 100, True, True, True)
    expected[8] = ("own limits", {}, 0, 2, 5, False, False, True)
    assert rows == expected
    assert await fetch(tx, "SELECT count(DISTINCT tracking_id) FROM queue.item") == [300]
    assert await fetch(tx, "SELECT type, count(*) FROM queue.event GROUP BY 1") == [
        ("submitted", 300)
    ]


async def test_a_large_batch_with_live_work_gets_a_result_for_each_item(tx: Tx) -> None:
    await queue.declare_stages(tx, ROOMY)
    live = await queue.submit(tx, new("site/analysis", "5"))
    answers = await queue.submit_all(tx, [new("site/analysis", str(n)) for n in range(200)])
    refused = [answer for answer in answers if isinstance(answer, RefusedItem)]
    assert [(refusal.new.key, refusal.reason, refusal.live) for refusal in refused] == [
        ("5", "queued", live)
    ]
    assert await fetch(tx, "SELECT count(*) FROM queue.live") == [200]


async def test_two_large_batches_of_the_same_items_in_opposite_order_both_end(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, ROOMY)
    news = [new("site/analysis", str(n)) for n in range(500)]

    async def pour(batch: list[NewItem]) -> int:
        async with database.transaction() as tx:
            answers = await queue.submit_all(tx, batch)
        return sum(isinstance(answer, AcceptedItem) for answer in answers)

    assert sum(await asyncio.gather(pour(news), pour(news[::-1]))) == 500


@pytest.mark.parametrize("wrong", [new("coffee/run"), new("site/analysis", data={"x": "\x00"})])
async def test_a_large_batch_with_an_invalid_item_submits_nothing(tx: Tx, wrong: NewItem) -> None:
    await queue.declare_stages(tx, ROOMY)
    with pytest.raises(Invalid):
        await queue.submit_all(tx, [*(new("site/analysis", str(n)) for n in range(200)), wrong])
    assert await fetch(tx, "SELECT count(*) FROM queue.item") == [0]

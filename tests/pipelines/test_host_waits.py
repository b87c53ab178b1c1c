"""Items wait for a host's rate limit: no failure, no retry spent, no request counted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import pytest

from jobmill import app, queue
from jobmill.catalog import companies
from jobmill.db import Database, Tx
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.outside.request import FetchFailure, FetchResult, Request
from jobmill.pipelines import company, discovery, judging, rotation, source
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import NewItem, Stages
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.target_selection import RunLimits
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source
from tests.extract.company.helpers import ABOUT, html
from tests.fakes import Net, ok
from tests.queue.helpers import drain, fetch, happened, item, make_due

SITE = "https://wells.example"
PAGES = ("/about", "/about-us", "/company", "/careers", "/", "/jobs/1")
BOARD = "https://boards-api.greenhouse.io/v1/boards/wells/jobs?content=true&pay_transparency=true"
WAIT = dt.timedelta(hours=2)
Make: TypeAlias = Callable[[Tx], Awaitable[NewItem]]


def too_early(request: Request) -> FetchResult:
    """Our own rate limit of the host: the request was not sent."""
    return FetchFailure(request.url, "rate_limited", "not yet", retry_after=WAIT, sent=False)


def slow_down(request: Request) -> FetchResult:
    return FetchFailure(request.url, "rate_limited", "slow down", 429, WAIT)


async def a_listing(tx: Tx) -> NewItem:
    await profiles.save(tx, "main", Profile())
    return judging.new_item_for_url(f"{SITE}/jobs/1", (await profiles.get(tx)).profile_id)


async def a_listing_on_a_board(tx: Tx) -> NewItem:
    await profiles.save(tx, "main", Profile())
    url = "https://job-boards.greenhouse.io/wells/jobs/7"
    return judging.new_item_for_url(url, (await profiles.get(tx)).profile_id)


async def a_company(tx: Tx) -> NewItem:
    return company.new_item(await companies.get_or_create(tx, "Wells", SITE))


async def a_careers_page(tx: Tx) -> NewItem:
    return discovery.new_item(DiscoveryConfig(url=f"{SITE}/careers"))


async def a_board(tx: Tx) -> NewItem:
    return discovery.new_item(DiscoveryConfig(url="https://job-boards.greenhouse.io/wells"))


async def a_source(tx: Tx) -> NewItem:
    return source.new_item(await make_source(tx, token="wells"))


def busy_net(answer: Callable[[Request], FetchResult]) -> Net:
    net = Net()
    for path in PAGES:
        net.on(f"{SITE}{path}", answer)
    net.on(BOARD, answer)
    net.on("https://boards-api.greenhouse.io/v1/boards/wells/jobs/7?pay_transparency=true", answer)
    return net


async def declare(database: Database, net: Net) -> Stages:
    table = app.build_stages(Tools(database, net), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
    return table


@pytest.mark.parametrize("answer", [too_early, slow_down])
@pytest.mark.parametrize(
    "makes",
    [
        (a_listing, a_company, a_careers_page, a_board),
        # A discovery would find the source of its board.
        (a_listing_on_a_board, a_source),
    ],
    ids=["discovery", "source"],
)
async def test_an_item_waits_for_its_host_and_spends_no_retry(
    database: Database, makes: Sequence[Make], answer: Callable[[Request], FetchResult]
) -> None:
    table = await declare(database, busy_net(answer))
    async with database.transaction() as tx:
        ids = [await queue.submit(tx, await make(tx)) for make in makes]
    for _ in range(5):
        await drain(database, table)
        await make_due(database)
    await drain(database, table)
    for id in ids:
        waiting = await item(database, id)
        assert (waiting.status, waiting.retry_count, waiting.error_class) == ("PENDING", 0, None)
        assert waiting.message
        [delay] = await fetch(
            database, "SELECT available_at - now() FROM queue.live WHERE id = %s AND parked", [id]
        )
        assert WAIT - dt.timedelta(minutes=5) < delay <= WAIT
        assert "retry" not in await happened(database, id)
    statuses = await fetch(database, "SELECT analysis_status FROM catalog.company")
    assert "failed" not in statuses


async def test_a_company_is_analyzed_from_the_pages_that_its_host_still_sent(
    database: Database,
) -> None:
    net = busy_net(slow_down)
    table = await declare(database, net)
    net.on(f"{SITE}/about", ok(html(ABOUT), url=f"{SITE}/about"))
    async with database.transaction() as tx:
        id = await queue.submit(tx, await a_company(tx))
    await drain(database, table)
    assert (await item(database, id)).status == "SUCCESS"


async def test_a_target_keeps_its_turn_while_its_host_is_busy(database: Database) -> None:
    net = busy_net(too_early)
    table = await declare(database, net)
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")
        request = RunRequest(trigger="manual", limits=RunLimits(10, 10))
        _, items = await rotation.start_run(tx, request, {})
    for _ in range(3):
        await drain(database, table)
        await make_due(database)
    waiting = await item(database, items[id])
    assert (waiting.status, waiting.retry_count) == ("PENDING", 0)
    assert await fetch(database, "SELECT queued_at IS NOT NULL FROM rotation.target") == [True]
    assert await fetch(database, "SELECT requests FROM rotation.call") == []
    assert await fetch(database, "SELECT outcome FROM catalog.run") == []
    async with database.transaction() as tx:
        _, again = await rotation.start_run(tx, request, {})
    assert again == {}


async def test_a_request_that_was_not_sent_is_not_counted(database: Database) -> None:
    def unresolved(request: Request) -> FetchResult:
        return FetchFailure(request.url, "network", "wells cannot be resolved", sent=False)

    table = await declare(database, busy_net(unresolved))
    async with database.transaction() as tx:
        id = await make_source(tx, token="wells")
        await queue.submit(tx, source.new_item(id))
    await drain(database, table)
    assert await fetch(database, "SELECT coalesce(sum(requests), 0) FROM rotation.call") == [0]
    assert await fetch(database, "SELECT calls FROM catalog.run") == [0]

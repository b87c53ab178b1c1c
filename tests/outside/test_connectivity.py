"""A machine without a network blames no host, and says so on every page until a request succeeds."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import httpx2
import pytest

from jobmill import app, queue
from jobmill.catalog import companies
from jobmill.db import Database
from jobmill.outside import connectivity
from jobmill.outside.fetch import Fetcher, open_fetch
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.public_addresses import parse_private_hosts
from jobmill.outside.request import FetchFailure, Ok, Request
from jobmill.pipelines import company, source
from jobmill.queue import Worker
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source
from tests.outside.conftest import QUICK, SMALL
from tests.outside.site import LoopbackSite, open_site, reply
from tests.queue.helpers import fetch as fetch_rows
from tests.web.helpers import site_with


@dataclass
class NameServer:
    """Resolves names to loopback, except those that it does not know."""

    unknown: set[str] = field(default_factory=set[str])
    is_down: bool = False

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if self.is_down or host in self.unknown:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ["127.0.0.1"]


@pytest.fixture
def names() -> NameServer:
    return NameServer()


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        site.on("/", reply(b"<html>hello</html>"))
        yield site


@pytest.fixture
async def fetcher(
    database: Database, names: NameServer, site: LoopbackSite
) -> AsyncIterator[Fetcher]:
    private = ",".join(f"{name}.example:{site.port}" for name in ("wells", "mills"))
    guard = AddressGuard(parse_private_hosts(private), resolve=names.resolve)
    async with open_fetch(
        database, Settings(), guard=guard, rate_limit=QUICK, limits=SMALL
    ) as fetcher:
        yield fetcher


async def test_a_name_that_alone_cannot_be_resolved_is_the_hosts_problem(
    fetcher: Fetcher, names: NameServer, site: LoopbackSite, database: Database
) -> None:
    names.unknown.add("wells.example")
    result = await fetcher(Request(f"http://wells.example:{site.port}/"))
    assert isinstance(result, FetchFailure)
    assert result.cause == "unresolved"
    async with database.transaction() as tx:
        assert await connectivity.find_offline(tx) is None


async def test_when_no_name_can_be_resolved_this_machine_is_offline_until_a_request_succeeds(
    fetcher: Fetcher, names: NameServer, site: LoopbackSite, database: Database
) -> None:
    names.is_down = True
    for name in ("wells", "mills"):
        result = await fetcher(Request(f"http://{name}.example:{site.port}/", page=True))
        assert isinstance(result, FetchFailure)
        assert (result.cause, result.sent) == ("offline", False)
        assert result.retry_after == connectivity.RETRY_AFTER
    async with database.transaction() as tx:
        offline = await connectivity.find_offline(tx)
        assert offline
        await connectivity.save_offline(tx)
        again = await connectivity.find_offline(tx)
    assert again
    assert again.since == offline.since
    names.is_down = False
    assert isinstance(await fetcher(Request(f"http://wells.example:{site.port}/")), Ok)
    async with database.transaction() as tx:
        assert await connectivity.find_offline(tx) is None


async def test_offline_items_wait_without_a_failure_or_a_retry(
    fetcher: Fetcher, names: NameServer, database: Database
) -> None:
    names.is_down = True
    stages = app.build_stages(Tools(database, fetcher), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, stages)
        board = await make_source(tx, token="wells")
        wells = await companies.get_or_create(tx, "Wells", "https://wells.example")
        await queue.submit(tx, source.new_item(board))
        await queue.submit(tx, company.new_item(wells))
    worker = Worker(database, stages)
    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(30):
        while await fetch_rows(database, "SELECT id FROM queue.live WHERE NOT parked"):
            await asyncio.sleep(0.05)
    worker.stop()
    await running
    waiting = await fetch_rows(database, "SELECT kind, retry_count FROM queue.live ORDER BY kind")
    assert waiting == [("company", 0), ("source", 0)]
    assert await fetch_rows(
        database, "SELECT status::text, consecutive_failures FROM catalog.source"
    ) == [("active", 0)]


async def test_every_page_says_that_this_machine_is_offline(
    fetcher: Fetcher, names: NameServer, database: Database, offline_pages: httpx2.AsyncClient
) -> None:
    names.is_down = True
    await fetcher(Request("https://wells.example/"))
    for path in ("/today", "/matches", "/sources"):
        assert "This machine is offline" in (await offline_pages.get(path)).text, path


@pytest.fixture
async def offline_pages(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with site_with(database, local=True) as client:
        yield client

"""`site`: the pages with a database of the test, over real HTTP.
`empty_site`: the same with an empty database that nothing can change, for requests that only read or
are refused. The tests of a file share it: a database of its own takes longer than such a test.

`database` is opened as the product opens it for pages: with a limit for answers. Without one, the pool
sends a query before each use of a connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from jobmill.db import Database, connect
from jobmill.web import site as pages
from jobmill.web.local_access import cookie_name
from jobmill.web.middleware import RequestMiddleware
from jobmill.web.server import Server
from tests.conftest import clone

_local_cookies: dict[str, dict[str, str]] = {}


def local_cookies(origin: str) -> dict[str, str]:
    """The cookie of the local user of the site at `origin`; none if the site is not local."""
    return _local_cookies.get(origin, {})


def signed_in(origin: str, **options: Any) -> httpx2.AsyncClient:
    """A client of the local user of the site at `origin`."""
    # Reading the certificates takes longer than most tests, and the site has none.
    defaults = {"timeout": 20, "verify": False}
    return httpx2.AsyncClient(
        base_url=origin, cookies=local_cookies(origin), **(defaults | options)
    )


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[httpx2.AsyncClient]:
    """The client is signed in as the local user, if the site has one."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, listener)
    serving = asyncio.create_task(server.run())
    port = listener.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    if isinstance(app, RequestMiddleware) and isinstance(app.app, FastAPI):
        state = app.app.state
        # Some tests serve an application without the state of the site.
        resolver = getattr(state, "client_resolver", None)
        if resolver and resolver.local:
            _local_cookies[address] = {cookie_name(port): state.local_access.create_cookie()}
    async with signed_in(address) as client:
        yield client
    _local_cookies.pop(address, None)
    server.stop()
    await serving


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    # Against hanging only: a busy machine may be ten times slower.
    async with connect(url, answer_limit=300.0) as database:
        yield database


@pytest.fixture
async def site(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with served(pages.create_app(database, local=True)) as client:
        yield client


@pytest.fixture(scope="module")
async def empty_database(server: str, template: str) -> AsyncIterator[Database]:
    """Read-only, so that no test can disturb the others: a statement that writes is an error."""
    options = {"default_transaction_read_only": "on"}
    with clone(server, template) as url:
        async with connect(url, options=options, answer_limit=300.0) as database:
            yield database


@pytest.fixture
async def empty_site(empty_database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with served(pages.create_app(empty_database, local=True)) as client:
        yield client

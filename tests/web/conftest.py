"""`site`: the pages with a database of the test, over real HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.types import ASGIApp

from jobmill.db import Database
from jobmill.web import site as pages
from jobmill.web.server import Server


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[httpx2.AsyncClient]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, listener)
    serving = asyncio.create_task(server.run())
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx2.AsyncClient(base_url=address, timeout=20) as client:
        yield client
    server.stop()
    await serving


@pytest.fixture
async def site(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with served(pages.create_app(database, local=True)) as client:
        yield client

"""A database with the fault tests' pipeline, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from jobmill import queue
from jobmill.db import Database, open_connection

from .checker import EVIDENCE
from .pipeline import PIPELINE
from .proxy import FaultProxy, proxied
from .sweep import Sweep


@pytest.fixture
async def proxy(database: Database) -> AsyncIterator[FaultProxy]:
    async with database.transaction() as tx:
        await tx.execute(EVIDENCE)
        await queue.declare_stages(tx, PIPELINE)
    async with proxied(database.url) as proxy:
        yield proxy


@pytest.fixture(params=["cut before", "cut after"])
async def sweep(request: pytest.FixtureRequest, proxy: FaultProxy) -> AsyncIterator[Sweep]:
    async with await open_connection(proxy.direct_url) as observer:
        sweep = Sweep(proxy, request.param, observer)
        yield sweep
    assert sweep.cuts >= 3, "BEGIN, a statement and COMMIT at least"

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator

import pytest

from jobmill.db import Database
from jobmill.outside.fetch import open_fetch
from jobmill.outside.http_exchange import HttpLimits
from jobmill.outside.rate_limits import HostRateLimit
from jobmill.outside.request import Fetch
from jobmill.settings import Settings

from .site import LoopbackSite, open_site

QUICK = HostRateLimit(dt.timedelta(milliseconds=1), max_concurrent=20)
SMALL = HttpLimits(seconds=2, connect_seconds=1, read_seconds=1, raw_bytes=60_000, bytes=100_000)


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        yield site


@pytest.fixture
async def fetch(database: Database, site: LoopbackSite) -> AsyncIterator[Fetch]:
    """A `Fetch` for `site` with a short interval and small limits."""
    settings = Settings(private_hosts=site.place, contact="https://example.org/us")
    async with open_fetch(database, settings, rate_limit=QUICK, limits=SMALL) as fetch:
        yield fetch

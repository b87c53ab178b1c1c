from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from jobmill.db import Database
from jobmill.outside.fetch import open_fetch
from jobmill.outside.http_exchange import HttpLimits
from jobmill.outside.rate_limits import HostRateLimit
from jobmill.outside.request import Fetch
from jobmill.settings import Settings

from .site import LoopbackSite, open_site

QUICK = HostRateLimit(dt.timedelta(milliseconds=1), max_concurrent=20)
SMALL = HttpLimits(seconds=30, connect_seconds=30, read_seconds=30, raw_bytes=60_000, bytes=100_000)
"""Small sizes, but patient: on a busy machine an answer may take seconds."""


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        yield site


@pytest.fixture
async def fetch(database: Database, site: LoopbackSite) -> AsyncIterator[Fetch]:
    """A `Fetch` for `site` with a short interval and small limits."""
    async with fetch_from(database, site, SMALL) as fetch:
        yield fetch


@pytest.fixture
async def impatient_fetch(database: Database, site: LoopbackSite) -> AsyncIterator[Fetch]:
    """A `Fetch` for sites that do not answer in time."""
    async with fetch_from(database, site, replace(SMALL, seconds=2, read_seconds=1)) as fetch:
        yield fetch


def fetch_from(
    database: Database, site: LoopbackSite, limits: HttpLimits
) -> AbstractAsyncContextManager[Fetch]:
    settings = Settings(private_hosts=site.place, contact="https://example.org/us")
    return open_fetch(database, settings, rate_limit=QUICK, limits=limits)

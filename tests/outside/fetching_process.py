"""A process that sends 15 concurrent requests to a host and prints how many were answered."""

from __future__ import annotations

import asyncio
import datetime as dt

from jobmill.db import connect
from jobmill.outside.fetch import open_fetch
from jobmill.outside.rate_limits import HostRateLimit
from jobmill.outside.request import Ok, Request
from jobmill.settings import Settings


async def main(url: str, place: str) -> None:
    rate_limit = HostRateLimit(dt.timedelta(milliseconds=20), max_concurrent=3)
    async with (
        connect(url) as database,
        open_fetch(database, Settings(private_hosts=place), rate_limit=rate_limit) as fetch,
    ):
        requests = [Request(f"http://{place}/") for _ in range(15)]
        answers = await asyncio.gather(*map(fetch, requests))
        print(sum(isinstance(answer, Ok) for answer in answers))


def run(url: str, place: str) -> None:
    """Send the requests in an event loop of this process."""
    asyncio.run(main(url, place))

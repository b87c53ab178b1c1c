"""Dedicated connections of a worker, for the statements of the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

import psycopg

from jobmill.db import Tx, open_connection
from jobmill.queue.retry import describe_error

log = logging.getLogger(__name__)

INDEX_PLANS: Mapping[str, str] = {
    "enable_seqscan": "off",
    "plan_cache_mode": "force_generic_plan",
}
"""Every statement of a worker finds a few hundred rows by index. These settings make PostgreSQL plan it
once, and with the indexes, even if it is planned while the tables are small enough to be read whole."""


async def connect_worker(url: str, answer_limit: float, **options: str) -> Tx:
    """Connect so that neither the server nor a silent network can block the worker beyond its lease."""
    return await open_connection(url, options={**INDEX_PLANS, **options}, answer_limit=answer_limit)


async def repeat_connected(
    connect: Callable[[], Awaitable[Tx]],
    begin: Callable[[Tx], Awaitable[None]],
    step: Callable[[Tx], Awaitable[None]],
) -> None:
    """Run `step` again and again until cancelled; reconnect, and `begin` again, when the connection breaks."""
    delay = 0.1
    while True:
        try:
            async with await connect() as connection:
                await begin(connection)
                delay = 0.1
                while True:
                    await step(connection)
        except psycopg.Error as error:
            log.warning("database connection lost", extra={"error": describe_error(error)})
            await asyncio.sleep(delay)
            delay = min(delay * 2, 2.0)

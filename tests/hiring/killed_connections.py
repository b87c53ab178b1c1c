"""Run a write on connections that PostgreSQL ends at a chosen statement, or on two connections at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import psycopg
from psycopg import AsyncCursor, sql

from jobmill.db import Tx, open_connection
from jobmill.errors import AppError
from tests.queue.helpers import fetch

Write = Callable[[Tx], Awaitable[object]]
"""One write, which can be repeated."""
Content = Counter[tuple[str, str]]
"""Every row of the database: its table (of an event the type, of a letter the kind), and a digest of it."""

MAX_STATEMENTS = 100
"""More than any write here has."""

NAMES = {
    "hiring.event": sql.SQL("'event ' || type"),
    "hiring.notice": sql.SQL("'letter ' || kind"),
}
"""Rows that are named by more than their table."""


async def kill_at_every_statement(url: str, write: Write) -> int:
    """Run the write once for each statement and for COMMIT, and end the connection before it.

    Returns the number of statements.
    """
    async with await open_connection(url) as admin:
        for position in range(MAX_STATEMENTS):
            if await _run_killed(url, admin, write, position):
                return position
    raise AssertionError("the write never ended")


async def _run_killed(url: str, admin: Tx, write: Write, position: int) -> bool:
    """End the connection before a statement, or before COMMIT if there are fewer: then True."""
    numbers = count()
    before_commit = False
    async with await open_connection(url) as connection:
        backend = connection.info.backend_pid

        async def kill_connection() -> None:
            # Waits until the server process is gone and its locks are free.
            [ended] = await fetch(admin, "SELECT pg_terminate_backend(%s, 20000)", [backend])
            assert ended

        class KilledCursor(AsyncCursor[Any]):
            async def execute(self, *args: Any, **kwargs: Any) -> Any:
                if next(numbers) == position:
                    await kill_connection()
                return await super().execute(*args, **kwargs)

        connection.cursor_factory = KilledCursor
        try:
            async with connection.transaction():
                await write(connection)
                assert next(numbers) == position, "the write hid that its connection was lost"
                before_commit = True
                await kill_connection()
        except psycopg.OperationalError:
            return before_commit
    raise AssertionError("the write was committed")


async def run_two_at_once(url: str, write: Write, other: Write) -> list[object]:
    """Start the other write on a second connection before the first one commits; returns both results.

    The result of a refused write is its error.
    """
    async with await open_connection(url) as first, await open_connection(url) as second:
        async with first.transaction():
            results = [await write(first)]
            later = asyncio.create_task(_run(second, other))
            await _wait_until_blocked(url, second.info.backend_pid, later)
        results.append(await later)
    return results


async def _run(connection: Tx, write: Write) -> object:
    try:
        async with connection.transaction():
            return await write(connection)
    except AppError as refusal:
        return refusal


async def _wait_until_blocked(url: str, backend: int, task: asyncio.Task[object]) -> None:
    """Until the connection waits for a lock, or its write has ended without one."""
    async with await open_connection(url) as observer, asyncio.timeout(60):
        while not task.done():
            [blocked] = await fetch(
                observer, "SELECT cardinality(pg_blocking_pids(%s)) > 0", [backend]
            )
            if blocked:
                return
            await asyncio.sleep(0.005)


async def read_content(tx: Tx) -> Content:
    """All rows of all tables that hiring writes."""
    tables = await fetch(
        tx,
        """
        SELECT table_schema || '.' || table_name FROM information_schema.tables
         WHERE table_schema IN ('hiring', 'people', 'queue') AND table_type = 'BASE TABLE'
        """,
    )
    query = sql.SQL(" UNION ALL ").join(
        sql.SQL("SELECT {}, md5(stored::text) FROM {} AS stored").format(
            NAMES.get(name, sql.Literal(name)), sql.Identifier(*name.split("."))
        )
        for name in tables
    )
    return Content(await (await tx.execute(query)).fetchall())

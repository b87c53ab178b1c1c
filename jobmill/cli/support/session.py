"""Run one command's work with the database, or with the database and the network."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jobmill.cli.support import environment, hints
from jobmill.db import CONNECTION_ERRORS, UNSTORABLE_VALUES, Database, Tx
from jobmill.errors import Invalid, Unavailable
from jobmill.tools import Tools

T = TypeVar("T")


def in_transaction(act: Callable[[Tx], Awaitable[T]], *, declared: bool = False) -> T:
    """Run `act` in one transaction."""

    async def run(database: Database) -> T:
        async with database.transaction() as tx:
            return await act(tx)

    return with_database(run, declared=declared)


def with_database(act: Callable[[Database], Awaitable[T]], *, declared: bool = False) -> T:
    """Run `act`, which opens its own transactions.

    `declared`: first write the phases to the database, for commands that submit items.
    """
    with hints.add_hints():
        return asyncio.run(_with_database(act, declared))


def with_tools(act: Callable[[Tools], Awaitable[T]]) -> T:
    """Run `act` with the database, the network and the models."""
    return asyncio.run(_with_tools(act))


async def _with_tools(act: Callable[[Tools], Awaitable[T]]) -> T:
    # Imported here, like the stages below: that takes a second, and most commands need neither.
    from jobmill.cli.support.open_tools import open_tools

    settings = environment.load_settings()
    # The command prints its result; the log of each request and item would only clutter it.
    for name in ("jobmill.outside", "jobmill.queue.item_log", "jobmill.queue.status_log"):
        logging.getLogger(name).setLevel(max(logging.getLogger().level, logging.WARNING))
    try:
        async with (
            environment.open_database(settings) as database,
            open_tools(settings, database) as (_, tools),
        ):
            return await act(tools)
    except (*CONNECTION_ERRORS, *UNSTORABLE_VALUES) as error:
        raise _explain(error) from error


async def _with_database(act: Callable[[Database], Awaitable[T]], declared: bool) -> T:
    settings = environment.load_settings()
    try:
        async with environment.open_database(settings) as database:
            if declared:
                from jobmill.app import declare_stages

                await declare_stages(Tools(database), settings)
            return await act(database)
    except (*CONNECTION_ERRORS, *UNSTORABLE_VALUES) as error:
        raise _explain(error) from error


def _explain(error: Exception) -> Exception:
    # The reader of our output closed the pipe; the database is fine.
    if isinstance(error, BrokenPipeError):
        return error
    if isinstance(error, UNSTORABLE_VALUES):
        return Invalid(f"PostgreSQL cannot store this value: {error}")
    return Unavailable(f"the connection to the database was lost: {error}")

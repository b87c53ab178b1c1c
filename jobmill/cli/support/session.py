"""One command's use of the database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jobmill.app import declare_stages
from jobmill.cli.support import environment
from jobmill.db import CONNECTION_ERRORS, UNSTORABLE_VALUES, Database, Tx
from jobmill.demo import session
from jobmill.errors import Invalid, Unavailable
from jobmill.outside.fetch import open_fetch
from jobmill.outside.model import open_model
from jobmill.tools import Tools

T = TypeVar("T")


def ask(question: Callable[[Tx], Awaitable[T]], *, declared: bool = False) -> T:
    """Ask one thing, in one transaction."""

    async def act(database: Database) -> T:
        async with database.transaction() as tx:
            return await question(tx)

    return use(act, declared=declared)


def use(act: Callable[[Database], Awaitable[T]], *, declared: bool = False) -> T:
    """Do something with the database; `declared` where phases must be known without any worker."""
    return asyncio.run(_use(act, declared))


def reach(act: Callable[[Tools], Awaitable[T]]) -> T:
    """Do something with the database and the network."""
    return asyncio.run(_reach(act))


async def _reach(act: Callable[[Tools], Awaitable[T]]) -> T:
    settings = environment.load()
    # Who waits for a command is told what came of it, not of each call on the way.
    logging.getLogger("jobmill.outside").setLevel(max(logging.getLogger().level, logging.WARNING))
    try:
        async with (
            environment.open_database(settings) as database,
            session.staged(settings, database) as staged,
            open_fetch(database, staged.settings) as fetch,
            open_model(database, staged.settings) as model,
        ):
            return await act(Tools(database, fetch, model))
    except (*CONNECTION_ERRORS, *UNSTORABLE_VALUES) as error:
        raise _explained(error) from error


async def _use(act: Callable[[Database], Awaitable[T]], declared: bool) -> T:
    settings = environment.load()
    try:
        async with environment.open_database(settings) as database:
            if declared:
                await declare_stages(Tools(database), settings)
            return await act(database)
    except (*CONNECTION_ERRORS, *UNSTORABLE_VALUES) as error:
        raise _explained(error) from error


def _explained(error: Exception) -> Exception:
    # Whoever read what we print went away: not the database.
    if isinstance(error, BrokenPipeError):
        return error
    if isinstance(error, UNSTORABLE_VALUES):
        return Invalid(f"no database holds what you gave: {error}")
    return Unavailable(f"the database went away: {error}")

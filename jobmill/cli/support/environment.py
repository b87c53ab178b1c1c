"""What a command stands on: the settings, the log, the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator

from jobmill import db, log, settings
from jobmill.db import Database
from jobmill.db import migrate as history
from jobmill.db.embedded import EmbeddedServer
from jobmill.errors import AppError
from jobmill.settings import Settings

TEND_EVERY = 2.0

ANSWER_LIMIT = 60.0
"""Seconds that a page waits for one answer of the database; no page takes as long."""

logger = logging.getLogger(__name__)


def load() -> Settings:
    """Read the settings and log as they say."""
    loaded, _ = settings.load()
    log.setup(loaded.log_level, loaded.log_format)
    return loaded


def direct_url(settings: Settings) -> str:
    """The configured server without its connection pooler; empty where the bundled one is used."""
    return settings.database_direct_url or settings.database_url


def embedded(settings: Settings) -> EmbeddedServer | None:
    """The PostgreSQL that we bring; None where the settings name another."""
    if settings.database_url:
        return None

    return EmbeddedServer(
        settings.data_dir / "postgres",
        settings.postgres_bin,
        connections=settings.postgres_connections,
    )


@contextlib.contextmanager
def served(settings: Settings) -> Generator[str]:
    """The URL of the database, whose server runs at least as long as the block."""
    bundled = embedded(settings)
    if bundled is None:
        yield direct_url(settings)
        return
    with bundled.use() as url:
        yield url


@contextlib.asynccontextmanager
async def open_database(
    settings: Settings, *, migrate: bool = True, answer_limit: float | None = None
) -> AsyncGenerator[Database]:
    """The database, up to date; a bundled server that dies meanwhile is started again.

    `answer_limit`: seconds to wait for an answer of the server, for processes that stay.
    """
    async with (
        _tended(settings) as url,
        db.connect(url, answer_limit=answer_limit) as database,
    ):
        if migrate:
            # On a connection of its own: a migration may take as long as it needs.
            async with await db.open_connection(url) as tx, tx.transaction():
                await history.migrate(tx)
        yield database


@contextlib.asynccontextmanager
async def open_web_database(
    settings: Settings, database: Database, *, size: int = 8
) -> AsyncGenerator[Database]:
    """A second pool to the same database, for web pages: through the connection pooler, if any."""
    if settings.database_pooler == "none":
        pool = db.connect(database.url, size=size, answer_limit=ANSWER_LIMIT)
    else:
        pool = db.connect(
            settings.database_url,
            size=size,
            direct_url=direct_url(settings),
            answer_limit=ANSWER_LIMIT,
        )
    async with pool as web_database:
        yield web_database


@contextlib.asynccontextmanager
async def _tended(settings: Settings) -> AsyncGenerator[str]:
    bundled = embedded(settings)
    if bundled is None:
        yield direct_url(settings)
        return
    url = await asyncio.to_thread(bundled.start)
    try:
        tending = asyncio.create_task(_tend(bundled))
        try:
            yield url
        finally:
            tending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await tending
    finally:
        await asyncio.to_thread(bundled.release)


async def _tend(bundled: EmbeddedServer) -> None:
    while True:
        await asyncio.sleep(TEND_EVERY)
        try:
            await asyncio.to_thread(bundled.tend)
        except AppError as error:
            logger.error("the bundled PostgreSQL is gone", extra={"error": str(error)})

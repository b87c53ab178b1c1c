"""What a command stands on: the settings, the log, the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING

from jobmill import log, settings
from jobmill.errors import AppError
from jobmill.settings import Settings

if TYPE_CHECKING:
    from jobmill.db import Database
    from jobmill.db.embedded import Embedded

TEND_EVERY = 2.0

logger = logging.getLogger(__name__)


def load() -> Settings:
    """Read the settings and log as they say."""
    loaded, _ = settings.load()
    log.setup(loaded.log_level, loaded.log_format)
    return loaded


def embedded(settings: Settings) -> Embedded | None:
    """The PostgreSQL that we bring; None where the settings name another."""
    if settings.database_url:
        return None
    from jobmill.db.embedded import Embedded

    return Embedded(
        settings.data_dir / "postgres",
        settings.postgres_bin,
        connections=settings.postgres_connections,
    )


@contextlib.contextmanager
def served(settings: Settings) -> Generator[str]:
    """The URL of the database, whose server runs at least as long as the block."""
    bundled = embedded(settings)
    if bundled is None:
        yield settings.database_url
        return
    with bundled.use() as url:
        yield url


@contextlib.asynccontextmanager
async def open_database(settings: Settings, *, migrate: bool = True) -> AsyncGenerator[Database]:
    """The database, up to date; a bundled server that dies meanwhile is started again."""
    from jobmill import db
    from jobmill.db import migrate as history

    async with _tended(settings) as url, db.connect(url) as database:
        if migrate:
            async with database.transaction() as tx:
                await history.migrate(tx)
        yield database


@contextlib.asynccontextmanager
async def _tended(settings: Settings) -> AsyncGenerator[str]:
    bundled = embedded(settings)
    if bundled is None:
        yield settings.database_url
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


async def _tend(bundled: Embedded) -> None:
    while True:
        await asyncio.sleep(TEND_EVERY)
        try:
            await asyncio.to_thread(bundled.tend)
        except AppError as error:
            logger.error("the bundled PostgreSQL is gone", extra={"error": str(error)})

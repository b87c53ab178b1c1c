"""Load the settings, set up the log and open the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

from jobmill import db, log, settings
from jobmill.db import Database, binaries, migration_backup
from jobmill.db import migrate as history
from jobmill.db.embedded import EmbeddedServer
from jobmill.errors import AppError
from jobmill.people import stored_settings
from jobmill.settings import Settings

SERVER_CHECK_SECONDS = 2.0

ANSWER_LIMIT = 60.0
"""Seconds that a web page waits for one answer of the database."""

logger = logging.getLogger(__name__)


def load_settings() -> Settings:
    """Read the settings, and set up the log as they say."""
    loaded, _ = settings.load()
    log.setup(loaded.log_level, loaded.log_format)
    return loaded


def direct_url(settings: Settings) -> str:
    """The configured server without its connection pooler; empty for the bundled server."""
    return settings.database_direct_url or settings.database_url


def bundled_server(settings: Settings) -> EmbeddedServer | None:
    """The PostgreSQL that comes with Jobmill, or None if the settings name another server."""
    if settings.database_url:
        return None
    return EmbeddedServer(
        settings.data_dir / "postgres",
        settings.postgres_bin,
        connections=settings.postgres_connections,
    )


@contextlib.contextmanager
def running_server(settings: Settings) -> Generator[str]:
    """Keep the server running during the block, and yield its URL."""
    bundled = bundled_server(settings)
    if bundled is None:
        yield direct_url(settings)
        return
    with bundled.use() as url:
        yield url


@contextlib.asynccontextmanager
async def open_database(
    settings: Settings, *, migrate: bool = True, answer_limit: float | None = None
) -> AsyncGenerator[Database]:
    """Open and migrate the database; a bundled server that dies during the block is restarted.

    `answer_limit`: seconds to wait for an answer of the server, for long-running processes.
    """
    async with (
        _supervised_server(settings) as url,
        db.connect(url, answer_limit=answer_limit) as database,
    ):
        if migrate:
            await apply_migrations(settings, url)
        yield database


async def apply_migrations(settings: Settings, url: str) -> list[str]:
    """Apply the pending migrations, after a backup; returns their names."""

    async def back_up(first_pending: str) -> None:
        await asyncio.to_thread(
            migration_backup.write,
            url,
            binaries.find_folder(settings.postgres_bin),
            backup_folder(settings),
            first_pending,
        )

    # Not through the pool: a migration may exceed the answer limit.
    async with await db.open_connection(url) as tx, tx.transaction():
        return await history.migrate(tx, back_up=back_up if settings.migration_backup else None)


def backup_folder(settings: Settings) -> Path:
    """Where the backups before migrations are kept."""
    return settings.data_dir / "backups"


async def apply_stored_settings(settings: Settings, database: Database) -> Settings:
    """The settings with those that an admin saved on the Settings page."""
    async with database.transaction() as tx:
        return await stored_settings.apply(tx, settings)


@contextlib.asynccontextmanager
async def open_web_database(
    settings: Settings, database: Database, *, size: int = 8
) -> AsyncGenerator[Database]:
    """Open a second pool for web pages, through the connection pooler if there is one."""
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
async def _supervised_server(settings: Settings) -> AsyncGenerator[str]:
    bundled = bundled_server(settings)
    if bundled is None:
        yield direct_url(settings)
        return
    url = await asyncio.to_thread(bundled.start)
    try:
        supervision = asyncio.create_task(_supervise(bundled))
        try:
            yield url
        finally:
            supervision.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervision
    finally:
        await asyncio.to_thread(bundled.release)


async def _supervise(bundled: EmbeddedServer) -> None:
    while True:
        await asyncio.sleep(SERVER_CHECK_SECONDS)
        try:
            await asyncio.to_thread(bundled.maintain)
        except AppError as error:
            logger.error("cannot restart the bundled PostgreSQL", extra={"error": str(error)})

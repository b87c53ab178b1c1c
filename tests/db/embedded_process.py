"""Processes that use a bundled server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from jobmill.db import connect
from jobmill.db.embedded import EmbeddedServer
from jobmill.db.migrate import migrate


def use(data: Path) -> None:
    """Use the server until the input ends."""
    with EmbeddedServer(data, durable=False).use() as url:
        print(url, flush=True)
        sys.stdin.read()


def migrate_server(data: Path) -> None:
    """Print how many migrations this process applied."""

    async def main(url: str) -> None:
        async with connect(url) as database, database.transaction() as tx:
            print(len(await migrate(tx)), flush=True)

    with EmbeddedServer(data, durable=False).use() as url:
        asyncio.run(main(url))

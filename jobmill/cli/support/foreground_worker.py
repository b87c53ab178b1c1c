"""Work that a command does itself, for a person who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jobmill import app
from jobmill.cli.support import output
from jobmill.queue import ItemId, inspect
from jobmill.settings import Settings
from jobmill.tools import Tools

PAUSE = 0.2
IDLE = 2
"""After so many rounds in which nothing was done, nobody will do it: its phase is paused."""


async def finish(
    tools: Tools, settings: Settings, kinds: Sequence[str], items: Sequence[int], *, quiet: bool
) -> None:
    """Do what is due, and wait for what other workers have begun of these items; what is to be
    tried again later is left."""
    only = [phase for phase in app.build_stages(tools, settings) if phase[0] in kinds]
    ids = [ItemId(item) for item in items]
    idle = 0
    with output.progress("Working", quiet=quiet) as tell:
        while idle < IDLE:
            ran = await app.build_worker(tools, settings, only=only).drain()
            async with tools.db.transaction() as tx:
                left = await inspect.list_unfinished(tx, ids, kinds)
            if not left:
                return
            running = [phase for phase, status in left if status == "PROCESSING"]
            tell(", ".join(running) or "waiting")
            idle = 0 if ran or running else idle + 1
            await asyncio.sleep(PAUSE)

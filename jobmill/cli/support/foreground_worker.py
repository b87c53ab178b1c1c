"""Run queue items inside a command that waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jobmill import app
from jobmill.cli.support import output
from jobmill.queue import ItemId, inspect
from jobmill.settings import Settings
from jobmill.tools import Tools

POLL_SECONDS = 0.2
MAX_IDLE_ROUNDS = 2
"""Give up after this many rounds without progress: the phase of an item is paused."""


async def finish_items(
    tools: Tools, settings: Settings, kinds: Sequence[str], items: Sequence[int], *, quiet: bool
) -> None:
    """Run due items of these kinds until `items` are finished.

    Waits for items that another worker has claimed, but not for items that are retried later.
    """
    phases = [phase for phase in app.build_stages(tools, settings) if phase[0] in kinds]
    ids = [ItemId(item) for item in items]
    idle_rounds = 0
    with output.show_progress("Working", quiet=quiet) as update:
        while idle_rounds < MAX_IDLE_ROUNDS:
            runs = await app.build_worker(tools, settings, only=phases).drain()
            async with tools.db.transaction() as tx:
                unfinished = await inspect.list_unfinished(tx, ids, kinds)
            if not unfinished:
                return
            running = [phase for phase, status in unfinished if status == "PROCESSING"]
            update(", ".join(running) or "waiting")
            idle_rounds = 0 if runs or running else idle_rounds + 1
            await asyncio.sleep(POLL_SECONDS)

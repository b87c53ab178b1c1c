"""Cancel tasks that use the database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

REPEAT_SECONDS = 0.5


async def cancel_tasks(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel the tasks until all have ended: on Python 3.11, a cancellation is lost if it arrives as a
    `wait_for` ends, as in the connection pool."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=REPEAT_SECONDS)

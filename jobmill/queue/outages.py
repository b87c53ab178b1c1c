"""How long a worker's settlements have gone without an answer from PostgreSQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

from jobmill.db import is_gone


class Outages:
    """Heartbeats are small and travel on their own connection, so they may get through where
    settlements do not (a path that drops large packets, lost answers to COMMIT). A worker that
    keeps beating without settling would hold its items for ever."""

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[object] | None, float] = {}

    @contextmanager
    def watch(self) -> Generator[None]:
        """Around an operation of the current task: remember since when it has failed unanswered."""
        task, began = asyncio.current_task(), time.monotonic()
        try:
            yield
        except BaseException as error:
            if is_gone(error):
                self._since.setdefault(task, began)
            else:
                self._since.pop(task, None)
            raise
        self._since.pop(task, None)

    def longest(self) -> float:
        """Seconds since the oldest operation began that is still unanswered."""
        return time.monotonic() - min(self._since.values(), default=time.monotonic())

    def clear(self) -> None:
        self._since.clear()

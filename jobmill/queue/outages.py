"""How long a worker's settlements have gone without an answer from PostgreSQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

from jobmill.db import is_connection_lost


class Outages:
    """Heartbeats are small and travel on their own connection, so they may get through where
    settlements do not (a path that drops large packets, lost answers to COMMIT). A worker that
    keeps beating without settling would hold its items for ever."""

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[object] | None, float] = {}
        self._cleared_at = 0.0

    @contextmanager
    def watch(self) -> Generator[None]:
        """Around an operation of the current task: remember since when it has failed unanswered."""
        task, began = asyncio.current_task(), time.monotonic()
        try:
            yield
        except BaseException as error:
            # An operation that began under a lease since lost says nothing about the new one.
            if is_connection_lost(error) and began >= self._cleared_at:
                self._since.setdefault(task, began)
            else:
                self.forget()
            raise
        self.forget()

    def forget(self) -> None:
        """The current task has nothing left to settle."""
        self._since.pop(asyncio.current_task(), None)

    def longest(self) -> float:
        """Seconds since the oldest operation began that is still unanswered; 0 if none is."""
        return time.monotonic() - min(self._since.values()) if self._since else 0.0

    def clear(self) -> None:
        """The lease is lost, and with it everything that was to be settled."""
        self._since.clear()
        self._cleared_at = time.monotonic()

"""The lease under which this worker process claims and settles items."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Generator
from contextlib import contextmanager

from jobmill.db import is_connection_lost

NO_LEASE = 0
"""The worker id without a lease: no row of `queue.worker` has it, so no statement passes the fence."""


class HeldLease:
    """Shared by everything in one process that claims or settles.

    Work that was claimed under another worker id belongs to a lost lease: its claim is void.
    """

    def __init__(self, duration: dt.timedelta) -> None:
        self.duration = duration
        self.worker = NO_LEASE
        self.outages = Outages()
        self._ends_at = 0.0

    def start(self, worker: int, sent_at: float) -> None:
        """Hold the lease of a new worker id, requested at the monotonic time `sent_at`."""
        self.worker = worker
        self.renew(sent_at)

    def renew(self, sent_at: float) -> None:
        self._ends_at = sent_at + self.duration.total_seconds()

    def end(self) -> None:
        self.worker = NO_LEASE
        self.outages.clear()

    def why_lost(self) -> str | None:
        """Why the lease must be given up, judged without the database, which may be unreachable."""
        if self.worker == NO_LEASE:
            return None
        if time.monotonic() > self._ends_at:
            return "no heartbeat was confirmed in time"
        if self.outages.longest() > self.duration.total_seconds():
            return "settlements are not confirmed"
        return None


class Outages:
    """Tracks for how long the settlements of each task have failed without an answer.

    Heartbeats are small and use a dedicated connection, so they may get through while settlements do not (a
    network path that drops large packets, lost answers to COMMIT). Without this check, such a worker would
    hold its items for ever.
    """

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[object] | None, float] = {}
        self._cleared_at = 0.0

    @contextmanager
    def watch(self) -> Generator[None]:
        """Wrap an operation of the current task; remember when the first unanswered one began."""
        task, began = asyncio.current_task(), time.monotonic()
        try:
            yield
        except BaseException as error:
            # An operation that began under a lost lease says nothing about the new lease.
            if is_connection_lost(error) and began >= self._cleared_at:
                self._since.setdefault(task, began)
            else:
                self.forget()
            raise
        self.forget()

    def forget(self) -> None:
        """End the outage of the current task: it got an answer, or has nothing left to settle."""
        self._since.pop(asyncio.current_task(), None)

    def longest(self) -> float:
        """Seconds since the oldest unanswered operation began; 0 if there is none."""
        return time.monotonic() - min(self._since.values()) if self._since else 0.0

    def clear(self) -> None:
        """End all outages, because the lease is lost with everything that was to be settled."""
        self._since.clear()
        self._cleared_at = time.monotonic()

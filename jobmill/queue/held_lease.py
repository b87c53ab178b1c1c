"""The lease under which this worker process claims and settles items."""

from __future__ import annotations

import datetime as dt
import time

from jobmill.queue.outages import Outages

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

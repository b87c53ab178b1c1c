"""The processors of one phase in one worker process, and the claimed items that wait for them."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

from jobmill.queue.items import Claim, Work
from jobmill.queue.stages import Stage
from jobmill.queue.store import ClaimPosition, ClaimRequest

CLAIM_AHEAD = 0.05
"""Seconds of work that a pool may claim ahead of its processors: enough that fast stages never wait for
the database, too little to keep slow work from other workers."""

STALE_AFTER = 1.0
"""Seconds after which claimed items that no processor has started are released."""

MAX_CLAIMED_AHEAD = 1_000
MAX_CLAIM_SIZE = 500

CancelReason = Literal["overdue", "lease lost"]


class Processor:
    """Runs one item at a time: idle, busy, or in error when its run ignored a cancellation."""

    __slots__ = ("cancel_reason", "number", "since", "state", "task", "work")

    def __init__(self, number: int) -> None:
        self.number = number
        self.state: Literal["idle", "busy", "error"] = "idle"
        self.work: Work | None = None
        self.since = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self.cancel_reason: CancelReason | None = None

    def cancel(self, reason: CancelReason) -> None:
        """Cancel the run, not the processor, which takes the next item afterwards."""
        assert self.task
        self.cancel_reason = reason
        self.task.cancel()

    def take_cancel_reason(self) -> CancelReason | None:
        """Return once why the run was cancelled; None if the whole task was cancelled, to stop."""
        reason, self.cancel_reason = self.cancel_reason, None
        if reason:
            assert self.task
            self.task.uncancel()
        return reason

    def start(self, work: Work) -> None:
        self.state = "busy"
        self.work = work
        self.since = time.monotonic()

    def finish(self) -> float:
        """Become idle; return how many seconds the run took."""
        now = time.monotonic()
        seconds = now - self.since
        self.state = "idle"
        self.work = None
        self.since = now
        return seconds

    def busy_seconds(self) -> float:
        return time.monotonic() - self.since if self.state == "busy" else 0.0


class ProcessorPool:
    def __init__(self, kind: str, name: str, stage: Stage) -> None:
        self.kind = kind
        self.name = name
        self.stage = stage
        self.processors = [Processor(number) for number in range(1, stage.processors + 1)]
        self.position = ClaimPosition()
        self._buffer: deque[Work] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._typical_seconds: float | None = None
        self._moved_at = 0.0
        self._closed = False

    async def take(self) -> Work | None:
        """Wait for the next item; None when the pool is closed."""
        while not self._buffer and not self._closed:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        if self._closed:
            return None
        self._moved_at = time.monotonic()
        return self._buffer.popleft()

    def add(self, works: Iterable[Work]) -> None:
        self._moved_at = time.monotonic()
        self._buffer.extend(works)
        self._wake(len(self._buffer))

    def close(self) -> list[Work]:
        """End idle processors now and busy ones after their item; return the items not started."""
        self._closed = True
        self._wake(len(self._waiting))
        return self.take_unstarted()

    def _wake(self, limit: int) -> None:
        for _ in range(min(limit, len(self._waiting))):
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def take_unstarted(self) -> list[Work]:
        """Remove and return the items that no processor has started."""
        works = list(self._buffer)
        self._buffer.clear()
        return works

    def take_stale(self) -> list[Work]:
        """Remove and return items that waited while no processor came free: other workers may have one."""
        if not self._buffer or time.monotonic() - self._moved_at < STALE_AFTER:
            return []
        self.record_duration(STALE_AFTER)
        return self.take_unstarted()

    def record_duration(self, seconds: float) -> None:
        """Learn how long a run takes, to decide how much to claim ahead.

        A longer run counts at once, shorter ones only gradually.
        """
        if self._typical_seconds is None or seconds > self._typical_seconds:
            self._typical_seconds = seconds
        else:
            self._typical_seconds += (seconds - self._typical_seconds) * 0.05

    def drop_ended_processors(self) -> None:
        """Drop stuck processors that have ended since they were replaced."""
        self.processors = [
            processor
            for processor in self.processors
            if processor.state != "error"
            or (processor.task is not None and not processor.task.done())
        ]

    def claims(self) -> list[Claim]:
        """The claims of the items that wait here or run."""
        running = [processor.work.claim for processor in self.processors if processor.work]
        return running + [work.claim for work in self._buffer]

    def count_busy(self) -> int:
        return sum(processor.state == "busy" for processor in self.processors)

    def claim_request(self) -> ClaimRequest | None:
        """What to claim now; None while the pool has enough items."""
        capacity = self._max_claimed() - len(self._buffer) - self.count_busy()
        if capacity <= 0:
            return None
        return ClaimRequest(self.kind, self.name, min(capacity, MAX_CLAIM_SIZE), self.position)

    def _max_claimed(self) -> int:
        usable = sum(processor.state != "error" for processor in self.processors)
        if self._typical_seconds is None or self.stage.rate is not None:
            return usable
        ahead = CLAIM_AHEAD * usable / max(self._typical_seconds, 1e-6)
        return max(usable, min(int(ahead), MAX_CLAIMED_AHEAD))

    def snapshot(self) -> list[dict[str, Any]]:
        """What the processors do now, as rows of the view `queue.processor`."""
        now = dt.datetime.now(dt.UTC)
        return [
            {
                "kind": self.kind,
                "stage": self.name,
                "number": processor.number,
                "state": processor.state,
                "item": processor.work.id if processor.work else None,
                "since": (now - dt.timedelta(seconds=time.monotonic() - processor.since)).isoformat(
                    timespec="seconds"
                ),
            }
            for processor in self.processors
        ]

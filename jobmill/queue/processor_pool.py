"""The processors of one phase inside one worker process, and the work that waits for them."""

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

AHEAD = 0.05
"""Seconds of work a pool may claim ahead of its processors: enough that fast stages never wait
for the database, too little to keep slow work from other workers."""

STALE = 1.0
"""Seconds after which what nobody has begun is given back."""

MOST_AHEAD = 1_000
MOST_AT_ONCE = 500


CancelReason = Literal["overdue", "lease lost"]


class Processor:
    """One of a pool's hands: idle, busy with an item, or given up on (error)."""

    __slots__ = ("cancelled_for", "number", "since", "state", "task", "work")

    def __init__(self, number: int) -> None:
        self.number = number
        self.state: Literal["idle", "busy", "error"] = "idle"
        self.work: Work | None = None
        self.since = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        self.cancelled_for: CancelReason | None = None

    def cancel(self, reason: CancelReason) -> None:
        """Cancel the run, not the processor: it takes the next item afterwards."""
        assert self.task
        self.cancelled_for = reason
        self.task.cancel()

    def was_cancelled_for(self) -> CancelReason | None:
        """Why the run was cancelled, once; None where the whole task was, to stop."""
        reason, self.cancelled_for = self.cancelled_for, None
        if reason:
            assert self.task
            self.task.uncancel()
        return reason

    def begin(self, work: Work) -> None:
        self.state = "busy"
        self.work = work
        self.since = time.monotonic()

    def rest(self) -> float:
        """Back to idle; returns how long the work took."""
        now = time.monotonic()
        took = now - self.since
        self.state = "idle"
        self.work = None
        self.since = now
        return took

    def busy_for(self) -> float:
        return time.monotonic() - self.since if self.state == "busy" else 0.0


class ProcessorPool:
    def __init__(self, kind: str, name: str, stage: Stage) -> None:
        self.kind = kind
        self.name = name
        self.stage = stage
        self.processors = [Processor(number) for number in range(1, stage.processors + 1)]
        self.mark = ClaimPosition()
        self._buffer: deque[Work] = deque()
        self._sleepers: deque[asyncio.Future[None]] = deque()
        self._typical: float | None = None
        self._moved_at = 0.0
        self._closed = False

    async def take(self) -> Work | None:
        """The next item, as soon as there is one; None when the pool is closed."""
        while not self._buffer and not self._closed:
            sleeper = asyncio.get_running_loop().create_future()
            self._sleepers.append(sleeper)
            await sleeper
        if self._closed:
            return None
        self._moved_at = time.monotonic()
        return self._buffer.popleft()

    def give(self, works: Iterable[Work]) -> None:
        self._moved_at = time.monotonic()
        self._buffer.extend(works)
        self._wake(len(self._buffer))

    def close(self) -> list[Work]:
        """Send idle processors home, busy ones after their item; returns what none had begun."""
        self._closed = True
        self._wake(len(self._sleepers))
        return self.empty()

    def _wake(self, most: int) -> None:
        for _ in range(min(most, len(self._sleepers))):
            sleeper = self._sleepers.popleft()
            if not sleeper.done():
                sleeper.set_result(None)

    def empty(self) -> list[Work]:
        """Take back what no processor has begun."""
        left = list(self._buffer)
        self._buffer.clear()
        return left

    def took(self, seconds: float) -> None:
        """Learn how long a run takes, to know how much to claim ahead: quick to fear, slow to trust."""
        if self._typical is None or seconds > self._typical:
            self._typical = seconds
        else:
            self._typical += (seconds - self._typical) * 0.05

    def stale(self) -> list[Work]:
        """Take back what has waited here while no processor came free: others may have one."""
        if not self._buffer or time.monotonic() - self._moved_at < STALE:
            return []
        self.took(STALE)
        return self.empty()

    def forget_ended(self) -> None:
        """Drop processors that were written off and have ended since."""
        self.processors = [
            one
            for one in self.processors
            if one.state != "error" or (one.task is not None and not one.task.done())
        ]

    def held(self) -> list[Claim]:
        running = [processor.work.claim for processor in self.processors if processor.work]
        return running + [work.claim for work in self._buffer]

    def busy(self) -> int:
        return sum(processor.state == "busy" for processor in self.processors)

    def want(self) -> ClaimRequest | None:
        """What to claim now, or None while the hands are full."""
        room = self._ahead() - len(self._buffer) - self.busy()
        if room <= 0:
            return None
        return ClaimRequest(self.kind, self.name, min(room, MOST_AT_ONCE), self.mark)

    def _ahead(self) -> int:
        hands = sum(processor.state != "error" for processor in self.processors)
        if self._typical is None or self.stage.rate is not None:
            return hands
        ahead = AHEAD * hands / max(self._typical, 1e-6)
        return max(hands, min(int(ahead), MOST_AHEAD))

    def snapshot(self) -> list[dict[str, Any]]:
        """The processors as rows for people."""
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

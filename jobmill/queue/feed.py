"""Feeds: tables that hold work to be done, and feed the queue as much of it as fits.

The table is the truth, so a full queue loses nothing: what did not fit is taken at the next scan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jobmill.db import Tx
from jobmill.queue.admission import room_in, submit_all
from jobmill.queue.store import CHANNEL
from jobmill.queue.work import New, Refused

SCAN_EVERY = 60.0
BATCH = 10
FEED = "feed"
"""What is said on the queue's channel when a feed has something."""

Take: TypeAlias = Callable[[Tx, int], Awaitable[Sequence[New]]]
"""Lock up to so many rows that wait and are not in progress (FOR UPDATE SKIP LOCKED), mark them as
in progress, and return their items: all in `tx`, so that a row is taken once or not at all."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Feeds one phase from one table."""

    kind: str
    stage: str
    take: Take


async def feed(tx: Tx, source: Feed) -> int:
    """Move one batch from the table into the queue; returns how many were put in.

    Call it with a transaction of its own: rows taken and items put in commit together.
    """
    room = min(BATCH, await room_in(tx, source.kind, source.stage))
    if room <= 0:
        return 0
    news = await source.take(tx, room)
    if not news:
        return 0
    answers = await submit_all(tx, news)
    return sum(not isinstance(answer, Refused) for answer in answers)


def feeder(source: Feed) -> Callable[[Tx], Awaitable[bool]]:
    """The chore that scans one table; it answers True where there may be more."""

    async def scan(tx: Tx) -> bool:
        return await feed(tx, source) == BATCH

    return scan


async def announce(tx: Tx) -> None:
    """Say, when `tx` commits, that a feed has something, so that it does not wait for the next scan."""
    await tx.execute("SELECT pg_notify(%s, %s)", [CHANNEL, FEED])

"""Feeds: tables that hold work to be done, and feed the queue as much of it as fits.

The table is the truth, so a full queue loses nothing: what did not fit is taken at the next scan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jobmill.db import Tx
from jobmill.queue.admission import remaining_capacity, submit_all
from jobmill.queue.items import ItemId, NewItem, Reason, RefusedItem
from jobmill.queue.spawn import ChildItem, lock_existing_parents, spawn_children
from jobmill.queue.store import CHANNEL

SCAN_EVERY = 60.0
BATCH_SIZE = 10
RETRY_WHEN_FULL = 1.0
FEED_PAYLOAD = "feed"
"""What is said on the queue's channel when a feed has something."""

TakeRows: TypeAlias = Callable[[Tx, int], Awaitable[Sequence[NewItem | ChildItem]]]
"""Lock up to so many rows that wait (FOR UPDATE SKIP LOCKED), take them out, and return their items
(a `Child` where the item that found it is known): all in `tx`, so that a row is taken once or not
at all."""
PutBackRows: TypeAlias = Callable[[Tx, Sequence[RefusedItem]], Awaitable[object]]
"""Put the rows back whose items the queue refused for now: the phase has filled up since its room was
counted, or the same item lives, which may have begun before the row was written."""
FINAL_REFUSALS: tuple[Reason, ...] = ("depth", "circular", "finished")
"""Refusals that are final: the lineage of the row would refuse its item again at every scan."""


@dataclass(frozen=True, slots=True)
class QueueFeed:
    """Feeds one phase from one table."""

    kind: str
    stage: str
    take: TakeRows
    release: PutBackRows


async def feed_batch(tx: Tx, source: QueueFeed) -> int:
    """Move one batch from the table into the queue; returns how many rows were taken.

    Call it with a transaction of its own: rows taken and items put in commit together.
    """
    room = min(BATCH_SIZE, await remaining_capacity(tx, source.kind, source.stage))
    if room <= 0:
        return 0
    taken = await source.take(tx, room)
    children = [one for one in taken if isinstance(one, ChildItem)]
    known = await lock_existing_parents(tx, [one.parent for one in children])
    # A lineage that retention has forgotten begins anew.
    roots = [
        one.new if isinstance(one, ChildItem) else one for one in taken if not _has(one, known)
    ]
    answers = await submit_all(tx, roots)
    answers += await spawn_children(tx, [one for one in children if _has(one, known)])
    # Not `live is not None`: a full phase names no live item, and neither does a refusal whose live
    # item ended before the queue looked it up.
    refused = [answer for answer in answers if isinstance(answer, RefusedItem)]
    postponed = [refusal for refusal in refused if refusal.reason not in FINAL_REFUSALS]
    if postponed:
        await source.release(tx, postponed)
    return len(taken)


def _has(one: NewItem | ChildItem, known: Container[ItemId]) -> bool:
    return isinstance(one, ChildItem) and one.parent in known


def feed_task(source: QueueFeed) -> Callable[[Tx], Awaitable[bool | float]]:
    """The chore that scans one table; it answers True where there may be more, and while the queue is
    full the seconds after which to look again."""

    async def scan(tx: Tx) -> bool | float:
        room = min(BATCH_SIZE, await remaining_capacity(tx, source.kind, source.stage))
        if room <= 0:
            return RETRY_WHEN_FULL
        return await feed_batch(tx, source) == room

    return scan


async def notify_feeds(tx: Tx) -> None:
    """Say, when `tx` commits, that a feed has something, so that it does not wait for the next scan."""
    await tx.execute("SELECT pg_notify(%s, %s)", [CHANNEL, FEED_PAYLOAD])

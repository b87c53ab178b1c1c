"""Feeds: tables with pending work that are moved into the queue as far as its capacity allows.

The table remains the source of truth: rows that do not fit into a full queue are taken by a later scan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jobmill.db import Tx
from jobmill.queue.admission import remaining_capacity, submit_all
from jobmill.queue.items import AcceptedItem, ItemId, NewItem, Reason, RefusedItem
from jobmill.queue.refusals import log_refused_spawns
from jobmill.queue.spawn_rules import ChildItem, lock_existing_parents, spawn_children
from jobmill.queue.store import CHANNEL

SCAN_EVERY = 60.0
BATCH_SIZE = 10
RETRY_WHEN_FULL = 1.0
"""Seconds until the next scan while the phase is full."""
FEED_PAYLOAD = "feed"
"""The payload on the queue's channel that announces new rows in a feed."""

TakeRows: TypeAlias = Callable[[Tx, int], Awaitable[Sequence[NewItem | ChildItem]]]
"""Locks up to this many pending rows (FOR UPDATE SKIP LOCKED), removes them, and returns their items: a
`ChildItem` if the item that found the row is known. All in `tx`, so that a row is taken once or not at all."""
PutBackRows: TypeAlias = Callable[[Tx, Sequence[RefusedItem]], Awaitable[object]]
"""Puts back the rows of items that the queue refused for now: either the phase has filled up since its room
was counted, or the same work is alive and may have started before the row was written."""
RecordItems: TypeAlias = Callable[[Tx, Sequence[tuple[NewItem, ItemId]]], Awaitable[object]]
"""Stores with rows that stay in their table which item each has, in the transaction that queues them."""
FINAL_REFUSALS: tuple[Reason, ...] = ("depth", "circular", "finished")
"""Final refusals: the lineage of the row would refuse its item again at every scan."""


@dataclass(frozen=True, slots=True)
class QueueFeed:
    """Moves rows of one table into one phase."""

    kind: str
    stage: str
    take: TakeRows
    release: PutBackRows
    record: RecordItems | None = None


async def feed_batch(tx: Tx, source: QueueFeed) -> int:
    """Move one batch from the table into the queue; returns how many rows were taken.

    Call it in a separate transaction: the taken rows and the new items commit together.
    """
    capacity = await _count_room(tx, source)
    return await _move_rows(tx, source, capacity) if capacity > 0 else 0


async def _count_room(tx: Tx, source: QueueFeed) -> int:
    return min(BATCH_SIZE, await remaining_capacity(tx, source.kind, source.stage))


async def _move_rows(tx: Tx, source: QueueFeed, capacity: int) -> int:
    taken = await source.take(tx, capacity)
    children = [item for item in taken if isinstance(item, ChildItem)]
    parents = await lock_existing_parents(tx, [child.parent for child in children])
    # If retention has deleted the parent, the child starts a new lineage.
    roots = [
        item.new if isinstance(item, ChildItem) else item
        for item in taken
        if isinstance(item, NewItem) or item.parent not in parents
    ]
    answers = await submit_all(tx, roots)
    spawned = await spawn_children(tx, [child for child in children if child.parent in parents])
    log_refused_spawns(spawned)
    # Do not test `live is not None`: a refusal has no live item if the phase is full, or if the live item
    # ended before the queue looked it up.
    refused = [answer for answer in answers + spawned if isinstance(answer, RefusedItem)]
    postponed = [refusal for refusal in refused if refusal.reason not in FINAL_REFUSALS]
    if postponed:
        await source.release(tx, postponed)
    if source.record:
        pairs = zip(roots, answers, strict=True)
        accepted = [(new, answer.id) for new, answer in pairs if isinstance(answer, AcceptedItem)]
        await source.record(tx, accepted)
    return len(taken)


def feed_task(source: QueueFeed) -> Callable[[Tx], Awaitable[bool | float]]:
    """The periodic task that scans one table. It returns True if there may be more rows, or the seconds
    until the next scan while the phase is full."""

    async def scan(tx: Tx) -> bool | float:
        # Counted once: more room a moment later would make a full batch look like the last one.
        capacity = await _count_room(tx, source)
        if capacity <= 0:
            return RETRY_WHEN_FULL
        return await _move_rows(tx, source, capacity) == capacity

    return scan


async def notify_feeds(tx: Tx) -> None:
    """Announce new rows of a feed when `tx` commits, so that they do not wait for the next scan."""
    await tx.execute("SELECT pg_notify(%s, %s)", [CHANNEL, FEED_PAYLOAD])

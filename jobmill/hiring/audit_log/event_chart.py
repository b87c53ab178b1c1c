"""The events of an opening in buckets, for a picture of its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx
from jobmill.hiring.transitions import EventType

EventGroup = Literal["applied", "offered", "accepted", "missed", "left", "company"]

GROUPS: Mapping[EventType, EventGroup] = {
    "APPLIED": "applied",
    "ADDRESS_CONFIRMED": "applied",
    "PROMOTED": "offered",
    "ACKNOWLEDGED": "accepted",
    "DECAY_TRIGGERED": "missed",
    "LAPSED": "missed",
    "ADDRESS_UNCONFIRMED": "missed",
    "WITHDRAWN": "left",
}
"""All other events are decisions of the company."""


@dataclass(frozen=True, slots=True)
class EventBucket:
    """Neighbouring events, counted by group."""

    first: int
    counts: Counter[EventGroup]


async def count_events(
    tx: Tx, opening_id: int, first: int, last: int, *, buckets: int
) -> list[EventBucket]:
    """The events `first` to `last` in at most `buckets` buckets of equal size."""
    size = max(-(-(last - first + 1) // buckets), 1)
    cursor = await tx.execute(
        """
        SELECT (seq - %(first)s) / %(size)s AS bucket, type, count(*)
          FROM hiring.event
         WHERE opening_id = %(opening)s AND seq BETWEEN %(first)s AND %(last)s
         GROUP BY bucket, type
        """,
        {"opening": opening_id, "first": first, "last": last, "size": size},
    )
    chart = [EventBucket(start, Counter()) for start in range(first, last + 1, size)]
    for bucket, type, count in await cursor.fetchall():
        chart[int(bucket)].counts[GROUPS.get(type, "company")] += count
    return chart

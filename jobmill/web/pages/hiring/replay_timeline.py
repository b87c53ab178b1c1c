"""The timeline of a replay: a mark per event, or a column per bucket of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.audit_log.event_chart import EventBucket, EventGroup, count_events
from jobmill.web.translations import say

WIDTH, HEIGHT = 1_000, 48
MAX_COLUMNS = 200
SPANS = (100, 1_000)
"""How many events the timeline shows when it is zoomed in."""
GROUP_ORDER: Sequence[EventGroup] = ("applied", "offered", "accepted", "missed", "left", "company")


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """A rectangle in a box of WIDTH by HEIGHT."""

    group: EventGroup
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class LegendEntry:
    group: EventGroup
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ReplayTimeline:
    first: int
    last: int
    span: int | None
    """None: the whole log."""
    spans: Sequence[int]
    """The zooms that show less than the whole log."""
    marks: Sequence[TimelineMark]
    legend: Sequence[LegendEntry]

    def find_x(self, seq: int) -> float:
        """The middle of an event."""
        return round(WIDTH * (seq - self.first + 0.5) / max(self.last - self.first + 1, 1), 1)


def group_names() -> dict[EventGroup, str]:
    return {
        "applied": say("Applied"),
        "offered": say("Offered a place"),
        "accepted": say("Accepted"),
        "missed": say("Missed a deadline"),
        "left": say("Withdrawn or removed"),
        "company": say("Company"),
    }


async def read_replay_timeline(
    tx: Tx, opening_id: int, seq: int, last_seq: int, span: int | None
) -> ReplayTimeline:
    """The whole log, or the stretch of `span` events that the event `seq` is in."""
    first, last = 1, last_seq
    if span is not None and span < last_seq:
        first = max(seq - 1, 0) // span * span + 1
        last = min(first + span - 1, last_seq)
    buckets = await count_events(tx, opening_id, first, last, buckets=MAX_COLUMNS)
    counts = sum((bucket.counts for bucket in buckets), Counter[EventGroup]())
    names = group_names()
    return ReplayTimeline(
        first,
        last,
        span if span is not None and span < last_seq else None,
        [shorter for shorter in SPANS if shorter < last_seq],
        list(_draw(buckets)),
        [LegendEntry(group, names[group], counts[group]) for group in GROUP_ORDER if counts[group]],
    )


def _draw(buckets: Sequence[EventBucket]) -> Iterator[TimelineMark]:
    """Columns of stacked marks; the groups of a column are always in the same order."""
    highest = max((bucket.counts.total() for bucket in buckets), default=0)
    step = WIDTH / max(len(buckets), 1)
    width = round(max(step - min(step / 4, 3), 1), 1)
    for number, bucket in enumerate(buckets):
        top = float(HEIGHT)
        for group in GROUP_ORDER:
            height = HEIGHT * bucket.counts[group] / highest
            if height:
                top -= height
                yield TimelineMark(
                    group, round(number * step, 1), round(top, 1), width, round(height, 1)
                )

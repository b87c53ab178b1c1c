"""Waits: how long it may take until a place on the waitlist is offered a slot, honestly.

Offers are taken to come by chance at an even rate (Poisson), which we know only from those that came.
So the answer is a range, wide where little was seen, and none where it was too little.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from jobmill.db import Tx, fetch_all
from jobmill.hiring.records.openings import OpeningStatus

LOOK_BACK = dt.timedelta(days=30)
MAX_EVENTS = 5_000
"""The end of a log that is read: a busy opening is told by a shorter time."""
MIN_MOMENTS = 3
"""Moments at which slots were offered; fewer tell nothing."""
CONFIDENCE = 0.8
"""How often the range should hold."""
_WIDTH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class WaitRange(NamedTuple):
    """A range that holds four times in five, if things go on."""

    least: dt.timedelta
    most: dt.timedelta


@dataclass(frozen=True, slots=True)
class OfferPace:
    """How fast slots of an opening were offered to those who were next in line."""

    opening_id: int
    status: OpeningStatus
    since: dt.datetime
    """From when on we looked."""
    now: dt.datetime
    given: Sequence[dt.datetime]
    """When a slot was offered, once for each."""

    def wait(self, position: int) -> WaitRange | None:
        """For who stands there; None where it cannot be told."""
        return estimate_wait(position, self.given, self.since, self.now)


def estimate_wait(
    position: int, given: Sequence[dt.datetime], since: dt.datetime, now: dt.datetime
) -> WaitRange | None:
    """How long until `position` more slots are offered; None where too little was seen."""
    # Slots that were offered at one moment are one piece of news, however many they were.
    moments = len(set(given))
    looked = (now - since).total_seconds()
    if moments < MIN_MOMENTS or looked <= 0:
        return None
    rounds = max(position * moments / len(given), 1)
    # Time is a ratio of two gamma variables; its logarithm is close to a normal one.
    middle = math.log(looked * (rounds - 0.5) / (moments - 0.5))
    spread = _WIDTH * math.sqrt(1 / (rounds - 0.5) + 1 / (moments - 0.5))
    return WaitRange(_span(middle - spread), _span(middle + spread))


def _span(log_seconds: float) -> dt.timedelta:
    # A million places at a crawl would be more than a timedelta holds.
    return dt.timedelta(seconds=min(math.exp(log_seconds), 1e11))


async def find_paces(tx: Tx, opening_ids: Collection[int]) -> dict[int, OfferPace]:
    """How fast it went lately, by opening."""
    found = await fetch_all(
        tx,
        OfferPace,
        """
        SELECT opening.id AS opening_id, status,
               greatest(now() - %(look_back)s::interval, opening.created_at,
                        -- Where the end of the log is not all of it: from its first event on.
                        (SELECT created_at FROM hiring.event
                          WHERE opening_id = opening.id AND seq = last_seq - %(most)s)) AS since,
               now() AS now,
               ARRAY(SELECT created_at FROM hiring.event
                      WHERE opening_id = opening.id AND seq > last_seq - %(most)s
                        AND created_at > now() - %(look_back)s::interval
                        AND type = 'PROMOTED' AND why->>'rule' = 'next in line'
                      ORDER BY seq) AS given
          FROM hiring.opening
         WHERE id = ANY (%(ids)s)
        """,
        {"ids": list(opening_ids), "look_back": LOOK_BACK, "most": MAX_EVENTS},
    )
    return {one.opening_id: one for one in found}

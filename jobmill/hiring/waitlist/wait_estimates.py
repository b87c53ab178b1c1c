"""Estimates of the wait until a position on the waitlist is offered a slot.

Offers are modelled as a Poisson process with a rate known only from past offers. The estimate is a
range: wide if there were few offers, and none if there were too few.
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
"""Only the end of the log is read: a busy opening is estimated from a shorter period."""
MIN_MOMENTS = 3
"""No estimate with fewer instants at which slots were offered."""
CONFIDENCE = 0.8
"""The probability that the wait falls into the range."""
_WIDTH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class WaitRange(NamedTuple):
    """The range that contains the wait with a probability of 80 %, if the pace stays the same."""

    least: dt.timedelta
    most: dt.timedelta


@dataclass(frozen=True, slots=True)
class OfferPace:
    """When slots of an opening were offered to the next on the waitlist."""

    opening_id: int
    status: OpeningStatus
    since: dt.datetime
    """The start of the observed period."""
    now: dt.datetime
    offered_at: Sequence[dt.datetime]
    """One time per offered slot."""

    def estimate(self, position: int) -> WaitRange | None:
        return estimate_wait(position, self.offered_at, self.since, self.now)


def estimate_wait(
    position: int, offered_at: Sequence[dt.datetime], since: dt.datetime, now: dt.datetime
) -> WaitRange | None:
    """How long until `position` more slots are offered; None after too few offers."""
    # Slots offered at the same instant are one observation.
    moments = len(set(offered_at))
    observed = (now - since).total_seconds()
    if moments < MIN_MOMENTS or observed <= 0:
        return None
    rounds = max(position * moments / len(offered_at), 1)
    # The wait is a ratio of two gamma variables; its logarithm is nearly normal.
    middle = math.log(observed * (rounds - 0.5) / (moments - 0.5))
    spread = _WIDTH * math.sqrt(1 / (rounds - 0.5) + 1 / (moments - 0.5))
    return WaitRange(_span(middle - spread), _span(middle + spread))


def _span(log_seconds: float) -> dt.timedelta:
    # Keeps a very long wait within the range of timedelta.
    return dt.timedelta(seconds=min(math.exp(log_seconds), 1e11))


async def find_paces(tx: Tx, opening_ids: Collection[int]) -> dict[int, OfferPace]:
    """The pace of each opening, by its id."""
    paces = await fetch_all(
        tx,
        OfferPace,
        """
        SELECT opening.id AS opening_id, status,
               greatest(now() - %(look_back)s::interval, opening.created_at,
                        -- If the log is longer than what is read: the first event that is read.
                        (SELECT created_at FROM hiring.event
                          WHERE opening_id = opening.id AND seq = last_seq - %(most)s)) AS since,
               now() AS now,
               ARRAY(SELECT created_at FROM hiring.event
                      WHERE opening_id = opening.id AND seq > last_seq - %(most)s
                        AND created_at > now() - %(look_back)s::interval
                        AND type = 'PROMOTED' AND why->>'rule' = 'next in line'
                      ORDER BY seq) AS offered_at
          FROM hiring.opening
         WHERE id = ANY (%(ids)s)
        """,
        {"ids": list(opening_ids), "look_back": LOOK_BACK, "most": MAX_EVENTS},
    )
    return {pace.opening_id: pace for pace in paces}

"""How work waits for a budget."""

from __future__ import annotations

import datetime as dt

from jobmill.outside.question import Blocked
from jobmill.queue import Block

SOONEST, LATEST = dt.timedelta(seconds=1), dt.timedelta(minutes=10)
"""A budget that others have reserved opens within seconds; one that is spent may be raised at any time."""


def block(answer: Blocked) -> Block:
    """Park until the budget opens, and look now and then whether somebody has opened it before."""
    left = answer.until - dt.datetime.now(dt.UTC) if answer.until else LATEST
    return Block("budget", answer.detail, recheck=max(SOONEST, min(left, LATEST)))

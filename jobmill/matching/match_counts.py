"""Counts matches."""

from __future__ import annotations

from jobmill.db import Tx, fetch_value


async def created(tx: Tx, days: int) -> int:
    """How many matches were made in the last days, today included (days are UTC)."""
    found = await fetch_value(
        tx,
        int,
        """
        SELECT count(*) FROM matching.match
         WHERE created_at >= date_trunc('day', now(), 'UTC') - %(days)s * interval '24 hours'
        """,
        {"days": days - 1},
    )
    return found or 0

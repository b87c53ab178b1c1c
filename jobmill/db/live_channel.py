"""The channel on which open pages learn of changes; most are announced by triggers."""

from __future__ import annotations

from jobmill.db import Tx

LIVE_CHANNEL = "jobmill_live"


async def announce_change(tx: Tx, topic: str) -> None:
    """Tell open pages about this topic that it changed, once the transaction commits."""
    await tx.execute("SELECT pg_notify(%s, %s)", [LIVE_CHANNEL, topic])

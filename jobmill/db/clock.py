"""The clock of the database server, which all hosts share; the clock of a host may be wrong."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx, fetch_value, optional_time


async def server_time(tx: Tx) -> dt.datetime:
    """The time on the database server, in UTC. Compare stored times with it."""
    now = await fetch_value(tx, optional_time, "SELECT clock_timestamp()")
    assert now is not None
    return now.astimezone(dt.UTC)

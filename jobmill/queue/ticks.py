"""Ticks: when each periodic task last completed a cycle; `alerts` reports one that falls silent."""

from __future__ import annotations

from jobmill.db import Tx, fetch_value


async def record_tick(tx: Tx, name: str) -> None:
    """Record that a task completed a cycle; the last statement of its transaction, since it locks
    the row that other workers write as well."""
    await tx.execute(
        """
        INSERT INTO queue.tick (name, at) SELECT %(name)s, clock_timestamp()
         WHERE NOT EXISTS (SELECT FROM queue.tick
                            WHERE name = %(name)s
                              AND at BETWEEN clock_timestamp() - interval '1 second'
                                         AND clock_timestamp() + interval '1 second')
        ON CONFLICT (name) DO UPDATE SET at = excluded.at
        """,
        {"name": name},
    )


async def seconds_since_tick(tx: Tx, name: str) -> float | None:
    """Seconds since a worker completed a cycle of the task; None if none ever did."""
    return await fetch_value(
        tx,
        float,
        """
        SELECT extract(epoch FROM clock_timestamp() - at)::float8 FROM queue.tick WHERE name = %s
        """,
        [name],
    )

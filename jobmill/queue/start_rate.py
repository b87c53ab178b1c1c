"""Start rates: limit how many items of a phase start per window, over all workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jobmill.db import Tx
from jobmill.queue.stages import StartRate

Phase = tuple[str, str]


class StartAllowance(NamedTuple):
    starts: int
    opens_in: float
    """Seconds until the next window opens."""


async def lock_allowance(tx: Tx, phase: Phase, rate: StartRate) -> StartAllowance:
    """How many items may start now. Locks the row of the phase, so that no other worker counts until `tx` ends."""
    kind, stage = phase
    cursor = await tx.execute(
        """
        INSERT INTO queue.start_rate (kind, stage, opened_at, started)
        VALUES (%(kind)s, %(stage)s, clock_timestamp(), 0)
        ON CONFLICT (kind, stage) DO UPDATE
           -- A window in the future was opened before the clock was set back.
           SET opened_at = CASE WHEN start_rate.opened_at + %(per)s <= clock_timestamp()
                                  OR start_rate.opened_at > clock_timestamp()
                                THEN clock_timestamp() ELSE start_rate.opened_at END,
               started = CASE WHEN start_rate.opened_at + %(per)s <= clock_timestamp()
                                OR start_rate.opened_at > clock_timestamp()
                              THEN 0 ELSE start_rate.started END
        RETURNING started, extract(epoch FROM opened_at + %(per)s - clock_timestamp())::float8
        """,
        {"kind": kind, "stage": stage, "per": rate.per},
    )
    started, opens_in = await cursor.fetchone() or (0, 0.0)
    return StartAllowance(max(0, rate.starts - started), opens_in)


async def record_starts(tx: Tx, started: Mapping[Phase, int]) -> None:
    """Count the items that were started under an allowance."""
    for (kind, stage), n in started.items():
        await tx.execute(
            "UPDATE queue.start_rate SET started = started + %s WHERE kind = %s AND stage = %s",
            [n, kind, stage],
        )

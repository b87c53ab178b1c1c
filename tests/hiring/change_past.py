"""Change the past of an opening for tests: move it back, tamper with it, hash it again."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from jobmill.db import Tx, fetch_all
from jobmill.hiring.audit_log import hash_chain


@asynccontextmanager
async def unguarded(tx: Tx) -> AsyncGenerator[None]:
    """Disable triggers and foreign keys within this block."""
    await tx.execute("SET LOCAL session_replication_role = replica")
    yield
    await tx.execute("SET LOCAL session_replication_role = origin")


async def age(tx: Tx, opening_id: int, span: dt.timedelta) -> None:
    """Move rows and log back in time, consistently, and hash the log again."""
    moved = {"id": opening_id, "span": span}
    async with unguarded(tx):
        await tx.execute(
            """
            UPDATE hiring.event SET created_at = created_at - %(span)s, deadline = deadline - %(span)s
             WHERE opening_id = %(id)s
            """,
            moved,
        )
        await tx.execute(
            """
            UPDATE hiring.application
               SET applied_at = applied_at - %(span)s, entered_at = entered_at - %(span)s,
                   promoted_at = promoted_at - %(span)s, missed_at = missed_at - %(span)s,
                   acknowledge_deadline = acknowledge_deadline - %(span)s
             WHERE opening_id = %(id)s
            """,
            moved,
        )
        await tx.execute(
            """
            UPDATE hiring.opening
               SET created_at = created_at - %(span)s, last_event_at = last_event_at - %(span)s,
                   next_deadline_at = next_deadline_at - %(span)s
             WHERE id = %(id)s
            """,
            moved,
        )
        await reseal(tx, opening_id)


async def reseal(tx: Tx, opening_id: int) -> None:
    """Write a new hash chain for the current events; must run inside `unguarded`."""
    entries = await fetch_all(
        tx,
        hash_chain.EventContent,
        """
        SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, request, note_digest, created_at
          FROM hiring.event WHERE opening_id = %s ORDER BY seq
        """,
        [opening_id],
    )
    hash = hash_chain.GENESIS_HASH
    for entry in entries:
        hash = hash_chain.hash_event(hash, entry)
        await tx.execute(
            "UPDATE hiring.event SET hash = %s WHERE opening_id = %s AND seq = %s",
            [hash, opening_id, entry.seq],
        )
    await tx.execute(
        "UPDATE hiring.opening SET last_seq = %s, last_hash = %s WHERE id = %s",
        [entries[-1].seq, hash, opening_id],
    )

"""The past of an opening for tests: moved back, tampered with, sealed anew."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from jobmill.db import Tx, fetch_all
from jobmill.hiring.audit_log import hash_chain


@asynccontextmanager
async def unguarded(tx: Tx) -> AsyncGenerator[None]:
    """No trigger and no foreign key holds in this block."""
    await tx.execute("SET LOCAL session_replication_role = replica")
    yield
    await tx.execute("SET LOCAL session_replication_role = origin")


async def age(tx: Tx, opening_id: int, span: dt.timedelta) -> None:
    """As if all of it had happened that much sooner: rows, log and chain fit each other."""
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
    """A new chain that fits the events as they are now; inside `unguarded`."""
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

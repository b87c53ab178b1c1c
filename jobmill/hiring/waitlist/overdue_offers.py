"""Reads of one instant, and which expired offers to take back before such a read."""

from __future__ import annotations

from jobmill.db import Tx


async def begin_snapshot(tx: Tx) -> None:
    """Make all later reads of the transaction see one instant; must be its first statement."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def find_overdue_opening(tx: Tx, id: int) -> list[int]:
    """The opening's id if it may have expired offers."""
    cursor = await tx.execute(
        "SELECT id FROM hiring.opening WHERE id = %s AND next_deadline_at <= now()", [id]
    )
    return [id for (id,) in await cursor.fetchall()]


async def find_overdue_openings_of(tx: Tx, applicant_id: int) -> list[int]:
    """Openings of the applicant's live applications with expired offers, in the order to lock them."""
    cursor = await tx.execute(
        """
        SELECT opening.id
          FROM hiring.application JOIN hiring.opening ON opening.id = opening_id
         WHERE applicant_id = %s AND application.status <> 'INACTIVE' AND next_deadline_at <= now()
         -- An opening before its interview times.
         ORDER BY coalesce(opening.parent_id, opening.id), opening.id
        """,
        [applicant_id],
    )
    return [id for (id,) in await cursor.fetchall()]

"""Job boards that listings linked to, so that each is handed to discovery once."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx, fetch_value

DISCOVER_AGAIN_AFTER = dt.timedelta(days=30)


async def is_new(tx: Tx, source_type: str, token: str) -> bool:
    """Whether the board is no source, rejected or not, and was not discovered lately."""
    known = await fetch_value(
        tx,
        int,
        """
        SELECT 1
         WHERE EXISTS (SELECT FROM catalog.source
                        WHERE source_type = %(type)s AND lower(token) = lower(%(token)s))
            OR EXISTS (SELECT FROM catalog.board_sighting
                        WHERE source_type = %(type)s AND token = lower(%(token)s)
                          AND seen_at > now() - %(again)s)
        """,
        {"type": source_type, "token": token, "again": DISCOVER_AGAIN_AFTER},
    )
    return known is None


async def record(tx: Tx, source_type: str, token: str, *, url: str, listing_id: int) -> None:
    """Record that the board is being discovered because of a listing."""
    await tx.execute(
        """
        INSERT INTO catalog.board_sighting (source_type, token, url, listing_id)
        SELECT %(type)s, lower(%(token)s), %(url)s,
               (SELECT id FROM catalog.listing WHERE id = %(listing)s)
        ON CONFLICT (source_type, token) DO UPDATE
           SET url = excluded.url, listing_id = excluded.listing_id, seen_at = now()
        """,
        {"type": source_type, "token": token, "url": url, "listing": listing_id},
    )

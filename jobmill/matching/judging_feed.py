"""The table of listings waiting to be judged, from which the queue is fed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all, fetch_single_value
from jobmill.matching.profiles import ProfileId, SavedProfile
from jobmill.queue.feed import notify_feeds


@dataclass(frozen=True, slots=True)
class PendingJudgement:
    profile_id: ProfileId
    listing_id: ListingId
    url: str
    parent_item: int | None
    forced: bool = False
    """A person asked for this listing regardless of the rules."""


async def add(
    tx: Tx,
    ids: Sequence[int],
    *,
    profile_id: int | None = None,
    parent_item: int | None = None,
) -> int:
    """Queue listings for one profile, or for every profile that is not paused. Returns how many
    were not queued before."""
    await tx.execute("SELECT pg_advisory_xact_lock_shared(hashtext('jobmill.waiting'))")
    return await fetch_single_value(
        tx,
        int,
        """
        WITH put AS (
            INSERT INTO matching.judging_queue (profile_id, listing_id, parent_item)
            SELECT profile.id, listing.id, %(parent)s
              FROM matching.profile, catalog.listing
             WHERE listing.id = ANY(%(ids)s)
               AND (%(profile)s::bigint IS NOT NULL OR NOT listing.private)
               AND CASE WHEN %(profile)s::bigint IS NULL
                        THEN profile.id IN (SELECT id FROM matching.active_profile)
                        ELSE profile.id = %(profile)s END
             -- Insert in one fixed order, so that two transactions cannot deadlock.
             ORDER BY profile.id, listing.id
            ON CONFLICT (profile_id, listing_id) DO UPDATE
               -- Changes nothing, but locks the row until commit: a worker that took it now would
               -- judge the listing's old content.
               SET since = judging_queue.since
            RETURNING xmax = 0 AS anew
        )
        SELECT count(*) FROM put WHERE anew
        """,
        {"ids": list(ids), "profile": profile_id, "parent": parent_item},
    )


async def _lock_all(tx: Tx) -> None:
    """Block other inserts until commit. A transaction that adds a listing and one that creates a
    profile do not see each other's row, and neither would add the pair."""
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.waiting'))")


async def add_open(tx: Tx, profile_id: int) -> int:
    """Queue every open listing for a profile, except duplicates that another listing represents."""
    await _lock_all(tx)
    added = await tx.execute(
        """
        INSERT INTO matching.judging_queue (profile_id, listing_id)
        SELECT %s, id FROM catalog.listing
         WHERE closed_at IS NULL AND (duplicate_of IS NULL OR duplicate_kind = 'multi_location')
           AND NOT private
         ORDER BY id
        ON CONFLICT (profile_id, listing_id) DO NOTHING
        """,
        [profile_id],
    )
    return added.rowcount


async def add_unjudged(tx: Tx, profile_id: int) -> int:
    """Queue every open listing that was never judged for a profile."""
    await _lock_all(tx)
    added = await tx.execute(
        """
        INSERT INTO matching.judging_queue (profile_id, listing_id)
        SELECT %(profile)s, id FROM catalog.listing
         WHERE closed_at IS NULL AND (duplicate_of IS NULL OR duplicate_kind = 'multi_location')
           AND NOT private
           AND NOT EXISTS (SELECT FROM matching.verdict
                            WHERE profile_id = %(profile)s AND listing_id = listing.id)
         ORDER BY id
        ON CONFLICT (profile_id, listing_id) DO NOTHING
        """,
        {"profile": profile_id},
    )
    return added.rowcount


async def add_for_new_profile(tx: Tx, saved: SavedProfile) -> int:
    """Queue every open listing for a newly created profile, and return how many. Later versions
    queue nothing by themselves."""
    if saved.version != 1 or not saved.changed:
        return 0
    added = await add_open(tx, saved.profile_id)
    await notify_feeds(tx)
    return added


async def claim_due(tx: Tx, limit: int) -> list[PendingJudgement]:
    """Take the rows that have waited longest, skipping paused profiles. Each row is taken once, by
    the transaction that commits."""
    return await fetch_all(
        tx,
        PendingJudgement,
        """
        WITH longest AS MATERIALIZED (
            SELECT profile_id, listing_id FROM matching.judging_queue
             WHERE since <= now()
               AND profile_id IN (SELECT id FROM matching.active_profile)
             ORDER BY since, listing_id LIMIT %s
               FOR UPDATE OF judging_queue SKIP LOCKED
        ), taken AS (
            DELETE FROM matching.judging_queue USING longest
             WHERE judging_queue.profile_id = longest.profile_id
               AND judging_queue.listing_id = longest.listing_id
            RETURNING judging_queue.profile_id, judging_queue.listing_id, parent_item, since
        )
        SELECT profile_id, listing_id, url, parent_item,
               EXISTS (SELECT FROM matching.verdict
                        WHERE verdict.profile_id = taken.profile_id
                          AND verdict.listing_id = taken.listing_id AND forced) AS forced
          FROM taken
          JOIN catalog.listing ON listing.id = listing_id
         ORDER BY since, listing_id
        """,
        [limit],
    )


async def requeue(tx: Tx, profile_id: int, listing_id: int) -> None:
    """Queue a listing again in a minute, because its previous item is still running."""
    await tx.execute(
        """
        INSERT INTO matching.judging_queue (profile_id, listing_id, since)
        VALUES (%s, %s, now() + interval '1 minute')
        ON CONFLICT (profile_id, listing_id) DO NOTHING
        """,
        [profile_id, listing_id],
    )


async def count(tx: Tx, profile_id: int | None = None, *, limit: int | None = None) -> int:
    """Count the waiting rows; `limit` stops the count early."""
    cursor = await tx.execute(
        """
        SELECT count(*)
          FROM (SELECT FROM matching.judging_queue
                 WHERE %(profile)s::bigint IS NULL OR profile_id = %(profile)s
                 LIMIT %(limit)s) AS counted
        """,
        {"profile": profile_id, "limit": limit},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0

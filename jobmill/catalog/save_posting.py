"""One posting that was read by itself, from its own page: kept as a listing like any other."""

from __future__ import annotations

import datetime as dt
from typing import Any

from jobmill.catalog.companies import CompanyId
from jobmill.catalog.listings import ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.db import Tx, fetch_value
from jobmill.db.clock import server_time

from . import companies, duplicate_links, history, listings, posting_identity


async def save(
    tx: Tx,
    posting: Posting,
    platforms: PlatformRules,
    *,
    website: str | None = None,
    source_id: int | None = None,
) -> ListingId:
    """The posting as a listing, new or known; what a source that runs shows is the source's to change."""
    posting = listings.make_storable(posting)
    at = await server_time(tx)
    key = posting_identity.identity(posting, platforms)
    company_id = await _company(tx, posting, website)
    seen = {
        "source_id": source_id,
        "company_id": company_id,
        "listed_hash": listings.listed_hash(posting),
    }
    record = listings.to_columns(posting, platforms) | seen | {"last_seen_at": at, "changed_at": at}
    added = await listings.insert_all(tx, [record | {"first_seen_at": at}])
    if added:
        id = added[key]
        await history.record(tx, "listing", id, "opened", source=source_id)
        await duplicate_links.link_new_listings(tx, [id], platforms)
        return id
    return await _again(tx, key, record, source_id)


async def _again(tx: Tx, key: str, record: dict[str, Any], source_id: int | None) -> ListingId:
    # -1 is nobody's number: then only what no source that runs shows is ours to change.
    ours = await listings.claim_for_update(tx, [key], -1 if source_id is None else source_id)
    if key not in ours:
        return (await listings.find_by_identity(tx, [key]))[key].id
    [old] = await listings.by_ids(tx, [ours[key].id])
    told = listings.diff(old, record)
    if told:
        await listings.update_all(tx, [record | {"id": old.id}])
        await history.record(tx, "listing", old.id, "changed", fields=sorted(told))
    await _see(tx, old.id, record["last_seen_at"])
    return old.id


async def _company(tx: Tx, posting: Posting, website: str | None) -> CompanyId | None:
    if not posting.company:
        return None
    found = await companies.get_or_create_all(tx, [posting.company])
    if posting.company not in found:
        return None
    return await companies.get_or_create(tx, posting.company, website)


async def _see(tx: Tx, id: ListingId, at: dt.datetime) -> None:
    """Note that its page was there; what was closed is open again."""
    again = await fetch_value(
        tx,
        int,
        """
        WITH before AS (SELECT id, closed_at FROM catalog.listing WHERE id = %(id)s FOR NO KEY UPDATE)
        UPDATE catalog.listing
           SET last_seen_at = greatest(last_seen_at, %(at)s), closed_at = NULL
          FROM before WHERE listing.id = before.id
        RETURNING (before.closed_at IS NOT NULL)::int
        """,
        {"id": id, "at": at},
    )
    if again:
        await history.record(tx, "listing", id, "reopened")


async def close(tx: Tx, id: ListingId, why: str) -> None:
    """Its own page says that it is over."""
    closed = await tx.execute(
        "UPDATE catalog.listing SET closed_at = now() WHERE id = %s AND closed_at IS NULL", [id]
    )
    if closed.rowcount:
        await history.record(tx, "listing", id, "closed", why=why)

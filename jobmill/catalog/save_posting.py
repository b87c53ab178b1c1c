"""Saves a posting that was read from its own page rather than by a run of its source."""

from __future__ import annotations

from typing import Any

from jobmill.catalog.companies import CompanyId
from jobmill.catalog.listings import ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
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
    """Insert or update the listing of a posting; returns its id."""
    posting = listings.make_storable(posting)
    now = await server_time(tx)
    identity = posting_identity.identity(posting, platforms)
    columns = listings.to_columns(posting, platforms) | {
        "source_id": source_id,
        "company_id": await _find_company(tx, posting, website),
        "listed_hash": listings.listed_hash(posting),
        "last_seen_at": now,
        "changed_at": now,
    }
    inserted = await listings.insert_all(tx, [columns | {"first_seen_at": now}])
    if not inserted:
        return await _update_existing(tx, identity, columns, source_id)
    id = inserted[identity]
    await history.record(tx, "listing", id, "opened", source=source_id)
    await duplicate_links.link_new_listings(tx, [id], platforms)
    return id


async def _update_existing(
    tx: Tx, identity: str, columns: dict[str, Any], source_id: int | None
) -> ListingId:
    """Update a known listing, unless another enabled source owns it."""
    editable = await listings.claim_for_update(tx, [identity], owner=source_id)
    if identity not in editable:
        return (await listings.find_by_identity(tx, [identity]))[identity].id
    [listing] = await listings.by_ids(tx, [editable[identity].id])
    changed_fields = listings.diff(listing, columns)
    if changed_fields:
        await listings.update_all(tx, [columns | {"id": listing.id}])
        await history.record(tx, "listing", listing.id, "changed", fields=sorted(changed_fields))
    await listings.mark_seen(tx, listing.id, columns["last_seen_at"])
    return listing.id


async def _find_company(tx: Tx, posting: Posting, website: str | None) -> CompanyId | None:
    if not posting.company:
        return None
    # Unlike `get_or_create`, this leaves out an invalid name instead of raising.
    if posting.company not in await companies.get_or_create_all(tx, [posting.company]):
        return None
    return await companies.get_or_create(tx, posting.company, website)

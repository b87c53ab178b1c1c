"""Saves a posting that was read from its own page rather than by a run of its source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jobmill.catalog.companies import CompanyId
from jobmill.catalog.listing_pages import PageRead
from jobmill.catalog.listings import Listing, ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.db.clock import server_time

from . import (
    companies,
    duplicate_links,
    history,
    listing_pages,
    listings,
    posting_merge,
)


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
    columns: dict[str, Any] = listings.to_columns(posting, platforms) | {
        "source_id": source_id,
        "company_id": await _find_company(tx, posting, website),
        "listed_hash": listings.listed_hash(posting),
        "last_seen_at": now,
        "changed_at": now,
    }
    identity = columns["identity"]
    inserted = await listings.insert_all(tx, [columns | {"first_seen_at": now}])
    if not inserted:
        return await _update_existing(tx, identity, columns, source_id)
    id = inserted[identity]
    await history.record(tx, "listing", id, "opened", source=source_id)
    await duplicate_links.link_new_listings(tx, [id], platforms)
    return id


async def save_private(tx: Tx, posting: Posting, platforms: PlatformRules) -> ListingId:
    """Insert a listing that only people with a match see, and return its id. It names no company of the
    catalog and no duplicates, which others would see. A listing that exists stays as it is."""
    posting = listings.make_storable(posting)
    now = await server_time(tx)
    columns: dict[str, Any] = listings.to_columns(posting, platforms) | {
        "private": True,
        "listed_hash": listings.listed_hash(posting),
        "first_seen_at": now,
        "last_seen_at": now,
        "changed_at": now,
    }
    identity = columns["identity"]
    inserted = await listings.insert_all(tx, [columns])
    if inserted:
        await history.record(tx, "listing", inserted[identity], "opened")
        return inserted[identity]
    return (await listings.find_by_identity(tx, [identity]))[identity].id


async def _update_existing(
    tx: Tx, identity: str, columns: dict[str, Any], source_id: int | None
) -> ListingId:
    """Update a known listing, unless another enabled source owns it."""
    editable = await listings.claim_for_update(tx, [identity], owner=source_id)
    if identity not in editable:
        return (await listings.find_by_identity(tx, [identity]))[identity].id
    [listing] = await listings.by_ids(tx, [editable[identity].id])
    await listings.publish(tx, listing.id)
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


async def complete(
    tx: Tx,
    stored: Listing,
    page: Posting,
    read: PageRead,
    platforms: PlatformRules,
    *,
    website: str | None = None,
) -> None:
    """Complete a listing of a source with what its own page says, and record which fields came from
    the page. The listing keeps its identity, source and list entry."""
    page = listings.make_storable(page)
    company_id = await _company_with_site(tx, stored, page, website)
    await listings.lock_duplicate_links(tx)
    await tx.execute("SELECT FROM catalog.listing WHERE id = %s FOR NO KEY UPDATE", [stored.id])
    for listing in await listings.by_ids(tx, [stored.id]):
        earlier = await listing_pages.get(tx, listing.id)
        merged, fields = posting_merge.merge_page(
            listings.to_posting(listing), page, earlier.fields if earlier else ()
        )
        await _update_from_page(tx, listing, merged, company_id, platforms)
        await listing_pages.record(tx, listing.id, replace(read, fields=fields))
        await history.record(
            tx, "listing", listing.id, "completed", fields=list(fields), page=read.url
        )
        if listing.duplicate_of is None and not await duplicate_links.has_duplicates(
            tx, listing.id
        ):
            await duplicate_links.link_new_listings(tx, [listing.id], platforms)


async def _company_with_site(
    tx: Tx, stored: Listing, page: Posting, website: str | None
) -> CompanyId | None:
    if stored.company_id is None:
        return await _find_company(tx, page, website)
    company_id = CompanyId(stored.company_id)
    if website:
        await companies.add_site(tx, company_id, website)
    return company_id


async def _update_from_page(
    tx: Tx,
    listing: Listing,
    merged: Posting,
    company_id: CompanyId | None,
    platforms: PlatformRules,
) -> None:
    columns = listings.to_columns(merged, platforms) | {
        "id": listing.id,
        "identity": listing.identity,
        "company_id": listing.company_id or company_id,
        "listed_hash": listing.listed_hash,
    }
    changed = listings.diff(listing, columns)
    at = await server_time(tx) if changed else listing.changed_at
    await listings.update_all(tx, [columns | {"changed_at": at}])

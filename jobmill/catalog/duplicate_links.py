"""Links between listings of the same vacancy. Nothing is merged, and every link can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.catalog.duplicates import DuplicateGroup, DuplicateKind
from jobmill.catalog.listings import Listing, ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.db import Tx
from jobmill.errors import Conflict

from . import duplicates, history, listings

MAX_CANDIDATES = 5_000


@dataclass(frozen=True, slots=True)
class _Link:
    id: ListingId
    to: ListingId
    kind: DuplicateKind
    why: str


async def link_new_listings(tx: Tx, new_ids: Sequence[ListingId], platforms: PlatformRules) -> int:
    """Link new listings to the listings they repeat; returns the number of links."""
    if not new_ids:
        return 0
    await listings.lock_duplicate_links(tx)
    similar_ids = await _find_similar(tx, new_ids)
    candidates = sorted(
        await listings.by_ids(tx, [*new_ids, *similar_ids]), key=lambda listing: listing.id
    )
    postings = [listings.to_posting(listing) for listing in candidates]
    # In a thread: the texts of thousands of candidates take seconds to compare.
    groups = await asyncio.to_thread(duplicates.find_groups, postings, platforms)
    links = [link for group in groups for link in _build_links(group, candidates, set(new_ids))]
    return await _write_links(tx, links)


async def has_duplicates(tx: Tx, id: ListingId) -> bool:
    """Whether other listings repeat this one."""
    cursor = await tx.execute("SELECT FROM catalog.listing WHERE duplicate_of = %s LIMIT 1", [id])
    return await cursor.fetchone() is not None


async def _find_similar(tx: Tx, new_ids: Sequence[ListingId]) -> list[ListingId]:
    """Ids of listings that may be the same as the new ones: same page, text, requisition, or
    company and title."""
    cursor = await tx.execute(
        """
        WITH new AS (
            SELECT id, url, url_hash, fingerprint, platform, board, requisition_id, company_id,
                   lower(title) AS title
              FROM catalog.listing WHERE id = ANY(%(new)s)
        )
        SELECT id FROM (
            SELECT other.id FROM new JOIN catalog.listing AS other USING (url_hash)
             WHERE new.url <> ''
            UNION
            SELECT other.id FROM new JOIN catalog.listing AS other USING (fingerprint)
            UNION
            SELECT other.id FROM new
              JOIN catalog.listing AS other USING (platform, board, requisition_id)
            UNION
            SELECT other.id FROM new
              JOIN catalog.listing AS other
                ON other.company_id = new.company_id AND lower(other.title) = new.title
        ) AS around
         WHERE id <> ALL(%(new)s)
           -- Nobody else sees a private listing, so it cannot represent others.
           AND NOT EXISTS (SELECT FROM catalog.listing AS hidden
                            WHERE hidden.id = around.id AND private)
         ORDER BY id DESC LIMIT %(limit)s
        """,
        {"new": list(new_ids), "limit": MAX_CANDIDATES},
    )
    return [ListingId(id) for (id,) in await cursor.fetchall()]


def _build_links(
    group: DuplicateGroup, candidates: Sequence[Listing], new_ids: set[ListingId]
) -> list[_Link]:
    """The links of a group: new listings point to its root."""
    canonical = candidates[group.canonical]
    existing = [candidates[index] for index in group.members if candidates[index].id not in new_ids]
    root = _choose_root(canonical, existing)
    moved = [
        listing
        for listing in existing
        if root == canonical.id and listing.id != root and _is_replaceable_copy(listing)
    ]
    to_link = new_ids | {listing.id for listing in moved}
    reasons = zip(group.members, group.reasons, strict=True)
    return [
        _Link(candidates[index].id, root, group.kind, why or group.why)
        for index, why in reasons
        if candidates[index].id in to_link and candidates[index].id != root
    ]


def _choose_root(canonical: Listing, existing: Sequence[Listing]) -> ListingId:
    """Choose the listing that links point to: the oldest, so that what people have seen stays in
    place. An unmarked copy gives way to the company's own post."""
    if not existing:
        return canonical.id
    first = min(existing, key=lambda listing: (listing.duplicate_of is not None, listing.id))
    # A listing that is itself a duplicate, perhaps by a person's decision, cannot be a root.
    if _is_replaceable_copy(first) and canonical.via is None and canonical.duplicate_of is None:
        return canonical.id
    return first.duplicate_of or first.id


def _is_replaceable_copy(listing: Listing) -> bool:
    """Whether this is an unmarked copy that is no duplicate itself; its duplicates move with it."""
    unmarked = listing.marked_at is None
    return listing.via is not None and unmarked and listing.duplicate_of is None


async def _write_links(tx: Tx, links: Sequence[_Link]) -> int:
    """Write the links except for listings that a person unlinked; returns how many. Duplicates of
    a listing that becomes a duplicate move to its root, so that links never chain."""
    if not links:
        return 0
    await _lock_listings(tx, [link.id for link in links])
    written = await tx.execute(
        """
        UPDATE catalog.listing
           SET duplicate_of = link.root, duplicate_kind = link.kind, duplicate_why = link.why
          FROM unnest(%(ids)s::bigint[], %(roots)s::bigint[], %(kinds)s::text[], %(whys)s::text[])
               AS link (id, root, kind, why)
         WHERE listing.id = link.id AND NOT listing.unlinked_by_person
        RETURNING listing.id
        """,
        {
            "ids": [link.id for link in links],
            "roots": [link.to for link in links],
            "kinds": [link.kind for link in links],
            "whys": [link.why for link in links],
        },
    )
    await tx.execute(
        """
        UPDATE catalog.listing SET duplicate_of = moved.duplicate_of
          FROM catalog.listing AS moved
         WHERE listing.duplicate_of = moved.id AND moved.duplicate_of IS NOT NULL
           AND moved.id = ANY(%s)
        """,
        [[link.id for link in links]],
    )
    linked = {id for (id,) in await written.fetchall()}
    events = [(link.id, {"to": link.to, "why": link.why}) for link in links if link.id in linked]
    await history.record_all(tx, "listing", "linked", events)
    return len(events)


async def _lock_listings(tx: Tx, ids: Sequence[int]) -> None:
    """Lock the listings and their duplicates in the same order as runs do."""
    await tx.execute(
        """
        SELECT 1 FROM catalog.listing
         WHERE id = ANY(%(ids)s) OR duplicate_of = ANY(%(ids)s)
         ORDER BY id FOR NO KEY UPDATE
        """,
        {"ids": list(ids)},
    )


async def find_linked(tx: Tx, id: int) -> list[ListingId]:
    """The ids of the listings that are linked to this one."""
    cursor = await tx.execute(
        "SELECT id FROM catalog.listing WHERE duplicate_of = %s ORDER BY id", [id]
    )
    return [ListingId(id) for (id,) in await cursor.fetchall()]


async def unlink(tx: Tx, id: int, *, actor: str | None = None) -> None:
    """Remove a link and never link the listing automatically again."""
    await listings.lock_duplicate_links(tx)
    listing = await listings.get(tx, id)
    if listing.duplicate_of is None:
        raise Conflict(f"listing {id} is not a duplicate")
    await tx.execute(
        """
        UPDATE catalog.listing
           SET duplicate_of = NULL, duplicate_kind = NULL, duplicate_why = NULL, unlinked_by_person = true
         WHERE id = %s
        """,
        [id],
    )
    await history.record(tx, "listing", id, "unlinked", actor=actor, was=listing.duplicate_of)


async def link(tx: Tx, id: int, to: int, *, actor: str | None = None) -> None:
    """Link a listing to another by hand; its own duplicates move with it."""
    await listings.lock_duplicate_links(tx)
    listing, root = await listings.get(tx, id), await listings.get(tx, to)
    if listing.id in (root.id, root.duplicate_of):
        what = "itself" if id == to else f"a duplicate of listing {id}"
        raise Conflict(f"listing {to} is already {what}")
    target = root.duplicate_of or root.id
    await _lock_listings(tx, [id])
    await tx.execute(
        """
        UPDATE catalog.listing
           SET duplicate_of = %(to)s, unlinked_by_person = false,
               duplicate_kind = CASE WHEN id = %(id)s THEN 'same' ELSE duplicate_kind END,
               duplicate_why = CASE WHEN id = %(id)s THEN 'linked by hand'
                                    ELSE duplicate_why END
         WHERE id = %(id)s OR duplicate_of = %(id)s
        """,
        {"id": id, "to": target},
    )
    await history.record(tx, "listing", id, "linked", actor=actor, to=target)

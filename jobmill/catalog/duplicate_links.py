"""Links between listings that are the same vacancy: nothing is merged, and every link can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.catalog.duplicates import DuplicateGroup, DuplicateKind
from jobmill.catalog.listings import Listing, ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.db import Tx, fetch_all
from jobmill.errors import Conflict

from . import duplicates, history, listings

MOST_CANDIDATES = 5_000


@dataclass(frozen=True, slots=True)
class _Link:
    id: ListingId
    to: ListingId
    kind: DuplicateKind
    why: str


async def link_new_listings(tx: Tx, fresh: Sequence[ListingId], platforms: PlatformRules) -> int:
    """Link new listings with what they repeat; returns how many were linked."""
    if not fresh:
        return 0
    await listings.lock_duplicate_links(tx)
    around = await _around(tx, fresh)
    found = sorted(await listings.by_ids(tx, [*fresh, *around]), key=lambda one: one.id)
    groups = duplicates.find_groups([listings.to_posting(one) for one in found], platforms)
    made = [link for group in groups for link in _links(group, found, set(fresh))]
    return await _write(tx, made)


async def _around(tx: Tx, fresh: Sequence[ListingId]) -> list[ListingId]:
    """Listings that may be the same as these: by page, text, requisition, or company and title."""
    found = await fetch_all(
        tx,
        _Candidate,
        """
        WITH fresh AS (
            SELECT id, url, url_hash, fingerprint, platform, board, requisition_id, company_id,
                   lower(title) AS title
              FROM catalog.listing WHERE id = ANY(%(fresh)s)
        )
        SELECT id FROM (
            SELECT other.id FROM fresh JOIN catalog.listing AS other USING (url_hash)
             WHERE fresh.url <> ''
            UNION
            SELECT other.id FROM fresh JOIN catalog.listing AS other USING (fingerprint)
            UNION
            SELECT other.id FROM fresh
              JOIN catalog.listing AS other USING (platform, board, requisition_id)
            UNION
            SELECT other.id FROM fresh
              JOIN catalog.listing AS other
                ON other.company_id = fresh.company_id AND lower(other.title) = fresh.title
        ) AS around
         WHERE id <> ALL(%(fresh)s)
         ORDER BY id DESC LIMIT %(most)s
        """,
        {"fresh": list(fresh), "most": MOST_CANDIDATES},
    )
    return [one.id for one in found]


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: ListingId


def _links(group: DuplicateGroup, found: Sequence[Listing], fresh: set[ListingId]) -> list[_Link]:
    """What a group of listings means for its members: the new ones point to its root."""
    canonical = found[group.canonical]
    known = [found[index] for index in group.members if found[index].id not in fresh]
    root = _root(canonical, known)
    moved = [one for one in known if root == canonical.id and one.id != root and _makes_way(one)]
    to_link = fresh | {one.id for one in moved}
    whys = zip(group.members, group.whys, strict=True)
    return [
        _Link(found[index].id, root, group.kind, why or group.why)
        for index, why in whys
        if found[index].id in to_link and found[index].id != root
    ]


def _root(canonical: Listing, known: Sequence[Listing]) -> ListingId:
    """Where links point: to what was there first, so that nothing a person knows moves; only a
    copy that nobody has marked makes way for the company's own post."""
    if not known:
        return canonical.id
    first = min(known, key=lambda one: (one.duplicate_of is not None, one.id))
    # A post that repeats something itself, as a person may have said, is nobody's root.
    if _makes_way(first) and canonical.via is None and canonical.duplicate_of is None:
        return canonical.id
    return first.duplicate_of or first.id


def _makes_way(listing: Listing) -> bool:
    """A copy that stands for itself; those that are linked to it follow it."""
    unmarked = listing.marked_at is None
    return listing.via is not None and unmarked and listing.duplicate_of is None


async def _write(tx: Tx, made: Sequence[_Link]) -> int:
    """Write links, and say how many; a listing that a person has set apart stays so. Who pointed to
    one that now points elsewhere follows it, so that a link is one step."""
    if not made:
        return 0
    await _lock(tx, [one.id for one in made])
    written = await fetch_all(
        tx,
        _Candidate,
        """
        UPDATE catalog.listing
           SET duplicate_of = link.root, duplicate_kind = link.kind, duplicate_why = link.why
          FROM unnest(%(ids)s::bigint[], %(roots)s::bigint[], %(kinds)s::text[], %(whys)s::text[])
               AS link (id, root, kind, why)
         WHERE listing.id = link.id AND NOT listing.apart
        RETURNING listing.id
        """,
        {
            "ids": [one.id for one in made],
            "roots": [one.to for one in made],
            "kinds": [one.kind for one in made],
            "whys": [one.why for one in made],
        },
    )
    await tx.execute(
        """
        UPDATE catalog.listing SET duplicate_of = moved.duplicate_of
          FROM catalog.listing AS moved
         WHERE listing.duplicate_of = moved.id AND moved.duplicate_of IS NOT NULL
           AND moved.id = ANY(%s)
        """,
        [[one.id for one in made]],
    )
    linked = {one.id for one in written}
    told = [(one.id, {"to": one.to, "why": one.why}) for one in made if one.id in linked]
    await history.record_all(tx, "listing", "linked", told)
    return len(told)


async def _lock(tx: Tx, ids: Sequence[int]) -> None:
    """These and those that point to them, in the order in which runs lock theirs."""
    await tx.execute(
        """
        SELECT 1 FROM catalog.listing
         WHERE id = ANY(%(ids)s) OR duplicate_of = ANY(%(ids)s)
         ORDER BY id FOR NO KEY UPDATE
        """,
        {"ids": list(ids)},
    )


async def find_linked(tx: Tx, id: int) -> list[ListingId]:
    """The listings that are linked to one."""
    found = await fetch_all(
        tx,
        _Candidate,
        "SELECT id FROM catalog.listing WHERE duplicate_of = %s ORDER BY id",
        [id],
    )
    return [one.id for one in found]


async def unlink(tx: Tx, id: int, *, actor: str | None = None) -> None:
    """Let a listing stand for itself, and never link it again by rule."""
    await listings.lock_duplicate_links(tx)
    listing = await listings.get(tx, id)
    if listing.duplicate_of is None:
        raise Conflict(f"listing {id} is linked to no other")
    await tx.execute(
        """
        UPDATE catalog.listing
           SET duplicate_of = NULL, duplicate_kind = NULL, duplicate_why = NULL, apart = true
         WHERE id = %s
        """,
        [id],
    )
    await history.record(tx, "listing", id, "unlinked", actor=actor, was=listing.duplicate_of)


async def link(tx: Tx, id: int, to: int, *, actor: str | None = None) -> None:
    """Say that a listing repeats another; those that were linked to it follow."""
    await listings.lock_duplicate_links(tx)
    listing, root = await listings.get(tx, id), await listings.get(tx, to)
    if listing.id in (root.id, root.duplicate_of):
        what = "itself" if id == to else f"listing {id} already"
        raise Conflict(f"listing {to} repeats {what}")
    target = root.duplicate_of or root.id
    await _lock(tx, [id])
    await tx.execute(
        """
        UPDATE catalog.listing
           SET duplicate_of = %(to)s, apart = false,
               duplicate_kind = CASE WHEN id = %(id)s THEN 'same' ELSE duplicate_kind END,
               duplicate_why = CASE WHEN id = %(id)s THEN 'a person said so'
                                    ELSE duplicate_why END
         WHERE id = %(id)s OR duplicate_of = %(id)s
        """,
        {"id": id, "to": target},
    )
    await history.record(tx, "listing", id, "linked", actor=actor, to=target)

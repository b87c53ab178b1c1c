"""Duplicates among matches: when several sources post the same vacancy, a list of matches shows one
of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from urllib.parse import urlsplit

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all

MAX_DUPLICATES = 3
"""How many duplicates are named for each match."""

LINKED: LiteralString = """
    twin.id <> listing.id
    AND (twin.id = listing.duplicate_of
         OR twin.duplicate_of = coalesce(listing.duplicate_of, listing.id))
    -- The same role in another location is a separate offer.
    AND ('multi_location' NOT IN (coalesce(twin.duplicate_kind, ''),
                                  coalesce(listing.duplicate_kind, ''))
         OR lower(twin.location) IS NOT DISTINCT FROM lower(listing.location))
"""


def shown_clause(*conditions: LiteralString) -> LiteralString:
    """SQL that holds for a match that a list shows, and not for the duplicates it represents.
    `conditions` are what the list requires of everything it shows, written for `twin` (the listing)
    and `other` (the match)."""
    # A match that a person has touched is never hidden, and hides its untouched duplicates. Among
    # untouched ones an open listing comes first, then the highest score, then the original. The
    # subquery reads the listing itself, and OFFSET 0 keeps it a subquery: as part of a join the
    # planner would not count its cost and would read and sort all matches.
    return f"""
    (match.status <> 'new' OR match.note IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM catalog.listing
          JOIN catalog.listing AS twin ON {LINKED}
          JOIN matching.match AS other ON other.listing_id = twin.id
         WHERE listing.id = match.listing_id
           AND other.profile_id = match.profile_id AND other.dropped_at IS NULL
           AND {" AND ".join(["true", *conditions])}
           AND (other.status <> 'new'
                OR (twin.closed_at IS NULL, other.match_score, twin.duplicate_of IS NULL, other.id)
                 > (listing.closed_at IS NULL, match.match_score, listing.duplicate_of IS NULL,
                    match.id))
        OFFSET 0))
    """


@dataclass(frozen=True, slots=True)
class MatchDuplicate:
    """The same vacancy as posted by another source."""

    of: int
    """The match that this is a duplicate of."""
    listing_id: ListingId
    source: str | None
    url: str
    match_id: int | None
    status: str | None

    @property
    def source_name(self) -> str:
        """The name of the source, else the host of the URL."""
        return self.source or urlsplit(self.url).hostname or f"listing {self.listing_id}"


async def find_duplicates(tx: Tx, matches: Sequence[int]) -> dict[int, list[MatchDuplicate]]:
    """Read the first few duplicates of each match that are open or that a person has touched."""
    rows = await fetch_all(
        tx,
        MatchDuplicate,
        f"""
        SELECT original.id AS of, twin.id AS listing_id, twin.source, twin.url, twin.match_id,
               twin.status
          FROM matching.match AS original
          JOIN catalog.listing ON listing.id = original.listing_id,
       LATERAL (SELECT twin.id, source.name AS source, twin.url, match.id AS match_id, match.status
                  FROM catalog.listing AS twin
                  LEFT JOIN catalog.source ON source.id = twin.source_id
                  LEFT JOIN matching.match ON match.listing_id = twin.id
                                          AND match.profile_id = original.profile_id
                                          AND match.dropped_at IS NULL
                 WHERE {LINKED} AND (twin.closed_at IS NULL OR match.status <> 'new')
                 ORDER BY match.id, twin.id LIMIT %(most)s) AS twin
         WHERE original.id = ANY(%(matches)s)
         ORDER BY original.id, twin.match_id, twin.id
        """,
        {"matches": list(matches), "most": MAX_DUPLICATES},
    )
    duplicates: dict[int, list[MatchDuplicate]] = defaultdict(list)
    for row in rows:
        duplicates[row.of].append(row)
    return duplicates

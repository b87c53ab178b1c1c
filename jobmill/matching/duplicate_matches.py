"""Copies: one vacancy that several sources tell of, of which a list of matches shows one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from urllib.parse import urlsplit

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all

MOST = 3
"""So many others are named."""

LINKED: LiteralString = """
    twin.id <> listing.id
    AND (twin.id = listing.duplicate_of
         OR twin.duplicate_of = coalesce(listing.duplicate_of, listing.id))
    -- The same work at another place is another offer.
    AND ('multi_location' NOT IN (coalesce(twin.duplicate_kind, ''),
                                  coalesce(listing.duplicate_kind, ''))
         OR lower(twin.location) IS NOT DISTINCT FROM lower(listing.location))
"""


def first(*asked: LiteralString) -> LiteralString:
    """Holds for a match that a list shows, and not for those that it stands for; `asked`: what the
    list asks of all that it shows, of `twin` and `other`."""
    # What a person spoke of is never hidden, and hides those of which nobody did; among these an open
    # one goes first, then the best, then the original. It asks for the listing by itself, and OFFSET
    # keeps it so: as a part of a join its cost is not counted, and all matches are read and sorted.
    return f"""
    (match.status <> 'new' OR match.note IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM catalog.listing
          JOIN catalog.listing AS twin ON {LINKED}
          JOIN matching.match AS other ON other.listing_id = twin.id
         WHERE listing.id = match.listing_id
           AND other.profile_id = match.profile_id AND other.dropped_at IS NULL
           AND {" AND ".join(["true", *asked])}
           AND (other.status <> 'new'
                OR (twin.closed_at IS NULL, other.match_score, twin.duplicate_of IS NULL, other.id)
                 > (listing.closed_at IS NULL, match.match_score, listing.duplicate_of IS NULL,
                    match.id))
        OFFSET 0))
    """


@dataclass(frozen=True, slots=True)
class Copy:
    """The same vacancy, as another source tells it."""

    of: int
    """The match that it is a copy of."""
    listing_id: ListingId
    source: str | None
    url: str
    match_id: int | None
    status: str | None

    @property
    def place(self) -> str:
        """Where it was found."""
        return self.source or urlsplit(self.url).hostname or f"listing {self.listing_id}"


async def of(tx: Tx, matches: Sequence[int]) -> dict[int, list[Copy]]:
    """The first few copies of each of these matches that are open, or that somebody spoke of."""
    found = await fetch_all(
        tx,
        Copy,
        f"""
        SELECT own.id AS of, twin.id AS listing_id, twin.source, twin.url, twin.match_id,
               twin.status
          FROM matching.match AS own
          JOIN catalog.listing ON listing.id = own.listing_id,
       LATERAL (SELECT twin.id, source.name AS source, twin.url, match.id AS match_id, match.status
                  FROM catalog.listing AS twin
                  LEFT JOIN catalog.source ON source.id = twin.source_id
                  LEFT JOIN matching.match ON match.listing_id = twin.id
                                          AND match.profile_id = own.profile_id
                                          AND match.dropped_at IS NULL
                 WHERE {LINKED} AND (twin.closed_at IS NULL OR match.status <> 'new')
                 ORDER BY match.id, twin.id LIMIT %(most)s) AS twin
         WHERE own.id = ANY(%(matches)s)
         ORDER BY own.id, twin.match_id, twin.id
        """,
        {"matches": list(matches), "most": MOST},
    )
    copies: dict[int, list[Copy]] = defaultdict(list)
    for one in found:
        copies[one.of].append(one)
    return copies

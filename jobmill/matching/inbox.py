"""Read one page of the inbox quickly, however many matches there are."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from jobmill.catalog import listing_search
from jobmill.db import Tx
from jobmill.matching import matches
from jobmill.matching.matches import Match, MatchId, MatchQuery

SCAN_LIMIT = 1_000
"""How many matches a search for common words scans at a time."""


@dataclass(frozen=True, slots=True)
class MatchPage:
    matches: list[Match]
    next: MatchId | None
    """The match to continue from; None on the last page."""
    partial: bool = False
    """Whether the search stopped after `SCAN_LIMIT` matches and more may follow, starting at `next`."""


async def read_page(
    tx: Tx, query: MatchQuery, *, patience: dt.timedelta = listing_search.MAX_RARE_SEARCH_TIME
) -> MatchPage:
    """Read one page of `limit` matches. Rare words are found anywhere, common words among the next
    `SCAN_LIMIT` matches."""
    limit = query.limit
    query = replace(query, limit=limit + 1)
    if query.q is None:
        return _page(await matches.find(tx, query), limit)
    nearby = replace(query, scan_limit=SCAN_LIMIT)
    page = await matches.find(tx, nearby)
    scan_end = await matches.find_scan_end(tx, nearby)
    if scan_end is None or len(page) > limit:
        return _page(page, limit)
    rare = await listing_search.find_rare(
        tx, listing_search.ListingQuery(words=query.q), max_duration=patience
    )
    if rare is not None:
        return _page(await matches.find(tx, replace(query, q=None, listings=rare)), limit)
    return MatchPage(page, scan_end, partial=True)


def _page(found_matches: list[Match], limit: int) -> MatchPage:
    return MatchPage(
        found_matches[:limit], found_matches[limit - 1].id if len(found_matches) > limit else None
    )

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
    """Whether the search stopped after `REACH` matches and more may follow, starting at `next`."""


async def read_page(
    tx: Tx, query: MatchQuery, *, patience: dt.timedelta = listing_search.MAX_RARE_SEARCH_TIME
) -> MatchPage:
    """Read one page of `limit` matches. Rare words are found anywhere, common words among the next
    `REACH` matches."""
    limit = query.limit
    query = replace(query, limit=limit + 1)
    if query.q is None:
        return _page(await matches.find(tx, query), limit)
    # A generic plan, made without knowing the words, is slow for most words.
    await tx.execute("SET LOCAL plan_cache_mode = force_custom_plan")
    near = replace(query, scan_limit=SCAN_LIMIT)
    found = await matches.find(tx, near)
    edge = await matches.find_scan_end(tx, near)
    if edge is None or len(found) > limit:
        return _page(found, limit)
    few = await listing_search.find_rare(
        tx, listing_search.ListingQuery(words=query.q), max_duration=patience
    )
    if few is not None:
        return _page(await matches.find(tx, replace(query, q=None, listings=few)), limit)
    return MatchPage(found, edge, partial=True)


def _page(found: list[Match], limit: int) -> MatchPage:
    return MatchPage(found[:limit], found[limit - 1].id if len(found) > limit else None)

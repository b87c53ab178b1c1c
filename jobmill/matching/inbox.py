"""The inbox: one page of matches, found in a moment however many there are."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from jobmill.catalog import listing_search
from jobmill.db import Tx
from jobmill.matching import matches
from jobmill.matching.matches import Match, MatchId, Wanted

REACH = 1_000
"""So many are looked through for words that many listings hold."""


@dataclass(frozen=True, slots=True)
class Found:
    matches: list[Match]
    next: MatchId | None
    """The match to go on from; None if these are the last."""
    partial: bool = False
    """Whether there may be more like these beyond the first `REACH`, where `next` goes on."""


async def find(
    tx: Tx, wanted: Wanted, *, patience: dt.timedelta = listing_search.MAX_RARE_SEARCH_TIME
) -> Found:
    """One page of `limit`. Rare words are found wherever they are, others among the next `REACH`."""
    limit = wanted.limit
    wanted = replace(wanted, limit=limit + 1)
    if wanted.q is None:
        return _page(await matches.find(tx, wanted), limit)
    # A plan that is made for any words is a bad one for most.
    await tx.execute("SET LOCAL plan_cache_mode = force_custom_plan")
    near = replace(wanted, reach=REACH)
    found = await matches.find(tx, near)
    edge = await matches.edge(tx, near)
    if edge is None or len(found) > limit:
        return _page(found, limit)
    few = await listing_search.find_rare(
        tx, listing_search.ListingQuery(words=wanted.q), max_duration=patience
    )
    if few is not None:
        return _page(await matches.find(tx, replace(wanted, q=None, listings=few)), limit)
    return Found(found, edge, partial=True)


def _page(found: list[Match], limit: int) -> Found:
    return Found(found[:limit], found[limit - 1].id if len(found) > limit else None)

"""Which new matches a person is told about, and what notifications say about a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jobmill.db import Tx, fetch_all
from jobmill.matching import matches, saved_views
from jobmill.matching.matches import MatchQuery
from jobmill.people.persons import Owner


@dataclass(frozen=True, slots=True)
class Announcement:
    kind: Literal["high_match", "saved_search"]
    view: str | None = None


@dataclass(frozen=True, slots=True)
class MatchSummary:
    id: int
    profile_id: int
    title: str | None
    company: str | None
    score: int
    is_new: bool
    """Its person has not looked at it yet, and it is still a match."""


async def read_summaries(tx: Tx, owner: Owner, ids: Sequence[int]) -> dict[int, MatchSummary]:
    """Matches of this person by id; those that were deleted are missing."""
    summaries = await fetch_all(
        tx,
        MatchSummary,
        """
        SELECT match.id, profile_id, listing.title, listing.company, match_score AS score,
               match.status = 'new' AND dropped_at IS NULL AND closed_at IS NULL AS is_new
          FROM matching.match JOIN matching.profile ON profile.id = profile_id
          JOIN catalog.listing ON listing.id = listing_id
         WHERE match.id = ANY (%s) AND owner_id IS NOT DISTINCT FROM %s::bigint
        """,
        [list(ids), owner],
    )
    return {summary.id: summary for summary in summaries}


async def find_announcements(
    tx: Tx, summaries: Sequence[MatchSummary]
) -> dict[int, Sequence[Announcement]]:
    """What each match could be announced as, the most specific first: its saved searches, then high
    matches. Duplicates and closed jobs are not announced, as the inbox does not show them."""
    by_profile: dict[int, list[int]] = {}
    for summary in summaries:
        by_profile.setdefault(summary.profile_id, []).append(summary.id)
    announcements: dict[int, list[Announcement]] = {}
    for profile_id, ids in by_profile.items():
        for announcement, query in await _queries(tx, profile_id, len(ids)):
            for match in await matches.find(tx, replace(query, ids=ids)):
                announcements.setdefault(match.id, []).append(announcement)
    return dict(announcements)


async def _queries(tx: Tx, profile_id: int, limit: int) -> list[tuple[Announcement, MatchQuery]]:
    views = await saved_views.find_all(tx, profile_id)
    high = MatchQuery(profile_id, statuses=["new"], priority="High", limit=limit)
    return [
        *(
            (
                Announcement("saved_search", view.name),
                view.filters.to_query(profile_id, limit=limit),
            )
            for view in views
        ),
        (Announcement("high_match"), high),
    ]

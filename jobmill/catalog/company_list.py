"""Companies as a page lists them: those that fit, the best or the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog import companies
from jobmill.catalog.companies import (
    GOOD_ABOUT_LENGTH,
    GOOD_CULTURE_LENGTH,
    MINIMAL_ABOUT_LENGTH,
    MINIMAL_CULTURE_LENGTH,
    Company,
    CompanyId,
    Completeness,
    Tier,
)
from jobmill.db import Tx

Order: TypeAlias = Literal["best", "newest"]


@dataclass(frozen=True, slots=True)
class CompanyFilter:
    """Which companies; every part that is given must hold."""

    q: str | None = None
    """A part of the name."""
    tier: Tier | None = None
    completeness: Completeness | None = None
    needs_approval: bool = False
    """Only those whose board waits for a person, as in `approvals`."""
    order: Order = "best"
    after: int | None = None
    """The last one of the page before."""
    limit: int = 50


async def find(tx: Tx, wanted: CompanyFilter) -> list[Company]:
    """One page: by their points, or by when they came. The next page begins after the last one."""
    ids = await _ids(tx, wanted)
    found = {one.id: one for one in await companies.find(tx, ids=ids, limit=wanted.limit)}
    return [found[id] for id in ids if id in found]


async def _ids(tx: Tx, wanted: CompanyFilter) -> list[CompanyId]:
    # Ids first: what is passed over is not counted.
    best = wanted.order == "best"
    cursor = await tx.execute(
        """
        SELECT id FROM catalog.company
         WHERE (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(name)) > 0)
           AND (%(tier)s::text IS NULL OR tier = %(tier)s)
           -- Compared inside: of a comparison with the whole CASE the planner expects next to none,
           -- and sorts all of them for it.
           AND (%(known)s::text IS NULL OR CASE
                WHEN coalesce(website, '') = '' THEN %(known)s = 'sparse'
                WHEN length(about) > %(good_about)s AND length(culture) > %(good_culture)s
                THEN %(known)s = 'good'
                WHEN length(about) > %(little_about)s OR length(culture) > %(little_culture)s
                THEN %(known)s = 'minimal' ELSE %(known)s = 'sparse' END)
           AND (NOT %(waiting)s
                OR job_board_url IS NOT NULL AND job_board_decision IS NULL
                   AND job_board_confidence IS DISTINCT FROM 'high'
                   AND NOT EXISTS (SELECT FROM catalog.source
                                    WHERE source.company_id = company.id))
           AND (%(after)s::bigint IS NULL OR
        """
        # Two orders rather than a CASE, which no index could serve.
        + (
            """
            (coalesce(priority_score, -1), id)
            < ((SELECT coalesce(priority_score, -1) FROM catalog.company WHERE id = %(after)s),
               %(after)s))
            ORDER BY coalesce(priority_score, -1) DESC, id DESC
            """
            if best
            else "id < %(after)s) ORDER BY id DESC"
        )
        + " LIMIT %(limit)s",
        {
            "q": wanted.q,
            "tier": wanted.tier,
            "known": wanted.completeness,
            "waiting": wanted.needs_approval,
            "after": wanted.after,
            "limit": wanted.limit,
            "good_about": GOOD_ABOUT_LENGTH,
            "good_culture": GOOD_CULTURE_LENGTH,
            "little_about": MINIMAL_ABOUT_LENGTH,
            "little_culture": MINIMAL_CULTURE_LENGTH,
        },
    )
    return [CompanyId(id) for (id,) in await cursor.fetchall()]

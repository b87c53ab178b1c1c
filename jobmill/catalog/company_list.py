"""One page of the list of companies, filtered and sorted."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from jobmill.catalog import companies
from jobmill.catalog.companies import (
    BOARD_NEEDS_APPROVAL,
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
    """Which companies to list; all conditions must hold."""

    q: str | None = None
    """Part of the name."""
    tier: Tier | None = None
    completeness: Completeness | None = None
    needs_approval: bool = False
    """Only companies with a board that `approvals` lists."""
    order: Order = "best"
    after: int | None = None
    """The id of the last company on the previous page."""
    limit: int = 50


async def find(tx: Tx, filter: CompanyFilter) -> list[Company]:
    """One page, by score or newest first."""
    ids = await _ids(tx, filter)
    by_id = {
        company.id: company for company in await companies.find(tx, ids=ids, limit=filter.limit)
    }
    return [by_id[id] for id in ids if id in by_id]


async def _ids(tx: Tx, filter: CompanyFilter) -> list[CompanyId]:
    # Select ids first, so that listings are counted only for companies on this page.
    best = filter.order == "best"
    cursor = await tx.execute(
        f"""
        SELECT id FROM catalog.company
         WHERE (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(name)) > 0)
           AND (%(tier)s::text IS NULL OR tier = %(tier)s)
           -- The comparison is inside the CASE: for a comparison with the whole CASE the planner
           -- expects almost no rows and sorts all of them.
           AND (%(completeness)s::text IS NULL OR CASE
                WHEN coalesce(website, '') = '' THEN %(completeness)s = 'sparse'
                WHEN length(about) > %(good_about)s AND length(culture) > %(good_culture)s
                THEN %(completeness)s = 'good'
                WHEN length(about) > %(little_about)s OR length(culture) > %(little_culture)s
                THEN %(completeness)s = 'minimal' ELSE %(completeness)s = 'sparse' END)
           AND (NOT %(needs_approval)s OR {BOARD_NEEDS_APPROVAL})
           AND (%(after)s::bigint IS NULL OR
        """
        # Two statements instead of a CASE in ORDER BY, which no index could serve.
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
            **asdict(filter),
            "good_about": GOOD_ABOUT_LENGTH,
            "good_culture": GOOD_CULTURE_LENGTH,
            "little_about": MINIMAL_ABOUT_LENGTH,
            "little_culture": MINIMAL_CULTURE_LENGTH,
        },
    )
    return [CompanyId(id) for (id,) in await cursor.fetchall()]

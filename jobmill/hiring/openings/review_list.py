"""Applications in review, in the order in which the opening would accept them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.openings.applicant_lists import ListedApplication
from jobmill.hiring.records import openings

CURSOR = re.compile(r"(-1|[0-9]{1,3})\.([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class InReviewApplication(ListedApplication):
    applied_at: dt.datetime
    score: int | None
    unconfirmed: bool
    """Whether the applicant has yet to confirm the address."""
    cursor: str


@dataclass(frozen=True, slots=True)
class ReviewPage:
    rows: list[InReviewApplication]
    next: str | None
    """The `after` of the next page."""


@dataclass(frozen=True, slots=True)
class UndecidedOpening:
    """An opening with applications that need a decision of the company."""

    id: int
    title: str
    in_review: int


async def list_undecided(tx: Tx, *, limit: int) -> list[UndecidedOpening]:
    """Openings with applications in review, the most applications first; entries of a lottery wait for its draw."""
    return await fetch_all(
        tx,
        UndecidedOpening,
        """
        SELECT id, title, in_review FROM hiring.opening
         WHERE in_review > 0 AND admission = 'review'
         ORDER BY in_review DESC, id
         LIMIT %s
        """,
        [limit],
    )


async def list_in_review(
    tx: Tx, opening_id: int, *, after: str | None = None, limit: int
) -> ReviewPage:
    """Applications in review by the opening's review order; raises OpeningNotFound."""
    opening = await openings.get(tx, opening_id)
    cursor = CURSOR.fullmatch(after) if after else None
    if after and not cursor:
        raise Invalid("after: copy it from the previous page.")
    rows = await fetch_all(
        tx,
        InReviewApplication,
        """
        SELECT application.id AS application_id, applicant.id AS applicant_id,
               name AS applicant_name, email AS applicant_email, status, applied_at, score,
               confirm_by IS NOT NULL AS unconfirmed, rank || '.' || application.id AS cursor
          FROM hiring.application
          JOIN hiring.applicant ON applicant.id = applicant_id
         CROSS JOIN LATERAL (
            SELECT CASE WHEN %(by_score)s THEN coalesce(score, -1) ELSE 0 END AS rank) AS ranked
         WHERE opening_id = %(opening)s AND status = 'IN_REVIEW'
           AND (%(rank)s::int IS NULL OR rank < %(rank)s
                OR (rank = %(rank)s AND application.id > %(id)s))
         ORDER BY rank DESC, application.id
         LIMIT %(limit)s
        """,
        {
            "opening": opening_id,
            "by_score": opening.review_order == "score",
            "rank": int(cursor[1]) if cursor else None,
            "id": int(cursor[2]) if cursor else None,
            "limit": limit + 1,
        },
    )
    return ReviewPage(rows[:limit], rows[limit - 1].cursor if len(rows) > limit else None)

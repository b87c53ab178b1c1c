"""Ratings from 1 to 5: each reviewer rates an application once, overall or by criterion."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.reviews.reviewed_applications import lock_for_review

SCORES = range(1, 6)
MAX_CRITERION_LENGTH = 60


@dataclass(frozen=True, slots=True)
class ReviewerRating:
    reviewer: str
    reviewer_name: str | None
    """None for the local user."""
    criterion: str
    """Empty: overall."""
    score: int
    rated_at: dt.datetime


async def rate(
    tx: Tx, application_id: int, score: int | None, by: Actor, *, criterion: str = ""
) -> None:
    """Set or replace one's own rating; None removes it."""
    criterion = " ".join(criterion.split())
    if len(criterion) > MAX_CRITERION_LENGTH:
        raise Invalid(f"A criterion can have at most {MAX_CRITERION_LENGTH} characters.")
    if score is not None and score not in SCORES:
        raise Invalid(f"A rating is {SCORES[0]} to {SCORES[-1]}.")
    await lock_for_review(tx, application_id)
    if score is None:
        await tx.execute(
            """
            DELETE FROM hiring.rating
             WHERE application_id = %s AND reviewer = %s AND criterion = %s
            """,
            [application_id, by.name, criterion],
        )
        return
    await tx.execute(
        """
        INSERT INTO hiring.rating AS existing (application_id, reviewer, criterion, score)
        VALUES (%s, %s, %s, %s)
        ON CONFLICT (application_id, reviewer, criterion)
        DO UPDATE SET score = excluded.score, rated_at = now() WHERE existing.score <> excluded.score
        """,
        [application_id, by.name, criterion, score],
    )


async def list_ratings(tx: Tx, application_id: int) -> list[ReviewerRating]:
    """All ratings of an application, by reviewer and criterion."""
    return await fetch_all(
        tx,
        ReviewerRating,
        """
        SELECT reviewer, coalesce(person.name, api_key.name) AS reviewer_name, criterion, score,
               rated_at
          FROM hiring.rating
          LEFT JOIN people.person ON reviewer = 'person:' || person.id
          LEFT JOIN people.api_key ON reviewer = 'key:' || api_key.id
         WHERE application_id = %s
         ORDER BY reviewer, criterion
        """,
        [application_id],
    )


async def average_rating(tx: Tx, application_ids: Collection[int]) -> dict[int, float]:
    """The average rating by application id, without unrated applications.

    Every reviewer counts once, however many criteria they rated.
    """
    cursor = await tx.execute(
        """
        SELECT application_id, avg(score)::float
          FROM (SELECT application_id, avg(score) AS score FROM hiring.rating
                 WHERE application_id = ANY (%s)
                 GROUP BY application_id, reviewer) AS by_reviewer
         GROUP BY application_id
        """,
        [list(application_ids)],
    )
    return {id: score async for id, score in cursor}


async def list_criteria(tx: Tx, opening_id: int) -> list[str]:
    """The criteria that were used in an opening, to suggest them."""
    cursor = await tx.execute(
        """
        SELECT DISTINCT criterion
          FROM hiring.rating JOIN hiring.application ON application.id = application_id
         WHERE opening_id = %s AND criterion <> ''
         ORDER BY criterion
         LIMIT 50
        """,
        [opening_id],
    )
    return [criterion for (criterion,) in await cursor.fetchall()]

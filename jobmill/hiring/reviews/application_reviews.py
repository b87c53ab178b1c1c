"""Everything that reviewers wrote about one application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.reviews import notes, ratings, tags
from jobmill.hiring.reviews.notes import ReviewNote
from jobmill.hiring.reviews.ratings import ReviewerRating


@dataclass(frozen=True, slots=True)
class ApplicationReview:
    application_id: int
    average: float | None
    """The average rating; None without ratings."""
    ratings: Sequence[ReviewerRating]
    tags: Sequence[str]
    notes: Sequence[ReviewNote]

    @property
    def reviewer_count(self) -> int:
        return len({rating.reviewer for rating in self.ratings})


async def read_review(tx: Tx, application_id: int) -> ApplicationReview:
    averages = await ratings.average_rating(tx, [application_id])
    tags_by_id = await tags.list_tags(tx, [application_id])
    return ApplicationReview(
        application_id,
        averages.get(application_id),
        await ratings.list_ratings(tx, application_id),
        tags_by_id.get(application_id, []),
        await notes.list_notes(tx, application_id),
    )

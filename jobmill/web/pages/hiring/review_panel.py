"""What the page of an applicant shows of the review: ratings, tags, notes, and what can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.reviews import application_reviews, mentions, ratings, tags
from jobmill.hiring.reviews.application_reviews import ApplicationReview
from jobmill.hiring.reviews.mentions import Member
from jobmill.hiring.reviews.notes import ReviewNote
from jobmill.hiring.reviews.ratings import ReviewerRating
from jobmill.web.auth import Visitor


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """The text in the form for a note: a new one, or an edited one."""

    body: str | None = None
    """None: the text of the note that is edited."""
    note_id: int | None = None


NO_DRAFT = NoteDraft()


@dataclass(frozen=True, slots=True)
class ReviewPanel:
    review: ApplicationReview
    reviewer: str
    """The visitor, as notes and ratings name them."""
    person_id: int | None
    members: Sequence[Member]
    criteria: Sequence[str]
    suggested_tags: Sequence[str]

    @property
    def own_ratings(self) -> list[ReviewerRating]:
        return [rating for rating in self.review.ratings if rating.reviewer == self.reviewer]

    @property
    def own_score(self) -> int | None:
        """The visitor's overall rating."""
        return next((rating.score for rating in self.own_ratings if not rating.criterion), None)

    def find_own_note(self, id: int | None) -> ReviewNote | None:
        """The note to edit, if the visitor wrote it."""
        for note in self.review.notes:
            if note.id == id and note.author == self.reviewer:
                return note
        return None


async def read_panel(tx: Tx, opening_id: int, application_id: int, visitor: Visitor) -> ReviewPanel:
    return ReviewPanel(
        await application_reviews.read_review(tx, application_id),
        visitor.actor.name,
        visitor.person_id,
        await mentions.list_members(tx),
        await ratings.list_criteria(tx, opening_id),
        await tags.suggest_tags(tx),
    )

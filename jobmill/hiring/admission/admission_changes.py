"""Changing how an opening admits applications while it has some."""

from __future__ import annotations

from typing import Literal

from jobmill.errors import Conflict
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications
from jobmill.hiring.records.openings import OpeningTerms

InReviewDecision = Literal["accept", "reject"]
"""What happens to applications in review when the opening becomes first come, first served."""


async def apply_admission(
    locked: LockedOpening,
    before: OpeningTerms,
    after: OpeningTerms,
    in_review: InReviewDecision | None,
) -> None:
    """Follow a change of the terms under the opening's lock.

    From lottery to review, applications in review stay and are decided. A lottery starts without entries: the
    company could otherwise choose the moment, and with it the seed, after it has seen them.
    """
    if after.admission == before.admission:
        return
    if after.admission == "lottery":
        if locked.in_review:
            raise Conflict(
                f"{locked.in_review:,} applications are in review. "
                "Accept or reject them first: a lottery starts without entries."
            )
        await lottery.open_lottery(locked)
    elif after.admission == "first_come" and locked.in_review:
        await _decide_rest(locked, after, in_review)


async def _decide_rest(
    locked: LockedOpening, after: OpeningTerms, in_review: InReviewDecision | None
) -> None:
    if in_review is None:
        raise Conflict(
            f"{locked.in_review:,} applications are in review. "
            "Choose whether to accept or to reject them with this change."
        )
    undecided = await applications.find_in_review(await locked.flush(), locked.opening.id)
    if in_review == "accept":
        ordered = decisions.sort_by_review_order(undecided, after.review_order)
        await decisions.accept_all(locked, ordered, why=decisions.ACCEPTED_BY_COMPANY)
        return
    for application in undecided:
        decisions.reject_application(locked, application, None, tell_reason=False)

"""The application that a review is about, locked against erasure."""

from __future__ import annotations

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.hiring.records.applications import ApplicationNotFound


async def lock_for_review(tx: Tx, application_id: int) -> None:
    """Keep the applicant from being erased until `tx` ends; raises Conflict if they were erased.

    Erasure takes the same lock on this row and then deletes the review, so that nothing is written
    about an applicant after they were erased. Reviewers of one applicant write one after the other, so
    that both together keep the limit of tags.
    """
    cursor = await tx.execute(
        """
        SELECT erased_at IS NOT NULL
          FROM hiring.application
          JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.id = %s
           FOR NO KEY UPDATE OF applicant
        """,
        [application_id],
    )
    row = await cursor.fetchone()
    if row is None:
        raise ApplicationNotFound(application_id)
    if row[0]:
        raise Conflict("The data of this applicant was erased. Nothing can be added.")

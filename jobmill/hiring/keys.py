"""Which personal links still open."""

from __future__ import annotations

from jobmill.db import Tx, value


async def link_version(tx: Tx, applicant_id: int) -> int | None:
    """The version that a personal link must have; None for who is unknown or erased."""
    return await value(
        tx,
        int,
        "SELECT link_version FROM hiring.applicant WHERE id = %s AND erased_at IS NULL",
        [applicant_id],
    )

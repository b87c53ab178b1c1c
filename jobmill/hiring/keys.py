"""Which personal links still open."""

from __future__ import annotations

from jobmill.db import Tx, value
from jobmill.hiring.applicants import NoApplicant
from jobmill.hiring.links import Signer


async def path(tx: Tx, signer: Signer, applicant_id: int, *, renew: bool = False) -> str:
    """Where somebody's own page is; `renew` makes all links to it void that were given before."""
    version = await (_renew if renew else link_version)(tx, applicant_id)
    if version is None:
        raise NoApplicant(applicant_id)
    return f"/my/{signer.personal(applicant_id, version)}"


async def link_version(tx: Tx, applicant_id: int) -> int | None:
    """The version that a personal link must have; None for who is unknown or erased."""
    return await value(
        tx,
        int,
        "SELECT link_version FROM hiring.applicant WHERE id = %s AND erased_at IS NULL",
        [applicant_id],
    )


async def _renew(tx: Tx, applicant_id: int) -> int | None:
    return await value(
        tx,
        int,
        """
        UPDATE hiring.applicant SET link_version = link_version + 1
         WHERE id = %s AND erased_at IS NULL
        RETURNING link_version
        """,
        [applicant_id],
    )

"""Which personal links still open."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.db.clock import server_time
from jobmill.hiring.messages.signed_links import InvalidLink, LinkSigner, PersonalLinkToken
from jobmill.hiring.records.applicants import ApplicantNotFound

LIFETIME = dt.timedelta(days=365)


@dataclass(frozen=True, slots=True)
class _Validity:
    expired: bool
    current: bool


async def make_path(tx: Tx, signer: LinkSigner, applicant_id: int, *, renew: bool = False) -> str:
    """Where somebody's own page is; `renew` makes all links to it void that were given before."""
    version = await (_renew if renew else find_link_version)(tx, applicant_id)
    if version is None:
        raise ApplicantNotFound(applicant_id)
    return f"/my/{signer.personal(applicant_id, version, await server_time(tx))}"


async def is_current(tx: Tx, link: PersonalLinkToken) -> bool:
    """Whether its applicant has this link and no newer one; BadLink where it is over a year old."""
    validity = await fetch_one(
        tx,
        _Validity,
        """
        SELECT %(signed_at)s < now() - %(lasts)s AS expired,
               EXISTS (SELECT FROM hiring.applicant
                        WHERE id = %(id)s AND link_version = %(version)s
                          AND erased_at IS NULL) AS current
        """,
        {
            "id": link.applicant_id,
            "version": link.version,
            "signed_at": link.signed_at,
            "lasts": LIFETIME,
        },
    )
    assert validity is not None
    if validity.expired:
        raise InvalidLink("This link is too old. Ask for a new one.")
    return validity.current


async def find_link_version(tx: Tx, applicant_id: int) -> int | None:
    """The version that a personal link must have; None for who is unknown or erased."""
    return await fetch_value(
        tx,
        int,
        "SELECT link_version FROM hiring.applicant WHERE id = %s AND erased_at IS NULL",
        [applicant_id],
    )


async def _renew(tx: Tx, applicant_id: int) -> int | None:
    return await fetch_value(
        tx,
        int,
        """
        UPDATE hiring.applicant SET link_version = link_version + 1
         WHERE id = %s AND erased_at IS NULL
        RETURNING link_version
        """,
        [applicant_id],
    )

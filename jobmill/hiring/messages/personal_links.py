"""Personal links: making, checking, renewing and resending them."""

from __future__ import annotations

import datetime as dt

from psycopg.types.json import Jsonb

from jobmill.db import Tx, fetch_value
from jobmill.db.clock import server_time
from jobmill.hiring.messages.signed_links import InvalidLink, LinkSigner, PersonalLinkToken
from jobmill.hiring.records.applicants import ApplicantNotFound, lock_existing

LIFETIME = dt.timedelta(days=365)
REQUESTED_LINK = "link"
"""Marks the letters that applicants requested."""


async def issue_path(
    tx: Tx, signer: LinkSigner, applicant_id: int, issuer: str, *, renew: bool = False
) -> str:
    """The path of an applicant's page, for a member of the company.

    The link carries its issuer, so that the audit log shows both. `renew` invalidates earlier links.
    """
    if renew:
        await tx.execute(
            """
            UPDATE hiring.applicant SET link_version = link_version + 1
             WHERE id = %s AND erased_at IS NULL
            """,
            [applicant_id],
        )
    path = await make_path(tx, signer, applicant_id, issuer)
    await tx.execute(
        "INSERT INTO hiring.issued_link (applicant_id, issuer) VALUES (%s, %s)",
        [applicant_id, issuer],
    )
    return path


async def make_path(
    tx: Tx, signer: LinkSigner, applicant_id: int, issuer: str | None = None
) -> str:
    """The path of an applicant's page, for the applicant; raises ApplicantNotFound."""
    version = await find_link_version(tx, applicant_id)
    if version is None:
        raise ApplicantNotFound(applicant_id)
    return f"/my/{signer.sign_personal(applicant_id, version, await server_time(tx), issuer)}"


async def is_current(tx: Tx, link: PersonalLinkToken) -> bool:
    """Whether the link was not renewed or its applicant erased; raises InvalidLink if it is over a year old."""
    cursor = await tx.execute(
        """
        SELECT %(signed_at)s < now() - %(lasts)s,
               EXISTS (SELECT FROM hiring.applicant
                        WHERE id = %(id)s AND link_version = %(version)s
                          AND erased_at IS NULL)
        """,
        {
            "id": link.applicant_id,
            "version": link.version,
            "signed_at": link.signed_at,
            "lasts": LIFETIME,
        },
    )
    [(expired, current)] = await cursor.fetchall()
    if expired:
        raise InvalidLink("This link has expired. Ask for a new one.")
    return current


async def find_link_version(tx: Tx, applicant_id: int) -> int | None:
    """The current version of the applicant's links; None if the applicant does not exist or was erased."""
    return await fetch_value(
        tx,
        int,
        "SELECT link_version FROM hiring.applicant WHERE id = %s AND erased_at IS NULL",
        [applicant_id],
    )


async def send_link(
    tx: Tx, email_key: str, text: str, *, application_id: int | None = None
) -> bool:
    """Send a letter with this text and the personal link to the applicant with this address.

    It is about the latest application, or about the given one. At most one an hour; returns False if none is sent, also if the address has not applied.
    """
    # Two requests at once send one letter.
    await lock_existing(tx, [], [email_key])
    cursor = await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, data)
        SELECT 'message', opening_id, id, %(data)s
          FROM (SELECT application.id, opening_id
                  FROM hiring.applicant JOIN hiring.application ON applicant_id = applicant.id
                 WHERE email_key = %(key)s AND application.parent_id IS NULL
                   AND (%(application)s::bigint IS NULL OR application.id = %(application)s)
                 ORDER BY application.id DESC
                 LIMIT 1) AS latest
         WHERE NOT EXISTS (
            SELECT FROM hiring.notice
              JOIN hiring.application ON application.id = notice.application_id
              JOIN hiring.applicant ON applicant.id = applicant_id
             WHERE email_key = %(key)s AND notice.data->>'asked' = %(asked)s
               AND notice.created_at > now() - interval '1 hour')
        """,
        {
            "key": email_key,
            "application": application_id,
            "asked": REQUESTED_LINK,
            "data": Jsonb({"text": text, "asked": REQUESTED_LINK}),
        },
    )
    return cursor.rowcount > 0

"""Recalling: who lost their personal link is sent it again, to the address that we know."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from jobmill.db import Tx

ASKED = "link"
"""What a letter that was asked for has in its data."""


async def send_link(tx: Tx, email_key: str, text: str) -> bool:
    """Have a letter with these words and their link sent to who has this address and has applied.

    One an hour, so that nobody can be pestered; False where none is sent.
    """
    sent = await tx.execute(
        """
        INSERT INTO hiring.notice (kind, opening_id, application_id, data)
        SELECT 'message', opening_id, id, %(data)s
          FROM (SELECT application.id, opening_id
                  FROM hiring.applicant JOIN hiring.application ON applicant_id = applicant.id
                 WHERE email_key = %(key)s
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
            "asked": ASKED,
            "data": Jsonb({"text": text, "asked": ASKED}),
        },
    )
    return sent.rowcount > 0

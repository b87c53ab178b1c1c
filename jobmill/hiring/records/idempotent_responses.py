"""Stored responses to requests with an Idempotency-Key."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one
from jobmill.errors import Conflict

RETENTION = dt.timedelta(days=2)


class IdempotencyKeyReused(Conflict):
    """The key belongs to a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    fingerprint: bytes
    status: int
    body: str


async def claim_key(tx: Tx, key: bytes, fingerprint: bytes) -> StoredResponse | None:
    """Claim a key for this transaction; other requests with the key wait until it ends.

    Returns the stored response if the key was used before, None if the caller must answer the request.
    Raises IdempotencyKeyReused if the key belongs to a request with another fingerprint.
    """
    cursor = await tx.execute(
        "INSERT INTO hiring.idempotent_response (key, fingerprint) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        [key, fingerprint],
    )
    if cursor.rowcount:
        return None
    response = await fetch_one(
        tx,
        StoredResponse,
        "SELECT fingerprint, status, body FROM hiring.idempotent_response WHERE key = %s",
        [key],
    )
    if response is None:
        raise Conflict("The stored response for this Idempotency-Key has just expired. Try again.")
    if response.fingerprint != fingerprint:
        raise IdempotencyKeyReused("This Idempotency-Key was already used for a different request.")
    return response


async def store_response(tx: Tx, key: bytes, status: int, body: str) -> None:
    await tx.execute(
        "UPDATE hiring.idempotent_response SET status = %s, body = %s WHERE key = %s",
        [status, body, key],
    )


async def delete_expired(tx: Tx) -> int:
    """Delete one batch of expired idempotency keys."""
    cursor = await tx.execute(
        """
        DELETE FROM hiring.idempotent_response
         WHERE key IN (SELECT key FROM hiring.idempotent_response WHERE created_at < now() - %s
                        ORDER BY created_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
        """,
        [RETENTION],
    )
    return cursor.rowcount

"""What requests with an Idempotency-Key were answered."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one
from jobmill.errors import Conflict

RETENTION = dt.timedelta(days=2)


class IdempotencyKeyReused(Conflict):
    """The key came before, with something else."""

    code = "IDEMPOTENCY_KEY_REUSED"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    fingerprint: bytes
    status: int
    body: str


async def claim_key(tx: Tx, key: bytes, fingerprint: bytes) -> StoredResponse | None:
    """None: the request is ours to answer, and others with its key wait for us to commit.

    Otherwise what was answered; KeyReused if that was to another request.
    """
    cursor = await tx.execute(
        "INSERT INTO hiring.idempotent_response (key, fingerprint) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        [key, fingerprint],
    )
    if cursor.rowcount:
        return None
    answer = await _find(tx, key)
    if answer is None:
        raise Conflict("The answer to this Idempotency-Key has just been forgotten. Try again.")
    if answer.fingerprint != fingerprint:
        raise IdempotencyKeyReused("This Idempotency-Key came before, with another request.")
    return answer


async def _find(tx: Tx, key: bytes) -> StoredResponse | None:
    return await fetch_one(
        tx,
        StoredResponse,
        "SELECT fingerprint, status, body FROM hiring.idempotent_response WHERE key = %s",
        [key],
    )


async def store_response(tx: Tx, key: bytes, status: int, body: str) -> None:
    await tx.execute(
        "UPDATE hiring.idempotent_response SET status = %s, body = %s WHERE key = %s",
        [status, body, key],
    )


async def delete_expired(tx: Tx) -> int:
    """Forget a bite of those that nobody will ask for again."""
    cursor = await tx.execute(
        """
        DELETE FROM hiring.idempotent_response
         WHERE key IN (SELECT key FROM hiring.idempotent_response WHERE created_at < now() - %s
                        ORDER BY created_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
        """,
        [RETENTION],
    )
    return cursor.rowcount

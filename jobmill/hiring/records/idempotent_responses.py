"""Stored responses to requests with an Idempotency-Key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jobmill.db import Tx, fetch_all
from jobmill.errors import Conflict

RETENTION = dt.timedelta(days=2)


class IdempotencyKeyReused(Conflict):
    """The key belongs to a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"


class KeyedRequest(NamedTuple):
    key: bytes
    """Digest of the client, the route and the client's key."""
    fingerprint: bytes
    """Digest of the query and the body."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    key: bytes
    fingerprint: bytes
    status: int
    body: str


class NewResponse(NamedTuple):
    status: int
    body: str


async def claim_keys(
    tx: Tx, requests: Sequence[KeyedRequest]
) -> dict[bytes, StoredResponse | Conflict]:
    """Claim keys for this transaction; other requests with one of them wait until it ends.

    Returns the keys that were used before: with the stored response, or with the reason to refuse the
    request. The caller answers the requests of all other keys. The keys must be distinct; every
    transaction claims them in the same order, and before it locks anything else but its credential.
    """
    by_key = dict(sorted(requests))
    cursor = await tx.execute(
        """
        INSERT INTO hiring.idempotent_response (key, fingerprint)
        SELECT * FROM unnest(%s::bytea[], %s::bytea[])
        ON CONFLICT DO NOTHING
        RETURNING key
        """,
        [list(by_key), list(by_key.values())],
    )
    claimed = {key async for (key,) in cursor}
    used = [key for key in by_key if key not in claimed]
    stored = await _find_responses(tx, used) if used else {}
    return {key: _check_response(stored.get(key), by_key[key]) for key in used}


async def _find_responses(tx: Tx, keys: Sequence[bytes]) -> dict[bytes, StoredResponse]:
    responses = await fetch_all(
        tx,
        StoredResponse,
        "SELECT key, fingerprint, status, body FROM hiring.idempotent_response WHERE key = ANY (%s)",
        [list(keys)],
    )
    return {response.key: response for response in responses}


def _check_response(
    response: StoredResponse | None, fingerprint: bytes
) -> StoredResponse | Conflict:
    if response is None:
        return Conflict("The stored response for this Idempotency-Key has just expired. Try again.")
    if response.fingerprint != fingerprint:
        return IdempotencyKeyReused(
            "This Idempotency-Key was already used for a different request."
        )
    return response


async def claim_key(tx: Tx, request: KeyedRequest) -> StoredResponse | None:
    """Like `claim_keys` for one request: None if the caller must answer it, raises the refusal."""
    used = (await claim_keys(tx, [request])).get(request.key)
    if isinstance(used, Conflict):
        raise used
    return used


async def store_responses(tx: Tx, responses: Mapping[bytes, NewResponse]) -> None:
    """Store the responses of claimed keys."""
    await tx.execute(
        """
        UPDATE hiring.idempotent_response AS claimed SET status = response.status, body = response.body
          FROM unnest(%s::bytea[], %s::int[], %s::text[]) AS response (key, status, body)
         WHERE claimed.key = response.key
        """,
        [
            list(responses),
            [response.status for response in responses.values()],
            [response.body for response in responses.values()],
        ],
    )


async def release_keys(tx: Tx, keys: Collection[bytes]) -> None:
    """Release the keys of refused requests, so that a repeated request is handled again."""
    await tx.execute("DELETE FROM hiring.idempotent_response WHERE key = ANY (%s)", [list(keys)])


async def store_unanswered(tx: Tx, applications: Mapping[bytes, int]) -> None:
    """Store applications that were answered with an error, by the digest of the request."""
    await tx.execute(
        """
        INSERT INTO hiring.idempotent_response (key, fingerprint, body)
        SELECT key, '', id FROM unnest(%s::bytea[], %s::text[]) AS unanswered (key, id)
        ON CONFLICT (key) DO UPDATE SET body = excluded.body, created_at = excluded.created_at
        """,
        [list(applications), [str(id) for id in applications.values()]],
    )


async def find_unanswered(tx: Tx, keys: Sequence[bytes], within: dt.timedelta) -> dict[bytes, int]:
    """The applications that `store_unanswered` stored for these digests a short time ago."""
    cursor = await tx.execute(
        """
        SELECT key, body::bigint FROM hiring.idempotent_response
         WHERE key = ANY (%s) AND fingerprint = '' AND created_at > now() - %s
        """,
        [list(keys), within],
    )
    return {bytes(key): id for key, id in await cursor.fetchall()}


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

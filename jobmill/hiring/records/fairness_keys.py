"""The fairness_key table: the secret key of each opening that publishes a fairness proof."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from jobmill.db import Tx, fetch_value
from jobmill.errors import NotFound


class NoFairnessProof(NotFound):
    def __init__(self) -> None:
        Exception.__init__(self, "This opening does not publish a fairness proof.")


async def ensure(tx: Tx, opening_id: int) -> None:
    """Create the key once; it stays when the proof is switched off, so that saved heads stay valid."""
    await tx.execute(
        "INSERT INTO hiring.fairness_key (opening_id, key) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        [opening_id, secrets.token_bytes(32)],
    )


async def get_published(tx: Tx, opening_id: int) -> bytes:
    """The key, if the proof is switched on; raises NoFairnessProof."""
    key = await fetch_value(
        tx,
        bytes,
        """
        SELECT key FROM hiring.fairness_key JOIN hiring.opening ON opening.id = opening_id
         WHERE opening_id = %s AND fairness_proof
        """,
        [opening_id],
    )
    if key is None:
        raise NoFairnessProof
    return key


async def find_published(tx: Tx, opening_ids: Collection[int]) -> dict[int, bytes]:
    """The keys of the openings with a published proof."""
    cursor = await tx.execute(
        """
        SELECT opening_id, key
          FROM hiring.fairness_key JOIN hiring.opening ON opening.id = opening_id
         WHERE opening_id = ANY (%s) AND fairness_proof
        """,
        [list(opening_ids)],
    )
    return dict(await cursor.fetchall())

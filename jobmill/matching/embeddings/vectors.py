"""What listings mean, as numbers: computed once for a text, and kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.db import Database, Tx, fetch_all
from jobmill.matching.profile import Profile

from .. import embeddings
from . import MODEL, Vector, neutral_text

SIZE = 384
MAX_CACHED_PROFILES = 64
"""So many profiles are remembered by a process."""

_profiles: dict[str, Vector] = {}
_under_way: dict[tuple[int, UUID], asyncio.Task[Vector]] = {}


async def similarity_to_profile(db: Database, listing: Listing, profile: Profile) -> float | None:
    """How near a listing is to a profile, from 0 to 1; None where the profile says nothing."""
    wanted = neutral_text.profile_text(profile)
    if not wanted:
        return None
    offered = await _listing_vector(db, listing)
    return embeddings.scaled_similarity(
        embeddings.similarity(offered, await _profile_vector(wanted))
    )


async def _listing_vector(db: Database, listing: Listing) -> Vector:
    text = neutral_text.posting_text(listings.to_posting(listing))
    text_hash = hash_text(text)
    async with db.transaction() as tx:
        kept = await read_vectors(tx, MODEL, {listing.id: text_hash})
    if listing.id in kept:
        return kept[listing.id]
    return await _compute_once(db, listing.id, text_hash, text)


async def _compute_once(db: Database, id: int, text_hash: UUID, text: str) -> Vector:
    """The vector, computed once for all who want it now: several profiles come to a listing together."""
    key = id, text_hash
    if key not in _under_way:
        _under_way[key] = asyncio.create_task(_compute(db, id, text_hash, text))
        _under_way[key].add_done_callback(lambda _: _under_way.pop(key))
    # One who is cancelled does not take it from the others.
    return await asyncio.shield(_under_way[key])


async def _compute(db: Database, id: int, text_hash: UUID, text: str) -> Vector:
    [vector] = await embeddings.embed([text])
    async with db.transaction() as tx:
        await save(tx, id, MODEL, text_hash, vector)
    return vector


async def _profile_vector(text: str) -> Vector:
    if text not in _profiles:
        [vector] = await embeddings.embed([text])
        if len(_profiles) >= MAX_CACHED_PROFILES:
            _profiles.clear()
        _profiles[text] = vector
        return vector
    return _profiles[text]


def hash_text(text: str) -> UUID:
    """What tells one text from another."""
    return UUID(hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())


@dataclass(frozen=True, slots=True)
class _StoredVector:
    listing_id: int
    text_hash: UUID
    vector: bytes


async def read_vectors(tx: Tx, model: str, hashes: Mapping[int, UUID]) -> dict[int, Vector]:
    """The vectors of these listings, as far as they are of this model and of these texts."""
    found = await fetch_all(
        tx,
        _StoredVector,
        """
        SELECT listing_id, text_hash, vector FROM matching.vector
         WHERE listing_id = ANY(%s) AND model = %s
        """,
        [list(hashes), model],
    )
    return {
        one.listing_id: _read(one.vector)
        for one in found
        if one.text_hash == hashes[one.listing_id] and len(one.vector) == 4 * SIZE
    }


async def save(tx: Tx, listing_id: int, model: str, text_hash: UUID, vector: Vector) -> None:
    """Keep the vector of a listing in place of any other; nothing if the listing is gone."""
    await tx.execute(
        """
        INSERT INTO matching.vector (listing_id, model, text_hash, vector)
        -- The lock lets one who removes the listing at this moment finish first.
        SELECT id, %(model)s, %(text_hash)s, %(vector)s
          FROM catalog.listing WHERE id = %(id)s FOR KEY SHARE
        ON CONFLICT (listing_id) DO UPDATE
           SET model = excluded.model, text_hash = excluded.text_hash, vector = excluded.vector
        """,
        {
            "id": listing_id,
            "model": model,
            "text_hash": text_hash,
            "vector": vector.astype("<f4").tobytes(),
        },
    )


def _read(stored: bytes) -> Vector:
    import numpy as np  # Where nothing is compared it is not loaded.

    return np.frombuffer(stored, "<f4")

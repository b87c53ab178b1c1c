"""Embeddings of listings, computed once per text and stored."""

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
from ..bounded_reading import run_bounded
from . import MODEL, Vector, neutral_text

SIZE = 384
MAX_CACHED_PROFILES = 64
"""Maximum profiles in each process's cache."""

_profiles: dict[str, Vector] = {}
_running: dict[tuple[int, UUID], asyncio.Task[Vector]] = {}


async def similarity_to_profile(db: Database, listing: Listing, profile: Profile) -> float | None:
    """The similarity of a listing to a profile, from 0 to 1; None if the profile has no text."""
    text = neutral_text.profile_text(profile)
    if not text:
        return None
    listing_vector = await _listing_vector(db, listing)
    return embeddings.scaled_similarity(
        embeddings.similarity(listing_vector, await _profile_vector(text))
    )


async def _listing_vector(db: Database, listing: Listing) -> Vector:
    posting = listings.to_posting(listing)
    text = await run_bounded(posting, neutral_text.posting_text, posting)
    text_hash = hash_text(text)
    async with db.transaction() as tx:
        stored = await read_vectors(tx, MODEL, {listing.id: text_hash})
    if listing.id in stored:
        return stored[listing.id]
    return await _compute_once(db, listing.id, text_hash, text)


async def _compute_once(db: Database, id: int, text_hash: UUID, text: str) -> Vector:
    """Compute the vector once for all concurrent callers: several profiles often judge a listing at
    the same time."""
    key = id, text_hash
    if key not in _running:
        _running[key] = asyncio.create_task(_compute(db, id, text_hash, text))
        _running[key].add_done_callback(lambda _: _running.pop(key))
    # A cancelled caller must not cancel the computation for the others.
    return await asyncio.shield(_running[key])


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
    """The hash that identifies a text."""
    return UUID(hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())


@dataclass(frozen=True, slots=True)
class _StoredVector:
    listing_id: int
    text_hash: UUID
    vector: bytes


async def read_vectors(tx: Tx, model: str, hashes: Mapping[int, UUID]) -> dict[int, Vector]:
    """Read the stored vectors of these listings for this model and these texts."""
    rows = await fetch_all(
        tx,
        _StoredVector,
        """
        SELECT listing_id, text_hash, vector FROM matching.vector
         WHERE listing_id = ANY(%s) AND model = %s
        """,
        [list(hashes), model],
    )
    return {
        row.listing_id: _decode(row.vector)
        for row in rows
        if row.text_hash == hashes[row.listing_id] and len(row.vector) == 4 * SIZE
    }


async def save(tx: Tx, listing_id: int, model: str, text_hash: UUID, vector: Vector) -> None:
    """Store the vector of a listing, replacing any other. Does nothing if the listing was deleted."""
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


def _decode(stored: bytes) -> Vector:
    import numpy as np  # Import on first use, because most processes never compare texts.

    return np.frombuffer(stored, "<f4")

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from jobmill.catalog import listings
from jobmill.db import Database, Tx
from jobmill.matching.embeddings import MODEL, Vector, neutral_text, vectors
from jobmill.matching.profile import Profile
from tests.catalog.helpers import make_source, overlap, posting, run

ONE, OTHER = UUID(int=1), UUID(int=2)
WELDER = Profile(titles=("Welder",), summary="Welds steel pipes.")


def vector(seed: int = 1) -> Vector:
    numbers = np.random.default_rng(seed).standard_normal(vectors.SIZE).astype(np.float32)
    return numbers / np.linalg.norm(numbers)


async def make_listing(
    tx: Tx, title: str = "Welder", description: str = "Weld steel pipes."
) -> int:
    source = await make_source(tx)
    saved = await run(tx, source, 0, [posting(source, title, description=description)])
    assert saved
    cursor = await tx.execute("SELECT max(id) FROM catalog.listing")
    row = await cursor.fetchone()
    assert row
    return row[0]


async def test_a_vector_comes_back_as_it_was(tx: Tx) -> None:
    id = await make_listing(tx)
    await vectors.save(tx, id, MODEL, ONE, vector())
    assert np.array_equal((await vectors.read_vectors(tx, MODEL, {id: ONE}))[id], vector())


async def test_a_vector_of_another_text_or_model_is_not_used(tx: Tx) -> None:
    id = await make_listing(tx)
    await vectors.save(tx, id, MODEL, ONE, vector())
    assert await vectors.read_vectors(tx, MODEL, {id: OTHER}) == {}
    assert await vectors.read_vectors(tx, "another", {id: ONE}) == {}
    assert await vectors.read_vectors(tx, MODEL, {}) == {}


async def test_the_newest_vector_replaces_the_one_before(tx: Tx) -> None:
    id = await make_listing(tx)
    await vectors.save(tx, id, "another", ONE, vector(1))
    await vectors.save(tx, id, MODEL, OTHER, vector(2))
    await vectors.save(tx, id, MODEL, OTHER, vector(2))
    assert np.array_equal((await vectors.read_vectors(tx, MODEL, {id: OTHER}))[id], vector(2))


@pytest.mark.parametrize("stored", [b"", b"\x00" * 7, b"\x00" * 4 * (vectors.SIZE + 1)])
async def test_a_vector_of_another_length_is_not_used(tx: Tx, stored: bytes) -> None:
    id = await make_listing(tx)
    await tx.execute(
        "INSERT INTO matching.vector VALUES (%s, %s, %s, %s)", [id, MODEL, ONE, stored]
    )
    assert await vectors.read_vectors(tx, MODEL, {id: ONE}) == {}


async def test_a_deleted_listing_keeps_no_vector(tx: Tx) -> None:
    await vectors.save(tx, 404, MODEL, ONE, vector())
    assert await vectors.read_vectors(tx, MODEL, {404: ONE}) == {}


async def test_a_listing_deleted_concurrently_keeps_no_vector(database: Database) -> None:
    async with database.transaction() as tx:
        id = await make_listing(tx)

    async def remove(tx: Tx) -> None:
        await tx.execute("DELETE FROM catalog.listing WHERE id = %s", [id])

    async def keep(tx: Tx) -> None:
        await vectors.save(tx, id, MODEL, ONE, vector())

    assert await overlap(database, remove, keep) == [None, None]


async def likeness(database: Database, id: int, profile: Profile = WELDER) -> float | None:
    async with database.transaction() as tx:
        listing = await listings.get(tx, id)
    return await vectors.similarity_to_profile(database, listing, profile)


async def test_a_listing_is_more_like_a_profile_that_wants_it(database: Database) -> None:
    async with database.transaction() as tx:
        welder = await make_listing(tx)
        nurse = await make_listing(tx, "Nurse", "Look after ill children.")
    near, far = await asyncio.gather(likeness(database, welder), likeness(database, nurse))
    assert near is not None
    assert far is not None
    assert near > far + 0.3
    assert await likeness(database, welder) == near
    assert await likeness(database, welder, Profile()) is None


async def test_a_vector_is_computed_once_for_a_text(database: Database) -> None:
    async with database.transaction() as tx:
        id = await make_listing(tx)
        listing = await listings.get(tx, id)
    first = await vectors.similarity_to_profile(database, listing, WELDER)
    text = neutral_text.posting_text(listings.to_posting(listing))
    [profile_vector] = await vectors.embeddings.embed([neutral_text.profile_text(WELDER)])
    async with database.transaction() as tx:
        assert id in await vectors.read_vectors(tx, MODEL, {id: vectors.hash_text(text)})
        # The stored vector is now the opposite, so a second call shows that it is used.
        await vectors.save(tx, id, MODEL, vectors.hash_text(text), -profile_vector)
    assert await vectors.similarity_to_profile(database, listing, WELDER) == 0 != first
    changed = replace(listing, title="Pipe welder")
    assert await vectors.similarity_to_profile(database, changed, WELDER) != 0


async def test_a_vector_is_computed_once_for_concurrent_callers(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        id = await make_listing(tx)
    plumber = Profile(titles=("Plumber",))
    await asyncio.gather(*(likeness(database, id, seeker) for seeker in (WELDER, plumber) * 3))
    async with database.transaction() as tx:
        # PostgreSQL sets xmax on a row that replaced another.
        cursor = await tx.execute("SELECT xmax = 0 FROM matching.vector")
        assert await cursor.fetchall() == [(True,)]

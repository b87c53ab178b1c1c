"""Stored profiles: names, immutable versions and the default."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching import profiles
from jobmill.matching.profile import Profile, Skill
from jobmill.matching.profiles import SavedProfile


def cook(number: float = 0) -> Profile:
    return Profile(titles=("Cook",), experience_years=number)


async def test_only_changed_content_creates_a_new_version(tx: Tx) -> None:
    first = await profiles.save(tx, "dana", cook(1), by="dana")
    id = first.profile_id
    assert first == SavedProfile(id, "dana", 1, True)
    assert await profiles.save(tx, "dana", cook(1), by="eve") == SavedProfile(id, "dana", 1, False)
    assert await profiles.save(tx, "dana", cook(2), by="eve", note="older") == SavedProfile(
        id, "dana", 2, True
    )
    # Restoring earlier content is a change, too.
    assert await profiles.save(tx, "dana", cook(1)) == SavedProfile(id, "dana", 3, True)
    versions = [
        (version.version, version.saved_by, version.note)
        for version in await profiles.read_versions(tx, "dana")
    ]
    assert versions == [(3, None, None), (2, "eve", "older"), (1, "dana", None)]
    assert (await profiles.get(tx, "dana", version=2)).profile() == cook(2)
    assert (await profiles.get(tx, "dana")).version == 3


async def test_a_version_holds_the_rules_it_was_saved_with(tx: Tx) -> None:
    await profiles.save(tx, "dana", cook())
    assert (await profiles.get(tx)).content["rules"]["strikes"]["threshold"] == 5


async def test_a_version_never_changes(tx: Tx) -> None:
    await profiles.save(tx, "dana", cook())
    with pytest.raises(psycopg.errors.RaiseException, match="does not change"):
        await tx.execute("UPDATE matching.profile_version SET content = '{}'")


async def test_the_first_profile_is_the_default_until_another_is_chosen(tx: Tx) -> None:
    with pytest.raises(NotFound):
        await profiles.get(tx)
    await profiles.save(tx, "dana", cook(1))
    await profiles.save(tx, "eve", cook(2))
    assert (await profiles.get(tx)).name == "dana"
    await profiles.set_default(tx, "eve", by="eve")
    assert (await profiles.get(tx)).name == "eve"
    assert [(summary.name, summary.is_default) for summary in await profiles.find_all(tx)] == [
        ("dana", False),
        ("eve", True),
    ]
    with pytest.raises(NotFound):
        await profiles.set_default(tx, "nobody")
    assert (await profiles.get(tx)).name == "eve"


async def test_missing_profiles_raise_not_found(tx: Tx) -> None:
    await profiles.save(tx, "dana", cook())
    for name, version in (("eve", None), ("dana", 2)):
        with pytest.raises(NotFound, match=name):
            await profiles.get(tx, name, version=version)
    with pytest.raises(NotFound):
        await profiles.read_versions(tx, "eve")


@pytest.mark.parametrize("name", ["", "Dana", "a b", "../x", "x" * 64, "-x", "dana\n"])
async def test_a_name_is_a_plain_word(tx: Tx, name: str) -> None:
    with pytest.raises(Invalid, match="is not a valid profile name"):
        await profiles.save(tx, name, cook())


async def test_saving_an_edit_of_an_older_version_conflicts(tx: Tx) -> None:
    await profiles.save(tx, "dana", cook(1), based_on=0)
    await profiles.save(tx, "dana", cook(2), based_on=1)
    with pytest.raises(Conflict, match="its newest version is 2"):
        await profiles.save(tx, "dana", cook(3), based_on=1)


async def test_concurrent_saves_get_distinct_versions(database: Database) -> None:
    ready = asyncio.Barrier(6)

    async def save(number: int) -> int:
        async with database.transaction() as tx:
            await ready.wait()
            return (await profiles.save(tx, "dana", cook(number))).version

    versions = await asyncio.gather(*map(save, range(6)))
    assert sorted(versions) == [1, 2, 3, 4, 5, 6]
    async with database.transaction() as tx:
        for number, version in enumerate(versions):
            assert (await profiles.get(tx, "dana", version=version)).profile() == cook(number)


async def test_concurrent_saves_of_the_same_content_make_one_version(database: Database) -> None:
    ready = asyncio.Barrier(6)

    async def save(_: int) -> SavedProfile:
        async with database.transaction() as tx:
            await ready.wait()
            return await profiles.save(tx, "dana", cook())

    saved = await asyncio.gather(*map(save, range(6)))
    assert {result.version for result in saved} == {1}
    assert [result.changed for result in saved].count(True) == 1


async def test_of_concurrent_first_profiles_one_is_the_default(database: Database) -> None:
    ready = asyncio.Barrier(6)

    async def save(number: int) -> None:
        async with database.transaction() as tx:
            await ready.wait()
            await profiles.save(tx, f"p{number}", cook())

    await asyncio.gather(*map(save, range(6)))
    async with database.transaction() as tx:
        assert [count.is_default for count in await profiles.find_all(tx)].count(True) == 1


async def test_a_version_with_unknown_fields_is_refused_with_an_explanation(tx: Tx) -> None:
    await profiles.save(tx, "dana", Profile(skills=(Skill(name="Go"),)))
    await tx.execute(
        "INSERT INTO matching.profile_version (profile_id, version, content)"
        " SELECT id, 2, '{\"colour\": 1}' FROM matching.profile"
    )
    with pytest.raises(Invalid, match=r"version 2 of profile dana.*colour"):
        (await profiles.get(tx)).profile()

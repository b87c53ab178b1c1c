"""Every database can be migrated from any version to the newest without losing data."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from jobmill.db import Database, Tx
from jobmill.db.migrate import list_applied, list_migrations, migrate
from jobmill.errors import Conflict
from tests.conftest import drop, run

NAMES = list(list_migrations())


@pytest.fixture
def empty(server: str) -> str:
    run(server, "CREATE DATABASE {}", "from_the_first")
    return "from_the_first"


async def test_a_database_is_migrated_from_every_version(server: str, empty: str) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(server, dbname=empty) as tx:
            await _as_of(tx, 1)
            for upto in range(1, len(NAMES)):
                assert [*await list_applied(tx)] == NAMES[:upto]
                files = {name: list_migrations()[name] for name in NAMES[: upto + 1]}
                assert await migrate(tx, files) == [NAMES[upto]]
            assert list(await list_applied(tx)) == NAMES
            assert await migrate(tx) == []
            cursor = await tx.execute("SELECT mark FROM queue.tick WHERE name = 'kept'")
            assert await cursor.fetchone() == (1,)
    finally:
        drop(server, empty)


async def test_the_first_version_is_migrated_to_the_last_at_once(server: str, empty: str) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(server, dbname=empty) as tx:
            await _as_of(tx, 1)
            assert await migrate(tx) == NAMES[1:]
    finally:
        drop(server, empty)


async def test_an_edited_migration_is_refused(tx: Tx) -> None:
    edited = list_migrations() | {NAMES[3]: b"SELECT 1"}
    with pytest.raises(Conflict, match=f"migration {NAMES[3]} differs"):
        await migrate(tx, edited)


async def test_a_database_of_a_newer_version_is_refused(tx: Tx) -> None:
    older = {name: list_migrations()[name] for name in NAMES[:-1]}
    with pytest.raises(Conflict, match=f"{NAMES[-1]} is unknown to this version"):
        await migrate(tx, older)


async def test_concurrent_migrations_apply_each_migration_once(database: Database) -> None:
    files = list_migrations() | {
        "9999_tea.sql": b"CREATE TABLE public.tea (cup int); SELECT pg_sleep(0.2)"
    }

    async def bring_up() -> list[str]:
        async with database.transaction() as tx:
            return await migrate(tx, files)

    applied = await asyncio.gather(*(bring_up() for _ in range(4)))
    assert sorted(applied) == [[], [], [], ["9999_tea.sql"]]


async def test_rotation_priorities_are_turned_round(server: str, empty: str) -> None:
    """Lower came first, usually 100; now higher comes first, usually 50, in the same order."""
    old = [-1, 0, 10, 99, 100, 101, 200, 5_000, 1_000_000]
    try:
        async with await psycopg.AsyncConnection.connect(server, dbname=empty) as tx:
            await _as_of(tx, next(n for n, name in enumerate(NAMES) if "rotation_settings" in name))
            for priority in [*old, 7]:
                await tx.execute(
                    """
                    WITH board AS (
                        INSERT INTO catalog.source
                               (name, source_type, token, config, status, discovered_via)
                        VALUES (%(token)s, 'jooble', %(token)s, '{}', 'active', 'import')
                        RETURNING id)
                    INSERT INTO rotation.target (source_id, kind, platform, priority, min_interval)
                    SELECT id, 'slice', 'jooble', %(priority)s, interval '1 day' FROM board
                    """,
                    {"token": f"was {priority}", "priority": priority},
                )
            for words, priority in (("{cook}", 30), ("{chef}", 80)):
                await tx.execute(
                    """
                    WITH wish AS (
                        INSERT INTO rotation.search (platform, keywords, locations, priority)
                        VALUES ('jooble', %s, '{Berlin}', %s) RETURNING id)
                    INSERT INTO rotation.search_slice
                    SELECT wish.id, source.id FROM wish, catalog.source WHERE name = 'was 7'
                    """,
                    [words, priority],
                )
            await migrate(tx)
            cursor = await tx.execute(
                """
                SELECT name, priority FROM rotation.target
                  JOIN catalog.source ON source.id = source_id
                """
            )
            new = {str(name): int(priority) for name, priority in await cursor.fetchall()}
            # A slice takes the higher priority of its searches.
            assert new.pop("was 7") == 80
            assert [new[f"was {priority}"] for priority in old] == [
                100, 100, 95, 51, 50, 49, 25, 1, 0,
            ]  # fmt: skip
            await tx.rollback()
    finally:
        drop(server, empty)


async def _as_of(tx: Tx, upto: int) -> None:
    """A database with only the first `count` migrations, and a row in it."""
    await migrate(tx, {name: list_migrations()[name] for name in NAMES[:upto]})
    await tx.execute("INSERT INTO queue.tick (name, at, mark) VALUES ('kept', now(), 1)")


@pytest.mark.parametrize(
    ("people", "owners"),
    [
        ([("Ada", "admin", True)], {"hers": "Ada", "local": None}),
        ([("Ada", "admin", True), ("Bo", "viewer", True)], {"hers": None, "local": None}),
        ([("Ada", "admin", True), ("Bo", "viewer", False)], {"hers": "Ada", "local": None}),
        ([("Ada", "viewer", True)], {"hers": None, "local": None}),
        ([], {"hers": None, "local": None}),
    ],
)
async def test_profiles_stay_with_the_local_user_unless_one_admin_saved_them(
    server: str, empty: str, people: list[tuple[str, str, bool]], owners: dict[str, str | None]
) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(server, dbname=empty) as tx:
            await _as_of(tx, NAMES.index("0033_profile_owner.sql"))
            for name, role, active in people:
                email, ended_at = f"{name}@example.org", None if active else "now"
                await tx.execute(
                    """
                    INSERT INTO people.person (name, email, email_key, role, password, ended_at)
                    VALUES (%s, %s, %s, %s, 'x', %s::timestamptz)
                    """,
                    [name, email, email, role, ended_at],
                )
            for profile, saved_by in (("hers", "Ada"), ("local", "ada")):
                await tx.execute(
                    """
                    WITH made AS (INSERT INTO matching.profile (name) VALUES (%s) RETURNING id)
                    INSERT INTO matching.profile_version (profile_id, version, content, saved_by)
                    SELECT id, 1, '{}', %s FROM made
                    """,
                    [profile, saved_by],
                )
            await tx.execute(
                """
                INSERT INTO matching.default_profile (profile_id)
                SELECT id FROM matching.profile WHERE name = 'hers'
                """
            )
            await migrate(tx)
            cursor = await tx.execute(
                """
                SELECT profile.name, person.name FROM matching.profile
                  LEFT JOIN people.person ON person.id = owner_id
                """
            )
            assert dict(await cursor.fetchall()) == owners
            cursor = await tx.execute(
                "SELECT count(*), count(DISTINCT coalesce(owner_id, 0)) FROM matching.default_profile"
            )
            default_count = len(set(owners.values()))
            assert await cursor.fetchone() == (default_count, default_count)
    finally:
        drop(server, empty)

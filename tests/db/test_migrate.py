"""Every database gets from any migration to the newest, with what it holds."""

from __future__ import annotations

import psycopg
import pytest

from jobmill.db import Tx
from jobmill.db.migrate import applied, known, migrate, pending
from tests.conftest import run

NAMES = list(known())


@pytest.fixture
def empty(server: str) -> str:
    run(server, "CREATE DATABASE {}", "from_the_first")
    return "from_the_first"


async def test_a_database_is_brought_up_from_each_migration_on(server: str, empty: str) -> None:
    try:
        async with await psycopg.AsyncConnection.connect(server, dbname=empty) as tx:
            for upto in range(1, len(NAMES) + 1):
                await _as_of(tx, upto)
                assert await pending(tx) == NAMES[upto:]
                assert await migrate(tx) == NAMES[upto:]
                assert list(await applied(tx)) == NAMES
                assert await migrate(tx) == []
                kept = await tx.execute("SELECT mark FROM queue.tick WHERE name = 'kept'")
                assert await kept.fetchone() == (1,)
                await tx.rollback()
    finally:
        run(server, "DROP DATABASE {} WITH (FORCE)", empty)


async def _as_of(tx: Tx, upto: int) -> None:
    """The database as it was when only the first so many migrations were known, with a row in it."""
    await migrate(tx, {name: known()[name] for name in NAMES[:upto]})
    await tx.execute("INSERT INTO queue.tick (name, at, mark) VALUES ('kept', now(), 1)")

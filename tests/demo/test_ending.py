"""The demo starts in an empty database only, and leaves an empty one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobmill.db import Database, Tx
from jobmill.demo import cleanup, setup
from jobmill.demo.session import demo_settings
from jobmill.errors import Conflict
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.people import persons
from jobmill.settings import Settings
from tests.demo.helpers import begin, running
from tests.queue.helpers import fetch

HOUSEKEEPING = {"outside.host", "outside.robots", "queue.run_counter"}
"""Tables that a running exchange and a worker write for themselves."""


async def counts(database: Database) -> dict[str, int]:
    """Row counts of all non-empty tables."""
    async with database.transaction() as tx:
        names = [name for (name,) in await _tables(tx)]
        counts_by_table = {name: await _count(tx, name) for name in names}
    return {name: count for name, count in counts_by_table.items() if count}


async def _tables(tx: Tx) -> list[Any]:
    cursor = await tx.execute(
        """
        SELECT table_schema || '.' || table_name FROM information_schema.tables
         WHERE table_type = 'BASE TABLE'
           AND table_schema NOT IN ('pg_catalog', 'information_schema', 'public')
        """
    )
    return await cursor.fetchall()


async def _count(tx: Tx, name: str) -> int:
    cursor = await tx.execute(f"SELECT count(*) FROM {name}")  # type: ignore[arg-type]
    row = await cursor.fetchone()
    assert row
    return row[0]


async def test_ending_the_demo_leaves_an_empty_database(database: Database) -> None:
    new = await counts(database)
    await begin(database)
    assert (await counts(database)).keys() >= {"hiring.event", "catalog.company", "demo.world"}
    assert await cleanup.end_demo(database)
    after = await counts(database)
    assert after.pop("queue.phase")
    assert after.pop("demo.ended") == 1
    assert after == new


async def test_the_cleanup_names_every_table(database: Database) -> None:
    async with database.transaction() as tx:
        names = {name for (name,) in await _tables(tx)}
    code = cleanup.__loader__.get_source(cleanup.__name__)  # type: ignore[union-attr]
    assert [name for name in sorted(names) if name not in code] == []
    assert set(cleanup.KEPT_TABLES) < names


async def test_the_audit_log_is_append_only_again_after_the_cleanup(database: Database) -> None:
    await begin(database)
    await cleanup.end_demo(database)
    await begin(database)
    with pytest.raises(Exception, match="only grows"):
        await fetch(database, "TRUNCATE hiring.event CASCADE")


async def test_ending_twice_is_harmless_and_the_demo_can_start_again(database: Database) -> None:
    await begin(database)
    assert await cleanup.end_demo(database)
    assert not await cleanup.end_demo(database)
    await begin(database)
    async with database.transaction() as tx:
        assert await setup.is_demo(tx)


async def test_the_demo_never_mixes_with_or_deletes_real_data(database: Database) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "mine", Profile())
    with pytest.raises(Conflict, match="in use"):
        await begin(database)
    with pytest.raises(Conflict, match="your own data"):
        await cleanup.end_demo(database)
    async with database.transaction() as tx:
        assert [profile.name for profile in await profiles.find_all(tx)] == ["mine"]


async def test_only_one_of_two_concurrent_starts_succeeds(database: Database) -> None:
    both = await asyncio.gather(begin(database), begin(database), return_exceptions=True)
    assert [type(result) for result in both if result] == [Conflict]


async def test_running_work_writes_nothing_after_the_cleanup(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    new = await counts(database)
    await begin(database)
    async with running(database):
        while (await fetch(database, "SELECT count(*) FROM catalog.listing"))[0] < 10:
            await asyncio.sleep(0.02)
        assert await cleanup.end_demo(database)
    # The worker has finished its running stages.
    assert "lease lost, nothing written" in caplog.text
    after = await counts(database)
    kept_tables = {*HOUSEKEEPING, *cleanup.KEPT_TABLES}
    assert {name: count for name, count in after.items() if name not in kept_tables} == {
        name: count for name, count in new.items() if name not in kept_tables
    }


def test_the_demo_settings_redirect_all_network_access() -> None:
    original = Settings(model_strong="anthropic:x", host_overrides={"*.test": "127.0.0.1:1"})
    settings = demo_settings(original, 4711)
    assert (
        settings.host_overrides["*.io"] == settings.host_overrides["*.example"] == "127.0.0.1:4711"
    )
    assert settings.host_overrides["*.test"] == "127.0.0.1:1"
    assert (settings.model_cheap, settings.model_strong) == ("none", "none")
    assert settings.smtp_url.get_secret_value() == ""


async def test_the_demo_starts_automatically_only_in_an_unused_database(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        assert await setup.is_first_start(tx)
    await begin(database)
    async with database.transaction() as tx:
        assert not await setup.is_first_start(tx)
        await cleanup.clear(tx)
        assert await setup.is_empty(tx)
        assert not await setup.is_first_start(tx)


async def test_the_demo_does_not_start_automatically_once_people_have_accounts(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        await persons.add(tx, "Ada", "ada@example.com", "admin", "a long enough word")
        assert not await setup.is_first_start(tx)

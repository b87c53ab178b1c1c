from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from jobmill.cli import upgrade_check
from jobmill.cli.support import environment
from jobmill.db import backup, binaries, migrate, migration_backup
from jobmill.errors import Unavailable
from jobmill.settings import Settings
from tests.conftest import drop, run

NAMES = list(migrate.list_migrations())
NAME = "one_version_behind"


@pytest.fixture
async def outdated(server: str) -> AsyncIterator[str]:
    """The URL of a database that lacks the last migration."""
    run(server, "CREATE DATABASE {}", NAME)
    url = make_conninfo(server, dbname=NAME)
    files = migrate.list_migrations()
    async with await psycopg.AsyncConnection.connect(url) as tx:
        await migrate.migrate(tx, {name: files[name] for name in NAMES[:-1]})
    yield url
    drop(server, NAME)


def settings_for(folder: Path, url: str, **values: object) -> Settings:
    return Settings.model_validate({"data_dir": folder, "database_url": url, **values})


async def test_several_processes_that_upgrade_at_once_write_one_backup(
    outdated: str, tmp_path: Path
) -> None:
    settings = settings_for(tmp_path, outdated)
    applied = await asyncio.gather(
        *(environment.apply_migrations(settings, outdated) for _ in range(3))
    )
    assert sorted(applied) == [[], [], [NAMES[-1]]]
    [file] = migration_backup.list_backups(tmp_path / "backups")
    assert backup.read_backup(binaries.find_folder(None), file).migrations == NAMES[:-1]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert await environment.apply_migrations(settings, outdated) == []
    assert migration_backup.list_backups(tmp_path / "backups") == [file]


async def test_nothing_changes_if_the_backup_cannot_be_written(
    outdated: str, tmp_path: Path
) -> None:
    (tmp_path / "backups").write_text("not a folder")
    settings = settings_for(tmp_path, outdated)
    with pytest.raises(Unavailable, match=r"nothing was upgraded.*migration_backup"):
        await environment.apply_migrations(settings, outdated)
    async with await psycopg.AsyncConnection.connect(outdated) as tx:
        assert [*await migrate.list_applied(tx)] == NAMES[:-1]
    unsaved = settings_for(tmp_path, outdated, migration_backup=False)
    assert await environment.apply_migrations(unsaved, outdated) == [NAMES[-1]]


async def test_the_newest_backups_are_kept_and_unfinished_ones_deleted(
    url: str, tmp_path: Path
) -> None:
    for year in range(2020, 2024):
        (tmp_path / f"before-0001-{year}0101T000000000000Z.dump").touch()
    (tmp_path / ".before-0001-x.dump.12345678.part").touch()
    (tmp_path / "mine.dump").touch()
    written = await asyncio.to_thread(
        migration_backup.write, url, binaries.find_folder(None), tmp_path, "0002_wells.sql"
    )
    names = [file.name for file in migration_backup.list_backups(tmp_path)]
    assert [name[:15] for name in names[:2]] == ["before-0001-202"] * 2
    assert names[-1] == written.path.name
    assert len(names) == migration_backup.MAX_KEPT
    assert {file.name for file in tmp_path.iterdir()} == {*names, "mine.dump"}


def results(settings: Settings) -> dict[str, str]:
    return {check.subject: check.result for check in upgrade_check.examine(settings)}


async def test_upgrade_check_tells_what_an_upgrade_would_do(outdated: str, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, outdated)
    before = await asyncio.to_thread(results, settings)
    assert (before["migrations"], before["backup"]) == ("ok", "ok")
    unsaved = settings_for(tmp_path, outdated, migration_backup=False)
    assert (await asyncio.to_thread(results, unsaved))["backup"] == "warn"
    async with await psycopg.AsyncConnection.connect(outdated) as tx:
        assert [*await migrate.list_applied(tx)] == NAMES[:-1]
        await tx.execute("UPDATE jobmill_migration SET sha256 = 'x' WHERE name = %s", [NAMES[0]])
    assert (await asyncio.to_thread(results, settings))["migrations"] == "fail"
    async with await psycopg.AsyncConnection.connect(outdated) as tx:
        await tx.execute("INSERT INTO jobmill_migration VALUES ('9999_later.sql', 'x')")
    assert (await asyncio.to_thread(results, settings))["migrations"] == "fail"

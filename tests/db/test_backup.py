from __future__ import annotations

import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from jobmill.db import backup, binaries, migrate
from jobmill.db.embedded import EmbeddedServer
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable
from tests.conftest import drop, run

ODD = ["plain", "", "SET transaction_timeout = 0;", "\\.", "a\tb\nc", "COMMIT;", "ü"]


@pytest.fixture(scope="session")
def bin() -> Path:
    return binaries.find_folder()


@pytest.fixture
def filled(url: str) -> str:
    """A database with rows that a backup could easily lose."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA zoo")
        connection.execute(
            "CREATE TABLE zoo.note (id int GENERATED ALWAYS AS IDENTITY, text text, bits bytea)"
        )
        connection.execute("CREATE TABLE zoo.line (text text)")
        for text in ODD:
            connection.execute("INSERT INTO zoo.line VALUES (%s)", [text])
            connection.execute(
                "INSERT INTO zoo.note (text, bits) VALUES (%s, %s)", [text, text.encode()]
            )
    return url


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    run(server, "CREATE DATABASE {} TEMPLATE template0", "empty")
    yield make_conninfo(server, dbname="empty")
    drop(server, "empty")


def contents(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            """
            SELECT table_schema, table_name FROM information_schema.tables
             WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
            """
        ).fetchall()
        select = sql.SQL("SELECT * FROM {} ORDER BY 1")
        return {
            ".".join(table): connection.execute(select.format(sql.Identifier(*table))).fetchall()
            for table in tables
        }


def databases(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


def test_a_backup_restores_the_same_rows_into_an_empty_database(
    filled: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    made = backup.write_backup(filled, bin, tmp_path / "all.dump")
    assert made.bytes == (tmp_path / "all.dump").stat().st_size
    assert made.migrations == list(migrate.list_migrations())
    backup.restore_backup(empty, bin, tmp_path / "all.dump")
    assert contents(empty) == contents(filled)
    assert [row[1] for row in contents(empty)["zoo.note"]] == ODD
    assert sorted(text for (text,) in contents(empty)["zoo.line"]) == sorted(ODD)


def test_a_restore_replaces_a_database_and_leaves_no_other_behind(
    filled: str, bin: Path, tmp_path: Path
) -> None:
    before, names = contents(filled), databases(filled)
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    with psycopg.connect(filled) as connection:
        connection.execute("DELETE FROM zoo.note")
        connection.execute("CREATE TABLE later (id int)")
    backup.restore_backup(filled, bin, tmp_path / "all.dump", replace=True)
    assert contents(filled) == before
    assert databases(filled) == names


def test_a_database_with_data_is_replaced_only_on_request(
    filled: str, bin: Path, tmp_path: Path
) -> None:
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    with psycopg.connect(filled) as connection:
        connection.execute("DELETE FROM zoo.note")
    with pytest.raises(Conflict, match="--replace"):
        backup.restore_backup(filled, bin, tmp_path / "all.dump")
    assert contents(filled)["zoo.note"] == []


@pytest.mark.parametrize("replace", [True, False])
def test_an_incomplete_backup_changes_nothing(
    replace: bool, filled: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    backup_file = tmp_path / "all.dump"
    with psycopg.connect(filled) as connection:
        # Enough rows that the cut falls into them; they come after the migration history.
        connection.execute(
            "INSERT INTO zoo.note (text) SELECT md5(n::text) FROM generate_series(1, 20000) AS n"
        )
    backup.write_backup(filled, bin, backup_file)
    backup_file.write_bytes(backup_file.read_bytes()[: int(backup_file.stat().st_size * 0.7)])
    target = filled if replace else empty
    before, names = contents(target), databases(target)
    with pytest.raises(Unavailable, match="changed nothing"):
        backup.restore_backup(target, bin, backup_file, replace=replace)
    assert contents(target) == before
    assert databases(target) == names


def test_a_restore_whose_reader_dies_between_two_statements_changes_nothing(
    filled: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    real = f'exec "{bin}/'
    half = 'case "$*" in *--data-only*) ;; *) printf "%s\\n" "\\\\restrict a" "CREATE TABLE half ();"; exit 1 ;; esac\n'
    script(tmp_path / "psql", f'{real}psql" "$@"')
    script(tmp_path / "pg_restore", f'{half}{real}pg_restore" "$@"')
    with pytest.raises(Unavailable, match="changed nothing"):
        backup.restore_backup(empty, tmp_path, tmp_path / "all.dump")
    assert contents(empty) == {}


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_restore_that_the_server_refuses_changes_nothing(
    filled: str, bin: Path, tmp_path: Path
) -> None:
    with psycopg.connect(filled) as connection:
        # Valid now, but fails during the restore, which has another search path.
        connection.execute("CREATE FUNCTION zoo.one(int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
        connection.execute("CREATE TABLE zoo.odd (n int CHECK (zoo.one(n) = 1))")
        connection.execute("INSERT INTO zoo.odd VALUES (1)")
        connection.execute(
            "CREATE OR REPLACE FUNCTION zoo.one(int) RETURNS int LANGUAGE sql AS 'SELECT 2'"
        )
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    before, names = contents(filled), databases(filled)
    with pytest.raises(Unavailable, match="violates check constraint"):
        backup.restore_backup(filled, bin, tmp_path / "all.dump", replace=True)
    assert contents(filled) == before
    assert databases(filled) == names


def test_a_restore_waits_for_clients_that_are_disconnecting(
    filled: str, bin: Path, tmp_path: Path
) -> None:
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    leaving = psycopg.connect(filled)
    threading.Timer(0.3, leaving.close).start()
    backup.restore_backup(filled, bin, tmp_path / "all.dump", replace=True)
    assert leaving.closed


def test_a_database_in_use_is_not_replaced(filled: str, bin: Path, tmp_path: Path) -> None:
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    names = databases(filled)
    with psycopg.connect(filled), pytest.raises(Conflict, match="in use"):
        backup.restore_backup(filled, bin, tmp_path / "all.dump", replace=True)
    assert databases(filled) == names


def test_a_backup_of_a_newer_version_is_refused(
    url: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO jobmill_migration VALUES ('9999_later.sql', 'x')")
    backup.write_backup(url, bin, tmp_path / "all.dump")
    with pytest.raises(Conflict, match="newer Jobmill"):
        backup.restore_backup(empty, bin, tmp_path / "all.dump")
    assert contents(empty) == {}


def test_a_backup_overwrites_a_file_only_on_request_and_is_private(
    url: str, bin: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.dump"
    file.write_text("precious")
    with pytest.raises(Conflict, match="--force"):
        backup.write_backup(url, bin, file)
    assert file.read_text() == "precious"
    backup.write_backup(url, bin, file, replace=True)
    assert file.read_bytes().startswith(b"PGDMP")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_failed_backup_leaves_no_file_and_keeps_the_old_one(
    url: str, superuser: str, bin: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.dump"
    file.write_text("precious")
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("CREATE ROLE blind LOGIN")
    try:
        with pytest.raises(Unavailable, match="permission denied"):
            backup.write_backup(make_conninfo(url, user="blind"), bin, file, replace=True)
    finally:
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute("DROP ROLE blind")
    assert [path.name for path in tmp_path.iterdir()] == ["all.dump"]
    assert file.read_text() == "precious"


def test_a_missing_folder_is_named_in_the_error(url: str, bin: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        backup.write_backup(url, bin, tmp_path / "nowhere" / "all.dump")


def test_an_empty_database_has_nothing_to_back_up(empty: str, bin: Path, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="empty"):
        backup.write_backup(empty, bin, tmp_path / "all.dump")


def test_a_file_that_is_not_a_jobmill_backup_is_refused(
    server: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    with pytest.raises(NotFound):
        backup.restore_backup(empty, bin, file)
    file.write_text("hello")
    with pytest.raises(Invalid, match="not a complete backup"):
        backup.restore_backup(empty, bin, file)
    command = backup.client_command(bin / "pg_dump", server, "-Fc", f"--file={file}")
    subprocess.run(command, check=True)
    with pytest.raises(Invalid, match="not a backup of Jobmill"):
        backup.restore_backup(empty, bin, file)


def test_a_password_is_passed_where_other_users_cannot_see_it(bin: Path) -> None:
    for url in ("postgresql://me:s3cret@localhost/x", "host=a,b user=me password=s3cret"):
        assert "s3cret" not in " ".join(backup.client_command(bin / "psql", url))
        assert backup.client_environment(url)["PGPASSWORD"] == "s3cret"


async def test_the_bundled_programs_work_with_an_older_server(
    bin: Path, home: Path, tmp_path: Path
) -> None:
    older = binaries.find_folder(major=16)
    with EmbeddedServer(home / "postgres", older, durable=False).use() as url:
        async with await psycopg.AsyncConnection.connect(url) as tx:
            await migrate.migrate(tx)
        before = contents(url)
        backup.write_backup(url, bin, tmp_path / "all.dump")
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM jobmill_migration")
        backup.restore_backup(url, bin, tmp_path / "all.dump", replace=True)
        assert contents(url) == before


HARMLESS = "x" * 300


@pytest.fixture
def prepared(url: str, bin: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Writes a backup with a statement that no pg_dump would write."""

    def prepare(attack: str) -> Path:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE note (text text)")
            connection.execute(f"COMMENT ON TABLE note IS '{HARMLESS}'")
        path = tmp_path / "all.dump"
        backup.write_backup(url, bin, path)
        old, new = HARMLESS.encode(), f"';{attack}--".ljust(len(HARMLESS), "x").encode()
        assert len(new) == len(old)
        path.write_bytes(path.read_bytes().replace(old, new))
        return path

    return prepare


@pytest.mark.parametrize(
    "attack", ["\n\\! touch {trace}\n", "COPY note FROM PROGRAM 'touch {trace}';"]
)
def test_a_prepared_backup_runs_no_programs(
    attack: str, prepared: Callable[[str], Path], empty: str, bin: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    tmp_path.chmod(0o777)
    with pytest.raises(Unavailable, match="the restore failed and changed nothing"):
        backup.restore_backup(empty, bin, prepared(attack.format(trace=trace)))
    assert not trace.exists()
    assert contents(empty) == {}


def test_a_superuser_restores_only_what_is_called_trusted(
    url: str, superuser: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    target = make_conninfo(superuser, dbname="empty")
    backup.write_backup(url, bin, tmp_path / "all.dump")
    with pytest.raises(Conflict, match="--trusted"):
        backup.restore_backup(target, bin, tmp_path / "all.dump")
    backup.restore_backup(target, bin, tmp_path / "all.dump", trusted=True)
    assert contents(target) == contents(url)


def test_a_program_without_protection_is_refused(
    filled: str, empty: str, bin: Path, tmp_path: Path
) -> None:
    backup.write_backup(filled, bin, tmp_path / "all.dump")
    real = f'exec "{bin}/'
    script(tmp_path / "psql", f'{real}psql" "$@"')
    script(tmp_path / "pg_restore", f'"{bin}/pg_restore" "$@" | sed "/restrict/d"')
    with pytest.raises(Unavailable, match="does not protect"):
        backup.restore_backup(empty, tmp_path, tmp_path / "all.dump")
    assert contents(empty) == {}

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from jobmill.db import account, binaries, connect
from jobmill.db.embedded import ADMIN, ROLE, EmbeddedServer
from jobmill.db.migrate import migrate
from jobmill.errors import Conflict, Unavailable
from tests.cli.forked import ForkedProgram

from . import embedded_process


@pytest.fixture(scope="session")
def made(scratch: Path) -> Path:
    """A data folder to copy, which is faster than an initdb per test."""
    data = scratch / "made" / "postgres"
    with EmbeddedServer(data, durable=False).use() as url:
        put_row(url, "made")
    return data


@pytest.fixture
def data(made: Path, home: Path) -> Iterator[Path]:
    data = home / "postgres"
    copy(made, data)
    yield data
    EmbeddedServer(data).stop()


def copy(made: Path, data: Path) -> None:
    data.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(made, data, ignore=shutil.ignore_patterns(".s.*"))


@contextmanager
def user(data: Path) -> Iterator[ForkedProgram]:
    """Another process that uses the server."""
    process = ForkedProgram(embedded_process.use, data)
    assert process.stdout.readline().startswith("postgresql://")
    try:
        yield process
    finally:
        process.communicate()


def put_row(url: str, text: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (text text)")
        connection.execute("INSERT INTO note VALUES (%s)", [text])


def rows(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM note")]


def pid(data: Path) -> int:
    process_id = EmbeddedServer(data).status().pid
    assert process_id is not None
    return process_id


def eventually(true: Callable[[], bool], limit: float = 10) -> None:
    deadline = time.monotonic() + limit
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(data: Path) -> bool:
    return EmbeddedServer(data).status().running


def test_a_new_server_stops_with_its_only_user(home: Path) -> None:
    server = EmbeddedServer(home / "new" / "postgres", durable=False)
    with server.use() as url:
        with psycopg.connect(url) as connection:
            assert connection.info.dbname == "jobmill"
            assert connection.execute("SELECT lower('É') = 'é'").fetchone() == (True,)
            assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
        assert server.status().running
    assert not server.status().running
    assert not (server.data / "postmaster.pid").exists()


def test_the_last_user_stops_the_server(data: Path) -> None:
    with EmbeddedServer(data, durable=False).use() as url:
        with user(data):
            pass
        assert rows(url) == ["made"]
        with user(data) as other:
            first = pid(data)
            inner = EmbeddedServer(data, durable=False)
            inner.start()
            inner.release()
            assert pid(data) == first
            other.stdin.close()
            assert other.wait() == 0
        assert running(data)
    assert not running(data)


def test_the_server_survives_a_killed_starter_and_the_next_user_stops_it(data: Path) -> None:
    with user(data) as starter:
        first = pid(data)
        starter.kill()
        starter.wait()
    assert running(data)
    with EmbeddedServer(data, durable=False).use() as url:
        assert pid(data) == first
        assert rows(url) == ["made"]
    assert not running(data)


def test_committed_rows_survive_a_killed_server(data: Path) -> None:
    server = EmbeddedServer(data, durable=True)
    url = server.start()
    put_row(url, "committed")
    os.kill(pid(data), signal.SIGKILL)
    eventually(lambda: not running(data))
    assert rows(server.start()) == ["made", "committed"]
    server.release()
    assert not running(data)


def test_a_busy_backend_of_a_killed_server_does_not_prevent_a_restart(data: Path) -> None:
    server = EmbeddedServer(data, durable=False)
    url = server.start()
    busy = psycopg.connect(url, autocommit=True)
    backend = busy.info.backend_pid
    # A busy backend does not notice that its postmaster is gone.
    busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 1000000000000)")
    eventually(lambda: busy_now(backend))
    os.kill(pid(data), signal.SIGKILL)
    assert rows(server.start()) == ["made"]
    busy.close()
    server.release()


def busy_now(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "R"


def test_a_long_running_process_restarts_a_dead_server(data: Path) -> None:
    server = EmbeddedServer(data, durable=False)
    with server.use() as url:
        os.kill(pid(data), signal.SIGKILL)
        eventually(lambda: not running(data))
        server.maintain()
        assert rows(url) == ["made"]


def test_a_stale_pid_file_of_another_process_is_ignored(data: Path) -> None:
    leave_pid(data, os.getpid())
    with EmbeddedServer(data, durable=False).use() as url:
        assert rows(url) == ["made"]


def test_a_stale_pid_file_of_a_zombie_is_ignored(data: Path) -> None:
    zombie = subprocess.Popen(["true"])
    stat_file = Path(f"/proc/{zombie.pid}/stat")
    eventually(lambda: stat_file.read_text().rsplit(")", 1)[1].split()[0] == "Z")
    leave_pid(data, zombie.pid)
    with EmbeddedServer(data, durable=False).use() as url:
        assert rows(url) == ["made"]
    zombie.wait()


def leave_pid(data: Path, pid: int) -> None:
    lines = [pid, data, int(time.time()), 5432, data, "", "1 1", "ready"]
    (data / "postmaster.pid").write_text("".join(f"{line}\n" for line in lines))


def test_ten_concurrent_starts_share_one_new_server_and_migrate_it_once(home: Path) -> None:
    data = home / "postgres"
    with user(data):
        first = pid(data)
        processes = [ForkedProgram(embedded_process.migrate_server, data) for _ in range(10)]
        applied = [int(process.communicate()) for process in processes]
        assert pid(data) == first
    assert sorted(applied)[:9] == [0] * 9
    assert max(applied) > 0
    assert not running(data)


def test_five_concurrent_starts_create_one_server(home: Path) -> None:
    data = home / "postgres"
    processes = [ForkedProgram(embedded_process.migrate_server, data) for _ in range(5)]
    applied = [int(process.communicate()) for process in processes]
    assert [process.poll() for process in processes] == [0] * 5
    assert sum(number > 0 for number in applied) == 1
    assert not running(data)


def test_a_kill_during_initdb_leaves_no_folder_that_looks_complete(
    home: Path,
) -> None:
    data = home / "postgres"
    starter = ForkedProgram(embedded_process.use, data)
    eventually(lambda: (home / "postgres.new" / "global").exists())
    starter.close()
    assert not data.exists()
    with EmbeddedServer(data, durable=False).use() as url:
        put_row(url, "whole")
        assert rows(url) == ["whole"]
    assert not (home / "postgres.new").exists()


@pytest.mark.parametrize(
    "name", ["with spaces", "quo'te\"$HOME`x`", "com,ma", "back\\slash", "ü%20"]
)
def test_any_folder_name_works(name: str, made: Path, home: Path) -> None:
    copy(made, home / name / "postgres")
    with EmbeddedServer(home / name / "postgres", durable=False).use() as url:
        assert rows(url) == ["made"]


def test_a_path_too_long_for_a_socket_is_replaced_by_a_short_private_one(
    made: Path, home: Path
) -> None:
    data = home / ("long" * 25) / "postgres"
    copy(made, data)
    with EmbeddedServer(data, durable=False).use() as url:
        assert rows(url) == ["made"]
        folder = socket_folder(url)
        assert not folder.is_relative_to(home)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


@pytest.mark.parametrize("how", ["symlink", "open to all"])
def test_a_socket_folder_prepared_by_another_user_is_refused(
    how: str, made: Path, home: Path
) -> None:
    data = home / ("long" * 25) / "postgres"
    copy(made, data)
    server = EmbeddedServer(data, durable=False)
    folder = socket_folder(server.status().url)
    if how == "symlink":
        (home / "trap").mkdir(mode=0o700)
        folder.symlink_to(home / "trap")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    try:
        with pytest.raises(Unavailable, match="is not private"):
            server.start()
    finally:
        folder.unlink() if how == "symlink" else folder.rmdir()


def socket_folder(url: str) -> Path:
    return Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]))


def test_folder_permissions_do_not_change(made: Path, home: Path) -> None:
    parents = [home, home / "a", home / "a" / "b"]
    for folder, mode in zip(parents, [0o700, 0o750, 0o705], strict=True):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    watched = [*parents, *home.parents]
    before = [rights(folder) for folder in watched]
    with EmbeddedServer(home / "a" / "b" / "postgres", durable=False).use() as url:
        put_row(url, "here")
        assert [rights(folder) for folder in watched] == before
    assert [rights(folder) for folder in watched] == before
    assert stat.S_IMODE((home / "a" / "b" / "postgres").stat().st_mode) == 0o700


def rights(path: Path) -> tuple[int, int, int]:
    info = path.stat()
    return info.st_mode, info.st_uid, info.st_gid


def test_the_server_listens_on_no_port_and_its_socket_is_private(data: Path) -> None:
    with EmbeddedServer(data, durable=False).use() as url:
        socket = socket_folder(url) / ".s.PGSQL.5432"
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert not listening(pid(data))


def listening(pid: int) -> set[str]:
    """The TCP ports that a process listens on."""
    sockets = {os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()}
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    return {line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


def test_a_folder_of_another_version_is_refused_with_instructions(data: Path) -> None:
    (data / "PG_VERSION").write_text("14\n")
    with pytest.raises(Conflict, match=r"PostgreSQL 14.*backup.*restore"):
        EmbeddedServer(data).start()


def test_a_folder_keeps_the_version_that_created_it(home: Path) -> None:
    older = binaries.find_folder(major=16)
    assert binaries.read_major_version(older) == 16
    data = home / "postgres"
    with EmbeddedServer(data, older, durable=False).use() as url:
        put_row(url, "old")
    with EmbeddedServer(data, durable=False).use() as url, psycopg.connect(url) as connection:
        assert connection.info.server_version // 10000 == 16
        assert rows(url) == ["old"]


def test_a_folder_with_other_files_is_not_touched(home: Path) -> None:
    (home / "postgres").mkdir()
    (home / "postgres" / "letter.txt").write_text("dear")
    with pytest.raises(Conflict, match="neither empty nor"):
        EmbeddedServer(home / "postgres").start()
    assert [path.name for path in (home / "postgres").iterdir()] == ["letter.txt"]


def test_a_failed_start_shows_the_log_of_the_server(data: Path) -> None:
    with (data / "postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(Unavailable, match="no_such_setting"):
        EmbeddedServer(data).start()


def test_missing_programs_are_named_in_the_error(home: Path) -> None:
    with pytest.raises(Unavailable, match="postgres_bin"):
        EmbeddedServer(home / "postgres", home / "nowhere").start()


def test_a_folder_without_write_access_is_named_in_the_error(home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot store data in"):
        EmbeddedServer(home / "file" / "postgres").start()


def test_the_server_has_the_configured_settings(data: Path) -> None:
    expected = {
        "listen_addresses": "",
        "shared_buffers": "128MB",
        "max_connections": "37",
        "autovacuum_naptime": "10s",
        "idle_in_transaction_session_timeout": "10min",
        "max_wal_size": "2GB",
        "jit": "off",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
    }
    with EmbeddedServer(data, connections=37).use() as url, psycopg.connect(url) as connection:
        answers = {
            name: connection.execute("SELECT current_setting(%s)", [name]) for name in expected
        }
        assert {name: answer.fetchone() for name, answer in answers.items()} == {
            name: (text,) for name, text in expected.items()
        }


def test_only_tests_run_without_durability(data: Path) -> None:
    with (
        EmbeddedServer(data, durable=False).use() as url,
        psycopg.connect(url) as connection,
    ):
        assert connection.execute("SHOW fsync").fetchone() == ("off",)
    with EmbeddedServer(data).use() as url, psycopg.connect(url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)


def test_old_logs_are_deleted(data: Path) -> None:
    (data / "log").mkdir(exist_ok=True)
    for day in range(10, 30):
        (data / "log" / f"2020-01-{day}_000000.log").write_text("old")
    server = EmbeddedServer(data, durable=False)
    with server.use():
        server.maintain()
        names = sorted(path.name for path in (data / "log").iterdir())
        assert len(names) == 5
        assert not any(re.match(r"2020-01-1\d", name) for name in names)


def test_a_failed_start_leaves_no_lock(data: Path) -> None:
    (data / "PG_VERSION").write_text("14\n")
    broken = EmbeddedServer(data)
    with pytest.raises(Conflict):
        broken.start()
    (data / "PG_VERSION").write_text("18\n")
    with EmbeddedServer(data, durable=False).use():
        pass
    assert not running(data)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be somebody else")
def test_root_runs_the_server_in_a_user_namespace(data: Path) -> None:
    with EmbeddedServer(data, durable=False).use() as url:
        put_row(url, "root")
        assert {path.stat().st_uid for path in data.rglob("*")} == {0}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be somebody else")
def test_root_runs_the_server_as_the_owner_of_the_folder(made: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    reach = ["test", "-x", str(binaries.find_folder() / "postgres")]
    if subprocess.run(reach, check=False, user=nobody.pw_uid).returncode != 0:
        pytest.skip("nobody cannot reach the programs here")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        data = Path(folder) / "postgres"
        copy(made, data)
        for path in [data, *data.rglob("*")]:
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        with EmbeddedServer(data, durable=False).use() as url:
            assert rows(url) == ["made"]
            assert Path(f"/proc/{pid(data)}").stat().st_uid == nobody.pw_uid
        assert not running(data)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be somebody else")
def test_root_without_namespaces_runs_the_server_as_a_system_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        (Path(folder) / "test").symlink_to("/usr/bin/test")
        monkeypatch.setenv("PATH", folder)
        data = Path(folder) / "postgres"
        try:
            who = account.choose_account(data, binaries.find_folder())
        except Unavailable:
            pytest.skip("there is no such user here, or it cannot reach the programs")
        with EmbeddedServer(data, durable=False).use() as url:
            put_row(url, "made")
            assert Path(f"/proc/{pid(data)}").stat().st_uid == who.uid != 0
            assert data.stat().st_uid == who.uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may be somebody else")
def test_root_without_another_account_gets_instructions(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(Unavailable, match=r"refuses to run as root.*another user.*DATABASE_URL"):
        EmbeddedServer(home / "postgres").start()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_a_folder_of_another_user_is_refused(home: Path) -> None:
    with pytest.raises(Unavailable, match="belongs to root"):
        account.choose_account(Path("/etc"), home)


def test_everything_but_the_start_connects_without_superuser_rights(data: Path) -> None:
    with EmbeddedServer(data, durable=False).use() as url, psycopg.connect(url) as connection:
        assert connection.execute(
            "SELECT rolsuper, rolcreaterole, rolreplication FROM pg_roles WHERE rolname = current_user"
        ).fetchone() == (False, False, False)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")


async def test_a_database_of_the_superuser_is_given_to_the_role(data: Path) -> None:
    """As earlier versions left it."""
    server = EmbeddedServer(data, durable=False)
    with server.use() as url:
        admin = make_conninfo(url, user=ADMIN)
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute("ALTER DATABASE jobmill OWNER TO jobmill")
        async with connect(admin) as database, database.transaction() as tx:
            await migrate(tx)
    with server.use() as url, psycopg.connect(url) as connection:
        others = connection.execute(
            """
            SELECT relname::text FROM pg_class WHERE relowner <> %(role)s::regrole
               AND relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
            UNION ALL
            SELECT proname FROM pg_proc WHERE proowner <> %(role)s::regrole
               AND pronamespace::regnamespace::text !~ '^(pg_|information_schema$)'
            UNION ALL
            SELECT typname FROM pg_type WHERE typowner <> %(role)s::regrole
               AND typnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
            UNION ALL
            SELECT nspname FROM pg_namespace WHERE nspowner <> %(role)s::regrole
               AND nspname !~ '^(pg_|information_schema$|public$)'
            """,
            {"role": ROLE},
        ).fetchall()
        assert others == []
        connection.execute("ALTER TABLE queue.item ADD COLUMN more int")

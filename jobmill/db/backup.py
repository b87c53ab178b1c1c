"""A whole database into one file, and back."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, LiteralString, cast

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from jobmill.db import migrate
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable

LEAVING = 2.0
"""Seconds in which those who have closed their connection are gone."""


@dataclass(frozen=True)
class Backup:
    path: Path
    bytes: int
    migrations: list[str]


def write_backup(url: str, bin: Path, path: Path, *, replace: bool = False) -> Backup:
    """Write the database to `path`, whole or not at all; Conflict if that exists."""
    if path.exists() and not replace:
        raise Conflict(f"{path} exists: choose another name, or say --force to overwrite it")
    if _is_empty(url):
        raise Conflict("the database is empty: there is nothing to back up")
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        # Nobody else may read it: it holds everything that the database does.
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Unavailable(f"cannot write in {path.parent}: {error.strerror}") from error
    try:
        with os.fdopen(file, "wb") as out:
            _run(
                bin / "pg_dump", url, "--format=custom", "--no-owner", "--no-acl", out=out.fileno()
            )
            os.fsync(out.fileno())
        backup = read_backup(bin, part)
        part.rename(path)
        _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return Backup(path, backup.bytes, backup.migrations)


def read_backup(bin: Path, path: Path) -> Backup:
    """What a file holds; Invalid if it is no backup of ours."""
    if not path.is_file():
        raise NotFound("the file", path)
    done = subprocess.run(
        [bin / "pg_restore", "--data-only", "--table=jobmill_migration", "--file=-", path],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        raise Invalid(f"{path} is not a whole backup: {done.stderr.strip()}")
    _, copy, rest = done.stdout.partition("\nCOPY public.jobmill_migration ")
    if not copy:
        raise Invalid(f"{path} is a backup of something else: it has no history of Jobmill's")
    rows = rest.splitlines()[1:]
    names = [row.split("\t")[0] for row in rows[: rows.index("\\.")]]
    return Backup(path, path.stat().st_size, names)


def restore_backup(url: str, bin: Path, path: Path, *, replace: bool = False) -> Backup:
    """Fill an empty database, or `replace` one, from a backup; a failure changes nothing.

    Conflict if the database is not empty, is in use, or is older than the backup's Jobmill.
    """
    backup = read_backup(bin, path)
    newer = sorted(set(backup.migrations) - set(migrate.list_migrations()))
    if newer:
        raise Conflict(
            f"{path} was made by a newer Jobmill ({newer[-1]} is unknown): upgrade first"
        )
    with _translated():
        if _is_empty(url):
            _fill(url, bin, path)
        elif replace:
            _replace(url, bin, path)
        else:
            raise Conflict(
                "the database is not empty: say --replace to put the backup in place of "
                "everything in it"
            )
    return backup


def _fill(url: str, bin: Path, path: Path) -> None:
    """All of the backup in one transaction, as a script: pg_restore itself would begin with a
    setting that servers older than itself do not know."""
    read = [bin / "pg_restore", "--no-owner", "--no-acl", "--file=-", path]
    options = ("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1")
    write = client_command(bin / "psql", url, *options)
    pipe, nothing, env = subprocess.PIPE, subprocess.DEVNULL, client_environment(url)
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(read, stdin=nothing, stdout=pipe, stderr=words) as reader,
        subprocess.Popen(write, stdin=pipe, stdout=nothing, stderr=words, env=env) as writer,
    ):
        script, into = cast(IO[bytes], reader.stdout), cast(IO[bytes], writer.stdin)
        with contextlib.suppress(BrokenPipeError), script, into:
            into.write(b"BEGIN;\n")
            _pass_on(script, into)
            # Half a backup must not be committed: psql takes the end of its input for success.
            if reader.wait() == 0:
                into.write(b"COMMIT;\n")
        if (reader.wait(), writer.wait()) != (0, 0):
            words.seek(0)
            last = words.read().decode(errors="replace").strip()[-1000:]
            raise Unavailable(f"the restore failed and changed nothing: {last}")


def _pass_on(script: IO[bytes], into: IO[bytes]) -> None:
    for line in script:
        if line.strip() != b"SET transaction_timeout = 0;":
            into.write(line)
        # Beyond the settings at its head, a line like that is somebody's data.
        if line.startswith((b"CREATE", b"COPY")):
            break
    shutil.copyfileobj(script, into)


def _replace(url: str, bin: Path, path: Path) -> None:
    """Restore into a new database beside, then let the two change names."""
    mark = uuid.uuid4().hex[:8]
    name, new, old = _name(url), f"jobmill_new_{mark}", f"jobmill_old_{mark}"
    with psycopg.connect(_elsewhere(url), autocommit=True) as server:
        _refuse_if_used(server, name)
        _create_like(server, name, new)
        try:
            _fill(make_conninfo(url, dbname=new), bin, path)
            with server.transaction():
                # Both or neither; each waits for, or refuses because of, others who are in it.
                _on(server, "ALTER DATABASE {} RENAME TO {}", name, old)
                _on(server, "ALTER DATABASE {} RENAME TO {}", new, name)
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                _on(server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", new)
            raise
        _on(server, "DROP DATABASE {}", old)


def _is_empty(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            """
            SELECT FROM pg_class
             WHERE relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
             LIMIT 1
            """
        )
        return found.rowcount == 0


def _name(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


def _elsewhere(url: str) -> str:
    """Another database of the same server: one cannot rename the one that one is in."""
    return make_conninfo(url, dbname="postgres")


def _refuse_if_used(server: psycopg.Connection, name: str) -> None:
    # Whoever has just left, we among them, is there a moment longer.
    deadline = time.monotonic() + LEAVING
    while _is_used(server, name):
        if time.monotonic() > deadline:
            raise Conflict(
                "the database is in use: stop Jobmill, any connection pooler in front of the "
                "database and all other clients, then try again"
            )
        time.sleep(0.05)


def _is_used(server: psycopg.Connection, name: str) -> bool:
    found = server.execute(
        """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = %s AND backend_type = 'client backend'
        """,
        [name],
    ).fetchone()
    return found != (0,)


def _create_like(server: psycopg.Connection, name: str, new: str) -> None:
    """A new empty database with the encoding and locale of another."""
    found = server.execute(
        """
        SELECT pg_encoding_to_char(encoding), datcollate, datctype, datlocprovider::text,
               coalesce(to_jsonb(d)->>'datlocale', to_jsonb(d)->>'daticulocale')
          FROM pg_database AS d WHERE datname = %s
        """,
        [name],
    ).fetchone()
    assert found is not None
    encoding, collate, ctype, provider, locale = found
    options: list[sql.Composable] = [
        sql.SQL("ENCODING {} LC_COLLATE {} LC_CTYPE {}").format(encoding, collate, ctype)
    ]
    if provider == "i":
        options.append(sql.SQL("LOCALE_PROVIDER icu ICU_LOCALE {}").format(locale))
    if provider == "b":
        options.append(sql.SQL("LOCALE_PROVIDER builtin BUILTIN_LOCALE {}").format(locale))
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    server.execute(create.format(sql.Identifier(new), sql.SQL(" ").join(options)))


def _on(server: psycopg.Connection, statement: LiteralString, *names: str) -> None:
    server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextlib.contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except psycopg.errors.ObjectInUse as error:
        raise Conflict("somebody connected to the database meanwhile: nothing changed") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise Conflict(
            f"the server forbids it ({error.diag.message_primary}): let the role create and own "
            "databases, or restore into an empty one"
        ) from error
    except psycopg.OperationalError as error:
        raise Unavailable(f"PostgreSQL does not answer: {error}") from error


def _run(program: Path, url: str, *arguments: str, out: int | None = None) -> None:
    done = subprocess.run(
        client_command(program, url, "--no-password", *arguments),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        env=client_environment(url),
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        raise Unavailable(f"{program.name} failed: {_gist(done.stderr)}")


def _gist(said: str) -> str:
    """What went wrong; a statement that names every table stays out of it."""
    lines = [line for line in said.splitlines() if "detail: Query was:" not in line]
    return "\n".join(lines).strip()[-1000:]


def client_command(program: Path, url: str, *arguments: str) -> list[str]:
    """A call of one of PostgreSQL's programs; goes with `client_environment`."""
    parts = {name: part for name, part in conninfo_to_dict(url).items() if name != "password"}
    return [str(program), f"--dbname={make_conninfo('', **parts)}", *arguments]


def client_environment(url: str) -> dict[str, str]:
    """Ours with the password in it: everyone can read the arguments of a process."""
    password = conninfo_to_dict(url).get("password")
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)

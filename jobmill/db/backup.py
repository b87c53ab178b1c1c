"""Backs a database up to one file, and restores it."""

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
from jobmill.db.embedded import sync_folder
from jobmill.errors import Conflict, Invalid, NotFound, Unavailable

DISCONNECT_SECONDS = 2.0
"""Seconds until PostgreSQL no longer lists clients that have closed their connection."""


@dataclass(frozen=True)
class Backup:
    path: Path
    bytes: int
    migrations: list[str]


def write_backup(url: str, bin: Path, path: Path, *, replace: bool = False) -> Backup:
    """Write the database to `path`, completely or not at all; Conflict if the file exists."""
    if path.exists() and not replace:
        raise Conflict(f"{path} already exists: choose another name, or overwrite it with --force")
    if _is_empty(url):
        raise Conflict("the database is empty: there is nothing to back up")
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        # Private, because it contains everything that is in the database.
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Unavailable(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        with os.fdopen(file, "wb") as out:
            _run(
                bin / "pg_dump", url, "--format=custom", "--no-owner", "--no-acl", out=out.fileno()
            )
            os.fsync(out.fileno())
        backup = read_backup(bin, part)
        part.rename(path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)
    return Backup(path, backup.bytes, backup.migrations)


def read_backup(bin: Path, path: Path) -> Backup:
    """Read what a backup contains; Invalid if the file is not a backup of Jobmill."""
    if not path.is_file():
        raise NotFound("the file", path)
    result = subprocess.run(
        [bin / "pg_restore", "--data-only", "--table=jobmill_migration", "--file=-", path],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if result.returncode != 0:
        raise Invalid(f"{path} is not a complete backup: {result.stderr.strip()}")
    _, copy, rest = result.stdout.partition("\nCOPY public.jobmill_migration ")
    if not copy:
        raise Invalid(f"{path} is not a backup of Jobmill: it has no migration history")
    rows = rest.splitlines()[1:]
    names = [row.split("\t")[0] for row in rows[: rows.index("\\.")]]
    return Backup(path, path.stat().st_size, names)


def restore_backup(
    url: str, bin: Path, path: Path, *, replace: bool = False, trusted: bool = False
) -> Backup:
    """Restore a backup into an empty database, or `replace` the database; a failure changes nothing.

    Conflict if the database is not empty or is in use, if a newer Jobmill wrote the backup, or for a
    superuser unless the backup is `trusted`.
    """
    backup = read_backup(bin, path)
    newer = sorted(set(backup.migrations) - set(migrate.list_migrations()))
    if newer:
        raise Conflict(
            f"a newer Jobmill wrote {path} ({newer[-1]} is unknown): upgrade Jobmill first"
        )
    with _translate_errors():
        if not trusted and is_superuser(url):
            raise Conflict(
                "the database role is a superuser, so a prepared backup could run programs on the "
                "server: use a role without SUPERUSER, or add --trusted if the backup is your own"
            )
        if _is_empty(url):
            _fill(url, bin, path)
        elif replace:
            _replace(url, bin, path)
        else:
            raise Conflict(
                "the database is not empty: add --replace to replace everything in it with the backup"
            )
    return backup


def _fill(url: str, bin: Path, path: Path) -> None:
    """Restore in one transaction, with psql: the script of pg_restore starts with a setting that servers older
    than itself do not know."""
    read = [bin / "pg_restore", "--no-owner", "--no-acl", "--file=-", path]
    options = ("--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1")
    write = client_command(bin / "psql", url, *options)
    pipe, nothing, env = subprocess.PIPE, subprocess.DEVNULL, client_environment(url)
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(read, stdin=nothing, stdout=pipe, stderr=errors) as reader,
        subprocess.Popen(write, stdin=pipe, stdout=nothing, stderr=errors, env=env) as writer,
    ):
        script, target = cast(IO[bytes], reader.stdout), cast(IO[bytes], writer.stdin)
        with contextlib.suppress(BrokenPipeError), script, target:
            target.write(b"BEGIN;\n")
            _copy_script(script, target)
            # Do not commit half a backup: psql would treat the end of its input as success.
            if reader.wait() == 0:
                target.write(b"COMMIT;\n")
        if (reader.wait(), writer.wait()) != (0, 0):
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-1000:]
            raise Unavailable(f"the restore failed and changed nothing: {message}")


def _copy_script(script: IO[bytes], target: IO[bytes]) -> None:
    restricted = False
    for line in script:
        # From this line on psql refuses its own commands, with which a prepared backup could run programs.
        restricted |= line.startswith(b"\\restrict ")
        if not restricted and line.strip() and not line.startswith(b"--"):
            raise Unavailable(
                "this pg_restore does not protect against prepared backups: install PostgreSQL 18, "
                "or the newest minor version of yours, and set postgres_bin to its folder"
            )
        if line.strip() != b"SET transaction_timeout = 0;":
            target.write(line)
        # After the settings at the top, a line like that could be data.
        if line.startswith((b"CREATE", b"COPY")):
            break
    shutil.copyfileobj(script, target)


def _replace(url: str, bin: Path, path: Path) -> None:
    """Restore into a new database, then exchange the names of the two databases."""
    suffix = uuid.uuid4().hex[:8]
    name, new, old = _name(url), f"jobmill_new_{suffix}", f"jobmill_old_{suffix}"
    with psycopg.connect(_maintenance_url(url), autocommit=True) as server:
        _refuse_if_used(server, name)
        _create_like(server, name, new)
        try:
            _fill(make_conninfo(url, dbname=new), bin, path)
            with server.transaction():
                # Both or neither. A rename waits or fails while other clients use the database.
                _execute(server, "ALTER DATABASE {} RENAME TO {}", name, old)
                _execute(server, "ALTER DATABASE {} RENAME TO {}", new, name)
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                _execute(server, "DROP DATABASE IF EXISTS {} WITH (FORCE)", new)
            raise
        _execute(server, "DROP DATABASE {}", old)


def is_superuser(url: str) -> bool:
    """Whether the role may run programs on the server."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        return row == (True,)


def _is_empty(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        tables = connection.execute(
            """
            SELECT FROM pg_class
             WHERE relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
             LIMIT 1
            """
        )
        return tables.rowcount == 0


def _name(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


def _maintenance_url(url: str) -> str:
    """The URL of another database of the server: a database cannot be renamed over its own connection."""
    return make_conninfo(url, dbname="postgres")


def _refuse_if_used(server: psycopg.Connection, name: str) -> None:
    # PostgreSQL lists clients that have just disconnected, such as this one, for a moment longer.
    deadline = time.monotonic() + DISCONNECT_SECONDS
    while _is_used(server, name):
        if time.monotonic() > deadline:
            raise Conflict(
                "the database is in use: stop Jobmill, any connection pooler in front of the "
                "database and all other clients, then try again"
            )
        time.sleep(0.05)


def _is_used(server: psycopg.Connection, name: str) -> bool:
    count = server.execute(
        """
        SELECT count(*) FROM pg_stat_activity
         WHERE datname = %s AND backend_type = 'client backend'
        """,
        [name],
    ).fetchone()
    return count != (0,)


def _create_like(server: psycopg.Connection, name: str, new: str) -> None:
    """Create an empty database with the encoding and locale of another."""
    row = server.execute(
        """
        SELECT pg_encoding_to_char(encoding), datcollate, datctype, datlocprovider::text,
               coalesce(to_jsonb(d)->>'datlocale', to_jsonb(d)->>'daticulocale')
          FROM pg_database AS d WHERE datname = %s
        """,
        [name],
    ).fetchone()
    assert row is not None
    encoding, collate, ctype, provider, locale = row
    options: list[sql.Composable] = [
        sql.SQL("ENCODING {} LC_COLLATE {} LC_CTYPE {}").format(encoding, collate, ctype)
    ]
    if provider == "i":
        options.append(sql.SQL("LOCALE_PROVIDER icu ICU_LOCALE {}").format(locale))
    if provider == "b":
        options.append(sql.SQL("LOCALE_PROVIDER builtin BUILTIN_LOCALE {}").format(locale))
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    server.execute(create.format(sql.Identifier(new), sql.SQL(" ").join(options)))


def _execute(server: psycopg.Connection, statement: LiteralString, *names: str) -> None:
    server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextlib.contextmanager
def _translate_errors() -> Generator[None]:
    try:
        yield
    except psycopg.errors.ObjectInUse as error:
        raise Conflict(
            "another client connected to the database during the restore: nothing changed"
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise Conflict(
            f"the server does not allow it ({error.diag.message_primary}): let the role create and own "
            "databases, or restore into an empty database"
        ) from error
    except psycopg.OperationalError as error:
        raise Unavailable(f"PostgreSQL does not answer: {error}") from error


def _run(program: Path, url: str, *arguments: str, out: int | None = None) -> None:
    result = subprocess.run(
        client_command(program, url, "--no-password", *arguments),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        env=client_environment(url),
        text=True,
        errors="replace",
    )
    if result.returncode != 0:
        raise Unavailable(f"{program.name} failed: {_summarize(result.stderr)}")


def _summarize(output: str) -> str:
    """The error messages, without the statement that lists every table."""
    lines = [line for line in output.splitlines() if "detail: Query was:" not in line]
    return "\n".join(lines).strip()[-1000:]


def client_command(program: Path, url: str, *arguments: str) -> list[str]:
    """The command line of a PostgreSQL program; run it with `client_environment`."""
    parts = {name: part for name, part in conninfo_to_dict(url).items() if name != "password"}
    return [str(program), f"--dbname={make_conninfo('', **parts)}", *arguments]


def client_environment(url: str) -> dict[str, str]:
    """The environment with the password, because every user can read the arguments of a process."""
    password = conninfo_to_dict(url).get("password")
    return {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}

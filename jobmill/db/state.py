"""Facts about a database for operators: version, size, connections, migrations."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

import psycopg

from jobmill.db import (
    CONNECTION_ERRORS,
    Tx,
    connect,
    fetch_one,
    migrate,
    open_connection,
    redact_passwords,
)
from jobmill.errors import Unavailable

MIN_MAJOR_VERSION = 15
"""The oldest supported major version of PostgreSQL."""
PATCHED_MINORS = {15: 18, 16: 14, 17: 10, 18: 4}
"""The security releases of 14 May 2026 (CVE-2026-6473 and ten others), for each major version:
https://www.postgresql.org/about/news/postgresql-184-1710-1614-1518-and-1423-released-3297/. Raise
them together with the bundled server."""


@dataclass(frozen=True)
class ServerFacts:
    version: str
    major: int
    bytes: int
    connections: int
    max_connections: int
    clock: dt.datetime


@dataclass(frozen=True)
class DatabaseState:
    facts: ServerFacts
    applied: list[str]
    pending: list[str]
    unknown: list[str]
    edited: list[str] = field(default_factory=list[str])
    """Applied migrations with a file that has changed since."""


def find_missing_patch(version: str) -> str | None:
    """The oldest release with the known security fixes, if this version is older than that."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None:
        return None
    major, minor = int(numbers[1]), int(numbers[2])
    patched = PATCHED_MINORS.get(major, 0)
    return f"{major}.{patched}" if minor < patched else None


async def read_state(url: str) -> DatabaseState:
    """Read the state of a database; Unavailable if the server does not answer."""
    try:
        async with await open_connection(url) as tx:
            return await _read(tx)
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"no PostgreSQL server answers at {redact_passwords(url)}: {error}"
        ) from error


@dataclass(frozen=True)
class DatabaseIdentity:
    name: str
    server_started_at: dt.datetime


async def is_same_database(pooler_url: str, direct_url: str) -> bool | None:
    """Whether both URLs reach the same database of the same server; None if only the pooler answers.

    Unavailable if the pooler does not answer, or does not run transactions.
    """
    try:
        async with (
            connect(pooler_url, size=1, answer_limit=10.0, direct_url=direct_url) as database,
            database.transaction() as tx,
        ):
            pooled = await _read_identity(tx)
    except CONNECTION_ERRORS as error:
        raise Unavailable(
            f"no connection pooler answers at {redact_passwords(pooler_url)}: {error}"
        ) from error
    try:
        async with await open_connection(direct_url) as tx:
            return pooled == await _read_identity(tx)
    except CONNECTION_ERRORS:
        return None


async def _read_identity(tx: Tx) -> DatabaseIdentity | None:
    statement = """
        SELECT current_database() AS name, pg_postmaster_start_time() AS server_started_at
        """
    return await fetch_one(tx, DatabaseIdentity, statement)


async def _read(tx: Tx) -> DatabaseState:
    facts = await fetch_one(
        tx,
        ServerFacts,
        """
        SELECT current_setting('server_version') AS version,
               current_setting('server_version_num')::int / 10000 AS major,
               pg_database_size(current_database()) AS bytes,
               (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
                   AS connections,
               current_setting('max_connections')::int AS max_connections,
               clock_timestamp() AS clock
        """,
    )
    assert facts is not None
    digests = await migrate.list_applied(tx)
    applied = list(digests)
    names = migrate.list_migrations()
    return DatabaseState(
        facts=facts,
        applied=applied,
        pending=[name for name in names if name not in applied],
        unknown=[name for name in applied if name not in names],
        edited=migrate.find_edited(names, digests),
    )

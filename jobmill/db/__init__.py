"""The way to PostgreSQL: a pool, transactions, rows."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeAlias, TypeVar, cast

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import InFailedSqlTransaction, NumericValueOutOfRange
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow, class_row, scalar_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from jobmill.errors import Unavailable

Tx: TypeAlias = AsyncConnection[TupleRow]
"""A connection with a transaction open. Whoever takes one reads and writes, and never commits."""

Params: TypeAlias = Sequence[object] | Mapping[str, object]

T = TypeVar("T")

GONE = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, OSError)
"""What the driver raises when the server went away: try again on a new connection."""

TOO_MUCH = (UnicodeEncodeError, NumericValueOutOfRange)
"""What it raises for words that are not UTF-8, and for numbers of twenty digits."""


def is_gone(error: BaseException) -> bool:
    """Whether `error` says that the server went away, and not that it disliked a statement."""
    if isinstance(error, PoolTimeout):
        return True
    state = getattr(error, "sqlstate", None)
    # 08: connection, 57P: shut down or not yet up, 53: out of connections or memory.
    away = state is None or state[:2] in ("08", "53") or state[:3] == "57P"
    return isinstance(error, psycopg.OperationalError) and away


class Database:
    def __init__(self, url: str, pool: AsyncConnectionPool[Tx]) -> None:
        self.url = url
        self._pool = pool

    @asynccontextmanager
    async def transaction(self, *, by: str = "") -> AsyncGenerator[Tx]:
        """Commit when the block ends, roll back when it raises or has swallowed a failure.

        `by`: who changes something, for the record; else it was done on this machine.
        """
        async with self._pool.connection() as connection, connection.transaction():
            if by:
                # No query: after one it would be too late to ask for a frozen view.
                await connection.execute(sql.SQL("SET LOCAL jobmill.actor = {}").format(by))
            yield connection
            if connection.info.transaction_status == TransactionStatus.INERROR:
                # PostgreSQL would answer COMMIT with a rollback, and nobody would know.
                raise InFailedSqlTransaction(
                    "a statement failed here and its error was passed over"
                )


@asynccontextmanager
async def connect(url: str, *, size: int = 8, options: str = "") -> AsyncGenerator[Database]:
    """Open a pool; `options` are for the server (`-c name=value`); Unavailable, with the server's own words, if nobody answers."""
    try:
        async with await open_connection(url, options=options):
            pass
    except psycopg.OperationalError as error:
        raise Unavailable(f"no PostgreSQL answers at {redacted(url)}: {error}") from error
    async with AsyncConnectionPool[Tx](
        url,
        kwargs=_kwargs(options),
        min_size=1,
        max_size=size,
        open=False,
        name="jobmill",
        # Ask the server anew for every caller rather than wait longer and longer between tries.
        timeout=10,
        reconnect_timeout=1,
        # A server that was away has left dead connections behind: nobody is handed one.
        check=AsyncConnectionPool[Tx].check_connection,
    ) as pool:
        yield Database(url, pool)


async def open_connection(url: str, *, options: str = "") -> Tx:
    """One connection outside the pool, for those who hold it long: listeners and pumps."""
    return await AsyncConnection.connect(url, connect_timeout=10, **_kwargs(options))


async def listen(url: str, channel: LiteralString) -> AsyncGenerator[str]:
    """What is said on a channel, on a connection of its own; first an empty word, once we listen."""
    async with await open_connection(url) as connection:
        await connection.execute(f"LISTEN {channel}")
        yield ""
        async for notice in connection.notifies():
            yield notice.payload


def _kwargs(options: str) -> dict[str, Any]:
    # autocommit: only `transaction()` opens one, so no stray SELECT leaves one open.
    # A process that is stopped amid a transaction must not keep what it has locked for ever.
    limit = "-c idle_in_transaction_session_timeout=60s"
    # A day has 24 hours, whatever the clocks of the server's town do.
    zone = "-c timezone=UTC"
    return {
        "autocommit": True,
        "application_name": "jobmill",
        "options": f"{limit} {zone} {options}".strip(),
    }


def redacted(url: str) -> str:
    """The URL without its password, for logs and error texts."""
    parts = {name: part for name, part in conninfo_to_dict(url).items() if name != "password"}
    return make_conninfo("", **parts)


async def rows(tx: Tx, kind: type[T], sql: LiteralString, params: Params = ()) -> list[T]:
    """All rows, each as a `kind` made from its columns."""
    cursor = tx.cursor(row_factory=class_row(kind))
    await cursor.execute(sql, params)
    return await cursor.fetchall()


async def row(tx: Tx, kind: type[T], sql: LiteralString, params: Params = ()) -> T | None:
    """The first row, or None."""
    cursor = tx.cursor(row_factory=class_row(kind))
    await cursor.execute(sql, params)
    return await cursor.fetchone()


async def value(
    tx: Tx, kind: Callable[[Any], T], sql: LiteralString, params: Params = ()
) -> T | None:
    """The first column of the first row, or None."""
    cursor = tx.cursor(row_factory=scalar_row)
    await cursor.execute(sql, params)
    found = await cursor.fetchone()
    return None if found is None else kind(found)


def moment(found: dt.datetime | None) -> dt.datetime | None:
    """For `value`: a time, which may be null."""
    return found


def as_json(records: Sequence[Mapping[str, object]]) -> str:
    """Rows for `json_populate_recordset`: one parameter, however many columns they have."""
    return json.dumps(records, default=_plain)


def _plain(one: object) -> str:
    return f"\\x{one.hex()}" if isinstance(one, bytes) else cast(dt.datetime, one).isoformat()

"""PostgreSQL connections: a pool, transactions, and helpers that fetch rows."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime as dt
import json
import logging
import math
import operator
import os
import select
import socket
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, LiteralString, TypeAlias, TypeVar, cast
from urllib.parse import quote, urlencode

import psycopg
from psycopg import AsyncConnection, errors, sql
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import InFailedSqlTransaction, NumericValueOutOfRange
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow, class_row, scalar_row
from psycopg.waiting import READY_R, READY_W, WAIT_R, WAIT_W
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from jobmill.errors import Unavailable

log = logging.getLogger(__name__)

Tx: TypeAlias = AsyncConnection[TupleRow]
"""A connection with an open transaction. A function that takes one reads and writes, and never commits."""

Params: TypeAlias = Sequence[object] | Mapping[str, object]

T = TypeVar("T")

CONNECTION_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, OSError)
"""What the driver raises when the server is unreachable: try again on a new connection."""

ENDED_SESSION = (errors.IdleInTransactionSessionTimeout, errors.IdleSessionTimeout)
"""PostgreSQL ended the session because the client was silent for too long."""

SCHEMA_MISMATCH = (
    errors.UndefinedColumn,
    errors.UndefinedTable,
    errors.UndefinedFunction,
    errors.UndefinedObject,
    errors.InvalidSchemaName,
)

SESSION: Mapping[str, str] = {
    # A process that is stopped during a transaction must not keep its locks for ever.
    "idle_in_transaction_session_timeout": "60s",
    # A day has 24 hours, whatever the time zone of the server.
    "timezone": "UTC",
}
"""Server settings of every connection."""

PASSWORDS = (
    "password",
    "sslpassword",
    "oauth_client_secret",
    "scram_client_key",
    "scram_server_key",
)
"""Parts of a connection string that are never shown."""

CHECK_LIMIT = 3.0
"""Seconds within which a pooled connection must answer before a caller gets it."""

RECENT_SECONDS = 1.0
"""A connection that answered within this time is checked without a query."""

LISTEN_CHECK = 5.0
"""Seconds between checks of a connection that only listens."""

UNSTORABLE_VALUES = (UnicodeEncodeError, NumericValueOutOfRange)
"""What the driver raises for text that is not UTF-8 and for numbers that are out of range."""


def is_connection_lost(error: BaseException) -> bool:
    """Whether the server became unreachable, as opposed to refusing a statement."""
    if isinstance(error, PoolTimeout):
        return True
    if isinstance(error, ENDED_SESSION):
        return True
    state = getattr(error, "sqlstate", None)
    # 08: connection, 57P: shutting down or starting up, 53: out of connections or memory.
    unreachable = state is None or state[:2] in ("08", "53") or state[:3] == "57P"
    return isinstance(error, psycopg.OperationalError) and unreachable


def is_schema_mismatch(error: BaseException) -> bool:
    """Whether the schema is not the one that this version of the code expects."""
    return isinstance(error, SCHEMA_MISMATCH) or (
        isinstance(error, errors.FeatureNotSupported) and "cached plan" in str(error)
    )


class Connection(AsyncConnection[TupleRow]):
    """A connection that breaks when the server takes longer than `answer_limit` seconds to answer.

    A network that drops packets or a frozen server reports no error, so without a limit the caller would
    wait for ever. The caller gets the same OperationalError as for a reset connection.
    """

    answer_limit: float | None = None
    answered_at: float = -math.inf
    """When the server answered last, by the monotonic clock."""

    async def wait(self, gen: PQGen[Any], *args: Any, **kwargs: Any) -> Any:
        gen = _without_write_waits(gen, self.pgconn.socket)
        limit = self.answer_limit
        if limit is None:
            result = await super().wait(gen, *args, **kwargs)
            self.answered_at = time.monotonic()
            return result
        watchdog = asyncio.get_running_loop().call_later(limit, self.abort)
        try:
            result = await super().wait(gen, *args, **kwargs)
            self.answered_at = time.monotonic()
            return result
        except psycopg.OperationalError as error:
            # psycopg first asks the server to cancel; if that wait breaks, the task is still cancelled.
            task = asyncio.current_task()
            if isinstance(error.__context__, asyncio.CancelledError) and task and task.cancelling():
                raise asyncio.CancelledError from error
            raise
        finally:
            watchdog.cancel()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        try:
            await super().__aexit__(exc_type, exc_val, exc_tb)
        finally:
            # psycopg does not close a connection if its rollback was cancelled, as with a dead network.
            if not getattr(self, "_pool", None):
                await self.close()

    def abort(self) -> None:
        """Shut the socket down, which wakes the caller; cancelling would first ask the server to stop."""
        with contextlib.suppress(psycopg.Error, OSError):
            log.warning("PostgreSQL does not answer", extra={"seconds": self.answer_limit})
            with socket.socket(fileno=os.dup(self.pgconn.socket)) as handle:
                handle.shutdown(socket.SHUT_RDWR)


def _without_write_waits(gen: PQGen[T], fileno: int) -> PQGen[T]:
    """Wait for the event loop only if the socket takes no more data, which is rare.

    In pipeline mode the driver waits twice per statement until the socket is writable.
    """
    try:
        state = next(gen)
        while True:
            ready = _poll(fileno, state) if state & WAIT_W else 0
            state = gen.send(ready or (yield state))
    except StopIteration as end:
        return end.value


def _poll(fileno: int, state: int) -> int:
    """What the socket is ready for right now, of what the driver waits for."""
    poll = select.poll()
    wanted = (select.POLLIN if state & WAIT_R else 0) | (select.POLLOUT if state & WAIT_W else 0)
    poll.register(fileno, wanted)
    for _, events in poll.poll(0):
        return (READY_R if events & ~select.POLLOUT else 0) | (
            READY_W if events & ~select.POLLIN else 0
        )
    return 0


class Database:
    def __init__(
        self,
        url: str,
        pool: AsyncConnectionPool[Connection],
        *,
        direct_url: str = "",
        begin: Mapping[str, str] | None = None,
    ) -> None:
        self.url = url
        self.direct_url = direct_url or url
        """Reaches the server without a connection pooler; used by LISTEN and by workers."""
        self._pool = pool
        self._begin = _set_local(begin) if begin else None

    @asynccontextmanager
    async def transaction(self, *, by: str = "") -> AsyncGenerator[Tx]:
        """Commit when the block ends, roll back when it raises or has swallowed a failure.

        `by`: the actor that the audit log records; the default is this machine.
        """
        async with self._pool.connection() as connection, connection.transaction():
            # After SET, a transaction can still choose its isolation level.
            if self._begin:
                await connection.execute(self._begin)
            if by:
                await connection.execute(_set_local({"jobmill.actor": by}))
            yield connection
            if connection.info.transaction_status == TransactionStatus.INERROR:
                # PostgreSQL would answer COMMIT with a rollback, and report no error.
                raise InFailedSqlTransaction(
                    "a statement of this transaction failed and its error was ignored"
                )


@asynccontextmanager
async def pipelined(tx: Tx) -> AsyncGenerator[None]:
    """Send statements without waiting for the results of those before; all have arrived when it ends.

    Inside another such block the outer one waits: the driver would wait at both ends of the inner one.
    """
    if tx.info.pipeline_status:
        yield
    else:
        async with tx.pipeline():
            yield


@asynccontextmanager
async def connect(
    url: str,
    *,
    size: int = 8,
    options: Mapping[str, str] | None = None,
    answer_limit: float | None = None,
    direct_url: str = "",
) -> AsyncGenerator[Database]:
    """Open a pool; Unavailable, with the message of the driver, if no server answers.

    `options`: server settings for every connection. `answer_limit`: seconds to wait for an answer; the
    server cancels a statement a little sooner. `direct_url`: set if `url` is a connection pooler in
    transaction mode, which keeps neither session settings nor prepared statements.
    """
    session = _session(options, answer_limit)
    kwargs = _kwargs(url, session, pooler=bool(direct_url))
    try:
        # The pool itself would report only that time ran out.
        unused = [await Connection.connect(url, **kwargs)]
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"no PostgreSQL server answers at {redact_passwords(url)}: {error}"
        ) from error

    class PooledConnection(Connection):
        """The pool takes the connection that is open already before it opens others."""

        @classmethod
        async def connect(cls, *args: Any, **kwargs: Any) -> Connection:
            return unused.pop() if unused else await Connection.connect(*args, **kwargs)

    async def limit(connection: Connection) -> None:
        connection.answer_limit = answer_limit

    pool = AsyncConnectionPool[Connection](
        url,
        connection_class=PooledConnection,
        configure=limit,
        kwargs=kwargs,
        min_size=1,
        max_size=size,
        open=False,
        name="jobmill",
        # Try to connect for every caller instead of backing off between attempts.
        timeout=10,
        reconnect_timeout=1,
        check=_check,
    )
    try:
        async with pool:
            yield Database(url, pool, direct_url=direct_url, begin=session if direct_url else None)
    finally:
        # A pool that is closed at once takes none.
        for connection in unused:
            await connection.close()


async def open_connection(
    url: str, *, options: Mapping[str, str] | None = None, answer_limit: float | None = None
) -> Connection:
    """Open one connection outside the pool, for callers that keep it: listeners, claims, heartbeats."""
    kwargs = _kwargs(url, _session(options, answer_limit))
    connection = await Connection.connect(url, **kwargs)
    connection.answer_limit = answer_limit
    return connection


async def listen(url: str, channel: LiteralString) -> AsyncGenerator[str]:
    """Payloads of a channel, on a dedicated connection. The first is empty and says that it listens now."""
    async with await open_connection(url, answer_limit=2 * LISTEN_CHECK) as connection:
        await connection.execute(f"LISTEN {channel}")
        yield ""
        while True:
            async for notify in connection.notifies(timeout=LISTEN_CHECK):
                yield notify.payload
            # A dead connection delivers nothing and reports no error: check that it still answers.
            await connection.execute("SELECT 1")


def _session(options: Mapping[str, str] | None, answer_limit: float | None) -> Mapping[str, str]:
    """The server settings of a connection.

    The server cancels a statement before the client stops waiting for its answer. Otherwise a client that
    hangs up would leave its statement running with its locks, and the next attempt would wait for them.
    """
    limits: dict[str, str] = {}
    if answer_limit:
        milliseconds = f"{answer_limit * 800:.0f}ms"
        limits["statement_timeout"] = milliseconds
        limits["idle_in_transaction_session_timeout"] = milliseconds
    return {**SESSION, **limits, **(options or {})}


async def _check(connection: Connection) -> None:
    """Keep callers from getting a dead connection after the server was unreachable.

    A server that stops closes the connection, which shows without a query. Only a network or a machine
    that dies in silence needs one. If that happens within a second, the caller's statement ends at the
    connection's limit; without a limit it would wait, so that such a connection is always asked.
    """
    is_recent = time.monotonic() - connection.answered_at < RECENT_SECONDS
    if connection.answer_limit and is_recent and not _poll(connection.pgconn.socket, WAIT_R):
        return
    limit, connection.answer_limit = connection.answer_limit, CHECK_LIMIT
    try:
        await AsyncConnectionPool.check_connection(connection)
    finally:
        connection.answer_limit = limit


def _set_local(settings: Mapping[str, str]) -> sql.Composed:
    return sql.SQL("; ").join(
        sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(*name.split(".")), value)
        for name, value in settings.items()
    )


def _kwargs(url: str, session: Mapping[str, str], *, pooler: bool = False) -> dict[str, Any]:
    parameters = conninfo_to_dict(url)
    network: dict[str, Any] = {
        # A frozen server accepts connections and never answers: with several hosts, try the next one soon.
        "connect_timeout": 3 if "," in str(parameters.get("host", "")) else 10,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
    }
    kwargs: dict[str, Any] = {
        name: value for name, value in network.items() if name not in parameters
    } | {
        # Only `transaction()` opens a transaction, so a stray SELECT cannot leave one open.
        "autocommit": True,
        "application_name": "jobmill",
    }
    if pooler:
        return kwargs | {"prepare_threshold": None}
    flags = [f"-c {name}={value}" for name, value in session.items()]
    return kwargs | {"options": " ".join([str(parameters.get("options") or ""), *flags]).strip()}


def redact_passwords(url: str) -> str:
    """A connection string without its passwords, for logs and error messages."""
    parts = {name: part for name, part in conninfo_to_dict(url).items() if name not in PASSWORDS}
    return make_conninfo("", **parts)


def to_url(conninfo: str) -> str:
    """Convert a connection string to a URL, for programs that accept no other form."""
    if conninfo.startswith(("postgresql://", "postgres://")):
        return conninfo
    parts = {name: str(part) for name, part in conninfo_to_dict(conninfo).items()}
    user, password, name = (
        quote(parts.pop(key, ""), safe="") for key in ("user", "password", "dbname")
    )
    login = f"{user}:{password}@" if password else f"{user}@" if user else ""
    # PostgreSQL does not read a plus sign as a space.
    query = urlencode(parts, safe="/,", quote_via=quote)
    return f"postgresql://{login}/{name}" + (f"?{query}" if query else "")


async def fetch_all(tx: Tx, kind: type[T], sql: LiteralString, params: Params = ()) -> list[T]:
    """All rows, each as a `kind` constructed from its columns."""
    cursor = tx.cursor(row_factory=class_row(kind))
    await cursor.execute(sql, params)
    return await cursor.fetchall()


async def fetch_one(tx: Tx, kind: type[T], sql: LiteralString, params: Params = ()) -> T | None:
    """The first row, or None."""
    cursor = tx.cursor(row_factory=class_row(kind))
    await cursor.execute(sql, params)
    return await cursor.fetchone()


async def fetch_value(
    tx: Tx, kind: Callable[[Any], T], sql: LiteralString, params: Params = ()
) -> T | None:
    """The first column of the first row, or None."""
    cursor = tx.cursor(row_factory=scalar_row)
    await cursor.execute(sql, params)
    column = await cursor.fetchone()
    return None if column is None else kind(column)


async def fetch_single(tx: Tx, kind: type[T], sql: LiteralString, params: Params = ()) -> T:
    """The row of a statement that always returns one."""
    row = await fetch_one(tx, kind, sql, params)
    assert row is not None
    return row


async def fetch_single_value(
    tx: Tx, kind: Callable[[Any], T], sql: LiteralString, params: Params = ()
) -> T:
    """The first column of the row of a statement that always returns one."""
    value = await fetch_value(tx, kind, sql, params)
    assert value is not None
    return value


async def fetch_or_raise(
    tx: Tx, kind: type[T], sql: LiteralString, params: Params, missing: Exception
) -> T:
    """The first row; raises `missing` if there is none."""
    row = await fetch_one(tx, kind, sql, params)
    if row is None:
        raise missing
    return row


@asynccontextmanager
async def unique_or_raise(tx: Tx, taken: Exception) -> AsyncGenerator[None]:
    """Run a statement that a unique constraint may refuse; raises `taken` if it does. The transaction
    stays usable."""
    try:
        async with tx.transaction():
            yield
    except errors.UniqueViolation as error:
        raise taken from error


def optional_time(column: dt.datetime | None) -> dt.datetime | None:
    """The `kind` for `fetch_value` of a time that may be null."""
    return column


def rows_to_json(records: Sequence[Mapping[str, object]]) -> str:
    """Encode rows for `json_populate_recordset`, as one parameter however many columns they have."""
    return json.dumps(records, default=_encode_value)


def make_row_encoder(kind: type[T]) -> Callable[[T], Mapping[str, object]]:
    """Make the function that returns the fields of a dataclass by name, for `rows_to_json`."""
    names = [field.name for field in dataclasses.fields(cast(Any, kind))]
    get_fields = operator.attrgetter(*names)
    return lambda record: dict(zip(names, get_fields(record), strict=True))


def _encode_value(value: object) -> str:
    return f"\\x{value.hex()}" if isinstance(value, bytes) else cast(dt.datetime, value).isoformat()

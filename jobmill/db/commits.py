"""Finds out whether a transaction committed when the answer to its COMMIT was lost."""

from __future__ import annotations

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from jobmill.db import Tx, fetch_value


async def request_transaction_id(tx: Tx) -> AsyncCursor[TupleRow]:
    """Send the statement whose result `fetch_transaction_id` reads; the caller may be in pipeline mode."""
    return await tx.execute("SELECT pg_current_xact_id_if_assigned()::text")


async def fetch_transaction_id(cursor: AsyncCursor[TupleRow]) -> str | None:
    """The id of the transaction; None if it had written nothing."""
    row = await cursor.fetchone()
    return row[0] if row else None


async def is_committed(tx: Tx, transaction: str) -> bool | None:
    """Whether a transaction committed; None while it is running, or if it is too old to be known."""
    status = await fetch_value(tx, _text, "SELECT pg_xact_status(%s::text::xid8)", [transaction])
    return {"committed": True, "aborted": False}.get(status or "")


def _text(column: str | None) -> str | None:
    return column

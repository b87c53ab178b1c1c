"""Finds out whether a transaction committed when the answer to its COMMIT was lost."""

from __future__ import annotations

from jobmill.db import Tx, fetch_value


async def transaction_id(tx: Tx) -> str | None:
    """The id of this transaction; None while it has written nothing."""
    return await fetch_value(tx, _text, "SELECT pg_current_xact_id_if_assigned()::text")


async def is_committed(tx: Tx, transaction: str) -> bool | None:
    """Whether a transaction committed; None while it is running, or if it is too old to be known."""
    status = await fetch_value(tx, _text, "SELECT pg_xact_status(%s::text::xid8)", [transaction])
    return {"committed": True, "aborted": False}.get(status or "")


def _text(column: str | None) -> str | None:
    return column

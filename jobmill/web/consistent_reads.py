"""Reads that are right whether or not a worker runs: what the clock has decided is done first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from jobmill.db import Tx
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.web.dependencies import RequestDatabase

T = TypeVar("T")

Due = Callable[[Tx], Awaitable[list[int]]]


LONG_TIMEOUT = 60.0
"""Seconds that a read of a whole log may take, or taking back ten thousand offers at once."""


async def read_opening(
    db: RequestDatabase,
    id: int,
    work: Callable[[Tx], Awaitable[T]],
    *,
    patience: float | None = None,
) -> T:
    """Read about an opening, at one moment."""
    return await _read(db, lambda tx: applicant_lists.find_overdue_opening(tx, id), work, patience)


async def read_applicant(db: RequestDatabase, id: int, work: Callable[[Tx], Awaitable[T]]) -> T:
    """Read about a person, at one moment."""
    return await _read(db, lambda tx: applicant_lists.find_overdue_openings_of(tx, id), work)


async def _read(
    db: RequestDatabase,
    find: Due,
    work: Callable[[Tx], Awaitable[T]],
    patience: float | None = None,
) -> T:
    async with db.transaction(patience) as tx:
        await applicant_lists.begin_snapshot(tx)
        due = await find(tx)
        if not due:
            return await work(tx)
    for id in due:
        await expire_overdue_offers(db, id)
    async with db.transaction(patience) as tx:
        await applicant_lists.begin_snapshot(tx)
        return await work(tx)


async def expire_overdue_offers(db: RequestDatabase, id: int) -> None:
    """Do what the clock has decided about an opening."""
    async with db.transaction(LONG_TIMEOUT) as tx, lock_and_expire_offers(tx, id, SYSTEM):
        pass

"""Reads of one instant that take back expired offers first, so that they do not depend on a worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from jobmill.db import Tx
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.waitlist import overdue_offers
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.web.dependencies import RequestDatabase

T = TypeVar("T")

FindOverdue = Callable[[Tx], Awaitable[list[int]]]

LONG_TIMEOUT = 60.0
"""Seconds for reading a complete audit log, or for taking back ten thousand offers at once."""


async def read_opening(
    db: RequestDatabase,
    id: int,
    work: Callable[[Tx], Awaitable[T]],
    *,
    time_limit: float | None = None,
) -> T:
    """Run `work` on a snapshot in which the opening has no expired offers."""
    return await _read(db, lambda tx: overdue_offers.find_overdue_opening(tx, id), work, time_limit)


async def read_applicant(db: RequestDatabase, id: int, work: Callable[[Tx], Awaitable[T]]) -> T:
    """Run `work` on a snapshot in which the applicant's openings have no expired offers."""
    return await _read(db, lambda tx: overdue_offers.find_overdue_openings_of(tx, id), work)


async def _read(
    db: RequestDatabase,
    find_overdue: FindOverdue,
    work: Callable[[Tx], Awaitable[T]],
    time_limit: float | None = None,
) -> T:
    async with db.transaction(time_limit, reads_only=True) as tx:
        await overdue_offers.begin_snapshot(tx)
        overdue = await find_overdue(tx)
        if not overdue:
            return await work(tx)
    for id in overdue:
        await expire_overdue_offers(db, id)
    async with db.transaction(time_limit, reads_only=True) as tx:
        await overdue_offers.begin_snapshot(tx)
        return await work(tx)


async def expire_overdue_offers(db: RequestDatabase, id: int) -> None:
    """Take back the expired offers of an opening and offer their slots to the next."""
    async with db.transaction(LONG_TIMEOUT) as tx, lock_and_expire_offers(tx, id, SYSTEM):
        pass

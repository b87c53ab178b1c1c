"""Commits moves that have a `save`, several in one transaction.

A commit costs more than most saves, so saves that wait at the same time share one. If one of them fails,
the transaction is rolled back and each save is repeated in a transaction of its own, so that one bad
`save` only costs the others time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from jobmill.db import Database, Tx, is_connection_lost
from jobmill.queue import leases
from jobmill.queue.held_lease import HeldLease
from jobmill.queue.items import AcceptedItem, Claim, NewItem, RefusedItem
from jobmill.queue.settlement import (
    Settlement,
    SettlementResult,
    settle_batch,
    spawn_awaited_item,
)
from jobmill.queue.settler import RACE_ERRORS, TIMEOUT_ERRORS, log_results
from jobmill.queue.stages import Move, WaitFor

MAX_GROUP_SIZE = 50

SAVE_TIMEOUT = 60.0
"""Seconds after which a save that hangs is cancelled, because the others of its group wait for it."""


class ClaimLostMidway(Exception):
    """A worker was marked as gone while its settlement was being written: roll back and settle again."""


class _PendingSave(NamedTuple):
    settlement: Settlement
    move: Move
    done: asyncio.Future[None]

    def resolve(self, error: Exception | None = None) -> None:
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


class GroupCommitter:
    def __init__(self, db: Database, lease: HeldLease) -> None:
        self._db = db
        self._lease = lease
        self._pending: asyncio.Queue[_PendingSave] = asyncio.Queue()

    async def save(self, settlement: Settlement, move: Move) -> None:
        """Return when the move and its save are committed, or raise what `save` raised.

        Also returns, with nothing committed, when the lease was lost: the claim is void.
        """
        done = asyncio.get_running_loop().create_future()
        self._pending.put_nowait(_PendingSave(settlement, move, done))
        await done

    async def run(self) -> None:
        """Commit pending saves until cancelled; a worker runs several of these loops."""
        while True:
            group = [await self._pending.get()]
            while len(group) < MAX_GROUP_SIZE and not self._pending.empty():
                group.append(self._pending.get_nowait())
            await self._commit(group)

    async def _commit(self, group: list[_PendingSave], in_doubt: Collection[Claim] = ()) -> None:
        """Commit a group, or each save alone; repeat while the database is unreachable. `in_doubt`:
        claims whose group may have been committed before."""
        delay = 0.1
        started = time.monotonic()
        while group := self._drop_void(group):
            try:
                moves = [(pending.settlement, pending.move) for pending in group]
                # The worker id of the claims: the lease may be lost while this waits for a connection.
                worker = group[0].settlement.work.worker
                with self._lease.outages.watch():
                    async with asyncio.timeout(SAVE_TIMEOUT), self._db.transaction() as tx:
                        results = await settle_and_save(tx, worker, moves)
            except Exception as error:  # noqa: BLE001
                if is_connection_lost(error):
                    # It may have been committed: repeating it finds out, because the fence refuses a
                    # second settlement.
                    in_doubt = {pending.settlement.work.claim for pending in group}
                elif len(group) > 1:
                    for pending in group:
                        await self._commit([pending], in_doubt)
                    return
                elif not _is_worth_repeating(error, started):
                    group[0].resolve(error)
                    return
                await asyncio.sleep(delay)
                delay = min(delay * 2, 2.0)
            else:
                log_results(results, in_doubt=in_doubt)
                for pending in group:
                    pending.resolve()
                return
        self._lease.outages.forget()

    def _drop_void(self, group: list[_PendingSave]) -> list[_PendingSave]:
        """Drop saves that were cancelled at their run limit or claimed under a lease that is lost."""
        current: list[_PendingSave] = []
        for pending in group:
            if pending.settlement.work.worker != self._lease.worker:
                pending.resolve()
            elif not pending.done.done():
                current.append(pending)
        return current


async def settle_and_save(
    tx: Tx, worker: int, moves: Sequence[tuple[Settlement, Move]]
) -> list[SettlementResult]:
    """Settle first, because the settlement is the fence: a stale claim must save nothing."""
    lost: list[SettlementResult] = []
    current: list[tuple[Settlement, Move]] = []
    awaited: dict[Claim, AcceptedItem | RefusedItem] = {}
    claims: set[Claim] = set()
    for requested, move in moves:
        settlement: Settlement | None = requested
        if requested.work.claim in claims:
            # `settle_batch` takes the first outcome of a claim, so a second one must not spawn its
            # awaited item.
            settlement = None
        elif _spawns_awaited_item(move):
            spawned = await spawn_awaited_item(tx, requested, move)
            settlement = None
            if spawned:
                settlement, awaited[requested.work.claim] = spawned
        claims.add(requested.work.claim)
        if settlement is None:
            lost.append(SettlementResult(requested.work, lost=True))
        else:
            current.append((settlement, move))
    results = await settle_batch(tx, worker, [settlement for settlement, _ in current])
    for (_, move), result in zip(current, results, strict=True):
        if result.lost and _spawns_awaited_item(move):
            # The claim held when the awaited item was spawned: take that item back, too.
            raise ClaimLostMidway
    await leases.notify_idle_workers(tx, worker)
    for (_, move), result in zip(current, results, strict=True):
        if move.save and result.moved:
            await move.save(tx)
    return [_with_awaited(result, awaited) for result in results] + lost


def _with_awaited(
    result: SettlementResult, awaited: Mapping[Claim, AcceptedItem | RefusedItem]
) -> SettlementResult:
    answer = awaited.get(result.work.claim)
    return result._replace(children=[*result.children, answer]) if answer else result


def _spawns_awaited_item(move: Move) -> TypeGuard[WaitFor]:
    return isinstance(move, WaitFor) and isinstance(move.item, NewItem)


def _is_worth_repeating(error: Exception, started: float) -> bool:
    in_time = time.monotonic() - started < SAVE_TIMEOUT
    return isinstance(error, (*RACE_ERRORS, ClaimLostMidway)) or (
        isinstance(error, TIMEOUT_ERRORS) and in_time
    )

"""Commits moves that have a `save`: several in one transaction while all goes well.

A commit costs more than most saves, so those that wait share one. Where any of them fails, nothing of
the group is committed, and each is done again in a transaction of its own: one bad `save` costs the
others nothing but time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from jobmill.db import Database, Tx, is_connection_lost
from jobmill.queue.items import Claim, NewItem
from jobmill.queue.pump import RACE_ERRORS, TIMEOUT_ERRORS, Pump, log_results
from jobmill.queue.stages import Move, WaitFor

from . import leases
from .settlement import Settlement, SettlementResult, settle_batch, spawn_awaited_item

MAX_GROUP_SIZE = 50

SAVE_TIMEOUT = 60.0
"""Seconds after which a save that hangs is given up, before it keeps all the others waiting."""


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
    def __init__(self, db: Database, pump: Pump) -> None:
        self._db = db
        self._pump = pump
        self._waiting: asyncio.Queue[_PendingSave] = asyncio.Queue()

    async def save(self, settlement: Settlement, move: Move) -> None:
        """Return when the move and what it saves are committed, or raise what `save` raised.

        Also returns, with nothing committed, when the lease was lost: the claim is void.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(_PendingSave(settlement, move, done))
        await done

    async def run(self) -> None:
        """Commit what waits, until cancelled; a few of these run side by side."""
        while True:
            group = [await self._waiting.get()]
            while len(group) < MAX_GROUP_SIZE and not self._waiting.empty():
                group.append(self._waiting.get_nowait())
            await self._commit(group)

    async def _commit(self, group: list[_PendingSave]) -> None:
        """Commit a group, or each of it apart, however often the database goes away meanwhile."""
        patience = 0.1
        started = time.monotonic()
        in_doubt: set[Claim] = set()
        while group := self._current(group):
            try:
                moves = [(pending.settlement, pending.move) for pending in group]
                # The worker that claimed them: the lease may be lost while this waits for a connection.
                worker = group[0].settlement.work.worker
                with self._pump.outages.watch():
                    async with asyncio.timeout(SAVE_TIMEOUT), self._db.transaction() as tx:
                        answers = await settle_and_save(tx, worker, moves)
            except Exception as error:  # noqa: BLE001
                if is_connection_lost(error):
                    # It may have committed or not: doing it again finds out, by the fence.
                    in_doubt = {pending.settlement.work.claim for pending in group}
                elif len(group) > 1:
                    for pending in group:
                        await self._commit([pending])
                    return
                elif not _is_worth_repeating(error, started):
                    group[0].resolve(error)
                    return
                await asyncio.sleep(patience)
                patience = min(patience * 2, 2.0)
            else:
                log_results(answers, in_doubt=in_doubt)
                for pending in group:
                    pending.resolve()
                return
        self._pump.outages.forget()

    def _current(self, group: list[_PendingSave]) -> list[_PendingSave]:
        """Without those that were cancelled at their run limit, or claimed under a lease since lost."""
        current: list[_PendingSave] = []
        for pending in group:
            if pending.settlement.work.worker != self._pump.worker:
                pending.resolve()
            elif not pending.done.done():
                current.append(pending)
        return current


async def settle_and_save(
    tx: Tx, worker: int, moves: Sequence[tuple[Settlement, Move]]
) -> list[SettlementResult]:
    """Move the items first: that is the fence, and a stale claim saves nothing."""
    lost: list[SettlementResult] = []
    held: list[tuple[Settlement, Move]] = []
    claims: set[Claim] = set()
    for settlement, move in moves:
        current: Settlement | None = settlement
        if settlement.work.claim in claims:
            # `settle` takes the first outcome of a claim, so no other may spawn what it waits for.
            current = None
        elif isinstance(move, WaitFor) and isinstance(move.item, NewItem):
            current = await spawn_awaited_item(tx, settlement.work, move)
        claims.add(settlement.work.claim)
        if current is None:
            lost.append(SettlementResult(settlement.work, lost=True))
        else:
            held.append((current, move))
    answers = await settle_batch(tx, worker, [settlement for settlement, _ in held])
    await leases.notify_idle_workers(tx, worker)
    for (_, move), answer in zip(held, answers, strict=True):
        if move.save and answer.moved:
            await move.save(tx)
    return answers + lost


def _is_worth_repeating(error: Exception, started: float) -> bool:
    in_time = time.monotonic() - started < SAVE_TIMEOUT
    return isinstance(error, RACE_ERRORS) or (isinstance(error, TIMEOUT_ERRORS) and in_time)

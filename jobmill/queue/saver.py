"""Commits moves that have a `save`: several in one transaction while all goes well.

A commit costs more than most saves, so those that wait share one. Where any of them fails, nothing of
the group is committed, and each is done again in a transaction of its own: one bad `save` costs the
others nothing but time.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from psycopg import errors

from jobmill.db import Database, Tx, is_gone
from jobmill.queue import crew
from jobmill.queue.pump import Pump, report
from jobmill.queue.settle import Answer, Settlement, settle, spawn_and_wait
from jobmill.queue.work import ItemId, Move, New, WaitFor

TOGETHER = 50
RACES = (errors.DeadlockDetected, errors.SerializationFailure)
"""Two got in each other's way: neither is to blame, and what a stage found is not thrown away."""
LONGEST = 60.0
"""Seconds after which a save that hangs is given up, before it keeps all the others waiting."""


class _Waiting(NamedTuple):
    one: Settlement
    move: Move
    done: asyncio.Future[None]


class Saver:
    def __init__(self, db: Database, pump: Pump) -> None:
        self._db = db
        self._pump = pump
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue()

    async def save(self, one: Settlement, move: Move) -> None:
        """Return when the move and what it saves are committed, or raise what `save` raised."""
        done = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(_Waiting(one, move, done))
        await done

    async def run(self) -> None:
        """Commit what waits, until cancelled; a few of these run side by side."""
        while True:
            group = [await self._waiting.get()]
            while len(group) < TOGETHER and not self._waiting.empty():
                group.append(self._waiting.get_nowait())
            # Who was cancelled meanwhile, at its run limit, must not be committed.
            group = [one for one in group if not one.done.done()]
            await self._commit(group)

    async def _commit(self, group: list[_Waiting]) -> None:
        """Commit a group, or each of it apart, however often the database goes away meanwhile."""
        patience = 0.1
        in_doubt: set[ItemId] = set()
        while group:
            try:
                async with asyncio.timeout(LONGEST), self._db.transaction() as tx:
                    answers = await self._do(tx, group)
            except Exception as error:  # noqa: BLE001
                if is_gone(error) or (len(group) == 1 and isinstance(error, RACES)):
                    # It may have committed or not: doing it again finds out, by the fence.
                    if is_gone(error):
                        in_doubt = {one.one.work.id for one in group}
                    await asyncio.sleep(patience)
                    patience = min(patience * 2, 2.0)
                elif len(group) == 1:
                    _tell(group[0], error)
                    return
                else:
                    for one in group:
                        await self._commit([one])
                    return
            else:
                report(answers, in_doubt=in_doubt)
                for one in group:
                    _tell(one)
                return

    async def _do(self, tx: Tx, group: list[_Waiting]) -> list[Answer]:
        """Move the items first: that is the fence, and who has lost its lease saves nothing."""
        lost: list[Answer] = []
        held: list[tuple[Settlement, Move]] = []
        for one, move, _ in group:
            found: Settlement | None = one
            if isinstance(move, WaitFor) and isinstance(move.item, New):
                found = await spawn_and_wait(tx, self._pump.worker, one.work, move)
            if found is None:
                lost.append(Answer(one.work, lost=True))
            else:
                held.append((found, move))
        answers = await settle(tx, self._pump.worker, [one for one, _ in held])
        await crew.tell_others(tx, self._pump.worker)
        for (_, move), answer in zip(held, answers, strict=True):
            if move.save and answer.moved:
                await move.save(tx)
        return answers + lost


def _tell(waiting: _Waiting, error: Exception | None = None) -> None:
    if waiting.done.done():
        return
    if error is None:
        waiting.done.set_result(None)
    else:
        waiting.done.set_exception(error)

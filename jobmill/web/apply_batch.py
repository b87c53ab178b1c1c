"""Those who apply for one opening at the same moment share a transaction: one lock, one commit.

Who comes while one is under way waits for the next, so that the busier an opening is, the more share
one, and however many come they hold one connection.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import NamedTuple, cast

from fastapi import Request

from jobmill.db import Tx, commits
from jobmill.errors import AppError, Unavailable
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.submissions import ApplyRequest, Placement
from jobmill.web.dependencies import RequestDatabase

MAX_BATCH_SIZE = 100
COMMIT_CHECKS = 5
COMMIT_CHECK_SECONDS = 0.2
"""How often, and after how many seconds each, to ask what became of a COMMIT without an answer."""
MAX_CONSECUTIVE_DATABASE_ERRORS = 2
"""So many in a row who each find no database: then nobody else does."""


class CommitUnknown(Unavailable):
    """The applications may or may not be committed; a retry could find itself a duplicate."""

    def __init__(self) -> None:
        super().__init__(
            "The database did not confirm your application. Check whether it was received before "
            "you apply again."
        )


class _Waiting(NamedTuple):
    ask: ApplyRequest
    done: asyncio.Future[Placement]


class ApplyBatches:
    def __init__(self, db: RequestDatabase, applications_per_day: int | None) -> None:
        self.db = db
        self._most_a_day = applications_per_day
        self._waiting: dict[int, list[_Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def apply(self, opening_id: int, ask: ApplyRequest) -> Placement:
        """Apply, with whoever else does just now; raises what would be raised to one alone."""
        one = _Waiting(ask, asyncio.get_running_loop().create_future())
        if opening_id in self._waiting:
            self._waiting[opening_id].append(one)
        else:
            self._waiting[opening_id] = [one]
            task = asyncio.create_task(self._serve(opening_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await one.done

    async def apply_alone(self, tx: Tx, opening_id: int, ask: ApplyRequest) -> Placement:
        """The same in a transaction that is open."""
        found = await submissions.apply_all(tx, opening_id, [ask], most_a_day=self._most_a_day)
        return submissions.single_result(found)

    async def _serve(self, opening_id: int) -> None:
        while group := self._waiting[opening_id][:MAX_BATCH_SIZE]:
            del self._waiting[opening_id][: len(group)]
            await self._together(opening_id, [one for one in group if not one.done.done()])
        del self._waiting[opening_id]

    async def _together(self, opening_id: int, group: list[_Waiting]) -> None:
        answers = await self._try(opening_id, group)
        if not isinstance(answers, BaseException):
            for one, answer in zip(group, answers, strict=True):
                _tell(one, answer)
        elif len(group) == 1 or isinstance(answers, CommitUnknown):
            for waiting in group:
                _tell(waiting, answers)
        else:
            await self._apart(opening_id, group)

    async def _apart(self, opening_id: int, group: list[_Waiting]) -> None:
        """Each alone: whatever it was, it must not befall who has nothing to do with it."""
        in_vain = 0
        for number, one in enumerate(group):
            answer = await self._try(opening_id, [one])
            _tell(one, answer if isinstance(answer, BaseException) else answer[0])
            in_vain = in_vain + 1 if isinstance(answer, Unavailable) else 0
            if in_vain == MAX_CONSECUTIVE_DATABASE_ERRORS:
                # It is nothing of theirs, and each would wait for all before them.
                self._give_up(opening_id, group[number + 1 :], str(answer))
                return

    def _give_up(self, opening_id: int, group: list[_Waiting], why: str) -> None:
        waiting, self._waiting[opening_id] = self._waiting[opening_id], []
        for one in (*group, *waiting):
            _tell(one, Unavailable(why))

    async def _try(
        self, opening_id: int, group: list[_Waiting]
    ) -> list[Placement | AppError] | BaseException:
        asks = [one.ask for one in group]
        [answers] = await asyncio.gather(self._commit(opening_id, asks), return_exceptions=True)
        return answers

    async def _commit(
        self, opening_id: int, asks: list[ApplyRequest]
    ) -> list[Placement | AppError]:
        answers: list[Placement | AppError] = []
        transaction: str | None = None
        try:
            async with self.db.transaction() as tx:
                answers = await submissions.apply_all(
                    tx, opening_id, asks, most_a_day=self._most_a_day
                )
                transaction = await commits.transaction_id(tx)
        except Unavailable:
            # Before the id was read nothing can have committed. After that only PostgreSQL knows:
            # applying again would refuse the applicants it has just placed as duplicates.
            if transaction is None or not await self._is_committed(transaction):
                raise
        return answers

    async def _is_committed(self, transaction: str) -> bool:
        """Whether a transaction committed; CommitUnknown where the database does not tell in time."""
        for _ in range(COMMIT_CHECKS):
            with contextlib.suppress(Unavailable):
                async with self.db.transaction() as tx:
                    committed = await commits.is_committed(tx, transaction)
                if committed is not None:
                    return committed
            await asyncio.sleep(COMMIT_CHECK_SECONDS)
        raise CommitUnknown


def get_apply_batches(request: Request) -> ApplyBatches:
    """The one of this process. No dependency: each costs every request some of its time."""
    return cast(ApplyBatches, request.app.state.crowd)


def _tell(one: _Waiting, answer: Placement | BaseException) -> None:
    if one.done.done():
        return
    if isinstance(answer, BaseException):
        one.done.set_exception(answer)
    else:
        one.done.set_result(answer)

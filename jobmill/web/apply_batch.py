"""Batch concurrent applications to the same opening into one transaction.

Requests that arrive while a batch is committing wait for the next batch, so a busy opening gets larger
batches instead of more lock contention, and needs one connection however many people apply.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import NamedTuple, cast

from fastapi import Request

from jobmill.db import Tx, commits
from jobmill.errors import AppError, Unavailable
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import (
    ApplyRequest,
    apply_all,
    single_result,
)
from jobmill.web.dependencies import RequestDatabase

MAX_BATCH_SIZE = 100
COMMIT_CHECKS = 5
COMMIT_CHECK_SECONDS = 0.2
"""How often, and in which interval, to ask whether a COMMIT without a response succeeded."""
MAX_CONSECUTIVE_DATABASE_ERRORS = 2
"""After this many requests in a row fail to reach the database, fail the rest without trying."""


class CommitUnknown(Unavailable):
    """The applications may or may not be committed; a retry could find itself a duplicate."""

    def __init__(self) -> None:
        super().__init__(
            "The database did not confirm your application. Check whether it was received before "
            "you apply again."
        )


class _PendingRequest(NamedTuple):
    request: ApplyRequest
    future: asyncio.Future[Placement]

    def resolve(self, result: Placement | BaseException) -> None:
        if self.future.done():
            return
        if isinstance(result, BaseException):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)


class ApplyBatches:
    def __init__(self, db: RequestDatabase, daily_limit: int | None) -> None:
        self.db = db
        self._daily_limit = daily_limit
        self._pending: dict[int, list[_PendingRequest]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def apply(self, opening_id: int, request: ApplyRequest) -> Placement:
        """Apply together with concurrent requests; raises what a request alone would raise."""
        pending = _PendingRequest(request, asyncio.get_running_loop().create_future())
        if opening_id in self._pending:
            self._pending[opening_id].append(pending)
        else:
            self._pending[opening_id] = [pending]
            task = asyncio.create_task(self._run(opening_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await pending.future

    async def apply_alone(self, tx: Tx, opening_id: int, request: ApplyRequest) -> Placement:
        """Apply in the caller's transaction."""
        return single_result(
            await apply_all(tx, opening_id, [request], daily_limit=self._daily_limit)
        )

    async def _run(self, opening_id: int) -> None:
        while batch := self._pending[opening_id][:MAX_BATCH_SIZE]:
            del self._pending[opening_id][: len(batch)]
            # Skip requests of clients that have disconnected.
            await self._apply_batch(opening_id, [item for item in batch if not item.future.done()])
        del self._pending[opening_id]

    async def _apply_batch(self, opening_id: int, batch: list[_PendingRequest]) -> None:
        results = await self._try_apply(opening_id, batch)
        if not isinstance(results, BaseException):
            for pending, result in zip(batch, results, strict=True):
                pending.resolve(result)
        elif len(batch) == 1 or isinstance(results, CommitUnknown):
            for pending in batch:
                pending.resolve(results)
        else:
            await self._apply_one_by_one(opening_id, batch)

    async def _apply_one_by_one(self, opening_id: int, batch: list[_PendingRequest]) -> None:
        """Retry every request alone, so that one bad request cannot fail the whole batch."""
        database_errors = 0
        for index, pending in enumerate(batch):
            result = await self._try_apply(opening_id, [pending])
            pending.resolve(result if isinstance(result, BaseException) else result[0])
            database_errors = database_errors + 1 if isinstance(result, Unavailable) else 0
            if database_errors == MAX_CONSECUTIVE_DATABASE_ERRORS:
                # The database is down, not the request: do not make the others wait for a timeout each.
                self._fail_all(opening_id, batch[index + 1 :], str(result))
                return

    def _fail_all(self, opening_id: int, batch: list[_PendingRequest], message: str) -> None:
        later, self._pending[opening_id] = self._pending[opening_id], []
        for pending in (*batch, *later):
            pending.resolve(Unavailable(message))

    async def _try_apply(
        self, opening_id: int, batch: list[_PendingRequest]
    ) -> list[Placement | AppError] | BaseException:
        requests = [pending.request for pending in batch]
        [results] = await asyncio.gather(self._commit(opening_id, requests), return_exceptions=True)
        return results

    async def _commit(
        self, opening_id: int, requests: list[ApplyRequest]
    ) -> list[Placement | AppError]:
        results: list[Placement | AppError] = []
        transaction: str | None = None
        try:
            async with self.db.transaction() as tx:
                results = await apply_all(tx, opening_id, requests, daily_limit=self._daily_limit)
                transaction = await commits.transaction_id(tx)
        except Unavailable:
            # Before the id was read nothing can have committed. After that only PostgreSQL knows:
            # applying again would refuse the applicants it has just placed as duplicates.
            if transaction is None or not await self._is_committed(transaction):
                raise
        return results

    async def _is_committed(self, transaction: str) -> bool:
        """Whether a transaction committed; raises CommitUnknown if the database does not tell in time."""
        for _ in range(COMMIT_CHECKS):
            with contextlib.suppress(Unavailable):
                async with self.db.transaction() as tx:
                    committed = await commits.is_committed(tx, transaction)
                if committed is not None:
                    return committed
            await asyncio.sleep(COMMIT_CHECK_SECONDS)
        raise CommitUnknown


def get_apply_batches(request: Request) -> ApplyBatches:
    """The batches of this process. Not a dependency: each one costs time on every request."""
    return cast(ApplyBatches, request.app.state.apply_batches)

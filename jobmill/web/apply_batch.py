"""Batch concurrent applications to the same opening into one transaction.

Requests that arrive while a batch is committing wait for the next batch, so a busy opening gets larger
batches instead of more lock contention, and needs one connection however many people apply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, cast

from fastapi import Request

from jobmill.db import Tx, commits, pipelined
from jobmill.errors import AppError, Unavailable
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import (
    ApplyRequest,
    apply_all,
    replace_with_placements,
    single_result,
)
from jobmill.hiring.records import idempotent_responses
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.idempotent_responses import KeyedRequest, NewResponse, StoredResponse
from jobmill.web.apply_retries import UnansweredApplications, content_key, find_outcome
from jobmill.web.dependencies import RequestDatabase

MAX_BATCH_SIZE = 100
COMMIT_CHECKS = 5
COMMIT_CHECK_SECONDS = 0.2
"""How often, and in which interval, to ask whether a COMMIT without a response succeeded."""
MAX_CONSECUTIVE_DATABASE_ERRORS = 2
"""After this many requests in a row fail to reach the database, fail the rest without trying."""


class CommitUnknown(Unavailable):
    """The applications may or may not be committed; a retry gets the first result."""

    def __init__(self) -> None:
        super().__init__(
            "The database did not confirm your application. Apply again in a few seconds: an "
            "application that was received is not counted twice."
        )


class IdempotentApply(NamedTuple):
    """An Idempotency-Key, and how to make the response that is stored for it."""

    keyed: KeyedRequest
    to_response: Callable[[Placement], NewResponse]


BatchResult: TypeAlias = Placement | StoredResponse | AppError


class _PendingRequest(NamedTuple):
    request: ApplyRequest
    future: asyncio.Future[Placement | StoredResponse]
    idempotent: IdempotentApply | None = None

    @property
    def key(self) -> bytes | None:
        return self.idempotent.keyed.key if self.idempotent else None

    def resolve(self, result: Placement | StoredResponse | BaseException) -> None:
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
        self._unanswered = UnansweredApplications(db)

    async def apply(self, opening_id: int, request: ApplyRequest) -> Placement:
        """Apply together with concurrent requests; raises what a request alone would raise."""
        return cast(Placement, await self._submit(opening_id, request))

    async def apply_once(
        self, opening_id: int, request: ApplyRequest, idempotent: IdempotentApply
    ) -> Placement | StoredResponse:
        """Like `apply`, in the same batches; the stored response if the key was used before."""
        return await self._submit(opening_id, request, idempotent)

    async def _submit(
        self, opening_id: int, request: ApplyRequest, idempotent: IdempotentApply | None = None
    ) -> Placement | StoredResponse:
        future = asyncio.get_running_loop().create_future()
        pending = _PendingRequest(request, future, idempotent)
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
        while batch := self._take_batch(opening_id):
            # Skip requests of clients that have disconnected.
            await self._apply_batch(opening_id, [item for item in batch if not item.future.done()])
        del self._pending[opening_id]

    def _take_batch(self, opening_id: int) -> list[_PendingRequest]:
        """The next requests, one per Idempotency-Key: a repeated one waits for the first response."""
        batch: list[_PendingRequest] = []
        later: list[_PendingRequest] = []
        keys: set[bytes] = set()
        for pending in self._pending[opening_id]:
            if len(batch) == MAX_BATCH_SIZE or pending.key in keys:
                later.append(pending)
                continue
            batch.append(pending)
            if pending.key:
                keys.add(pending.key)
        self._pending[opening_id] = later
        return batch

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
    ) -> list[BatchResult] | BaseException:
        [results] = await asyncio.gather(self._commit(opening_id, batch), return_exceptions=True)
        return results

    async def _commit(self, opening_id: int, batch: list[_PendingRequest]) -> list[BatchResult]:
        results: list[BatchResult] = []
        transaction: str | None = None
        try:
            async with self.db.transaction() as tx:
                async with pipelined(tx):
                    results = await self._answer(tx, opening_id, batch)
                    cursor = await commits.request_transaction_id(tx)
                transaction = await commits.fetch_transaction_id(cursor)
        except Unavailable:
            # Before the id was read nothing can have committed. After that only PostgreSQL knows:
            # applying again would refuse the applicants it has just placed as duplicates.
            if transaction is None:
                raise
            committed = await find_outcome(
                self.db, transaction, checks=COMMIT_CHECKS, seconds=COMMIT_CHECK_SECONDS
            )
            if committed is None:
                self._remember_unanswered(transaction, opening_id, batch, results)
                raise CommitUnknown from None
            if not committed:
                raise
        return results

    async def _answer(
        self, tx: Tx, opening_id: int, batch: Sequence[_PendingRequest]
    ) -> list[BatchResult]:
        """Apply for all requests but those whose key has a response; store the responses of the others."""
        keyed = [pending.idempotent.keyed for pending in batch if pending.idempotent]
        used = await idempotent_responses.claim_keys(tx, keyed) if keyed else {}
        fresh = [pending for pending in batch if pending.key not in used]
        requests = [pending.request for pending in fresh]
        results = await apply_all(tx, opening_id, requests, daily_limit=self._daily_limit)
        results = await self._find_unanswered(tx, opening_id, requests, results)
        await _store_responses(tx, fresh, results)
        remaining = iter(results)
        return [used[pending.key] if pending.key in used else next(remaining) for pending in batch]

    async def _find_unanswered(
        self,
        tx: Tx,
        opening_id: int,
        requests: Sequence[ApplyRequest],
        results: Sequence[Placement | AppError],
    ) -> list[Placement | AppError]:
        """The first results instead of refusals, if clients repeat requests after CommitUnknown."""
        duplicates = {
            index: (content_key(opening_id, request), result.application_id)
            for index, (request, result) in enumerate(zip(requests, results, strict=True))
            if isinstance(result, DuplicateApplication)
        }
        if not duplicates:
            return list(results)
        unanswered = await self._unanswered.find(tx, [key for key, _ in duplicates.values()])
        repeated = {
            index: id for index, (key, id) in duplicates.items() if unanswered.get(key) == id
        }
        return await replace_with_placements(tx, opening_id, results, repeated)

    def _remember_unanswered(
        self,
        transaction: str,
        opening_id: int,
        batch: Sequence[_PendingRequest],
        results: Sequence[BatchResult],
    ) -> None:
        applications = {
            content_key(opening_id, pending.request): result.application.id
            for pending, result in zip(batch, results, strict=True)
            if isinstance(result, Placement)
        }
        self._unanswered.remember(transaction, applications)


async def _store_responses(
    tx: Tx, batch: Sequence[_PendingRequest], results: Sequence[Placement | AppError]
) -> None:
    """Store the responses of keyed requests; a refused request can be repeated with its key."""
    responses: dict[bytes, NewResponse] = {}
    refused: list[bytes] = []
    for pending, result in zip(batch, results, strict=True):
        if pending.idempotent is None:
            continue
        keyed, to_response = pending.idempotent
        if isinstance(result, Placement):
            responses[keyed.key] = to_response(result)
        else:
            refused.append(keyed.key)
    if responses:
        await idempotent_responses.store_responses(tx, responses)
    if refused:
        await idempotent_responses.release_keys(tx, refused)


def get_apply_batches(request: Request) -> ApplyBatches:
    """The batches of this process. Not a dependency: each one costs time on every request."""
    return cast(ApplyBatches, request.app.state.apply_batches)

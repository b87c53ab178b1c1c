"""Applications that were answered with an error because the response to their COMMIT was lost.

If the same request comes again, it gets the first result instead of an error about a duplicate. The process
that sent the error remembers the application, and stores it for the other web processes as soon as the
database tells that the transaction committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jobmill.db import Tx, commits
from jobmill.errors import Unavailable
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.records import idempotent_responses
from jobmill.web.dependencies import RequestDatabase

RETRY_WINDOW = dt.timedelta(minutes=10)
"""How long after the error the same request counts as a retry."""
MAX_REMEMBERED = 10_000
SAVE_CHECKS = 300
SAVE_CHECK_SECONDS = 1.0
"""How often, and in which interval, to ask whether the transaction committed, to store its applications."""


def content_key(opening_id: int, request: ApplyRequest) -> bytes:
    """Digest of everything that a retry repeats, so without the ids of the HTTP requests."""
    actor = request.by.name if request.by else ""
    content = (opening_id, actor, replace(request, by=None, request_id=None))
    return hashlib.sha256(repr(content).encode()).digest()


async def find_outcome(
    db: RequestDatabase, transaction: str, *, checks: int, seconds: float
) -> bool | None:
    """Whether a transaction committed; None if the database does not tell in time."""
    for _ in range(checks):
        with contextlib.suppress(Unavailable):
            async with db.transaction() as tx:
                committed = await commits.is_committed(tx, transaction)
            if committed is not None:
                return committed
        await asyncio.sleep(seconds)
    return None


class UnansweredApplications:
    def __init__(self, db: RequestDatabase) -> None:
        self._db = db
        self._remembered: dict[bytes, tuple[int, float]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def remember(self, transaction: str, applications: Mapping[bytes, int]) -> None:
        """Remember the application ids of requests, by their content keys."""
        now = time.monotonic()
        self._remembered |= {key: (id, now) for key, id in applications.items()}
        while len(self._remembered) > MAX_REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        task = asyncio.create_task(self._save(transaction, applications))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _save(self, transaction: str, applications: Mapping[bytes, int]) -> None:
        committed = await find_outcome(
            self._db, transaction, checks=SAVE_CHECKS, seconds=SAVE_CHECK_SECONDS
        )
        if committed:
            with contextlib.suppress(Unavailable):
                async with self._db.transaction() as tx:
                    await idempotent_responses.store_unanswered(tx, applications)

    async def find(self, tx: Tx, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The applications of earlier requests with this content that were not answered."""
        oldest = time.monotonic() - RETRY_WINDOW.total_seconds()
        remembered = {
            key: id
            for key in keys
            for id, remembered_at in [self._remembered.get(key, (0, -math.inf))]
            if remembered_at > oldest
        }
        stored = await idempotent_responses.find_unanswered(tx, keys, RETRY_WINDOW)
        return stored | remembered

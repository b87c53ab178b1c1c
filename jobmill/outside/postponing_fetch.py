"""Turns the wait that a host or our own rate limit asks for into an error that postpones the item."""

from __future__ import annotations

import datetime as dt

from jobmill.errors import RetryLater
from jobmill.outside.request import (
    WAIT_CAUSES,
    Fetch,
    FetchFailure,
    FetchResult,
    Request,
    Validators,
)

DEFAULT_WAIT = dt.timedelta(minutes=1)
"""For hosts that ask us to slow down without saying for how long."""


def find_wait(answer: FetchResult) -> dt.timedelta | None:
    """How long the request has to wait; None if the answer does not ask for patience."""
    if isinstance(answer, FetchFailure) and answer.cause in WAIT_CAUSES:
        return answer.retry_after or DEFAULT_WAIT
    return None


class PostponingFetch:
    """Wraps a fetch: a host that must not be asked yet raises `RetryLater` instead of failing."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        answer = await self._fetch(request, validators)
        wait = find_wait(answer)
        if wait and isinstance(answer, FetchFailure):
            raise RetryLater(answer.detail, wait)
        return answer

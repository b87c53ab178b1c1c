"""How often strangers may ask: counted in this process, by address."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.errors import RateLimited
from jobmill.web import rights
from jobmill.web.peer import household
from jobmill.web.rights import Anyone, Visitor

MOST_KEYS = 20_000
SIGN_INS_PER_MINUTE = 5


class Limit:
    """So many a minute for each key: a bucket that is full at first and fills up again."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = per_minute
        self._rate = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """One of the key's; RateLimited if it has none left."""
        now = self._clock()
        left, at = self._buckets.pop(key, (float(self._size), now))
        left = min(self._size, left + (now - at) * self._rate)
        allowed = left >= 1
        self._buckets[key] = (left - allowed, now)
        # Those who were silent longest are forgotten first, and theirs are the fullest.
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(math.ceil((1 - left) / self._rate))


class Limits:
    def __init__(self, public_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.public = Limit(public_per_minute, clock)
        self.sign_in = Limit(SIGN_INS_PER_MINUTE, clock)


def limits(request: Request) -> Limits:
    return cast(Limits, request.app.state.limits)


def check_sign_in(request: Request, account: str) -> None:
    """Few tries for an address, and few for an account, wherever they come from."""
    if rights.peers(request).is_local(request):
        return
    limit = limits(request).sign_in
    limit.take(f"address {who(request)}")
    limit.take(f"account {account}")


async def public(request: Request, visitor: Anyone) -> Visitor:
    """Strangers and applicants are counted, for each route by itself; the company is not."""
    if visitor.role is None:
        limits(request).public.take(f"{request.scope['route'].path} {who(request)}")
    return visitor


def who(request: Request) -> str:
    return household(rights.peers(request).address(request))


Public = Annotated[Visitor, Depends(public)]

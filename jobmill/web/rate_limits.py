"""Rate limits by client address, counted in this process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.errors import RateLimited
from jobmill.web import auth
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.client_address import rate_limit_network

MAX_KEYS = 20_000
SIGN_INS_PER_MINUTE = 5
"""From one network to one account."""
SIGN_INS_PER_MINUTE_OF_NETWORK = 20
SIGN_INS_PER_MINUTE_OF_ACCOUNT = 60
"""From all networks together; browsers that have signed in before do not count."""


READS_PER_CHANGE = 10
"""Public pages may be read this many times as often as public forms may be sent."""


class RateLimit:
    """A token bucket per key that refills at `per_minute`."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = per_minute
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Take a token; RateLimited if none is left."""
        now = self._clock()
        tokens, updated_at = self._buckets.pop(key, (float(self._size), now))
        tokens = min(self._size, tokens + (now - updated_at) * self._per_second)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - allowed, now)
        # Drop the key that was idle longest: its bucket is the fullest.
        if len(self._buckets) > MAX_KEYS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(math.ceil((1 - tokens) / self._per_second))


class RateLimits:
    def __init__(self, public_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.public = RateLimit(public_per_minute, clock)
        self.public_reads = RateLimit(READS_PER_CHANGE * public_per_minute, clock)
        self.sign_in = RateLimit(SIGN_INS_PER_MINUTE, clock)
        self.sign_in_network = RateLimit(SIGN_INS_PER_MINUTE_OF_NETWORK, clock)
        self.sign_in_account = RateLimit(SIGN_INS_PER_MINUTE_OF_ACCOUNT, clock)


def _rate_limits(request: Request) -> RateLimits:
    return cast(RateLimits, request.app.state.rate_limits)


def check_sign_in(request: Request, account: str, *, remembered: bool) -> None:
    """Limit attempts by network and account; a remembered browser is limited by itself, so that
    strangers cannot lock its owner out."""
    limits, network = _rate_limits(request), client_key(request)
    if remembered:
        limits.sign_in.take(f"remembered {account}")
        return
    limits.sign_in_network.take(network)
    limits.sign_in.take(f"{account} from {network}")
    limits.sign_in_account.take(account)


async def check_public(request: Request, visitor: Anyone) -> Visitor:
    """Limit requests of anonymous visitors and applicants per route; staff have no limit."""
    if not visitor.is_company:
        route = request.scope["route"].path
        _rate_limits(request).public.take(f"{route} {client_key(request)}")
    return visitor


async def limit_reads(request: Request, visitor: Anyone) -> None:
    """Limit how often anonymous visitors and applicants read public pages, all pages together."""
    if request.method == "GET" and not visitor.is_company:
        _rate_limits(request).public_reads.take(client_key(request))


def client_key(request: Request) -> str:
    return rate_limit_network(auth.get_client_resolver(request).address(request))


Public = Annotated[Visitor, Depends(check_public)]

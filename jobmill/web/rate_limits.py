"""Rate limits by client address: public requests are counted in this process, sign-ins in PostgreSQL."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.errors import RateLimited
from jobmill.hiring.records import apply_limits
from jobmill.hiring.records.apply_limits import ApplyLimit
from jobmill.web import auth
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.client_address import rate_limit_network
from jobmill.web.dependencies import RequestDatabase

MAX_KEYS = 20_000
SIGN_INS_PER_MINUTE = 5
"""From one network to one account."""
SIGN_INS_PER_MINUTE_OF_NETWORK = 20
SIGN_INS_PER_MINUTE_OF_ACCOUNT = 60
"""From all networks together; browsers that have signed in before do not count."""


TEST_LETTERS_PER_HOUR = 10
"""Of one person: a test letter can go to any address."""
SCORINGS_PER_MINUTE = 120
"""Of one person or key: scoring a job for a changed profile takes processor time."""
READS_PER_CHANGE = 10
"""Public pages may be read this many times as often as public forms may be sent."""


class RateLimit:
    """A token bucket per key that refills within `seconds`."""

    def __init__(
        self, size: int, clock: Callable[[], float] = time.monotonic, *, seconds: int = 60
    ) -> None:
        self._size = size
        self._per_second = size / seconds
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
        self.test_letters = RateLimit(TEST_LETTERS_PER_HOUR, clock, seconds=3600)
        self.scorings = RateLimit(SCORINGS_PER_MINUTE, clock)


def _rate_limits(request: Request) -> RateLimits:
    return cast(RateLimits, request.app.state.rate_limits)


async def check_sign_in(
    request: Request, db: RequestDatabase, account: str, *, remembered: bool
) -> None:
    """Limit attempts by network and account, in all web processes together; a remembered browser is
    limited by itself, so that strangers cannot lock its owner out."""
    # A digest: the table must not become a list of accounts.
    digest = hashlib.sha256(account.encode()).hexdigest()
    limits = (
        [_per_minute(f"of remembered {digest}", SIGN_INS_PER_MINUTE)]
        if remembered
        else _list_sign_in_limits(digest, client_key(request))
    )
    async with db.transaction() as tx:
        await apply_limits.count_attempt(tx, limits)


def _list_sign_in_limits(account: str, network: str) -> list[ApplyLimit]:
    return [
        _per_minute(f"from {network}", SIGN_INS_PER_MINUTE_OF_NETWORK),
        _per_minute(f"of {account} from {network}", SIGN_INS_PER_MINUTE),
        _per_minute(f"of {account}", SIGN_INS_PER_MINUTE_OF_ACCOUNT),
    ]


def _per_minute(key: str, number: int) -> ApplyLimit:
    return ApplyLimit(f"sign-in {key}", number, dt.timedelta(minutes=1))


def check_test_letter(request: Request, visitor: Visitor) -> None:
    """Limit the test letters of each person."""
    _rate_limits(request).test_letters.take(visitor.actor.name)


def limit_scoring(request: Request, visitor: Visitor) -> None:
    """Limit how often a person has jobs scored for a profile that is not saved."""
    _rate_limits(request).scorings.take(visitor.actor.name)


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

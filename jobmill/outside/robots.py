"""Checks robots.txt (RFC 9309), which is read once a day for all workers."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias
from weakref import WeakValueDictionary

from protego import Protego

from jobmill.db import Database, Tx, fetch_one
from jobmill.outside.public_addresses import AllowedUrl
from jobmill.outside.request import FetchFailure, FetchResult, Ok, PageGone, Request, Truncated
from jobmill.sandbox import ReaderStopped, read_untrusted

RULES_LIFETIME = dt.timedelta(days=1)
MAX_RULES_AGE = dt.timedelta(days=30)
"""How long old rules are used while new ones cannot be read."""
RETRY_AFTER = dt.timedelta(minutes=10)
MAX_CRAWL_DELAY = dt.timedelta(seconds=30)
MAX_ROBOTS_BYTES = 512_000
MAX_LENGTH_IN_PLACE = 20_000
"""Characters of rules that are read on the event loop."""
MAX_CACHED_SITES = 1_000
"""Sites with rules in the cache of a process."""

FetchRobots: TypeAlias = Callable[[Request], Awaitable[FetchResult]]


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """A stored robots.txt."""

    rules: str
    fresh_for: dt.timedelta
    """By the server's clock; zero or negative if the rules are due for a refresh."""
    usable: bool
    """Recent enough to be used while new rules cannot be read."""


@dataclass(frozen=True, slots=True)
class _CachedRules:
    rules: str
    parsed: Protego | None
    """None for long rules, which child processes read: half a megabyte of patterns takes a second."""
    expires: float
    """By the monotonic clock of this process."""


class Robots:
    def __init__(self, db: Database, name: str, fetch: FetchRobots) -> None:
        self._db = db
        self._name = name
        self._fetch = fetch
        self._cache: dict[str, _CachedRules] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self, target: AllowedUrl) -> FetchFailure | None:
        """Why the page may not be fetched now; None if it may."""
        lock = self._locks.setdefault(target.origin, asyncio.Lock())
        async with lock:
            cached = self._cache.get(target.origin)
            if cached is None or cached.expires <= time.monotonic():
                cached = await self._load(target)
        if isinstance(cached, FetchFailure):
            return cached
        try:
            allowed = (
                cached.parsed.can_fetch(target.url, self._name)
                if cached.parsed
                else await read_untrusted(is_allowed, cached.rules, target.url, self._name)
            )
        except ReaderStopped as error:
            return FetchFailure(target.url, "robots", f"robots.txt cannot be read: {error}")
        if allowed:
            return None
        return FetchFailure(
            target.url, "robots", f"the robots.txt of {target.host} disallows this page"
        )

    async def _load(self, target: AllowedUrl) -> _CachedRules | FetchFailure:
        async with self._db.transaction() as tx:
            stored = await find_rules(tx, target.origin)
        if stored is None or stored.fresh_for <= dt.timedelta():
            fetched = await self._refresh(target, stored)
            if isinstance(fetched, FetchFailure):
                return fetched
            stored = fetched
        expires = time.monotonic() + stored.fresh_for.total_seconds()
        is_long = len(stored.rules) > MAX_LENGTH_IN_PLACE
        parsed = None if is_long else Protego.parse(stored.rules)
        cached = _CachedRules(stored.rules, parsed, expires)
        while len(self._cache) >= MAX_CACHED_SITES:
            del self._cache[next(iter(self._cache))]
        self._cache[target.origin] = cached
        return cached

    async def _refresh(
        self, target: AllowedUrl, old: RobotsRules | None
    ) -> RobotsRules | FetchFailure:
        result = await self._fetch(
            Request(f"{target.origin}/robots.txt", max_bytes=MAX_ROBOTS_BYTES)
        )
        rules = parse_rules(result)
        usable = old.rules if rules is None and old and old.usable else rules
        delay = await self._read_delay(usable) if usable is not None else dt.timedelta()
        async with self._db.transaction() as tx:
            if rules is not None:
                await save_rules(tx, target, rules, delay)
                return RobotsRules(rules, RULES_LIFETIME, usable=True)
            if old and old.usable:
                await postpone_refresh(tx, target, delay)
                return replace(old, fresh_for=RETRY_AFTER)
        assert isinstance(result, FetchFailure)
        detail = f"robots.txt cannot be read: {result.detail}"
        return FetchFailure(target.url, result.cause, detail, result.status, result.retry_after)

    async def _read_delay(self, rules: str) -> dt.timedelta:
        if len(rules) <= MAX_LENGTH_IN_PLACE:
            return crawl_delay(rules, self._name)
        try:
            return await read_untrusted(crawl_delay, rules, self._name)
        except ReaderStopped:
            return MAX_CRAWL_DELAY


def is_allowed(rules: str, url: str, name: str) -> bool:
    return Protego.parse(rules).can_fetch(url, name)


def parse_rules(result: FetchResult) -> str | None:
    """The rules; "" if there are none, None if the request failed."""
    match result:
        case Ok():
            # PostgreSQL cannot store zero bytes.
            return result.text.replace("\0", "")
        case Truncated():
            return result.body.decode("utf-8", "replace").replace("\0", "")
        case PageGone():
            return ""
        case FetchFailure(status=int(status)) if (
            400 <= status < 500 and result.cause != "rate_limited"
        ):
            return ""
        case FetchFailure(cause="forbidden" | "redirects"):
            return ""
        case _:
            return None


def crawl_delay(rules: str, name: str) -> dt.timedelta:
    """The Crawl-delay, up to a maximum."""
    seconds = Protego.parse(rules).crawl_delay(name) or 0
    return min(dt.timedelta(seconds=min(max(seconds, 0), 86_400)), MAX_CRAWL_DELAY)


async def find_rules(tx: Tx, origin: str) -> RobotsRules | None:
    return await fetch_one(
        tx,
        RobotsRules,
        """
        SELECT rules, expires_at - now() AS fresh_for, read_at > now() - %(stale)s AS usable
          FROM outside.robots
         WHERE origin = %(origin)s
        """,
        {"origin": origin, "stale": MAX_RULES_AGE},
    )


async def save_rules(tx: Tx, target: AllowedUrl, rules: str, delay: dt.timedelta) -> None:
    """Store the rules and their crawl delay for all workers."""
    await tx.execute(
        """
        INSERT INTO outside.robots (origin, rules, read_at, expires_at)
        VALUES (%(origin)s, %(rules)s, now(), now() + %(fresh)s)
        ON CONFLICT (origin) DO UPDATE
           SET rules = excluded.rules, read_at = excluded.read_at, expires_at = excluded.expires_at
        """,
        {"origin": target.origin, "rules": rules, "fresh": RULES_LIFETIME},
    )
    await _set_crawl_delay(tx, target, delay)


async def postpone_refresh(tx: Tx, target: AllowedUrl, delay: dt.timedelta) -> None:
    """Use the old rules a little longer, unless another worker has read new ones."""
    await tx.execute(
        """
        UPDATE outside.robots SET expires_at = greatest(expires_at, now() + %(retry)s)
         WHERE origin = %(origin)s
        """,
        {"origin": target.origin, "retry": RETRY_AFTER},
    )
    await _set_crawl_delay(tx, target, delay)


async def _set_crawl_delay(tx: Tx, target: AllowedUrl, delay: dt.timedelta) -> None:
    await tx.execute(
        "UPDATE outside.host SET crawl_delay = %s WHERE name = %s", [delay, target.rate_limit_key]
    )

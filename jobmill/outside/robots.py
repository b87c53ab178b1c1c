"""What robots.txt says of a page; read once a day for all workers (RFC 9309)."""

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
from jobmill.outside.public_addresses import Target
from jobmill.outside.request import Answer, Gone, Ok, Request, Truncated, Unknown

FRESH = dt.timedelta(days=1)
STALE = dt.timedelta(days=30)
"""How long old rules serve while the new ones cannot be read."""
RETRY = dt.timedelta(minutes=10)
LONGEST_DELAY = dt.timedelta(seconds=30)
LONGEST = 512_000
REMEMBERED = 1_000
"""How many sites' rules a process keeps at hand."""

Ask: TypeAlias = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Rules:
    """A robots.txt as the database keeps it."""

    rules: str
    fresh_for: dt.timedelta
    """By the server's clock; not positive when they are to be read again."""
    serves: bool
    """Young enough to be used while the new ones cannot be read."""


@dataclass(frozen=True, slots=True)
class _Known:
    parsed: Protego
    expires: float
    """By the monotonic clock of this process."""


class Robots:
    def __init__(self, db: Database, name: str, ask: Ask) -> None:
        self._db = db
        self._name = name
        self._ask = ask
        self._known: dict[str, _Known] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def objection(self, target: Target) -> Unknown | None:
        """Why this page may not be asked for, or not now; None if it may."""
        lock = self._locks.setdefault(target.origin, asyncio.Lock())
        async with lock:
            known = self._known.get(target.origin)
            if known is None or known.expires <= time.monotonic():
                known = await self._learn(target)
        if isinstance(known, Unknown):
            return known
        if known.parsed.can_fetch(target.url, self._name):
            return None
        return Unknown(target.url, "robots", f"{target.host} asks robots to leave this page alone")

    async def _learn(self, target: Target) -> _Known | Unknown:
        async with self._db.transaction() as tx:
            kept = await get(tx, target.origin)
        if kept is None or kept.fresh_for <= dt.timedelta():
            found = await self._read(target, kept)
            if isinstance(found, Unknown):
                return found
            kept = found
        expires = time.monotonic() + kept.fresh_for.total_seconds()
        known = _Known(Protego.parse(kept.rules), expires)
        while len(self._known) >= REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[target.origin] = known
        return known

    async def _read(self, target: Target, old: Rules | None) -> Rules | Unknown:
        answer = await self._ask(Request(f"{target.origin}/robots.txt", most=LONGEST))
        rules = read_rules(answer)
        async with self._db.transaction() as tx:
            if rules is not None:
                await save(tx, target, rules, crawl_delay(rules, self._name))
                return Rules(rules, FRESH, serves=True)
            if old and old.serves:
                await postpone(tx, target, crawl_delay(old.rules, self._name))
                return replace(old, fresh_for=RETRY)
        assert isinstance(answer, Unknown)
        detail = f"its robots.txt cannot be read: {answer.detail}"
        return Unknown(target.url, answer.cause, detail, answer.status, answer.retry_after)


def read_rules(answer: Answer) -> str | None:
    """The rules; empty where there are none, None where we cannot know."""
    match answer:
        case Ok():
            # PostgreSQL keeps no zero bytes.
            return answer.text.replace("\0", "")
        case Truncated():
            return answer.body.decode("utf-8", "replace").replace("\0", "")
        case Gone():
            return ""
        case Unknown(status=int(status)) if 400 <= status < 500 and answer.cause != "rate_limited":
            return ""
        case Unknown(cause="forbidden" | "redirects"):
            return ""
        case _:
            return None


def crawl_delay(rules: str, name: str) -> dt.timedelta:
    """How far apart the site wants our calls, as far as we go along with that."""
    seconds = Protego.parse(rules).crawl_delay(name) or 0
    return min(dt.timedelta(seconds=min(max(seconds, 0), 86_400)), LONGEST_DELAY)


async def get(tx: Tx, origin: str) -> Rules | None:
    return await fetch_one(
        tx,
        Rules,
        """
        SELECT rules, expires_at - now() AS fresh_for, read_at > now() - %(stale)s AS serves
          FROM outside.robots
         WHERE origin = %(origin)s
        """,
        {"origin": origin, "stale": STALE},
    )


async def save(tx: Tx, target: Target, rules: str, delay: dt.timedelta) -> None:
    """Keep the rules for all workers, and the pace that they ask for."""
    await tx.execute(
        """
        INSERT INTO outside.robots (origin, rules, read_at, expires_at)
        VALUES (%(origin)s, %(rules)s, now(), now() + %(fresh)s)
        ON CONFLICT (origin) DO UPDATE
           SET rules = excluded.rules, read_at = excluded.read_at, expires_at = excluded.expires_at
        """,
        {"origin": target.origin, "rules": rules, "fresh": FRESH},
    )
    await _set_pace(tx, target, delay)


async def postpone(tx: Tx, target: Target, delay: dt.timedelta) -> None:
    """Let the old rules serve a little longer; another worker may have read new ones meanwhile."""
    await tx.execute(
        """
        UPDATE outside.robots SET expires_at = greatest(expires_at, now() + %(retry)s)
         WHERE origin = %(origin)s
        """,
        {"origin": target.origin, "retry": RETRY},
    )
    await _set_pace(tx, target, delay)


async def _set_pace(tx: Tx, target: Target, delay: dt.timedelta) -> None:
    await tx.execute(
        "UPDATE outside.host SET crawl_delay = %s WHERE name = %s", [delay, target.house]
    )

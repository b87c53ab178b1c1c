"""Recognises that this machine is offline, so that no host is blamed: no name can be resolved."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import time
from dataclasses import dataclass, replace

from jobmill.db import Database, Tx, fetch_one
from jobmill.db.clock import server_time
from jobmill.outside.guarded_transport import Resolve
from jobmill.outside.request import FetchFailure, FetchResult

log = logging.getLogger(__name__)

REFERENCE_HOSTS = ("example.com", "iana.org", "wikipedia.org")
"""Names that have an address whenever names can be resolved. They are looked up, never contacted."""
RETRY_AFTER = dt.timedelta(minutes=1)
MAX_RETRY_AFTER = dt.timedelta(minutes=30)
"""After a long time offline: an item may wait only so often."""
STALE_AFTER = dt.timedelta(minutes=10)
"""Without a request for this long after the time to retry, the stored state is out of date."""
LOOKUP_SECONDS = 5.0
CHECK_LIFETIME = 5.0
"""Seconds for which a check counts for other requests of this process."""
ANSWER_LIFETIME = 60.0
"""Seconds for which an answer of any host proves that there is a network, perhaps without public names."""


@dataclass(frozen=True, slots=True)
class Offline:
    since: dt.datetime
    retry_at: dt.datetime


async def find_offline(tx: Tx) -> Offline | None:
    """Since when this machine is offline and when it tries again; None if it is online."""
    return await fetch_one(
        tx,
        Offline,
        "SELECT since, retry_at FROM outside.offline WHERE retry_at > now() - %s::interval",
        [STALE_AFTER],
    )


async def save_offline(tx: Tx) -> dt.timedelta:
    """Returns how long to wait: longer, the longer it lasts."""
    earlier = await find_offline(tx)
    lasts = await server_time(tx) - earlier.since if earlier else dt.timedelta()
    wait = min(max(lasts / 4, RETRY_AFTER), MAX_RETRY_AFTER)
    await tx.execute(
        """
        INSERT INTO outside.offline AS offline (retry_at) VALUES (now() + %(wait)s)
        ON CONFLICT (only_row) DO UPDATE
           SET retry_at = excluded.retry_at,
               since = CASE WHEN offline.retry_at > now() - %(stale)s::interval THEN offline.since
                            ELSE now() END
        """,
        {"wait": wait, "stale": STALE_AFTER},
    )
    return wait


async def delete_offline(tx: Tx) -> None:
    await tx.execute("DELETE FROM outside.offline")


class Connectivity:
    """Tells a host without an address from a machine without a network."""

    def __init__(self, db: Database, resolve: Resolve) -> None:
        self._db = db
        self._resolve = resolve
        self._lock = asyncio.Lock()
        self._checked_at = self._answered_at = float("-inf")
        self._wait = RETRY_AFTER
        self._offline = True
        """Until a request was answered, an earlier process may have left its row."""

    async def judge(self, result: FetchResult) -> FetchResult:
        """The result, or "offline" in place of "unresolved" if no name can be resolved."""
        if not isinstance(result, FetchFailure) or result.status is not None:
            self._answered_at = time.monotonic()
            await self._note_online()
            return result
        if result.cause != "unresolved" or not await self._is_offline():
            return result
        detail = "This machine is offline: no host name can be resolved"
        return replace(result, cause="offline", detail=detail, retry_after=self._wait, sent=False)

    async def _is_offline(self) -> bool:
        async with self._lock:
            if time.monotonic() < self._answered_at + ANSWER_LIFETIME:
                return False
            if time.monotonic() < self._checked_at + CHECK_LIFETIME:
                return self._offline
            lookups = [self._can_resolve(host) for host in REFERENCE_HOSTS]
            is_offline = not any(await asyncio.gather(*lookups))
            if is_offline:
                log.warning("offline: no host name can be resolved")
                async with self._db.transaction() as tx:
                    self._wait = await save_offline(tx)
                self._offline = True
            else:
                await self._note_online()
            self._checked_at = time.monotonic()
            return is_offline

    async def _can_resolve(self, host: str) -> bool:
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                return bool(await self._resolve(host, 443))
        except (OSError, UnicodeError):  # Includes timeouts.
            return False

    async def _note_online(self) -> None:
        if self._offline:
            self._offline = False
            async with self._db.transaction() as tx:
                await delete_offline(tx)

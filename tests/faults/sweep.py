"""Cut the connection before and after every single statement of an operation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import psycopg

from jobmill.db import Database, Tx, open_connection

from .proxy import Action, FaultProxy, Request

Act = Callable[..., Awaitable[Any]]
"""Takes a transaction first."""

MAX_STATEMENTS = 100
"""More than any operation has; a sweep that reaches it counts the wrong requests."""


class Sweep:
    """Breaks the n-th request of an operation, for every n."""

    def __init__(self, proxy: FaultProxy, action: Action, observer: Tx) -> None:
        self._proxy = proxy
        self._observer = observer
        self._action: Action = action
        self.cuts = 0

    def positions(self) -> Iterator[int]:
        """Every position, until the operation ends before its turn comes."""
        for position in range(MAX_STATEMENTS):
            before = self.cuts
            yield position
            if self.cuts == before:
                return
        raise AssertionError("the operation never ended")

    async def attempt(self, position: int, act: Act, *args: Any) -> bool:
        """Run it in one transaction that breaks at `position`; False if the client saw a failure."""
        numbers = count()

        def decide(request: Request) -> Action:
            if next(numbers) != position:
                return "forward"
            self.cuts += 1
            return self._action

        async with await open_connection(self._proxy.url) as connection:
            backend = connection.info.backend_pid
            self._proxy.decide = decide
            try:
                async with connection.transaction():
                    await act(connection, *args)
            except psycopg.OperationalError:
                await self._until_gone(backend)
                return False
            finally:
                self._proxy.decide = lambda request: "forward"
        return True

    async def _until_gone(self, backend: int) -> None:
        """Wait until the server has noticed the cut connection and released its locks."""
        async with asyncio.timeout(20):
            while True:
                cursor = await self._observer.execute(
                    "SELECT FROM pg_stat_activity WHERE pid = %s", [backend]
                )
                if cursor.rowcount == 0:
                    return
                await asyncio.sleep(0.005)


async def do(database: Database, act: Act, *args: Any) -> Any:
    async with database.transaction() as tx:
        return await act(tx, *args)

"""Whether what the pages show is fiction: all of them say so."""

from __future__ import annotations

import time
from typing import cast

from fastapi import Request

from jobmill.demo import seeds
from jobmill.web.view import Db, Door

FRESH = 2.0
"""Seconds for which we believe what we saw."""


class Scene:
    def __init__(self) -> None:
        self.is_demo = False
        self._until = 0.0

    def forget(self) -> None:
        """Look anew at once: it has just changed."""
        self.is_demo, self._until = False, 0.0

    async def look(self, db: Door) -> None:
        if time.monotonic() < self._until:
            return
        async with db.transaction() as tx:
            self.is_demo = await seeds.is_on(tx)
        self._until = time.monotonic() + FRESH


async def look(request: Request, db: Db) -> None:
    """For every page that says whether this is the demo."""
    await cast(Scene, request.app.state.scene).look(db)

"""What the banners above every page say: that this is a demo, and that this machine is offline."""

from __future__ import annotations

import time
from typing import cast

from fastapi import Request

from jobmill.demo import setup
from jobmill.outside import connectivity
from jobmill.web.dependencies import BannerState, Db, RequestDatabase

CACHE_SECONDS = 2.0


class Banners(BannerState):
    """Read from the database at most every CACHE_SECONDS."""

    _valid_until = 0.0

    def invalidate(self) -> None:
        self.is_demo, self.offline, self._valid_until = False, None, 0.0

    async def refresh(self, db: RequestDatabase) -> None:
        if time.monotonic() < self._valid_until:
            return
        async with db.transaction() as tx:
            self.is_demo = await setup.is_demo(tx)
            self.offline = await connectivity.find_offline(tx)
        self._valid_until = time.monotonic() + CACHE_SECONDS


async def refresh_banners(request: Request, db: Db) -> None:
    """A dependency of every page that shows banners."""
    await cast(Banners, request.app.state.banners).refresh(db)

"""What every page shows of the installation: that this is a demo, its health, and the company."""

from __future__ import annotations

import time
from typing import Annotated, cast

from fastapi import Depends, Request

from jobmill.db import Tx
from jobmill.demo import setup
from jobmill.hiring.company_identity import read_identity
from jobmill.web.dependencies import BannerState, Db, RequestDatabase
from jobmill.web.site_settings import SiteSettings
from jobmill.web.system_health import HealthFacts, SystemHealth, assess, read_facts

CACHE_SECONDS = 2.0


class Banners(BannerState):
    """Read from the database at most every CACHE_SECONDS."""

    def __init__(self, site_settings: SiteSettings | None = None) -> None:
        self._site_settings = site_settings or SiteSettings()
        self._facts = HealthFacts()
        self._valid_until = 0.0

    @property
    def health(self) -> SystemHealth:
        return assess(self._facts)

    def invalidate(self) -> None:
        self.is_demo, self._valid_until = False, 0.0

    def expire(self) -> None:
        """Read everything again for the next page, because this one has changed it."""
        self._valid_until = 0.0

    async def refresh(self, db: RequestDatabase) -> None:
        if time.monotonic() < self._valid_until:
            return
        async with db.transaction() as tx:
            await self.read_health(tx)

    async def read_health(self, tx: Tx) -> SystemHealth:
        """Read it again, for pages about it: the chip of the same page then shows the same."""
        self.is_demo = await setup.is_demo(tx)
        self._facts = await read_facts(
            tx,
            data_dir=self._site_settings.bundled_data_dir,
            # The applicants of a demo are fictional: sending no email is not a problem.
            sends_mail=self._site_settings.sends_mail or self.is_demo,
        )
        self.company = await read_identity(tx)
        self._valid_until = time.monotonic() + CACHE_SECONDS
        return self.health


def get_banners(request: Request) -> Banners:
    return cast(Banners, request.app.state.banners)


# Not `def`: FastAPI would run it in a thread.
async def _banners(request: Request) -> Banners:
    return get_banners(request)


CurrentBanners = Annotated[Banners, Depends(_banners)]


async def refresh_banners(banners: CurrentBanners, db: Db) -> None:
    """A dependency of every page that shows banners."""
    await banners.refresh(db)

"""/setup/matches: boards are read, listings judged, and the first matches come, as it happens."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.catalog import totals
from jobmill.db import Tx
from jobmill.matching import judging_feed, matches, verdicts
from jobmill.matching.matches import Wanted
from jobmill.queue import inspect
from jobmill.web.dependencies import Db
from jobmill.web.job_view import MatchRow
from jobmill.web.pages.setup import steps
from jobmill.web.pages.setup.steps import Standing
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/setup/matches")

FIRST = 5
MANY = 10_000


@dataclass(frozen=True, slots=True)
class Progress:
    listings: int
    judged: int
    waiting: int
    rows: list[MatchRow]
    worker: bool
    """Whether somebody is there to do it."""

    def is_over(self, standing: Standing) -> bool:
        """Whether nothing more comes by itself soon."""
        return standing.boards.read >= standing.boards.total and not self.waiting


@router.get("")
async def show(db: Db, page: Page, site_settings: CurrentSiteSettings) -> HTMLResponse:
    async with db.transaction() as tx:
        standing = await steps.read(tx, site_settings)
        progress = await _read(tx, standing)
    return page(
        "setup/matches.html",
        topics=["sources", "matches", "queue"],
        standing=standing,
        steps=steps.line(standing, "/setup/matches"),
        progress=progress,
        over=progress.is_over(standing),
        many=MANY,
    )


async def _read(tx: Tx, standing: Standing) -> Progress:
    listings = (await totals.count(tx)).listings
    worker = any(one.alive for one in await inspect.list_workers(tx))
    if standing.version is None:
        return Progress(listings, 0, 0, [], worker)
    id = standing.version.profile_id
    found = await matches.find(tx, Wanted(profile_id=id, limit=FIRST))
    return Progress(
        listings,
        await verdicts.count(tx, id, most=MANY),
        await judging_feed.count(tx, id, most=MANY),
        [MatchRow.of(one) for one in found],
        worker,
    )

"""/setup/matches: progress of reading boards and scoring jobs, and the first matches."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.catalog import totals
from jobmill.db import Tx
from jobmill.matching import judging_feed, matches, verdicts
from jobmill.matching.matches import MatchQuery
from jobmill.queue import inspect
from jobmill.web.auth import Seeker
from jobmill.web.job_view import MatchRow
from jobmill.web.pages.matches.inbox_query import InboxQuery
from jobmill.web.pages.setup.steps import MATCHES, SetupStatus, list_steps, read_setup_status
from jobmill.web.shell import Page

router = APIRouter(prefix=MATCHES)

MAX_MATCHES = 5
COUNT_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class FirstMatches:
    listings: int
    scored: int
    waiting: int
    rows: list[MatchRow]
    has_worker: bool

    def is_finished(self, status: SetupStatus) -> bool:
        """Whether all boards are read and all jobs are scored."""
        return status.boards.read >= status.boards.total and not self.waiting


@router.get("")
async def show(visitor: Seeker, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        status = await read_setup_status(tx, page.site_settings, visitor)
        progress = await _read(tx, status)
    return page(
        "setup/matches.html",
        topics=["sources", "matches", "queue"],
        status=status,
        steps=list_steps(status, MATCHES),
        progress=progress,
        is_finished=progress.is_finished(status),
        count_limit=COUNT_LIMIT,
        # The rows link to the inbox.
        query=InboxQuery(),
        selected=None,
    )


async def _read(tx: Tx, status: SetupStatus) -> FirstMatches:
    listings = (await totals.count(tx)).listings
    has_worker = any(worker.alive for worker in await inspect.list_workers(tx))
    if status.version is None:
        return FirstMatches(listings, 0, 0, [], has_worker)
    id = status.version.profile_id
    best = await matches.find(tx, MatchQuery(profile_id=id, limit=MAX_MATCHES))
    return FirstMatches(
        listings,
        await verdicts.count(tx, id, limit=COUNT_LIMIT),
        await judging_feed.count(tx, id, limit=COUNT_LIMIT),
        [MatchRow.of(match) for match in best],
        has_worker,
    )

"""/: what needs attention, the main figures, the best new matches and today's costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.catalog import approvals, submissions, totals
from jobmill.catalog.totals import Totals
from jobmill.db import Tx
from jobmill.hiring.waitlist import deadlines
from jobmill.hiring.waitlist.deadlines import PendingOffer
from jobmill.matching import judging_feed, matches
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profiles import ProfileId, ProfileVersion
from jobmill.outside import budget_ledger
from jobmill.outside.budget_ledger import PeriodSpending
from jobmill.queue import inspect
from jobmill.queue.alerts import Alert, list_alerts
from jobmill.web import job_view
from jobmill.web.auth import SignedIn, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.job_view import MatchRow, format_capped
from jobmill.web.shell import Page, menu
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.translations import say, say_many

router = APIRouter()

MAX_ROWS = 5
COUNT_LIMIT = 1_000
"""Everything is counted up to this number."""


@dataclass(frozen=True, slots=True)
class HomeState:
    version: ProfileVersion | None
    new: int
    best: Sequence[MatchRow]
    unscored: int
    totals: Totals
    approvals: int
    alerts: Sequence[Alert]
    offers: Sequence[PendingOffer]
    spent: PeriodSpending
    has_worker: bool
    unread: int
    """Added jobs, job boards and companies that could not be read."""

    @property
    def is_empty(self) -> bool:
        """Whether the person has not added anything yet."""
        return self.version is None and not self.totals.companies and not self.totals.sources


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """Something that a person should look at."""

    color: str
    text: str
    path: str
    link: str


@dataclass(frozen=True, slots=True)
class HomeFigure:
    name: str
    path: str
    count: int
    detail: str


@router.api_route("/", methods=["GET", "HEAD"])
async def show(
    db: Db, page: Page, visitor: SignedIn, site_settings: CurrentSiteSettings
) -> HTMLResponse:
    async with db.transaction() as tx:
        state = await read(tx, visitor)
    return page(
        "home/page.html",
        topics=["matches", "sources", "companies", "queue", "hiring", "budget"],
        state=state,
        tasks=[
            task
            for task in [*_problems(state), *_decisions(state)]
            if _may_open(visitor, task.path)
        ],
        figures=[figure for figure in list_figures(state) if _may_open(visitor, figure.path)],
        daily_cap=float(site_settings.caps.day),
    )


def _may_open(visitor: Visitor, path: str) -> bool:
    """Whether the menu leads this visitor to the page."""
    entries = [entry for group in menu() for entry in group.entries]
    page = path.partition("?")[0]
    return any(
        entry.is_for(visitor)
        for entry in entries
        if entry.path == page or (entry.path != "/" and page.startswith(f"{entry.path}/"))
    )


async def read(tx: Tx, visitor: Visitor) -> HomeState:
    """Only what the visitor may see: their own job search, and hiring if they take part in it."""
    seeks, hires = visitor.may_open("search"), visitor.may_open("hiring")
    version = await job_view.find_profile(tx, None, visitor.owner) if seeks else None
    best = await _find_best(tx, version.profile_id) if version else []
    return HomeState(
        version=version,
        new=await _count_new(tx, version.profile_id) if version else 0,
        best=[MatchRow.of(match) for match in best],
        unscored=await judging_feed.count(tx, version.profile_id, limit=COUNT_LIMIT)
        if version
        else 0,
        totals=await totals.count(tx),
        approvals=await approvals.count_waiting(tx, limit=COUNT_LIMIT),
        alerts=await list_alerts(tx, limit=MAX_ROWS),
        offers=await deadlines.find_pending_offers(tx, limit=MAX_ROWS) if hires else [],
        spent=await budget_ledger.read_spending(tx, "day"),
        has_worker=any(worker.alive for worker in await inspect.list_workers(tx)),
        unread=await submissions.count_unknown(tx, owner=visitor.owner, limit=COUNT_LIMIT)
        if seeks
        else 0,
    )


async def _find_best(tx: Tx, profile_id: ProfileId) -> list[matches.Match]:
    filter = MatchQuery(profile_id=profile_id, statuses=["new"], limit=MAX_ROWS)
    return await matches.find(tx, filter)


async def _count_new(tx: Tx, profile_id: ProfileId) -> int:
    listed = await matches.count_shown(tx, profile_id, limit=COUNT_LIMIT)
    return next((count.count for count in listed if count.status == "new"), 0)


def _problems(state: HomeState) -> list[AttentionItem]:
    items: list[AttentionItem] = []
    if not state.has_worker:
        text = say("No worker is running, so no tasks are processed")
        items.append(AttentionItem("bad", text, "/queue", say("View the queue")))
    items += [
        AttentionItem("bad", f"{alert.rule}: {alert.detail}", "/queue", say("View the queue"))
        for alert in state.alerts
    ]
    if state.unread:
        text = say_many(
            "%(n)s page that you added could not be read",
            "%(n)s pages that you added could not be read",
            state.unread,
        )
        items.append(AttentionItem("bad", text, "/jobs/added?state=unknown", say("View and retry")))
    if count := state.totals.disabled_sources:
        text = say_many(
            "%(n)s source was disabled after repeated failures",
            "%(n)s sources were disabled after repeated failures",
            count,
        )
        items.append(AttentionItem("calm", text, "/sources?show=disabled", say("View sources")))
    if count := state.totals.troubled_sources:
        text = say_many(
            "%(n)s source could not be read and is retried automatically",
            "%(n)s sources could not be read and are retried automatically",
            count,
        )
        items.append(AttentionItem("calm", text, "/sources?show=troubled", say("View sources")))
    return items


def _decisions(state: HomeState) -> list[AttentionItem]:
    items: list[AttentionItem] = []
    if state.approvals:
        text = say_many(
            "%(n)s job board needs your approval",
            "%(n)s job boards need your approval",
            state.approvals,
        )
        items.append(AttentionItem("busy", text, "/sources?show=waiting", say("Review")))
    if state.new:
        text = say_many("%(n)s new match", "%(n)s new matches", state.new)
        items.append(AttentionItem("good", text, "/matches?status=new", say("View matches")))
    return items


def list_figures(state: HomeState) -> list[HomeFigure]:
    counts = state.totals
    new_listings = format_capped(counts.new_listings, COUNT_LIMIT)
    unscored = format_capped(state.unscored, COUNT_LIMIT)
    return [
        HomeFigure(say("Companies"), "/companies", counts.companies, say("in the catalog")),
        HomeFigure(
            say("Sources"),
            "/sources",
            counts.sources,
            say_many("%(n)s enabled", "%(n)s enabled", counts.active_sources),
        ),
        HomeFigure(
            say("Jobs"), "/jobs", counts.listings, say("%(n)s new in 24 hours", n=new_listings)
        ),
        HomeFigure(
            say("New matches"), "/matches", state.new, say("%(n)s jobs to be scored", n=unscored)
        ),
    ]

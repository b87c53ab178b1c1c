"""/: what needs me now, what flows where, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.catalog import approvals, totals
from jobmill.catalog.totals import Totals
from jobmill.db import Tx
from jobmill.hiring.waitlist import pending
from jobmill.hiring.waitlist.pending import PendingOffer
from jobmill.matching import judging_feed, matches
from jobmill.matching.matches import Wanted
from jobmill.matching.profiles import ProfileId, Version
from jobmill.outside import budget_ledger
from jobmill.outside.budget_ledger import PeriodSpending
from jobmill.queue import inspect
from jobmill.queue.alerts import Alert, list_alerts
from jobmill.web import job_view
from jobmill.web.dependencies import Db
from jobmill.web.job_view import MatchRow
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.translations import say, say_many

router = APIRouter()

FEW = 5
MANY = 1_000
"""No more than so many of anything are counted."""


@dataclass(frozen=True, slots=True)
class State:
    """What the page is made of."""

    version: Version | None
    new: int
    best: Sequence[MatchRow]
    unjudged: int
    totals: Totals
    approvals: int
    alerts: Sequence[Alert]
    offers: Sequence[PendingOffer]
    spent: PeriodSpending
    silent: bool
    """Whether there is no worker, so that nothing moves."""

    @property
    def is_new(self) -> bool:
        """Whether there is nothing of one's own to see yet."""
        return self.version is None and not self.totals.companies and not self.totals.sources


@dataclass(frozen=True, slots=True)
class Need:
    """Something that waits for a person."""

    look: str
    text: str
    path: str
    act: str


@dataclass(frozen=True, slots=True)
class Station:
    """Where listings are on their way to a person."""

    name: str
    path: str
    count: int
    more: str


@router.api_route("/", methods=["GET", "HEAD"])
async def show(db: Db, page: Page, site_settings: CurrentSiteSettings) -> HTMLResponse:
    async with db.transaction() as tx:
        state = await read(tx)
    return page(
        "home/page.html",
        topics=["matches", "sources", "companies", "queue", "hiring", "budget"],
        state=state,
        needs=needs(state),
        flow=flow(state),
        most=float(site_settings.caps.day),
    )


async def read(tx: Tx) -> State:
    version = await job_view.find_profile(tx, None)
    found = await _best(tx, version.profile_id) if version else []
    new = await _new(tx, version.profile_id) if version else 0
    return State(
        version=version,
        new=new,
        best=[MatchRow.of(one) for one in found],
        unjudged=await judging_feed.count(tx, most=MANY),
        totals=await totals.count(tx),
        approvals=await approvals.count_waiting(tx, limit=MANY),
        alerts=await list_alerts(tx, limit=FEW),
        offers=await pending.find_ending_soonest(tx, limit=FEW),
        spent=await budget_ledger.read_spending(tx, "day"),
        silent=not any(one.alive for one in await inspect.list_workers(tx)),
    )


async def _best(tx: Tx, profile_id: ProfileId) -> list[matches.Match]:
    wanted = Wanted(profile_id=profile_id, statuses=["new"], limit=FEW)
    return await matches.find(tx, wanted)


async def _new(tx: Tx, profile_id: ProfileId) -> int:
    listed = await matches.listed(tx, profile_id, most=MANY)
    return next((one.count for one in listed if one.status == "new"), 0)


def needs(state: State) -> list[Need]:
    """What waits for a person, what is wrong first."""
    return [*_wrong(state), *_waiting(state)]


def _wrong(state: State) -> list[Need]:
    found: list[Need] = []
    if state.silent:
        text = say("No worker runs, so nothing moves. On a terminal: jobmill up")
        found.append(Need("bad", text, "/queue", say("See the queue")))
    found += [
        Need("bad", f"{one.rule}: {one.detail}", "/queue", say("See the queue"))
        for one in state.alerts
    ]
    if count := state.totals.disabled_sources:
        text = say_many(
            "%(n)s source has failed so often that it is off.",
            "%(n)s sources have failed so often that they are off.",
            count,
        )
        found.append(Need("calm", text, "/sources?show=disabled", say("See why")))
    if count := state.totals.troubled_sources:
        text = say_many(
            "%(n)s source could not be read; it is tried again by itself.",
            "%(n)s sources could not be read; they are tried again by themselves.",
            count,
        )
        found.append(Need("calm", text, "/sources?show=troubled", say("See why")))
    return found


def _waiting(state: State) -> list[Need]:
    found: list[Need] = []
    if state.approvals:
        text = say_many(
            "%(n)s board waits for your word.", "%(n)s boards wait for your word.", state.approvals
        )
        found.append(Need("busy", text, "/sources?show=waiting", say("Decide")))
    if state.new:
        text = say_many("%(n)s new match is there.", "%(n)s new matches are there.", state.new)
        found.append(Need("good", text, "/matches?status=new", say("Look at them")))
    return found


def flow(state: State) -> list[Station]:
    """From companies to matches, each with how it is there."""
    all = state.totals
    return [
        Station(say("Companies"), "/companies", all.companies, say("that are followed")),
        Station(
            say("Sources"),
            "/sources",
            all.sources,
            say_many("%(n)s is read", "%(n)s are read", all.active_sources),
        ),
        Station(
            say("Listings"),
            "/listings",
            all.listings,
            say("%(n)s new in 24 hours", n=capped(all.new_listings)),
        ),
        Station(
            say("New matches"),
            "/matches",
            state.new,
            say("%(n)s listings to judge", n=capped(state.unjudged)),
        ),
    ]


def capped(count: int) -> str:
    """A number that was counted no further than MANY."""
    return f"{count:,}+" if count >= MANY else f"{count:,}"

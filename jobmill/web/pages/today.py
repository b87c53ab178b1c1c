"""/today: new matches, what needs a decision, and the week in numbers; / opens the last workspace."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import approvals, submissions, totals
from jobmill.catalog.approvals import Approval
from jobmill.catalog.submissions import Submission
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.demo import setup
from jobmill.demo.state import World
from jobmill.hiring.openings import review_list
from jobmill.hiring.openings.review_list import UndecidedOpening
from jobmill.matching import judging_feed, match_days, matches, profiles
from jobmill.matching.job_applications import followups
from jobmill.matching.job_applications.followups import DueStep, OpenApplication
from jobmill.matching.match_days import MatchDay
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profiles import ProfileId, ProfileVersion
from jobmill.people.persons import Owner
from jobmill.time_zones import format_local_time
from jobmill.web import job_view, unread_mentions, workspace_menus
from jobmill.web.auth import SignedIn
from jobmill.web.banners import CurrentBanners
from jobmill.web.charts import BarGroup, make_bar_groups
from jobmill.web.dependencies import format_age
from jobmill.web.job_view import MatchRow, format_capped
from jobmill.web.shell import COOKIE_SECONDS, Page
from jobmill.web.source_secrets import hide_secrets
from jobmill.web.translations import say, say_many
from jobmill.web.workspace_menus import WORKSPACE_COOKIE

start_router = APIRouter()
router = APIRouter(prefix="/today")

MAX_MATCHES = 3
MAX_DECISIONS = 3
"""Named things of one kind; a link leads to the others."""
COUNT_LIMIT = 1_000
DAYS = 7
DAY = dt.timedelta(days=1)
INTRO_COOKIE = "jobmill_intro"
"""Set once the person has dismissed the introduction."""


@dataclass(frozen=True, slots=True)
class TodayState:
    world: World | None
    version: ProfileVersion | None
    is_empty: bool
    """Whether nothing has been added yet."""
    has_sources: bool
    new: int
    has_matches: bool
    """Whether there is any match, decided or not."""
    best: Sequence[MatchRow]
    unscored: int
    new_listings: int
    approvals: Sequence[Approval]
    approval_count: int
    due_steps: Sequence[DueStep]
    applications: Sequence[OpenApplication]
    time_zones: Mapping[ProfileId, str]
    """Of the profiles with an interview soon."""
    unreadable: Sequence[Submission]
    unreadable_count: int
    undecided: Sequence[UndecidedOpening]
    days: Sequence[MatchDay]
    read_at: dt.datetime


class DecisionItem(NamedTuple):
    """Something that waits for a person, with its name."""

    color: str
    text: str
    path: str
    link: str
    advice: str = ""


@start_router.api_route("/", methods=["GET", "HEAD"])
async def start(request: Request, visitor: SignedIn) -> Response:
    """Open the workspace that the person used last, or the first that they have."""
    last_used = request.cookies.get(WORKSPACE_COOKIE, "")
    workspace = workspace_menus.find_workspace(
        workspace_menus.list_workspaces(visitor), "/", last_used
    )
    return RedirectResponse(workspace.path if workspace else "/account", 303)


@router.api_route("", methods=["GET", "HEAD"])
async def show(page: Page, visitor: SignedIn, banners: CurrentBanners) -> HTMLResponse:
    async with page.db.transaction() as tx:
        state = await read_today(tx, visitor.owner)
        health = await banners.read_health(tx)
        mentions = await unread_mentions.read_unread(tx, visitor)
    return page(
        "today/page.html",
        topics=["matches", "sources", "companies", "queue", "hiring"],
        state=state,
        unread=mentions,
        decisions=[
            decision
            for decision in _decisions(state)
            if workspace_menus.may_follow(visitor, decision.path)
        ],
        conditions=health.conditions if visitor.may_open("system") else [],
        shows_intro=INTRO_COOKIE not in page.request.cookies,
        day_length=format_age(state.world.day.total_seconds()) if state.world else "",
        week=_week(state),
        week_total=sum(day.new + day.applied for day in state.days),
        new_listings=format_capped(state.new_listings, COUNT_LIMIT),
        unscored=format_capped(state.unscored, COUNT_LIMIT),
    )


@router.post("/intro")
async def dismiss_intro(visitor: SignedIn) -> Response:
    response = RedirectResponse("/today", 303)
    response.set_cookie(INTRO_COOKIE, "seen", COOKIE_SECONDS, httponly=True, samesite="lax")
    return response


async def read_today(tx: Tx, owner: Owner) -> TodayState:
    world = await setup.read_world(tx)
    version = await job_view.find_profile(tx, None, owner)
    counts = await totals.count(tx)
    approval_count = await approvals.count_waiting(tx, limit=COUNT_LIMIT)
    unreadable_count = await submissions.count_unknown(tx, owner=owner, limit=COUNT_LIMIT)
    now = await server_time(tx)
    starts, length = _day_starts(now, world)
    profile = version.profile_id if version else None
    applications = await followups.find_open(tx, owner, limit=COUNT_LIMIT)
    shown = await matches.count_shown(tx, profile, limit=COUNT_LIMIT) if profile else []
    return TodayState(
        world=world,
        version=version,
        is_empty=version is None and not counts.companies and not counts.sources,
        has_sources=counts.sources > 0,
        new=next((count.count for count in shown if count.status == "new"), 0),
        has_matches=any(count.count for count in shown),
        best=[MatchRow.of(match) for match in await _find_best(tx, profile)] if profile else [],
        unscored=await judging_feed.count(tx, profile, limit=COUNT_LIMIT) if profile else 0,
        new_listings=counts.new_listings,
        approvals=await approvals.find(tx, limit=MAX_DECISIONS) if approval_count else [],
        approval_count=approval_count,
        due_steps=await followups.due(tx, owner, limit=COUNT_LIMIT),
        applications=applications,
        time_zones=await _read_time_zones(tx, applications),
        unreadable=await submissions.find(tx, owner=owner, state="unknown", limit=MAX_DECISIONS)
        if unreadable_count
        else [],
        unreadable_count=unreadable_count,
        undecided=await review_list.list_undecided(tx, limit=MAX_DECISIONS),
        days=await match_days.count_days(tx, profile, starts, length) if profile else [],
        read_at=now,
    )


def _day_starts(
    now: dt.datetime, world: World | None
) -> tuple[Sequence[dt.datetime], dt.timedelta]:
    """The beginnings of the last days in UTC; a demo counts its own, shorter days."""
    length = world.day if world else DAY
    first = world.began_at if world else dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
    today = first + (now - first) // length * length
    return [today - n * length for n in reversed(range(DAYS))], length


async def _read_time_zones(
    tx: Tx, applications: Sequence[OpenApplication]
) -> Mapping[ProfileId, str]:
    ids = {application.profile_id for application in applications if application.interview_at}
    return {id: (await profiles.get_by_id(tx, id)).profile().person.timezone for id in ids}


async def _find_best(tx: Tx, profile_id: ProfileId) -> list[matches.Match]:
    filter = MatchQuery(profile_id=profile_id, statuses=["new"], limit=MAX_MATCHES)
    return await matches.find(tx, filter)


def _decisions(state: TodayState) -> list[DecisionItem]:
    return [
        *_due_steps(state),
        *_applications(state),
        *_approvals(state),
        *map(_describe_undecided, state.undecided),
        *_unreadable(state),
    ]


def _due_steps(state: TodayState) -> list[DecisionItem]:
    items = [_describe_due_step(step) for step in state.due_steps[:MAX_DECISIONS]]
    if rest := len(state.due_steps) - len(items):
        text = say_many("%(n)s more next step is due", "%(n)s more next steps are due", rest)
        items.append(DecisionItem("busy", text, "/applications", say("View all")))
    return items


def _describe_due_step(step: DueStep) -> DecisionItem:
    name = job_view.join_parts([step.title or say("(no title)"), step.company])
    due = say("due %(date)s", date=step.due_on.isoformat())
    text = say("%(step)s: %(name)s", step=step.step, name=name)
    return DecisionItem("busy", text, f"/applications/{step.match_id}", say("View"), due)


def _applications(state: TodayState) -> list[DecisionItem]:
    items = [
        item
        for application in state.applications[:MAX_DECISIONS]
        for item in _describe_application(application, state)
    ]
    if rest := len(state.applications[MAX_DECISIONS:]):
        text = say_many(
            "%(n)s more application needs your attention",
            "%(n)s more applications need your attention",
            rest,
        )
        if len(state.applications) == COUNT_LIMIT:
            text = say("Many more applications need your attention")
        items.append(DecisionItem("busy", text, "/applications", say("View all")))
    return items


def _describe_application(
    application: OpenApplication, state: TodayState
) -> Iterator[DecisionItem]:
    name = job_view.join_parts([application.title or say("(no title)"), application.company])
    path = f"/applications/{application.match_id}"
    if application.interview_at:
        zone = state.time_zones[application.profile_id]
        at = format_local_time(application.interview_at, zone)
        yield DecisionItem("good", say("Interview: %(name)s", name=name), path, say("View"), at)
    if application.status == "offer":
        day = application.offer_deadline
        deadline = say("Answer by %(date)s", date=day.isoformat()) if day else ""
        text = say("Answer the offer: %(name)s", name=name)
        yield DecisionItem("good", text, path, say("View"), deadline)
    elif not application.interview_at:
        days = (state.read_at - application.active_at).days
        text = say("Follow up: %(name)s, no news for %(n)s days", name=name, n=days)
        yield DecisionItem("busy", text, path, say("View"))


def _describe_undecided(opening: UndecidedOpening) -> DecisionItem:
    text = say_many(
        "%(title)s: %(n)s application needs your decision",
        "%(title)s: %(n)s applications need your decision",
        opening.in_review,
        title=opening.title,
    )
    return DecisionItem("busy", text, f"/hiring/{opening.id}/review", say("Review"))


def _approvals(state: TodayState) -> list[DecisionItem]:
    items = [
        DecisionItem(
            "busy",
            say("Approve %(name)s?", name=approval.name),
            f"/sources?show=waiting#waits-{approval.noun}-{approval.id}",
            say("Review"),
            hide_secrets(approval.url or "").removeprefix("https://"),
        )
        for approval in state.approvals
    ]
    rest = state.approval_count - len(items)
    if rest > 0:
        text = say_many(
            "%(n)s more job board needs your approval",
            "%(n)s more job boards need your approval",
            rest,
        )
        items.append(DecisionItem("busy", text, "/sources?show=waiting", say("Review all")))
    return items


def _unreadable(state: TodayState) -> list[DecisionItem]:
    items = [
        DecisionItem(
            "bad",
            say("Could not read %(name)s", name=added.title or added.url or say("pasted text")),
            f"/jobs/added/{added.id}",
            say("View and retry"),
            added.reason or "",
        )
        for added in state.unreadable
    ]
    rest = state.unreadable_count - len(items)
    if rest > 0:
        text = say_many(
            "%(n)s more page that you added could not be read",
            "%(n)s more pages that you added could not be read",
            rest,
        )
        items.append(DecisionItem("bad", text, "/jobs/added?state=unknown", say("View all")))
    return items


def _week(state: TodayState) -> list[BarGroup]:
    """Bars of each day: new matches, and matches that the person applied to."""
    world = state.world
    days = [day for day in state.days if world is None or day.start >= world.began_at]
    names = [_day_name(day.start, world) for day in days]
    return make_bar_groups(names, [[day.new, day.applied] for day in days])


def _day_name(start: dt.datetime, world: World | None) -> str:
    if world:
        return say("Day %(n)s", n=(start - world.began_at) // world.day + 1)
    names = [
        say("Mon"), say("Tue"), say("Wed"), say("Thu"), say("Fri"), say("Sat"), say("Sun"),
    ]  # fmt: skip
    return names[start.weekday()]

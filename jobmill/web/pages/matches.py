"""/matches: what fits, why, and what one makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.catalog import listings, sources
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Arrangement
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import marks, matches, profiles, verdicts, waiting
from jobmill.matching.matches import Count, Event, Match, Order, Status, Wanted
from jobmill.matching.profiles import Entry, Version
from jobmill.matching.verdicts import Word
from jobmill.web import seeking
from jobmill.web.api.shapes import MOST_ID, WholePathId
from jobmill.web.form import Fields
from jobmill.web.rights import Recruiter
from jobmill.web.seeking import Asked, Row, Words
from jobmill.web.shell import Page
from jobmill.web.view import Db, View

router = APIRouter(prefix="/matches")

AT_ONCE = 25
MANY = 1_000
"""So many new ones are counted for a tab."""
NEWS = 20
"""So many new ones are counted; more are "more"."""
STATUSES: tuple[Status, ...] = get_args(Status)
LISTED: list[Status] = [one for one in STATUSES if one != "dismissed"]
USUAL = ("new", "saved", "applied", "dismissed")
"""Where one looks for matches, even if there are none."""
OWN = re.compile(r"/matches(?:[/?][\x21-\x5b\x5d-\x7e]*)?")
"""A page of ours to go back to, and of nobody else."""


class Inbox(Asked):
    profile: Words | None = None
    status: Status | None = None
    least: Annotated[int, Field(ge=0, le=100)] | None = None
    arrangement: Arrangement | None = None
    q: Words | None = None
    order: Order = "best"
    after: Annotated[int, Field(ge=1, le=MOST_ID)] | None = None

    @property
    def is_narrow(self) -> bool:
        return bool(self.status or self.least or self.arrangement or self.q)

    def wanted(self, profile_id: int, limit: int) -> Wanted:
        return Wanted(
            profile_id=profile_id,
            statuses=[self.status] if self.status else LISTED,
            least_score=self.least,
            arrangement=self.arrangement,
            q=self.q,
            order=self.order,
            after=self.after,
            limit=limit,
        )


class News(Inbox):
    since: Annotated[int, Field(ge=0, le=MOST_ID)] = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One page of the inbox, and what surrounds it."""

    version: Version
    found: list[Match]
    profiles: list[Entry]
    counts: list[Count]
    newest: int
    done: Match | None
    nothing: str

    @property
    def tabs(self) -> list[tuple[Status | None, str]]:
        many = {one.status: one.count for one in self.counts}
        inbox = sum(count for status, count in many.items() if status != "dismissed")
        more = "+" if many.get("new", 0) >= MANY else ""
        named: list[tuple[Status | None, str]] = [
            (one, f"{many.get(one, 0):,}{more if one == 'new' else ''}")
            for one in STATUSES
            if one in many or one in USUAL
        ]
        return [(None, f"{inbox:,}{more}"), *named]


Done = Annotated[int | None, Query(ge=1, le=MOST_ID)]


@router.get("")
async def show(
    asked: Annotated[Inbox, Query()], db: Db, page: Page, done: Done = None
) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await seeking.find_profile(tx, asked.profile)
        if version is None:
            return page("matches/nobody.html")
        shown = await read(tx, version, asked, done)
    found = shown.found[:AT_ONCE]
    more = found[-1].id if len(shown.found) > AT_ONCE else None
    return page(
        "matches/page.html",
        topics=["matches"],
        asked=asked,
        shown=shown,
        rows=[Row.of(one) for one in found],
        more=more and asked.url("/matches", after=more),
        first=asked.without("after").url("/matches"),
        news=asked.without("after").url("/matches/news", since=shown.newest),
        back=asked.url("/matches"),
    )


async def read(tx: Tx, version: Version, asked: Inbox, done: int | None) -> Shown:
    """What the page shows, and one match more if there are more."""
    id = version.profile_id
    # Before the list: what comes between the two is news rather than lost.
    newest = await matches.newest(tx, id)
    found = await matches.find(tx, asked.wanted(id, AT_ONCE + 1))
    counts = [one for one in await matches.listed(tx, id, most=MANY) if one.count]
    last = await matches.find(tx, Wanted(ids=[done], closed=True, dropped=True)) if done else []
    nothing = "" if found else await _say_nothing(tx, version, asked, bool(counts))
    return Shown(
        version, found, await profiles.find(tx), counts, newest, last[0] if last else None, nothing
    )


async def _say_nothing(tx: Tx, version: Version, asked: Inbox, some: bool) -> str:
    """Why there is nothing to see, in a word for the template."""
    if asked.after is not None:
        return "end"
    if some:
        return "narrow" if asked.is_narrow else "dismissed"
    if await waiting.count(tx, version.profile_id):
        return "waiting"
    return "unfit" if await verdicts.tally(tx, version.profile_id) else "unjudged"


@router.get("/news")
async def news(asked: Annotated[News, Query()], db: Db, view: View) -> HTMLResponse:
    """How many have come since the page was drawn, of those that it would show."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, asked.profile)
        wanted = asked.without("after").wanted(version.profile_id, NEWS + 1)
        found = await matches.find(tx, replace(wanted, since=asked.since))
    url = asked.without("after", "since").url("/matches")
    return view("matches/_news.html", count=len(found), most=NEWS, url=url)


@dataclass(frozen=True, slots=True)
class Whole:
    """A match with all that is known of it."""

    match: Match
    events: list[Event]
    listing: Listing
    word: Word | None
    strikes: int
    source: Source | None


@router.get("/{match_id}")
async def show_one(match_id: WholePathId, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        whole = await _whole(tx, match_id)
    match = whole.match
    return page(
        "matches/match.html",
        whole=whole,
        match=match,
        row=Row.of(match),
        url=seeking.web_url(match.apply_url) or seeking.web_url(match.url),
        bars=seeking.bars(match.items),
        pieces=marks.cut(match.description or "", match.matched_skills),
        intake=seeking.intake(match.resume_intake),
        events=[(one.at, seeking.happened(one)) for one in whole.events],
        back=f"/matches/{match.id}",
    )


async def _whole(tx: Tx, id: int) -> Whole:
    match = await matches.get(tx, id)
    listing = await listings.get(tx, match.listing_id)
    version = await profiles.get(tx, match.profile, version=match.profile_version)
    return Whole(
        match,
        await matches.events(tx, id),
        listing,
        await verdicts.get(tx, version.profile_id, match.listing_id),
        version.profile().rules.strikes.threshold,
        await sources.get(tx, listing.source_id) if listing.source_id else None,
    )


Swapped = Annotated[Literal["true"] | None, Header(alias="HX-Request")]


@router.post("/{match_id}/status")
async def set_status(
    match_id: WholePathId, form: Fields, visitor: Recruiter, db: Db, view: View, hx: Swapped = None
) -> Response:
    """Say what one makes of it."""
    status = form.get("status", "")
    if status not in STATUSES:
        raise Invalid(f"A match is {', '.join(STATUSES[:-1])} or {STATUSES[-1]}.")
    async with db.transaction() as tx:
        match = await matches.set_status(tx, match_id, status, actor=visitor.actor.name)
    return _answer(match, form, view, swap=bool(hx))


@router.post("/{match_id}/undo")
async def undo(
    match_id: WholePathId, form: Fields, visitor: Recruiter, db: Db, view: View, hx: Swapped = None
) -> Response:
    """Give it the status that it had before."""
    async with db.transaction() as tx:
        _, match = await matches.undo(tx, match_id, actor=visitor.actor.name)
    return _answer(match, form, view, swap=bool(hx))


def _answer(match: Match, form: Fields, view: View, *, swap: bool) -> Response:
    """The row for a page that swaps it; else the page that it was sent from."""
    back = _own(form.get("back", ""))
    if swap:
        return view("matches/_row.html", row=Row.of(match), may=True, back=back)
    path, _, query = back.partition("?")
    if path != "/matches":
        return RedirectResponse(back, 303)
    kept = [part for part in query.split("&") if part and not part.startswith("done=")]
    return RedirectResponse(f"{path}?{'&'.join([*kept, f'done={match.id}'])}", 303)


def _own(back: str) -> str:
    return back if OWN.fullmatch(back) else "/matches"

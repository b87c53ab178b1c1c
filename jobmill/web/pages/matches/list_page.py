"""/matches: the list, and how many have come since it was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import AppError, NotFound
from jobmill.matching import (
    duplicate_matches,
    inbox,
    judging_feed,
    matches,
    profiles,
    saved_views,
    verdicts,
)
from jobmill.matching.duplicate_matches import Copy
from jobmill.matching.inbox import REACH, Found
from jobmill.matching.matches import Count, Match, Status
from jobmill.matching.profiles import Entry, Version
from jobmill.matching.saved_views import View as Kept
from jobmill.web import html_errors, job_view
from jobmill.web.dependencies import Db, RequestDatabase, View
from jobmill.web.job_view import MatchRow
from jobmill.web.pages.matches.inbox_query import STATUSES, Inbox
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/matches")

AT_ONCE = 25
MANY = 1_000
"""So many are counted for a tab."""
NEWS = 20
"""So many new ones are counted; more are "more"."""
USUAL = ("new", "saved", "applied", "dismissed")
"""Where one looks for matches, even if there are none."""


class News(Inbox):
    since: Annotated[int, Field(ge=0, le=MAX_ID)] = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One page of the inbox, and what surrounds it."""

    version: Version
    found: Found
    copies: Mapping[int, Sequence[Copy]]
    profiles: list[Entry]
    counts: list[Count]
    views: list[Kept]
    newest: int
    done: Match | None
    gone: Kept | None
    nothing: str

    @property
    def tabs(self) -> list[tuple[Status | None, str]]:
        many = {one.status: one.count for one in self.counts}
        listed = [count for status, count in many.items() if status != "dismissed"]
        named: list[tuple[Status | None, str]] = [
            (one, _many(many.get(one, 0))) for one in STATUSES if one in many or one in USUAL
        ]
        more = "+" if MANY in listed else ""
        return [(None, f"{sum(listed):,}{more}"), *named]


def _many(count: int) -> str:
    return f"{count:,}{'+' if count >= MANY else ''}"


Numbered = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(
    asked: Annotated[Inbox, Query()],
    db: Db,
    page: Page,
    done: Numbered = None,
    gone: Numbered = None,
) -> HTMLResponse:
    """`done` and `gone`: the match that was just spoken of, and the view that was just removed."""
    return await draw(db, page, asked, done=done, gone=gone)


async def draw(
    db: RequestDatabase,
    page: Page,
    asked: Inbox,
    *,
    done: int | None = None,
    gone: int | None = None,
    name: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    """The page; `error` is why a view of this `name` was not kept."""
    async with db.transaction() as tx:
        version = await job_view.find_profile(tx, asked.profile)
        if version is None:
            return page("matches/nobody.html")
        shown = await read(tx, version, asked, done, gone)
    on = shown.found.next
    plain = asked.without("after")
    tabs = [(Inbox.of(one.filters, asked.profile), one) for one in shown.views]
    return page(
        "matches/page.html",
        html_errors.status_code(error) if error else 200,
        topics=["matches"],
        asked=asked,
        shown=shown,
        reach=REACH,
        rows=[MatchRow.of(one, shown.copies.get(one.id, ())) for one in shown.found.matches],
        tabs=tabs,
        view=next((one for inbox, one in tabs if inbox == plain), None),
        more=on and asked.url("/matches", after=on),
        first=plain.url("/matches"),
        plain=plain,
        news=plain.url("/matches/news", since=shown.newest),
        back=asked.url("/matches"),
        name=name,
        wrong=error and str(error),
    )


async def read(
    tx: Tx, version: Version, asked: Inbox, done: int | None = None, gone: int | None = None
) -> Shown:
    """What the page shows."""
    id = version.profile_id
    # Before the list: what comes between the two is news rather than lost.
    newest = await matches.newest(tx)
    found = await inbox.find(tx, asked.wanted(id, AT_ONCE))
    counts = [one for one in await matches.listed(tx, id, most=MANY) if one.count]
    last = await matches.known(tx, done) if done else None
    nothing = "" if found.matches else await _say_nothing(tx, version, asked, found, bool(counts))
    return Shown(
        version,
        found,
        await duplicate_matches.of(tx, [one.id for one in found.matches]),
        await profiles.find(tx),
        counts,
        await saved_views.find(tx, id),
        newest,
        last,
        await _removed(tx, id, gone),
        nothing,
    )


async def _removed(tx: Tx, profile_id: int, id: int | None) -> Kept | None:
    """The view that can be taken back."""
    if id is None:
        return None
    try:
        view = await saved_views.get(tx, profile_id, id)
    except NotFound:
        return None
    return view if view.removed_at else None


async def _say_nothing(tx: Tx, version: Version, asked: Inbox, found: Found, some: bool) -> str:
    """Why there is nothing to see, in a word for the template."""
    if found.partial:
        return "further"
    if asked.after is not None:
        return "end"
    if some:
        return "narrow" if asked.is_narrow else "dismissed"
    if await judging_feed.count(tx, version.profile_id, most=1):
        return "waiting"
    return "unfit" if await verdicts.is_any(tx, version.profile_id) else "unjudged"


@router.get("/news")
async def news(asked: Annotated[News, Query()], db: Db, view: View) -> HTMLResponse:
    """How many have come since the page was drawn, of those that it would show."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, asked.profile)
        wanted = asked.without("after").wanted(version.profile_id, NEWS + 1)
        found = await matches.find(tx, replace(wanted, since=asked.since))
    url = asked.without("after", "since").url("/matches")
    return view("matches/_news.html", count=len(found), most=NEWS, url=url)

"""/matches/board: matches in columns, one for each status."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.matching import matches, profiles
from jobmill.matching.matches import Status, Wanted
from jobmill.web import job_view
from jobmill.web.dependencies import Db
from jobmill.web.job_view import MatchRow
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.matches.inbox_query import Inbox
from jobmill.web.pages.matches.list_page import MANY, Numbered
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/matches")

AT_ONCE = 12
"""So many cards stand in a column."""
COLUMNS: tuple[Status, ...] = ("new", "saved", "applied", "interviewing", "offer", "rejected")


class Which(PageQuery):
    profile: ShortText | None = None


class Move(NamedTuple):
    """A button that puts a card into another column."""

    status: Status
    word: str
    key: str


class Column(NamedTuple):
    status: Status
    many: str
    rows: list[MatchRow]
    moves: list[Move]
    more: str | None


def moves(status: Status) -> list[Move]:
    """What one does next with a match of this status."""
    saved, applied = Move("saved", say("Save"), "s"), Move("applied", say("Applied"), "a")
    interviewing = Move("interviewing", say("Interviewing"), "i")
    offer, rejected = Move("offer", say("Offer"), "o"), Move("rejected", say("Rejected"), "r")
    dismissed = Move("dismissed", say("Dismiss"), "d")
    return {
        "new": [saved, applied, dismissed],
        "saved": [applied, dismissed],
        "applied": [interviewing, rejected],
        "interviewing": [offer, rejected],
        "offer": [rejected],
        "rejected": [dismissed],
    }.get(status, [])


@router.get("/board")
async def show(
    asked: Annotated[Which, Query()], db: Db, page: Page, done: Numbered = None
) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await job_view.find_profile(tx, asked.profile)
        if version is None:
            return page("matches/nobody.html")
        columns = await read(tx, version.profile_id, asked.profile)
        last = await matches.known(tx, done) if done else None
        everyone = await profiles.find(tx)
    return page(
        "matches/board.html",
        topics=["matches"],
        asked=asked,
        version=version,
        profiles=everyone,
        columns=columns,
        done=last,
        back=asked.url("/matches/board"),
        # With what was done last: else the next news would take the way back away.
        here=asked.url("/matches/board", done=done),
    )


async def read(tx: Tx, profile_id: int, profile: str | None) -> list[Column]:
    """The columns, each with its best."""
    counted = await matches.listed(tx, profiles.ProfileId(profile_id), most=MANY)
    counts = {one.status: one.count for one in counted}
    found: list[Column] = []
    for status in COLUMNS:
        wanted = Wanted(profile_id, statuses=[status], limit=AT_ONCE)
        rows = [MatchRow.of(one) for one in await matches.find(tx, wanted)]
        count = counts.get(status, 0)
        url = Inbox(profile=profile, status=status).url("/matches")
        more = url if count > len(rows) else None
        words = f"{count:,}{'+' if count >= MANY else ''}"
        found.append(Column(status, words, rows, moves(status), more))
    return found

"""/matches/board: matches in columns by status."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchQuery, Status
from jobmill.web import job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.job_view import MatchRow, format_capped
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.matches.inbox_query import InboxQuery
from jobmill.web.pages.matches.list_page import COUNT_LIMIT, OptionalId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/matches")

CARDS_PER_COLUMN = 12
COLUMNS: tuple[Status, ...] = ("new", "saved", "applied", "interviewing", "offer", "rejected")


class BoardQuery(PageQuery):
    profile: ShortText | None = None


class StatusButton(NamedTuple):
    """A button that moves a card to another column."""

    status: Status
    label: str
    key: str


class BoardColumn(NamedTuple):
    status: Status
    count_text: str
    rows: list[MatchRow]
    buttons: list[StatusButton]
    all_url: str | None


def next_statuses(status: Status) -> list[StatusButton]:
    saved = StatusButton("saved", say("Save"), "s")
    applied = StatusButton("applied", say("Mark as applied"), "a")
    interviewing = StatusButton("interviewing", say("Interviewing"), "i")
    offer = StatusButton("offer", say("Offer received"), "o")
    rejected = StatusButton("rejected", say("Rejected"), "r")
    dismissed = StatusButton("dismissed", say("Dismiss"), "d")
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
    query: Annotated[BoardQuery, Query()],
    visitor: Seeker,
    db: Db,
    page: Page,
    done: OptionalId = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, visitor.owner)
        if version is None:
            return page("matches/no_profile.html")
        columns = await _read_columns(tx, version.profile_id, query.profile)
        changed_match = await matches.find_by_id(tx, done, owner=visitor.owner) if done else None
        all_profiles = await profiles.find_all(tx, owner=visitor.owner)
    return page(
        "matches/board.html",
        topics=["matches"],
        query=query,
        version=version,
        profiles=all_profiles,
        columns=columns,
        changed_match=changed_match,
        back=query.url("/matches/board"),
        # Keeps `done`, so that a live update does not remove the Undo button.
        current_url=query.url("/matches/board", done=done),
    )


async def _read_columns(tx: Tx, profile_id: int, profile: str | None) -> list[BoardColumn]:
    listed = await matches.count_shown(tx, profiles.ProfileId(profile_id), limit=COUNT_LIMIT)
    counts = {count.status: count.count for count in listed}
    columns: list[BoardColumn] = []
    for status in COLUMNS:
        filter = MatchQuery(profile_id, statuses=[status], limit=CARDS_PER_COLUMN)
        rows = [MatchRow.of(match) for match in await matches.find(tx, filter)]
        count = counts.get(status, 0)
        url = InboxQuery(profile=profile, status=status).url("/matches")
        columns.append(
            BoardColumn(
                status,
                format_capped(count, COUNT_LIMIT),
                rows,
                next_statuses(status),
                url if count > len(rows) else None,
            )
        )
    return columns

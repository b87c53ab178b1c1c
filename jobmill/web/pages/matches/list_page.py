"""/matches: the inbox, and the number of matches that arrived since it was loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import AppError, NotFound
from jobmill.matching import (
    duplicate_matches,
    inbox,
    judging_feed,
    matches,
    profiles,
    proposed_rules,
    saved_views,
    verdicts,
)
from jobmill.matching.duplicate_matches import MatchDuplicate
from jobmill.matching.inbox import SCAN_LIMIT, MatchPage
from jobmill.matching.matches import Match, Status, StatusCount
from jobmill.matching.profiles import ProfileSummary, ProfileVersion
from jobmill.matching.saved_views import SavedView
from jobmill.people.persons import Owner
from jobmill.web import job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, View
from jobmill.web.job_view import MatchRow, format_capped
from jobmill.web.match_detail import MatchDetail, dismiss_reason_names, read_detail
from jobmill.web.page_query import ShortText
from jobmill.web.pages.matches.inbox_query import STATUSES, InboxQuery
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/matches")

PAGE_SIZE = 25
COUNT_LIMIT = 1_000
"""Tabs count up to this many matches."""
NEW_LIMIT = 20
"""New matches are counted up to this many."""
ALWAYS_SHOWN = ("saved", "applied", "dismissed")
"""Statuses that have a tab even without matches."""


class NewMatchesQuery(InboxQuery):
    since: Annotated[int, Field(ge=0, le=MAX_ID)] = 0


@dataclass(frozen=True, slots=True)
class InboxPage:
    version: ProfileVersion
    result: MatchPage
    duplicates: Mapping[int, Sequence[MatchDuplicate]]
    profiles: list[ProfileSummary]
    counts: list[StatusCount]
    views: list[SavedView]
    newest: int
    changed_match: Match | None
    removed_view: SavedView | None
    empty_reason: str
    selected: MatchDetail | None
    """The match beside the list."""
    proposed_rules: int

    @property
    def tabs(self) -> list[tuple[Status | None, str]]:
        """The inbox, which holds what waits for a decision, and the other statuses."""
        counts = {count.status: count.count for count in self.counts}
        by_status: list[tuple[Status | None, str]] = [
            (status, format_capped(counts.get(status, 0), COUNT_LIMIT))
            for status in STATUSES
            if status != "new" and (status in counts or status in ALWAYS_SHOWN)
        ]
        return [(None, format_capped(counts.get("new", 0), COUNT_LIMIT)), *by_status]


OptionalId = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(
    query: Annotated[InboxQuery, Query()],
    visitor: Seeker,
    page: Page,
    done: OptionalId = None,
    gone: OptionalId = None,
) -> HTMLResponse:
    """`done`: the match with the status that just changed; `gone`: the view that was just removed."""
    return await render(page, query, done=done, gone=gone)


async def render(
    page: Page,
    query: InboxQuery,
    *,
    done: int | None = None,
    gone: int | None = None,
    view_name: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    """The page; `error` says why the view `view_name` was not saved."""
    async with page.db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, page.visitor.owner)
        if version is None:
            return page("matches/no_profile.html")
        content = await read_inbox(tx, version, query, done, gone)
    next_id = content.result.next
    first_page = query.without("after", "match")
    views = [(InboxQuery.from_filters(view.filters, query.profile), view) for view in content.views]
    return page(
        "matches/page.html",
        topics=["matches"],
        query=query,
        content=content,
        scan_limit=SCAN_LIMIT,
        rows=[
            MatchRow.of(match, content.duplicates.get(match.id, ()))
            for match in content.result.matches
        ],
        views=views,
        current_view=next((view for inbox, view in views if inbox == first_page), None),
        next_url=next_id and query.url("/matches", after=next_id),
        first_url=first_page.url("/matches"),
        first_page=first_page,
        new_matches_url=first_page.url("/matches/news", since=content.newest),
        back=query.without("match").url("/matches"),
        panel=content.selected and content.selected.values(),
        dismiss_reasons=list(dismiss_reason_names().items()),
        dismiss_reason_names=dismiss_reason_names(),
        view_name=view_name,
        error=error,
    )


async def read_inbox(
    tx: Tx,
    version: ProfileVersion,
    query: InboxQuery,
    done: int | None = None,
    gone: int | None = None,
) -> InboxPage:
    id = version.profile_id
    # Read before the list: a match that arrives in between counts as new and is not lost.
    newest = await matches.newest_id(tx)
    result = await inbox.read_page(tx, query.to_filter(id, PAGE_SIZE))
    counts = [
        count for count in await matches.count_shown(tx, id, limit=COUNT_LIMIT) if count.count
    ]
    changed_match = await matches.find_by_id(tx, done, owner=version.owner_id) if done else None
    empty_reason = (
        "" if result.matches else await _empty_reason(tx, version, query, result, bool(counts))
    )
    return InboxPage(
        version,
        result,
        await duplicate_matches.find_duplicates(tx, [match.id for match in result.matches]),
        await profiles.find_all(tx, owner=version.owner_id),
        counts,
        await saved_views.find_all(tx, id),
        newest,
        changed_match,
        await _find_removed_view(tx, id, gone),
        empty_reason,
        await _read_selected(tx, result.matches, query.match, version.owner_id),
        len(await proposed_rules.find(tx, version)),
    )


async def _read_selected(
    tx: Tx, shown: Sequence[Match], id: int | None, owner: Owner
) -> MatchDetail | None:
    """The match of the list to show beside it: the one asked for, else the first."""
    if not shown:
        return None
    wanted = next((match for match in shown if match.id == id), shown[0])
    return await read_detail(tx, wanted.id, owner)


async def _find_removed_view(tx: Tx, profile_id: int, id: int | None) -> SavedView | None:
    if id is None:
        return None
    try:
        view = await saved_views.get(tx, profile_id, id)
    except NotFound:
        return None
    return view if view.removed_at else None


async def _empty_reason(
    tx: Tx, version: ProfileVersion, query: InboxQuery, result: MatchPage, has_matches: bool
) -> str:
    """Why the list is empty, as a code for the template."""
    if result.partial:
        return "scan limit"
    if query.after is not None:
        return "last page"
    if has_matches:
        return "filtered" if query.is_filtered else "done"
    if await judging_feed.count(tx, version.profile_id, limit=1):
        return "scoring"
    return "no fit" if await verdicts.has_any(tx, version.profile_id) else "no jobs"


@router.get("/board")
async def redirect_board(visitor: Seeker, profile: ShortText | None = None) -> Response:
    """Where the board was before."""
    return RedirectResponse(InboxQuery(profile=profile).url("/applications"), 308)


@router.get("/news")
async def count_new(
    query: Annotated[NewMatchesQuery, Query()], visitor: Seeker, db: Db, view: View
) -> HTMLResponse:
    """How many matches of this list arrived since the page was loaded."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, query.profile, owner=visitor.owner)
        filter = query.without("after", "match").to_filter(version.profile_id, NEW_LIMIT + 1)
        new_matches = await matches.find(tx, replace(filter, since=query.since))
    url = query.without("after", "since", "match").url("/matches")
    return view("matches/_news.html", count=len(new_matches), limit=NEW_LIMIT, url=url)

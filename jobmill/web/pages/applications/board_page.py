"""/applications: the board. Move a card, undo a move, add and remove custom statuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import Conflict, Invalid
from jobmill.matching import profiles
from jobmill.matching.job_applications import board, custom_statuses, followups, statistics
from jobmill.matching.job_applications.board import COUNT_LIMIT, MovedMeanwhile
from jobmill.matching.job_applications.custom_statuses import APPLICATION_STATUSES
from jobmill.matching.matches import Match, Status
from jobmill.web import charts, job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/applications")


class BoardQuery(PageQuery):
    profile: ShortText | None = None
    done: ShortText | None = None
    """The application that was moved last."""


@router.get("")
async def show(query: Annotated[BoardQuery, Query()], visitor: Seeker, page: Page) -> HTMLResponse:
    return await _render(page, query)


async def _render(
    page: Page, query: BoardQuery, error: Conflict | Invalid | None = None
) -> HTMLResponse:
    """The board; `error` says why the last change was refused."""
    async with page.db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, page.visitor.owner)
        if version is None:
            return page("matches/no_profile.html")
        columns = await board.read_board(tx, version.profile_id)
        dismissed = await board.find_dismissed(tx, version.profile_id)
        due = await followups.due(tx, page.visitor.owner)
        counted = await statistics.read_statistics(tx, version.profile_id)
        custom = await custom_statuses.find_all(tx, version.profile_id)
        all_profiles = await profiles.find_all(tx, owner=page.visitor.owner)
    cards = [card for column in columns for card in column.applications] + dismissed
    moved = [card for card in cards if str(card.id) == query.done]
    return page(
        "applications/board.html",
        topics=["matches"],
        query=query,
        version=version,
        profiles=all_profiles,
        columns=columns,
        dismissed=dismissed,
        due=due,
        custom_statuses=custom,
        statuses=APPLICATION_STATUSES,
        statistics=counted,
        weeks=charts.make_bar_groups(
            [f"{week.week:%d %b}" for week in counted.weeks],
            [[week.count] for week in counted.weeks],
        ),
        moved=moved[0] if moved else None,
        count_limit=COUNT_LIMIT,
        current_url=query.url("/applications"),
        error=error,
    )


def _board_of(form: Mapping[str, str], match: Match | None = None) -> BoardQuery:
    """The board that a form belongs to."""
    return BoardQuery(
        profile=match.profile if match and form.get("profile") else form.get("profile") or None,
        done=str(match.id) if match else None,
    )


@router.post("/{match_id}/move")
async def move(match_id: PathId, form: Fields, visitor: Seeker, page: Page) -> Response:
    """Move an application to another column. The board also shows why a move was refused."""
    act = partial(board.move, match_id=match_id, key=form.get("column", ""))
    return await _act(act, form, page)


@router.post("/{match_id}/undo")
async def undo(match_id: PathId, form: Fields, visitor: Seeker, page: Page) -> Response:
    """Move an application back to where it was."""
    return await _act(partial(board.undo, match_id=match_id), form, page)


async def _act(
    act: Callable[..., Awaitable[Match]], form: Mapping[str, str], page: PageRenderer
) -> Response:
    try:
        async with page.db.transaction() as tx:
            match = await act(
                tx, owner=page.visitor.owner, seen=form.get("seen"), actor=page.visitor.actor.name
            )
    except MovedMeanwhile as error:
        return await _render(page, _board_of(form), error)
    return _respond(form, match)


def _respond(form: Mapping[str, str], match: Match) -> Response:
    if form.get("back") == "application":
        return RedirectResponse(f"/applications/{match.id}", 303)
    return RedirectResponse(_board_of(form, match).url("/applications"), 303)


@router.post("/statuses")
async def add_status(form: Fields, visitor: Seeker, page: Page) -> Response:
    """Add a column for a custom status."""
    try:
        async with page.db.transaction() as tx:
            version = await profiles.get(tx, form.get("profile") or None, owner=visitor.owner)
            await custom_statuses.add(
                tx,
                version.profile_id,
                form.get("status_name", ""),
                status=_read_status(form, "counts_as"),
                shown_after=_read_status(form, "shown_after"),
                actor=visitor.actor.name,
            )
    except (Conflict, Invalid) as error:
        return await _render(page, _board_of(form), error)
    return RedirectResponse(_board_of(form).url("/applications"), 303)


def _read_status(form: Mapping[str, str], field: str) -> Status:
    for status in APPLICATION_STATUSES:
        if form.get(field) == status:
            return status
    names = ", ".join(APPLICATION_STATUSES)
    raise Invalid(say("Choose one of these statuses: %(names)s.", names=names))


@router.post("/statuses/{custom_status_id}/remove")
async def remove_status(
    custom_status_id: PathId, form: Fields, visitor: Seeker, db: Db
) -> RedirectResponse:
    async with db.transaction() as tx:
        version = await profiles.get(tx, form.get("profile") or None, owner=visitor.owner)
        await custom_statuses.remove(
            tx, version.profile_id, custom_status_id, actor=visitor.actor.name
        )
    return RedirectResponse(_board_of(form).url("/applications"), 303)

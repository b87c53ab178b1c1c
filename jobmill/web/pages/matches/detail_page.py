"""/matches/{match_id}: one match, its score and history, and its status."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.documents import store
from jobmill.errors import Invalid
from jobmill.matching import matches, profiles
from jobmill.matching.matches import Match
from jobmill.matching.profiles import ProfileVersion
from jobmill.people.persons import Owner
from jobmill.web import actor_labels, job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, RawDb, RequestDatabase, View
from jobmill.web.form import Fields
from jobmill.web.listing_detail import find_skill_gains
from jobmill.web.match_detail import dismiss_reason_names, read_detail
from jobmill.web.page_query import ShortText
from jobmill.web.pages.matches.inbox_query import STATUSES
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say
from jobmill.web.what_if_form import WhatIfQuery, answer_what_if

router = APIRouter(prefix="/matches")

MATCHES_PATH = re.compile(r"/matches(?:[/?][\x21-\x5b\x5d-\x7e]*)?")
"""Where a form may return to: only pages below /matches."""


@router.get("/{match_id}")
async def show(match_id: PathId, visitor: Seeker, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        detail = await read_detail(tx, match_id, visitor.owner)
        events = await actor_labels.name_actors(tx, detail.events, visitor)
        document_ids = await store.find_ids(tx, match_id)
        status_by = await actor_labels.name_actor(tx, detail.match.status_by, visitor)
    return page(
        "matches/match.html",
        panel=detail.values(),
        document_ids=document_ids,
        intake=job_view.format_resume_intake(detail.match.resume_intake),
        events=[(event.at, job_view.describe_match_event(event)) for event in events],
        status_by=status_by,
        back=f"/matches/{match_id}",
    )


@router.get("/{match_id}/panel")
async def show_panel(
    match_id: PathId, visitor: Seeker, db: Db, view: View, back: ShortText = "/matches"
) -> HTMLResponse:
    """The match as shown beside the list."""
    async with db.transaction() as tx:
        detail = await read_detail(tx, match_id, visitor.owner)
    return view(
        "matches/_panel.html",
        panel=detail.values(),
        may_edit=visitor.may_change("search"),
        back=_checked_path(back),
    )


@router.get("/{match_id}/skill-gains")
async def show_skill_gains(
    match_id: PathId, visitor: Seeker, db: Db, database: RawDb, view: View
) -> HTMLResponse:
    """What missing skills would add to the score. The panel loads it later, because it takes long."""
    match, version, listing = await _read_scored(db, match_id, visitor.owner)
    gains = await find_skill_gains(database, version, listing, match.skill_gaps)
    return view("matches/_skill_gains.html", gains=gains)


@router.get("/{match_id}/what-if")
async def show_what_if(
    match_id: PathId,
    query: Annotated[WhatIfQuery, Query()],
    visitor: Seeker,
    db: Db,
    database: RawDb,
    view: View,
) -> HTMLResponse:
    """How the score would change, for the form in the panel."""
    _, version, listing = await _read_scored(db, match_id, visitor.owner)
    answer = await answer_what_if(database, version, listing, query)
    return view("listings/_what_if_answer.html", answer.status, answer=answer)


async def _read_scored(
    db: RequestDatabase, match_id: int, owner: Owner
) -> tuple[Match, ProfileVersion, Listing]:
    """A match, the profile version that it was scored for, and its job."""
    async with db.transaction() as tx:
        match = await matches.get(tx, match_id, owner=owner)
        version = await profiles.get(tx, match.profile, owner=owner, version=match.profile_version)
        return match, version, await listings.get(tx, match.listing_id)


HtmxRequest = Annotated[Literal["true"] | None, Header(alias="HX-Request")]


@router.post("/{match_id}/status")
async def set_status(
    match_id: PathId, form: Fields, visitor: Seeker, db: Db, view: View, hx: HtmxRequest = None
) -> Response:
    status = form.get("status", "")
    if status not in STATUSES:
        names = ", ".join(STATUSES)
        raise Invalid(say("The status of a match must be one of: %(names)s.", names=names))
    async with db.transaction() as tx:
        match = await matches.set_status(
            tx, match_id, status, owner=visitor.owner, actor=visitor.actor.name
        )
    return _respond(match, form, view, is_htmx=bool(hx))


@router.post("/{match_id}/undo")
async def undo(
    match_id: PathId, form: Fields, visitor: Seeker, db: Db, view: View, hx: HtmxRequest = None
) -> Response:
    """Restore the previous status."""
    async with db.transaction() as tx:
        _, match = await matches.undo_status(
            tx, match_id, owner=visitor.owner, actor=visitor.actor.name
        )
    return _respond(match, form, view, is_htmx=bool(hx))


@router.post("/{match_id}/reason")
async def set_reason(
    match_id: PathId, form: Fields, visitor: Seeker, db: Db, view: View, hx: HtmxRequest = None
) -> Response:
    """Say why a match was dismissed."""
    reason, names = form.get("reason", ""), dismiss_reason_names()
    if reason not in names:
        raise Invalid(say("The reason must be one of: %(names)s.", names=", ".join(names)))
    async with db.transaction() as tx:
        match = await matches.set_dismiss_reason(
            tx, match_id, reason, owner=visitor.owner, actor=visitor.actor.name
        )
    return _respond(match, form, view, is_htmx=bool(hx))


def _respond(match: Match, form: Fields, view: View, *, is_htmx: bool) -> Response:
    """What happened, if a script asks; else a redirect to the page with the form."""
    back = _checked_path(form.get("back", ""))
    path, _, query = back.partition("?")
    if is_htmx and path == "/matches":
        return view(
            "matches/_changed.html",
            changed_match=match,
            may_edit=True,
            back=back,
            dismiss_reasons=list(dismiss_reason_names().items()),
            dismiss_reason_names=dismiss_reason_names(),
        )
    if path != "/matches":
        return RedirectResponse(back, 303)
    others = [part for part in query.split("&") if part and not part.startswith("done=")]
    return RedirectResponse(f"{path}?{'&'.join([*others, f'done={match.id}'])}", 303)


def _checked_path(back: str) -> str:
    return back if MATCHES_PATH.fullmatch(back) else "/matches"

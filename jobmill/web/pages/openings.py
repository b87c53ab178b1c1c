"""/openings: the public list of openings, and applying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import AppError, RateLimited
from jobmill.hiring.actor import by_applicant
from jobmill.hiring.applications import standings
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.openings import public_openings
from jobmill.hiring.openings.public_openings import PublicOpening
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.web import consistent_reads, html_errors, job_feeds
from jobmill.web.api.applications import make_apply_request
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.dependencies import Db, Render, View
from jobmill.web.form import Fields
from jobmill.web.my_applications import describe_placement, describe_standing
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.personal_link_cookie import NO_STORE
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/openings")

PAGE_SIZE = 50
FEED_SIZE = 1_000


class OpeningQuery(PageQuery):
    """The parameters of the list."""

    q: ShortText | None = None
    before: Annotated[int | None, Field(ge=1, le=MAX_ID)] = None


@dataclass(frozen=True, slots=True)
class RememberedApplicant:
    """The applicant of the link that this browser remembers."""

    applicant: Applicant
    standing: str | None
    """In a sentence, if they have applied for this opening."""


@router.get("")
async def page(db: Db, view: View, query: Annotated[OpeningQuery, Query()]) -> HTMLResponse:
    async with db.transaction() as tx:
        openings = await public_openings.search(
            tx, q=query.q, before=query.before, limit=PAGE_SIZE + 1
        )
    more = openings[PAGE_SIZE - 1].id if len(openings) > PAGE_SIZE else None
    return view("openings/page.html", openings=openings[:PAGE_SIZE], more=more, query=query)


@router.get("/feed.xml")
async def feed(request: Request, db: Db, site_settings: CurrentSiteSettings) -> Response:
    async with db.transaction() as tx:
        openings = await public_openings.search(tx, limit=FEED_SIZE)
    home = site_settings.link(request, "/openings")
    text = job_feeds.rss_feed(openings, home, lambda id: f"{home}/{id}")
    return Response(text, media_type="application/rss+xml")


@router.get("/{opening_id}")
async def show(
    opening_id: PathId,
    request: Request,
    visitor: Anyone,
    db: Db,
    view: View,
    site_settings: CurrentSiteSettings,
) -> HTMLResponse:
    opening, me = await _read(db, opening_id, visitor)
    return _page(opening, me, request, view, site_settings)


@router.post("/{opening_id}")
async def apply(
    opening_id: PathId,
    form: Fields,
    visitor: Public,
    request: Request,
    db: Db,
    view: View,
    site_settings: CurrentSiteSettings,
) -> HTMLResponse:
    """Apply, or show the form again with the error and the input."""
    typed = form.get("name", ""), form.get("email", "")
    remembered = form.get("as") == "me" and visitor.applicant_id is not None
    try:
        placement = await get_apply_batches(request).apply(
            opening_id, _make_request(typed, visitor, site_settings, remembered=remembered)
        )
    except AppError as error:
        opening, me = await _read(db, opening_id, visitor)
        return _page(opening, me, request, view, site_settings, error=error, typed=typed)
    async with db.transaction() as tx:
        opening = await public_openings.get(tx, opening_id)
    return view(
        "openings/applied.html",
        201,
        opening=opening,
        message=describe_placement(placement),
        application=placement.application,
        email=typed[1].strip(),
        remembered=remembered,
        sends_mail=site_settings.sends_mail,
        local=visitor.local,
    )


def _make_request(
    typed: tuple[str, str], visitor: Visitor, site_settings: SiteSettings, *, remembered: bool
) -> ApplyRequest:
    """For the remembered applicant, or else with the name and address of the form."""
    if remembered and visitor.applicant_id is not None:
        by = visitor.actor if visitor.role else by_applicant(visitor.applicant_id)
        return ApplyRequest(visitor.applicant_id, by)
    return make_apply_request(
        applicants.parse_contact(*typed, fold=site_settings.fold_aliases), visitor
    )


async def _read(
    db: Db, id: int, visitor: Visitor
) -> tuple[PublicOpening, RememberedApplicant | None]:
    async def work(tx: Tx) -> tuple[PublicOpening, RememberedApplicant | None]:
        return await public_openings.get(tx, id), await _find_remembered(
            tx, id, visitor.applicant_id
        )

    return await consistent_reads.read_opening(db, id, work)


async def _find_remembered(
    tx: Tx, opening_id: int, applicant_id: int | None
) -> RememberedApplicant | None:
    if applicant_id is None:
        return None
    standing = await standings.find_standing(tx, opening_id, applicant_id)
    text = describe_standing(standing, None) if standing else None
    return RememberedApplicant(await applicants.get(tx, applicant_id), text)


def _page(
    opening: PublicOpening,
    me: RememberedApplicant | None,
    request: Request,
    view: Render,
    site_settings: SiteSettings,
    *,
    error: AppError | None = None,
    typed: tuple[str, str] = ("", ""),
) -> HTMLResponse:
    data = job_feeds.json_ld(opening, site_settings.link(request, f"/openings/{opening.id}"))
    response = view(
        "openings/opening.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        me=me,
        data=data,
        error=_error_text(error, site_settings),
        sends_mail=site_settings.sends_mail,
        name=typed[0],
        email=typed[1],
    )
    if me:
        response.headers.update(NO_STORE)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _error_text(error: AppError | None, site_settings: SiteSettings) -> str | None:
    if isinstance(error, DuplicateApplication):
        if site_settings.sends_mail:
            return say("This address has already applied. The link in our email shows the status.")
        return say("This address has already applied. Ask the company for a link to the status.")
    return str(error) if error else None

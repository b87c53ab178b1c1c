"""/openings: what anybody may apply for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import AppError, RateLimited
from jobmill.hiring.actor import by_applicant
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.openings import applicant_lists, public_openings
from jobmill.hiring.openings.public_openings import PublicOpening
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.web import consistent_reads, html_errors, job_feeds, my_applications
from jobmill.web.api.applications import application_result, make_apply_request
from jobmill.web.apply_batch import get_apply_batches
from jobmill.web.auth import Anyone, Visitor
from jobmill.web.dependencies import Db, Render, View
from jobmill.web.form import Fields
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.personal_link_cookie import NO_STORE
from jobmill.web.rate_limits import Public
from jobmill.web.site_settings import CurrentSiteSettings, SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/openings")

AT_ONCE = 50
IN_FEED = 1_000


class Sought(PageQuery):
    """What the list is asked for."""

    q: ShortText | None = None
    before: Annotated[int | None, Field(ge=1, le=MAX_ID)] = None


@dataclass(frozen=True, slots=True)
class Me:
    """Who looks at it, as this browser remembers them."""

    person: Applicant
    stands: str | None
    """How, if they have applied."""


@router.get("")
async def page(db: Db, view: View, asked: Annotated[Sought, Query()]) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await public_openings.search(tx, q=asked.q, before=asked.before, limit=AT_ONCE + 1)
    more = found[AT_ONCE - 1].id if len(found) > AT_ONCE else None
    return view("openings/page.html", openings=found[:AT_ONCE], more=more, asked=asked)


@router.get("/feed.xml")
async def feed(request: Request, db: Db, site_settings: CurrentSiteSettings) -> Response:
    async with db.transaction() as tx:
        found = await public_openings.search(tx, limit=IN_FEED)
    home = site_settings.link(request, "/openings")
    text = job_feeds.rss_feed(found, home, lambda id: f"{home}/{id}")
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
    opening, me = await _find(db, opening_id, visitor)
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
    """Apply in one step; what is wrong is said on the same page, with all that was typed."""
    typed = form.get("name", ""), form.get("email", "")
    known = form.get("as") == "me" and visitor.applicant_id is not None
    try:
        placed = await get_apply_batches(request).apply(
            opening_id, _ask(typed, visitor, site_settings, known=known)
        )
    except AppError as error:
        opening, me = await _find(db, opening_id, visitor)
        return _page(opening, me, request, view, site_settings, error=error, typed=typed)
    async with db.transaction() as tx:
        opening = await public_openings.get(tx, opening_id)
    return view(
        "openings/applied.html",
        201,
        opening=opening,
        result=application_result(placed),
        email=typed[1].strip(),
        known=known,
        sends_mail=site_settings.sends_mail,
        local=visitor.local,
    )


def _ask(
    typed: tuple[str, str], visitor: Visitor, site_settings: SiteSettings, *, known: bool
) -> ApplyRequest:
    """By who they are, where this browser remembers it, or else by what they typed."""
    if known and visitor.applicant_id is not None:
        by = visitor.actor if visitor.role else by_applicant(visitor.applicant_id)
        return ApplyRequest(visitor.applicant_id, by)
    return make_apply_request(
        applicants.parse_contact(*typed, fold=site_settings.fold_aliases), visitor
    )


async def _find(db: Db, id: int, visitor: Visitor) -> tuple[PublicOpening, Me | None]:
    async def work(tx: Tx) -> tuple[PublicOpening, Me | None]:
        return await public_openings.get(tx, id), await _me(tx, id, visitor.applicant_id)

    return await consistent_reads.read_opening(db, id, work)


async def _me(tx: Tx, opening_id: int, applicant_id: int | None) -> Me | None:
    if applicant_id is None:
        return None
    found = await applicant_lists.find_standing(tx, opening_id, applicant_id)
    stands = my_applications.describe_standing(found, None) if found else None
    return Me(await applicants.get(tx, applicant_id), stands)


def _page(
    opening: PublicOpening,
    me: Me | None,
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
        error=_words(error, site_settings),
        sends_mail=site_settings.sends_mail,
        name=typed[0],
        email=typed[1],
    )
    if me:
        response.headers.update(NO_STORE)
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _words(error: AppError | None, site_settings: SiteSettings) -> str | None:
    if isinstance(error, DuplicateApplication):
        if site_settings.sends_mail:
            return say(
                "This address has applied already. The letter about it holds a link to how it stands."
            )
        return say("This address has applied already. Ask us for a link to how it stands.")
    return str(error) if error else None

"""/hiring and /hiring/new: the list of openings, and creating one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring import company_identity
from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.openings import cards, lifecycle, posting_details, review_list
from jobmill.hiring.openings.posting_details import NO_DETAILS
from jobmill.hiring.records.openings import Opening, OpeningStatus, OpeningTerms
from jobmill.hiring.waitlist import deadlines
from jobmill.web import unread_mentions
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.banners import CurrentBanners
from jobmill.web.confirmation import Confirmation
from jobmill.web.form import Fields
from jobmill.web.form_keys import create_once, make_form_key
from jobmill.web.pages.openings import posting_form, terms_form
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring")

PAGE_SIZE = 50
MAX_OFFERS = 5
"""Offers at the top of the page, the earliest deadline first."""
MAX_UNDECIDED = 5
"""Openings with applications in review at the top of the page."""

Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(
    visitor: Viewer,
    page: Page,
    banners: CurrentBanners,
    status: OpeningStatus | None = None,
    before: Before = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        health = await banners.read_health(tx)
        offers = await deadlines.find_pending_offers(tx, limit=MAX_OFFERS)
        undecided = await review_list.list_undecided(tx, limit=MAX_UNDECIDED)
        unread = await unread_mentions.read_unread(tx, visitor)
        page_cards = await cards.list_cards(tx, status=status, before=before, limit=PAGE_SIZE + 1)
    more = page_cards[PAGE_SIZE - 1].id if len(page_cards) > PAGE_SIZE else None
    return page(
        "openings/page.html",
        topics=["hiring"],
        cards=page_cards[:PAGE_SIZE],
        offers=offers,
        undecided=undecided,
        unread=unread,
        health=health.of("mail"),
        more=more,
        status=status,
        before=before,
    )


@router.get("/new")
async def show_form(visitor: Recruiter, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        company = await company_identity.read_identity(tx)
    # Most companies review applications. The API has another default, which it keeps.
    terms = OpeningTerms("", time_zone=page.site_settings.settings.time_zone, admission="review")
    typed = terms_form.to_fields(terms) | posting_form.to_fields(NO_DETAILS)
    return render_terms(
        page, company, typed | {"capacity": "1", "company_name": "", "key": make_form_key()}
    )


def render_terms(
    page: PageRenderer,
    company: CompanyIdentity,
    typed: Mapping[str, str],
    error: AppError | None = None,
    *,
    opening: Opening | None = None,
    confirmation: Confirmation | None = None,
) -> HTMLResponse:
    """The form of a new opening, or of one to edit."""
    return page(
        "openings/terms.html",
        opening=opening,
        company=company,
        typed=typed,
        posting_labels=posting_form.labels(),
        confirmation=confirmation,
        error=error,
    )


@router.post("/new")
async def create(visitor: Recruiter, form: Fields, page: Page, banners: CurrentBanners) -> Response:
    """Create the opening, or show the form again with the error and the input."""
    async with page.db.transaction() as tx:
        company = await company_identity.read_identity(tx)
    try:
        terms, details = terms_form.parse_terms(form), posting_form.parse_posting(form)
        capacity = terms_form.parse_number(form, "capacity", terms_form.PLACES)
        async with page.db.transaction() as tx:

            async def create_opening() -> str:
                await _require_company_name(tx, company, form)
                opening = await lifecycle.create(tx, terms, capacity, visitor.actor)
                if details != NO_DETAILS:
                    await posting_details.save_details(tx, opening.id, details, visitor.actor)
                return str(opening.id)

            content = sorted(form.items())
            id = await create_once(tx, visitor, form.get("key", ""), content, create_opening)
    except AppError as error:
        empty = terms_form.to_fields(OpeningTerms("")) | posting_form.to_fields(NO_DETAILS)
        typed = dict.fromkeys([*empty, "capacity", "company_name", "key"], "") | dict(form)
        return render_terms(page, company, typed, error)
    banners.expire()
    return RedirectResponse(f"/hiring/{id}", 303)


async def _require_company_name(tx: Tx, company: CompanyIdentity, form: Mapping[str, str]) -> None:
    """A posting names its employer: the first opening asks for the name of the company."""
    if company.name or form.get("employer", "").strip():
        return
    if not form.get("company_name", "").strip():
        raise Invalid(say("Enter the name of your company. It is shown on the posting."))
    await company_identity.set_name_once(tx, form["company_name"])

"""/hiring and /hiring/new: the list of openings, and creating one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.errors import AppError
from jobmill.hiring.openings import cards, lifecycle
from jobmill.hiring.records.openings import OpeningStatus, OpeningTerms
from jobmill.hiring.waitlist import deadlines
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.banners import CurrentBanners
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import terms_form
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page

router = APIRouter(prefix="/hiring")

PAGE_SIZE = 50
MAX_OFFERS = 5
"""Offers at the top of the page, the earliest deadline first."""

Before = Annotated[int | None, Query(ge=1, le=MAX_ID)]


@router.get("")
async def show(
    visitor: Viewer,
    db: Db,
    page: Page,
    banners: CurrentBanners,
    status: OpeningStatus | None = None,
    before: Before = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        health = await banners.read_health(tx)
        offers = await deadlines.find_pending_offers(tx, limit=MAX_OFFERS)
        page_cards = await cards.list_cards(tx, status=status, before=before, limit=PAGE_SIZE + 1)
    more = page_cards[PAGE_SIZE - 1].id if len(page_cards) > PAGE_SIZE else None
    return page(
        "hiring/page.html",
        topics=["hiring"],
        cards=page_cards[:PAGE_SIZE],
        offers=offers,
        health=health.of("mail"),
        more=more,
        status=status,
        before=before,
    )


@router.get("/new")
async def show_form(visitor: Recruiter, page: Page) -> HTMLResponse:
    typed = terms_form.to_fields(OpeningTerms("")) | {"capacity": "1"}
    return page("hiring/terms.html", opening=None, typed=typed, error=None)


@router.post("/new")
async def create(visitor: Recruiter, form: Fields, db: Db, page: Page) -> Response:
    """Create the opening, or show the form again with the error and the input."""
    try:
        terms = terms_form.parse_terms(form)
        capacity = terms_form.parse_number(form, "capacity", terms_form.PLACES)
        async with db.transaction() as tx:
            opening = await lifecycle.create(tx, terms, capacity, visitor.actor)
    except AppError as error:
        typed = dict.fromkeys([*terms_form.to_fields(OpeningTerms("")), "capacity"], "") | dict(
            form
        )
        return page(
            "hiring/terms.html",
            html_errors.status_code(error),
            opening=None,
            typed=typed,
            error=str(error),
        )
    return RedirectResponse(f"/hiring/{opening.id}", 303)

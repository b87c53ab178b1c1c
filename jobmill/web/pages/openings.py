"""/openings: what anybody may apply for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, RateLimited
from jobmill.hiring import applicants, publications
from jobmill.hiring.applications import Duplicate
from jobmill.hiring.publications import Published
from jobmill.web import faults, posting, reads
from jobmill.web.api.shapes import MOST_ID, WholePathId
from jobmill.web.api.steps import applied, asked
from jobmill.web.crowd import the_crowd
from jobmill.web.form import Fields
from jobmill.web.house import House, HouseRules
from jobmill.web.limits import Public
from jobmill.web.view import Db, Render, View

router = APIRouter(prefix="/openings")

AT_ONCE = 50
IN_FEED = 1_000

Before = Annotated[int | None, Query(ge=1, le=MOST_ID)]


@router.get("")
async def page(db: Db, view: View, before: Before = None) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await publications.find(tx, before=before, limit=AT_ONCE + 1)
    more = found[AT_ONCE - 1].id if len(found) > AT_ONCE else None
    return view("openings/page.html", openings=found[:AT_ONCE], more=more)


@router.get("/feed.xml")
async def feed(request: Request, db: Db, house: HouseRules) -> Response:
    async with db.transaction() as tx:
        found = await publications.find(tx, limit=IN_FEED)
    home = house.link(request, "/openings")
    text = posting.feed(found, home, lambda id: f"{home}/{id}")
    return Response(text, media_type="application/rss+xml")


@router.get("/{opening_id}")
async def show(
    opening_id: WholePathId, request: Request, db: Db, view: View, house: HouseRules
) -> HTMLResponse:
    return _page(await _find(db, opening_id), request, view, house)


@router.post("/{opening_id}")
async def apply(
    opening_id: WholePathId,
    form: Fields,
    visitor: Public,
    request: Request,
    db: Db,
    view: View,
    house: HouseRules,
) -> HTMLResponse:
    """Apply in one step; what is wrong is said on the same page, with all that was typed."""
    name, email = form.get("name", ""), form.get("email", "")
    try:
        one = applicants.person(name, email, fold=house.fold_aliases)
        placed = await the_crowd(request).apply(opening_id, asked(one, visitor))
    except AppError as error:
        opening = await _find(db, opening_id)
        return _page(opening, request, view, house, error=error, name=name, email=email)
    async with db.transaction() as tx:
        opening = await publications.get(tx, opening_id)
    return view(
        "openings/applied.html",
        201,
        opening=opening,
        result=applied(placed),
        email=one.email,
        writes=house.writes,
        local=visitor.local,
    )


async def _find(db: Db, id: int) -> Published:
    async def work(tx: Tx) -> Published:
        return await publications.get(tx, id)

    return await reads.of_opening(db, id, work)


def _page(
    opening: Published,
    request: Request,
    view: Render,
    house: House,
    *,
    error: AppError | None = None,
    name: str = "",
    email: str = "",
) -> HTMLResponse:
    data = posting.json_ld(opening, house.link(request, f"/openings/{opening.id}"))
    response = view(
        "openings/opening.html",
        faults.status(error) if error else 200,
        opening=opening,
        data=data,
        error=_words(error, house),
        writes=house.writes,
        name=name,
        email=email,
    )
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _words(error: AppError | None, house: House) -> str | None:
    if isinstance(error, Duplicate):
        where = "The letter about it holds" if house.writes else "Ask us for"
        return f"This address has applied already. {where} a link to how it stands."
    return str(error) if error else None

"""/companies: who offers listings, what is known of them, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.catalog import companies, company_list, history, listing_search, sources
from jobmill.catalog.companies import (
    GOOD_ABOUT_LENGTH,
    GOOD_CULTURE_LENGTH,
    MINIMAL_ABOUT_LENGTH,
    MINIMAL_CULTURE_LENGTH,
    Company,
    Completeness,
    Tier,
)
from jobmill.catalog.company_list import CompanyFilter, Order
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import AppError, Conflict, Invalid, Unavailable
from jobmill.pipelines import company as pipeline
from jobmill.queue import ItemId
from jobmill.queue.inspect import Item
from jobmill.web import faults, progress, seeking
from jobmill.web.form import Fields
from jobmill.web.pages.sources import words
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.progress import Progress
from jobmill.web.rights import Recruiter
from jobmill.web.seeking import Asked, Words
from jobmill.web.shell import Page, Pages
from jobmill.web.texts import say
from jobmill.web.view import Db, Door

router = APIRouter(prefix="/companies")

AT_ONCE = 50
NEWEST = 10
BOARDS = 50
TOLD = 20
PARTS = 4
"""What completeness is made of: a name, a site, a description, a culture."""

Watched = Annotated[int | None, Query(ge=1, le=MAX_ID)]


class Looked(Asked):
    q: Words | None = None
    tier: Tier | None = None
    known: Completeness | None = None
    waiting: bool = False
    order: Order = "best"
    after: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None

    @property
    def is_narrow(self) -> bool:
        return bool(self.q or self.tier or self.known or self.waiting)

    def wanted(self, limit: int) -> CompanyFilter:
        return CompanyFilter(
            self.q, self.tier, self.known, self.waiting, self.order, self.after, limit
        )


class Row(NamedTuple):
    """A company in a list."""

    company: Company
    known: str
    share: int
    """How much of what is needed to judge it is there, in hundredths."""
    board_waits: bool


@router.get("")
async def show(asked: Annotated[Looked, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await company_list.find(tx, asked.wanted(AT_ONCE + 1))
    more = found[AT_ONCE - 1].id if len(found) > AT_ONCE else None
    return page(
        "companies/page.html",
        topics=["companies"],
        asked=asked,
        rows=[_row(one) for one in found[:AT_ONCE]],
        levels=_levels(),
        more=more and asked.url("/companies", after=more),
        first=asked.without("after").url("/companies"),
        here=asked.url("/companies"),
        web_url=seeking.web_url,
    )


def _row(company: Company) -> Row:
    known = _levels()[companies.completeness(company)]
    share = round(100 * sum(part.enough for part in parts(company)) / PARTS)
    return Row(company, known, share, companies.board_needs_approval(company))


def _levels() -> dict[Completeness, str]:
    return {
        "good": say("enough to judge"),
        "minimal": say("a little"),
        "sparse": say("too little"),
    }


class Part(NamedTuple):
    """Something that has to be known, and how much of it is."""

    name: str
    enough: bool
    words: str


def parts(company: Company) -> list[Part]:
    """What is there and what is missing for a good record."""
    about, culture = len(company.about or ""), len(company.culture or "")
    return [
        Part(say("Name"), True, say("known")),
        Part(say("Website"), bool(company.website), _there(bool(company.website))),
        Part(
            say("Description"),
            about > GOOD_ABOUT_LENGTH,
            _length(about, MINIMAL_ABOUT_LENGTH, GOOD_ABOUT_LENGTH),
        ),
        Part(
            say("Culture"),
            culture > GOOD_CULTURE_LENGTH,
            _length(culture, MINIMAL_CULTURE_LENGTH, GOOD_CULTURE_LENGTH),
        ),
    ]


def _there(known: bool) -> str:
    return say("known") if known else say("missing")


def _length(have: int, little: int, good: int) -> str:
    if have == 0:
        return say("missing")
    if have > good:
        return say("known")
    given = {"have": f"{have:,}", "good": f"{good:,}"}
    if have > little:
        return say("a little: %(have)s letters, enough are more than %(good)s", **given)
    return say("too little: %(have)s letters, enough are more than %(good)s", **given)


@dataclass(frozen=True, slots=True)
class Typed:
    name: str = ""
    website: str = ""


@router.get("/new")
async def new(visitor: Recruiter, page: Page) -> HTMLResponse:
    return page("companies/new.html", typed=Typed(), error=None)


@router.post("/new")
async def add(form: Fields, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Follow a company: a worker reads its site, judges it and finds its board."""
    typed = Typed(form.get("name", "").strip(), form.get("website", "").strip())
    try:
        _check(typed)
        async with db.transaction() as tx:
            id = await pipeline.begin(tx, typed.name, typed.website or None)
            item = await _submit(tx, id, force=False)
    except (Conflict, Invalid, Unavailable) as error:
        status = faults.status(error)
        return page("companies/new.html", status, typed=typed, error=str(error))
    return RedirectResponse(_watch(id, item) if item else f"/companies/{id}?did=known", 303)


def _check(typed: Typed) -> None:
    if not typed.name:
        raise Invalid(say("Say what it is called."))
    if "://" in typed.name or typed.name.lower().startswith("www."):
        raise Invalid(say("This name is an address: write the name, and the address below it."))


async def _submit(tx: Tx, id: int, *, force: bool) -> ItemId | None:
    """The item that analyses it; None where enough is known and fresh."""
    company = await companies.get(tx, id, with_counts=False)
    if not force and companies.is_up_to_date(company, await server_time(tx)):
        return None
    return await progress.start(tx, pipeline.work(id, force=force))


def _watch(id: int, item: ItemId) -> str:
    return f"/companies/{id}?item={item}"


@dataclass(frozen=True, slots=True)
class Story:
    """A company with all that is known of it."""

    company: Company
    sources: list[Source]
    newest: Sequence[ListingHit]
    events: list[history.CatalogEvent]
    watched: Progress | None


@router.get("/{company_id}")
async def show_one(
    company_id: PathId, db: Db, page: Page, item: Watched = None, did: str = ""
) -> HTMLResponse:
    return await _show(db, page, company_id, item=item, known=did == "known")


@router.post("/{company_id}/analyse")
async def analyse(company_id: PathId, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Read its site anew, however much is known."""
    try:
        async with db.transaction() as tx:
            item = await _submit(tx, company_id, force=True)
    except (Conflict, Unavailable) as error:
        return await _show(db, page, company_id, error=error)
    assert item is not None
    return RedirectResponse(_watch(company_id, item), 303)


async def _show(
    db: Door,
    page: Pages,
    id: int,
    *,
    item: int | None = None,
    known: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        story = await _story(tx, id, item)
    company = story.company
    return page(
        "companies/company.html",
        faults.status(error) if error else 200,
        topics=["companies", "sources", "queue"] if item else ["companies", "sources"],
        story=story,
        company=company,
        url=seeking.web_url(company.website),
        board_url=seeking.web_url(company.job_board_url),
        level=_levels()[companies.completeness(company)],
        parts=parts(company),
        share=_row(company).share,
        standing=_standing(company),
        bars=seeking.bars(company.priority_items or ()),
        boards=[(one, words.health(one)) for one in story.sources],
        board_waits=companies.board_needs_approval(company),
        places=[(hit, seeking.place(hit)) for hit in story.newest],
        events=[(one.at, words.told(one)) for one in story.events[::-1]],
        progress=story.watched,
        here=f"/companies/{id}" + (f"?item={item}" if item else ""),
        known=known,
        error=str(error) if error else None,
    )


async def _story(tx: Tx, id: int, item: int | None) -> Story:
    company = await companies.get(tx, id)

    def fits(one: Item) -> bool:
        return one.kind == pipeline.KIND and one.data.get("company") == id

    return Story(
        company,
        await sources.find(tx, company_id=id, limit=BOARDS),
        (
            await listing_search.find(tx, listing_search.ListingQuery(company_id=id), limit=NEWEST)
        ).hits,
        await history.find_events(tx, "company", id, limit=TOLD),
        await progress.read(tx, item, fits) if item else None,
    )


def _standing(company: Company) -> str:
    """How far its analysis is."""
    return {
        "pending": say("It was not analysed yet"),
        "analyzing": say("It is being analysed"),
        "complete": say("It was analysed"),
        "sparse": say("It was analysed, but its pages tell too little"),
        "failed": say("Its analysis failed"),
    }[company.analysis_status]

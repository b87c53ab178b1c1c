"""/api/searches: keyword searches on job sites that list many companies."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BeforeValidator, Field

from jobmill.rotation import searches, targets
from jobmill.rotation.searches import MAX_DAYS_BACK, SearchSettings
from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.parameters import PLAIN_TEXT, OutputTime, PathId, WholeNumber

router = APIRouter(prefix="/searches", tags=["searches"])

SearchLine = Annotated[str, Field(min_length=1, max_length=200), PLAIN_TEXT]


def to_hours(span: object) -> object:
    return span.total_seconds() / 3600 if isinstance(span, dt.timedelta) else span


Hours = Annotated[float, Field(gt=0, le=720, allow_inf_nan=False)]
OptionalHours = Annotated[float | None, BeforeValidator(to_hours)]


def from_hours(hours: float | None) -> dt.timedelta | None:
    return None if hours is None else dt.timedelta(hours=hours)


class SearchBody(RequestBody):
    platform: Annotated[str, Field(max_length=100, examples=["jobspy"]), PLAIN_TEXT]
    keywords: Annotated[
        list[SearchLine], Field(min_length=1, max_length=50, examples=[["pump engineer"]])
    ]
    locations: Annotated[list[SearchLine], Field(max_length=50)] = Field(default_factory=list[str])
    priority: Annotated[WholeNumber, Field(ge=0, le=targets.MAX_PRIORITY)] = (
        targets.DEFAULT_PRIORITY
    )
    interval_hours: Hours | None = None
    """The least time between two reads; null: the default."""
    window_hours: Hours | None = None
    """How far back a repeated read looks."""
    days_back: Annotated[WholeNumber, Field(ge=1, le=MAX_DAYS_BACK)] | None = None
    since: dt.date | None = None

    def settings(self) -> SearchSettings:
        return SearchSettings(
            self.priority,
            from_hours(self.interval_hours),
            from_hours(self.window_hours),
            self.days_back,
            self.since,
        )


class SearchRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    platform: str
    keywords: list[str]
    locations: list[str]
    priority: int
    interval_hours: Annotated[OptionalHours, Field(validation_alias="min_interval")]
    window_hours: Annotated[OptionalHours, Field(validation_alias="call_window")]
    days_back: int | None
    since: dt.date | None
    enabled: bool
    slices: int
    """Scheduled reads: one for each combination of keywords and location."""
    created_at: OutputTime


class SearchList(Schema):
    items: list[SearchRecord]


@router.get("", response_model=SearchList)
async def list_searches(caller: AdminCaller) -> Response:
    """All searches."""
    async with caller.db.transaction() as tx:
        return caller.respond(SearchList.of(items=await searches.list_all(tx)))


@router.post("", response_model=SearchRecord, status_code=201)
async def create_search(body: SearchBody, caller: AdminCaller) -> Response:
    """Add a search; each combination of keywords and location is read in turn."""
    return await caller.run_once(
        lambda tx: searches.add(tx, body.platform, body.keywords, body.locations, body.settings()),
        to_schema=SearchRecord.of,
        status=201,
    )


@router.get("/{search_id}", response_model=SearchRecord)
async def show_search(search_id: PathId, caller: AdminCaller) -> Response:
    """One search."""
    async with caller.db.transaction() as tx:
        return caller.respond(SearchRecord.of(await searches.get(tx, search_id)))


@router.put("/{search_id}", response_model=SearchRecord)
async def replace_search(search_id: PathId, body: SearchBody, caller: AdminCaller) -> Response:
    """Change what a search looks for, and when."""
    return await caller.run_once(
        lambda tx: searches.replace_search(
            tx, search_id, body.platform, body.keywords, body.locations, body.settings()
        ),
        to_schema=SearchRecord.of,
    )


@router.post("/{search_id}/enable", response_model=SearchRecord)
async def enable_search(search_id: PathId, caller: AdminCaller) -> Response:
    """Continue a search."""
    return await caller.run_once(
        lambda tx: searches.update_search(tx, search_id, enabled=True), to_schema=SearchRecord.of
    )


@router.post("/{search_id}/disable", response_model=SearchRecord)
async def disable_search(search_id: PathId, caller: AdminCaller) -> Response:
    """Stop a search for a while."""
    return await caller.run_once(
        lambda tx: searches.update_search(tx, search_id, enabled=False), to_schema=SearchRecord.of
    )


@router.delete("/{search_id}", status_code=204)
async def remove_search(search_id: PathId, visitor: Admin, db: Db) -> None:
    """Remove a search; the jobs that it found stay."""
    async with db.transaction() as tx:
        await searches.remove(tx, search_id)

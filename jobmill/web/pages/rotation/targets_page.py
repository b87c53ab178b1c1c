"""/rotation/targets: all targets, and each with its calls and its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.rotation import planner, target_overview, targets
from jobmill.rotation.policies import yield_model
from jobmill.rotation.target_overview import TargetCall
from jobmill.rotation.targets import Target, TargetStatus
from jobmill.web import html_errors
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/rotation/targets")

AT_ONCE = 50
Change = Literal["pause", "resume", "revive"]
Turn = Callable[..., Awaitable[Target]]
TURNS: Mapping[Change, Turn] = {
    "pause": targets.pause,
    "resume": targets.resume,
    "revive": targets.revive,
}


class Wanted(PageQuery):
    status: TargetStatus | None = None
    platform: ShortText | None = None
    after: Annotated[int, Field(ge=0, le=MAX_ID)] = 0


@router.get("")
async def show(asked: Annotated[Wanted, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        found = await target_overview.list_targets(
            tx,
            status=asked.status,
            platform=asked.platform,
            after=asked.after,
            limit=AT_ONCE + 1,
        )
    shown = found[:AT_ONCE]
    more = asked.url("/rotation/targets", after=shown[-1].source) if found[AT_ONCE:] else None
    first = asked.without("after").url("/rotation/targets")
    return page(
        "rotation/targets.html", asked=asked, targets=shown, more=more, first=first, labels=labels
    )


@dataclass(frozen=True, slots=True)
class Shown:
    source: Source
    target: Target | None
    calls: list[TargetCall]
    worth: str

    @property
    def gap(self) -> float:
        """Seconds that pass between two calls at least: by our rules, or as the site asks."""
        platform = BY_NAME.get(self.source.source_type)
        every = platform.min_interval.total_seconds() if platform and platform.min_interval else 0
        return max(yield_model.YieldRules().gaps[self.target.kind], every) if self.target else every


@router.get("/{source_id}")
async def show_one(source_id: PathId, db: Db, page: Page, did: str = "") -> HTMLResponse:
    return await _show(db, page, source_id, did=did)


async def _show(
    db: RequestDatabase,
    page: Page,
    id: int,
    *,
    did: str = "",
    error: AppError | None = None,
    typed: str | None = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        shown = await read(tx, id)
        now = await planner.clock(tx)
    return page(
        "rotation/target.html",
        html_errors.status_code(error) if error else 200,
        topics=["rotation"],
        shown=shown,
        now=now,
        told=told(did),
        error=error,
        typed=typed,
        labels=labels,
    )


async def read(tx: Tx, id: int) -> Shown:
    source, target = await sources.get(tx, id), await targets.find(tx, id)
    at = await planner.clock(tx)
    worths = await target_overview.call_values(tx, at, [id])
    return Shown(
        source, target, await target_overview.list_calls(tx, id), labels.worth(worths.get(id))
    )


def told(did: str) -> str | None:
    return {
        "pause": say("It is left out of the rotation until it is resumed."),
        "resume": say("It takes its turn again."),
        "revive": say("Its failures are forgotten, and it may run at once."),
        "priority": say("Its priority is changed."),
    }.get(did)


@router.post("/{source_id}/priority")
async def put(source_id: PathId, form: Fields, visitor: Recruiter, db: Db, page: Page) -> Response:
    """Put it further ahead or behind."""
    try:
        wanted = read_whole_number(form, "priority", say("A priority is a whole number from 0 on."))
        async with db.transaction() as tx:
            await targets.sync_source(tx, source_id)
            await target_overview.set_priority(tx, source_id, wanted, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _show(db, page, source_id, error=error, typed=form.get("priority", ""))
    return RedirectResponse(f"/rotation/targets/{source_id}?did=priority", 303)


@router.post("/{source_id}/{change}")
async def turn(
    source_id: PathId, change: Change, visitor: Recruiter, db: Db, page: Page
) -> Response:
    """Leave it out, let it in again, or forget its failures."""
    try:
        async with db.transaction() as tx:
            await targets.sync_source(tx, source_id)
            await TURNS[change](tx, source_id, actor=visitor.actor.name)
    except (Invalid, Conflict) as error:
        return await _show(db, page, source_id, error=error)
    return RedirectResponse(f"/rotation/targets/{source_id}?did={change}", 303)

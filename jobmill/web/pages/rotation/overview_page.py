"""/sources/rotation: which reads are due, what is on hold, and the last run."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill import queue
from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.pipelines import rotation
from jobmill.queue import NotAdmitted
from jobmill.rotation import (
    calls,
    due_targets,
    planner,
    rotation_status,
    target_overview,
    targets,
)
from jobmill.rotation.due_targets import DueTarget
from jobmill.rotation.rotation_status import BlockedTargets, RunReport
from jobmill.rotation.targets import RunProblem
from jobmill.settings import Settings
from jobmill.web.auth import Admin
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/sources/rotation")

PAGE_SIZE = 25
MAX_PROBLEMS = 20
"""Failed and skipped reads of the last run that are listed."""
LOOK_AHEAD = {"day": dt.timedelta(days=1), "week": dt.timedelta(days=7)}


class RotationQuery(PageQuery):
    platform: ShortText | None = None
    ahead: Literal["day", "week"] | None = None


@dataclass(frozen=True, slots=True)
class RotationPage:
    due: list[DueTarget]
    expected: dict[int, float]
    """Expected new jobs by source."""
    next_due: dt.datetime | None
    report: RunReport | None
    failed: list[RunProblem]
    skipped: list[RunProblem]
    on_hold: list[BlockedTargets]

    @property
    def has_more(self) -> bool:
        return len(self.due) > PAGE_SIZE

    @property
    def rows(self) -> list[tuple[DueTarget, str]]:
        """Each due read with the new jobs that it is expected to find."""
        return [
            (due, labels.describe_expected(self.expected.get(due.source)))
            for due in self.due[:PAGE_SIZE]
        ]


@router.get("")
async def show(
    query: Annotated[RotationQuery, Query()],
    page: Page,
    item: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        content = await _read(tx, query, page.site_settings.settings)
    return page(
        "rotation/page.html",
        topics=["rotation"],
        query=query,
        content=content,
        notice=_notices().get(page.did),
        item=item,
        current_url=query.url("/sources/rotation"),
        labels=labels,
    )


async def _read(tx: Tx, query: RotationQuery, settings: Settings) -> RotationPage:
    at = await planner.clock(tx)
    report = await _last_report(tx)
    request = rotation.request_like_last_run(settings, await rotation_status.last_policy(tx))
    if query.platform:
        request = replace(request, platforms=[query.platform])
    span = LOOK_AHEAD[query.ahead] if query.ahead else dt.timedelta()
    due = (
        await due_targets.list_due(tx, request, at, os.environ, ahead=span, limit=PAGE_SIZE + 1)
    ).targets
    blocked = await rotation_status.blocked_targets(tx, at, os.environ)
    return RotationPage(
        due,
        await target_overview.call_values(tx, at, [row.source for row in due]),
        None if due else await due_targets.next_due_at(tx, request, at, os.environ),
        report,
        await calls.failed_calls(tx, report.run, limit=MAX_PROBLEMS) if report else [],
        await targets.uncalled_targets(tx, report.run, limit=MAX_PROBLEMS) if report else [],
        [group for group in blocked if group.targets],
    )


async def _last_report(tx: Tx) -> RunReport | None:
    try:
        return await rotation_status.run_report(tx)
    except Conflict:
        return None


def _notices() -> dict[str, str]:
    return {
        "started": say("Rotation started."),
        "running": say("Rotation is already running."),
    }


@router.post("/run")
async def run(visitor: Admin, db: Db) -> Response:
    """Submit a run of the rotation, or show the one that is already live."""
    try:
        async with db.transaction() as tx:
            id = await queue.submit(tx, rotation.new_item())
    except NotAdmitted as error:
        if error.refused.live is None:
            raise
        return RedirectResponse(f"/sources/rotation?did=running&item={error.refused.live}", 303)
    return RedirectResponse(f"/sources/rotation?did=started&item={id}", 303)

"""/rotation: whose turn it is, what stands still, and what the last run did."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill import queue
from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.pipelines import rotation
from jobmill.queue import NotAdmitted
from jobmill.rotation import calls, planner, rotation_status, target_overview, targets
from jobmill.rotation.calls import FailedCall
from jobmill.rotation.rotation_status import BlockedTargets, DueTarget, RunReport
from jobmill.rotation.target_selection import PolicyName
from jobmill.rotation.targets import UncalledTarget
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.rotation import labels
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/rotation")

AT_ONCE = 25
NAMED = 20
"""So many calls that failed, or were not made, are named."""
AHEAD = {"day": dt.timedelta(days=1), "week": dt.timedelta(days=7)}


class Line(PageQuery):
    platform: ShortText | None = None
    ahead: Literal["day", "week"] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """Whose turn it is, and how the last run went."""

    due: list[DueTarget]
    worths: dict[int, float]
    report: RunReport | None
    failed: list[FailedCall]
    held: list[UncalledTarget]
    still: list[BlockedTargets]

    @property
    def more(self) -> bool:
        return len(self.due) > AT_ONCE

    @property
    def lines(self) -> list[tuple[DueTarget, str]]:
        """Each with what a call of it would bring."""
        return [(one, labels.worth(self.worths.get(one.source))) for one in self.due[:AT_ONCE]]


@router.get("")
async def show(
    asked: Annotated[Line, Query()],
    db: Db,
    page: Page,
    did: str = "",
    item: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> HTMLResponse:
    async with db.transaction() as tx:
        shown = await read(tx, asked)
    return page(
        "rotation/page.html",
        topics=["rotation"],
        asked=asked,
        shown=shown,
        told=told(did),
        item=item,
        here=asked.url("/rotation"),
        labels=labels,
    )


async def read(tx: Tx, asked: Line) -> Shown:
    at = await planner.clock(tx)
    report = await last(tx)
    # The policy is a setting of the workers: what they went by last is what they go by.
    policy = cast(PolicyName, report.policy) if report else "yield"
    span = AHEAD[asked.ahead] if asked.ahead else dt.timedelta()
    due = await rotation_status.due_targets(
        tx, at, policy, platform=asked.platform, ahead=span, limit=AT_ONCE + 1
    )
    return Shown(
        due,
        await target_overview.call_values(tx, at, [one.source for one in due]),
        report,
        await calls.failed_calls(tx, report.run, limit=NAMED) if report else [],
        await targets.uncalled_targets(tx, report.run, limit=NAMED) if report else [],
        [one for one in await rotation_status.blocked_targets(tx, at, os.environ) if one.targets],
    )


async def last(tx: Tx) -> RunReport | None:
    """The last run, if there ever was one."""
    try:
        return await rotation_status.run_report(tx)
    except Conflict:
        return None


def told(did: str) -> str | None:
    return {
        "started": say("A run is on its way."),
        "running": say("A run was on its way already."),
    }.get(did)


@router.post("/run")
async def run(visitor: Recruiter, db: Db) -> Response:
    """Let a worker call now what is worth most."""
    try:
        async with db.transaction() as tx:
            id = await queue.submit(tx, rotation.work())
    except NotAdmitted as error:
        if error.refused.live is None:
            raise
        return RedirectResponse(f"/rotation?did=running&item={error.refused.live}", 303)
    return RedirectResponse(f"/rotation?did=started&item={id}", 303)

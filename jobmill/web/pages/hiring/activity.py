"""/hiring/{opening_id}/…: what happened and why, how it went, and how it was at any moment."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.audit_log import events, explanations, replay, replay_preview, summary
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.audit_log.explanations import EventExplanation
from jobmill.hiring.audit_log.replay import EventNotFound, OpeningState
from jobmill.hiring.audit_log.replay_preview import ReplayPreview
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads, html_errors
from jobmill.web.auth import Viewer
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db
from jobmill.web.pages.hiring import activity_lines
from jobmill.web.pages.hiring.activity_lines import Line
from jobmill.web.pages.hiring.terms_form import moment
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page

router = APIRouter(prefix="/hiring/{opening_id}")

IN_LOG = 100
SHOWN = 100
"""People in a column of the past."""

Number = Annotated[int | None, Query(ge=0, le=MAX_ID)]


@dataclass(frozen=True, slots=True)
class Told:
    """An event, and why it happened."""

    line: Line
    why: EventExplanation


@dataclass(frozen=True, slots=True)
class Travel:
    opening: Opening
    seq: int
    at: dt.datetime
    frame: OpeningState
    past: ReplayPreview
    told: Told | None
    """The event that happened there; None before the first."""

    @property
    def offered(self) -> int:
        return sum(one.deadline is not None for one in self.past.active)


@router.get("/events")
async def log(
    opening_id: PathId, visitor: Viewer, db: Db, page: Page, upto: Number = None
) -> HTMLResponse:
    """All that happened, newest first."""

    async def work(tx: Tx) -> tuple[Opening, int, list[Line]]:
        opening = await openings.get(tx, opening_id)
        last = min(upto or opening.last_seq, opening.last_seq)
        return opening, last, await activity_lines.latest(tx, opening_id, upto=last, limit=IN_LOG)

    opening, last, lines = await consistent_reads.read_opening(db, opening_id, work)
    return page(
        "hiring/log.html",
        topics=["hiring"] if last == opening.last_seq else [],
        opening=opening,
        lines=lines,
        older=last - IN_LOG if last > IN_LOG else None,
        newer=min(last + IN_LOG, opening.last_seq) if last < opening.last_seq else None,
    )


@router.get("/events/{seq}")
async def explain(
    opening_id: PathId, seq: PathId, visitor: Viewer, db: Db, page: Page
) -> HTMLResponse:
    async with db.transaction(LONG_TIMEOUT) as tx:
        opening = await openings.get(tx, opening_id)
        told = await _tell(tx, await _event(tx, opening_id, seq))
    return page("hiring/event.html", opening=opening, told=told)


@router.get("/summary")
async def sum_up(opening_id: PathId, visitor: Viewer, db: Db, page: Page) -> HTMLResponse:
    """Figures from the whole log: a part of the opening's page that comes when it is ready."""

    async def work(tx: Tx) -> tuple[Opening, summary.OpeningSummary]:
        return await openings.get(tx, opening_id), await summary.summarize(tx, opening_id)

    opening, found = await consistent_reads.read_opening(
        db, opening_id, work, patience=LONG_TIMEOUT
    )
    return page("hiring/summary.html", opening=opening, summary=found)


@router.get("/replay")
async def travel(
    opening_id: PathId,
    visitor: Viewer,
    db: Db,
    page: Page,
    seq: Number = None,
    at: str = "",
) -> HTMLResponse:
    """The opening right after an event, or at a moment; without either: now."""
    error: Invalid | None = None
    when = None
    try:
        when = moment(at, "The moment")
    except Invalid as refusal:
        error = refusal
    found = await consistent_reads.read_opening(
        db, opening_id, lambda tx: _travel(tx, opening_id, seq, when), patience=LONG_TIMEOUT
    )
    return page(
        "hiring/replay.html",
        html_errors.status_code(error) if error else 200,
        opening=found.opening,
        travel=found,
        words=activity_lines.statuses(),
        typed=at,
        error=str(error) if error else None,
    )


async def _travel(tx: Tx, id: int, seq: int | None, when: dt.datetime | None) -> Travel:
    opening = await openings.get(tx, id)
    number, at, event = await _find(tx, opening, seq, when)
    return Travel(
        opening,
        number,
        at,
        await replay.state_at(tx, id, number),
        await replay_preview.preview_at(tx, id, number, at, limit=SHOWN),
        await _tell(tx, event) if event else None,
    )


async def _find(
    tx: Tx, opening: Opening, seq: int | None, when: dt.datetime | None
) -> tuple[int, dt.datetime, AuditEvent | None]:
    """The number of the last event by then, the moment itself, and the event."""
    if seq is None and when is not None:
        seen = await replay.find_position(tx, opening.id, when)
        return seen.seq, seen.at, await _event(tx, opening.id, seen.seq) if seen.seq else None
    number = opening.last_seq if seq is None else seq
    if number == 0:
        return 0, opening.created_at, None
    event = await _event(tx, opening.id, number)
    return number, event.created_at, event


async def _event(tx: Tx, id: int, seq: int) -> AuditEvent:
    found = await events.find_by_opening(tx, id, after=seq - 1, upto=seq)
    if not found:
        raise EventNotFound(id, seq)
    return found[0]


async def _tell(tx: Tx, event: AuditEvent) -> Told:
    [line] = await activity_lines.lines(tx, [event])
    return Told(line, await explanations.explain_event(tx, event.opening_id, event.seq))

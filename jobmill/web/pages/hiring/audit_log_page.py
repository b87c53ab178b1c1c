"""/hiring/{opening_id}/…: the audit log, explanations of events, summary and replay."""

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
from jobmill.web import consistent_reads, event_lines
from jobmill.web.auth import Viewer, Visitor
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db, View
from jobmill.web.event_lines import AuditEventLine
from jobmill.web.pages.hiring import replay_timeline
from jobmill.web.pages.hiring.replay_timeline import ReplayTimeline
from jobmill.web.pages.openings.terms_form import parse_time
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.status_labels import status_labels

router = APIRouter(prefix="/hiring/{opening_id}")

PAGE_SIZE = 100
COLUMN_SIZE = 50
"""People in a column of the replay."""

Number = Annotated[int | None, Query(ge=0, le=MAX_ID)]
Span = Annotated[int | None, Query(ge=10, le=MAX_ID)]


@dataclass(frozen=True, slots=True)
class ExplainedLine:
    line: AuditEventLine
    explanation: EventExplanation


@dataclass(frozen=True, slots=True)
class ReplayPage:
    opening: Opening
    seq: int
    at: dt.datetime
    state: OpeningState
    preview: ReplayPreview
    explained: ExplainedLine | None
    """The last event; None before the first."""

    @property
    def offered(self) -> int:
        return sum(application.deadline is not None for application in self.preview.active)


@router.get("/events")
async def log(opening_id: PathId, visitor: Viewer, page: Page, upto: Number = None) -> HTMLResponse:
    """All events, newest first."""

    async def work(tx: Tx) -> tuple[Opening, int, list[AuditEventLine]]:
        opening = await openings.get(tx, opening_id)
        last = min(upto or opening.last_seq, opening.last_seq)
        return (
            opening,
            last,
            await event_lines.list_latest(tx, opening_id, visitor, upto=last, limit=PAGE_SIZE),
        )

    opening, last, lines = await consistent_reads.read_opening(page.db, opening_id, work)
    return page(
        "hiring/log.html",
        topics=["hiring"] if last == opening.last_seq else [],
        opening=opening,
        lines=lines,
        older=last - PAGE_SIZE if last > PAGE_SIZE else None,
        newer=min(last + PAGE_SIZE, opening.last_seq) if last < opening.last_seq else None,
    )


@router.get("/events/{seq}")
async def explain(opening_id: PathId, seq: PathId, visitor: Viewer, page: Page) -> HTMLResponse:
    async with page.db.transaction(LONG_TIMEOUT) as tx:
        opening = await openings.get(tx, opening_id)
        explained = await _explain(tx, await _get_event(tx, opening_id, seq), visitor)
    return page("hiring/event.html", opening=opening, explained=explained)


@router.get("/summary")
async def summarize(opening_id: PathId, visitor: Viewer, page: Page) -> HTMLResponse:
    """Figures from the complete log; the opening's page loads them separately."""

    async def work(tx: Tx) -> tuple[Opening, summary.OpeningSummary]:
        return await openings.get(tx, opening_id), await summary.summarize(tx, opening_id)

    opening, figures = await consistent_reads.read_opening(
        page.db, opening_id, work, time_limit=LONG_TIMEOUT
    )
    return page("hiring/summary.html", opening=opening, summary=figures)


@router.get("/replay")
async def show_replay(
    opening_id: PathId,
    visitor: Viewer,
    page: Page,
    seq: Number = None,
    at: str = "",
    span: Span = None,
) -> HTMLResponse:
    """The opening right after an event, or at a time; by default, now.

    `span` is how many events the timeline shows."""
    error: Invalid | None = None
    when = None
    try:
        when = parse_time(at, "The time")
    except Invalid as refusal:
        error = refusal

    async def work(tx: Tx) -> tuple[ReplayPage, ReplayTimeline]:
        replayed = await _replay(tx, opening_id, seq, when, visitor)
        last_seq = replayed.opening.last_seq
        return replayed, await replay_timeline.read_replay_timeline(
            tx, opening_id, replayed.seq, last_seq, span
        )

    replayed, timeline = await consistent_reads.read_opening(
        page.db, opening_id, work, time_limit=LONG_TIMEOUT
    )
    return page(
        "hiring/replay.html",
        opening=replayed.opening,
        replay=replayed,
        timeline=timeline,
        labels=status_labels(),
        typed=at,
        error=error,
    )


@router.get("/replay/frame")
async def show_replay_frame(
    opening_id: PathId, visitor: Viewer, db: Db, view: View, seq: Number = 0
) -> HTMLResponse:
    """The part of the replay that changes with each event."""
    replayed = await consistent_reads.read_opening(
        db, opening_id, lambda tx: _replay(tx, opening_id, seq, None, visitor)
    )
    return view(
        "hiring/_replay_frame.html",
        opening=replayed.opening,
        replay=replayed,
        labels=status_labels(),
    )


async def _replay(
    tx: Tx, id: int, seq: int | None, when: dt.datetime | None, visitor: Visitor
) -> ReplayPage:
    opening = await openings.get(tx, id)
    number, at, event = await _find_event(tx, opening, seq, when)
    return ReplayPage(
        opening,
        number,
        at,
        await replay.state_at(tx, id, number),
        await replay_preview.preview_at(tx, id, number, at, limit=COLUMN_SIZE),
        await _explain(tx, event, visitor) if event else None,
    )


async def _find_event(
    tx: Tx, opening: Opening, seq: int | None, when: dt.datetime | None
) -> tuple[int, dt.datetime, AuditEvent | None]:
    """The number of the last event up to that time, the time, and the event."""
    if seq is None and when is not None:
        position = await replay.find_position(tx, opening.id, when)
        last = await _get_event(tx, opening.id, position.seq) if position.seq else None
        return position.seq, position.at, last
    number = opening.last_seq if seq is None else seq
    if number == 0:
        return 0, opening.created_at, None
    event = await _get_event(tx, opening.id, number)
    return number, event.created_at, event


async def _get_event(tx: Tx, id: int, seq: int) -> AuditEvent:
    matching = await events.find_by_opening(tx, id, after=seq - 1, upto=seq)
    if not matching:
        raise EventNotFound(id, seq)
    return matching[0]


async def _explain(tx: Tx, event: AuditEvent, visitor: Visitor) -> ExplainedLine:
    [line] = await event_lines.describe_events(tx, [event], visitor)
    return ExplainedLine(line, await explanations.explain_event(tx, event.opening_id, event.seq))

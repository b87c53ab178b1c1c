"""/api/queue and /api/pipeline: who waits, how it went, and how it was at any moment."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator

from jobmill.db import Tx
from jobmill.hiring.audit_log import events, replay, summary
from jobmill.hiring.audit_log.events import AuditEvent as Recorded
from jobmill.hiring.audit_log.replay import OpeningReplay as Seen
from jobmill.hiring.openings import applicant_lists
from jobmill.web import consistent_reads
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, Limit, json_response
from jobmill.web.api.schemas import Event, Placed, Queue, QueueEntry, Replay, Summary
from jobmill.web.auth import Viewer
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db
from jobmill.web.parameters import MAX_ID, InputTime, JobPathId, require_digits

router = APIRouter(tags=["pipeline"])

AsOf = Annotated[InputTime | None, Query(alias="asOf", description="A moment; without it: now.")]
Seq = Annotated[
    int | None,
    Query(ge=1, le=MAX_ID, description="Right after this event of the log."),
    BeforeValidator(require_digits),
]


@router.get("/queue/{jobId}", response_model=Queue, responses=problems(404))
async def show_queue(
    job_id: JobPathId,
    request: Request,
    visitor: Viewer,
    db: Db,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """Who waits, by position."""

    async def work(
        tx: Tx,
    ) -> tuple[applicant_lists.OpeningCounts, list[applicant_lists.ApplicantRow]]:
        opening = await applicant_lists.get_counts(tx, job_id)
        return opening, await applicant_lists.list_waiting(tx, job_id, after=after, limit=limit + 1)

    opening, found = await consistent_reads.read_opening(db, job_id, work)
    shape = Queue(
        job_id=opening.id,
        job_title=opening.title,
        capacity=opening.capacity,
        active_count=opening.active_count,
        waitlist_entries=[QueueEntry.of(one) for one in found[:limit]],
    )
    return json_response(request, shape, found[limit - 1].queue_key if len(found) > limit else None)


@router.get("/pipeline/{jobId}/summary", response_model=Summary, responses=problems(404))
async def show_summary(job_id: JobPathId, request: Request, visitor: Viewer, db: Db) -> Response:
    """How it went so far, by the log."""
    found = await consistent_reads.read_opening(
        db, job_id, lambda tx: summary.summarize(tx, job_id), patience=LONG_TIMEOUT
    )
    return json_response(request, Summary.of(found))


@router.get("/pipeline/{jobId}/replay", response_model=Replay, responses=problems(404))
async def replay_job(
    job_id: JobPathId,
    request: Request,
    visitor: Viewer,
    db: Db,
    as_of: AsOf = None,
    seq: Seq = None,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """The opening as it was: at a moment, or right after an event; lists hold `limit` each, and the
    Link leads to further events."""

    async def work(tx: Tx) -> tuple[Seen, list[Recorded]]:
        seen = await replay.replay_at(tx, job_id, as_of=as_of, seq=seq)
        log = await events.find_by_opening(tx, job_id, after=after, upto=seen.seq, limit=limit + 1)
        return seen, log

    seen, log = await consistent_reads.read_opening(db, job_id, work, patience=LONG_TIMEOUT)
    more = log[limit - 1].seq if len(log) > limit else None
    return json_response(request, _replay(seen, log[:limit], limit), more)


def _replay(seen: Seen, log: list[Recorded], limit: int) -> Replay:
    return Replay(
        job_id=seen.opening_id,
        as_of=seen.as_of,
        active_applicants=[Placed.of(one) for one in seen.active[:limit]],
        waitlist_applicants=[Placed.of(one) for one in seen.waiting[:limit]],
        # What happened to the opening itself is not of the contract's shape; `/events` has it.
        events=[Event.of(one) for one in log if one.application_id is not None],
    )

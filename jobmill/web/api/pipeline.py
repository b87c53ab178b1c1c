"""/api/queue and /api/pipeline: the waitlist, the summary and the replay of an opening."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from jobmill.db import Tx
from jobmill.hiring.audit_log import events, replay, summary
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.audit_log.replay import OpeningReplay
from jobmill.hiring.openings import applicant_lists
from jobmill.web import consistent_reads
from jobmill.web.api.callers import ViewerCaller
from jobmill.web.api.pagination import AfterId, Limit
from jobmill.web.api.schemas import (
    JobQueue,
    JobReplay,
    JobSummary,
)
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID, InputTime, JobPathId

router = APIRouter(tags=["pipeline"])

AsOf = Annotated[InputTime | None, Query(alias="asOf", description="A time; default: now.")]
Seq = Annotated[
    int | None,
    Query(ge=1, le=MAX_ID, description="Right after this event of the log."),
    DIGITS_ONLY,
]


@router.get("/queue/{jobId}", response_model=JobQueue)
async def show_queue(
    job_id: JobPathId,
    caller: ViewerCaller,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """The waitlist, by position."""

    async def work(
        tx: Tx,
    ) -> tuple[applicant_lists.OpeningCounts, list[applicant_lists.ApplicantRow]]:
        opening = await applicant_lists.get_counts(tx, job_id)
        return opening, await applicant_lists.list_waiting(tx, job_id, after=after, limit=limit + 1)

    opening, page = await consistent_reads.read_opening(caller.db, job_id, work)
    more = page[limit - 1].queue_key if len(page) > limit else None
    return caller.respond(JobQueue.of(opening, waitlist_entries=page[:limit]), more)


@router.get("/pipeline/{jobId}/summary", response_model=JobSummary)
async def show_summary(job_id: JobPathId, caller: ViewerCaller) -> Response:
    """Key figures, from the audit log."""
    figures = await consistent_reads.read_opening(
        caller.db, job_id, lambda tx: summary.summarize(tx, job_id), time_limit=LONG_TIMEOUT
    )
    return caller.respond(JobSummary.of(figures))


@router.get("/pipeline/{jobId}/replay", response_model=JobReplay)
async def replay_job(
    job_id: JobPathId,
    caller: ViewerCaller,
    as_of: AsOf = None,
    seq: Seq = None,
    after: AfterId = 0,
    limit: Limit = applicant_lists.MAX_PAGE_SIZE,
) -> Response:
    """The opening at a time or right after an event. Each list has at most `limit` rows; the Link header
    leads to further events."""

    async def work(tx: Tx) -> tuple[OpeningReplay, list[AuditEvent]]:
        replayed = await replay.replay_at(tx, job_id, as_of=as_of, seq=seq)
        log = await events.find_by_opening(
            tx, job_id, after=after, upto=replayed.seq, limit=limit + 1
        )
        return replayed, log

    replayed, log = await consistent_reads.read_opening(
        caller.db, job_id, work, time_limit=LONG_TIMEOUT
    )
    more = log[limit - 1].seq if len(log) > limit else None
    return caller.respond(_replay(replayed, log[:limit], limit), more)


def _replay(replayed: OpeningReplay, log: list[AuditEvent], limit: int) -> JobReplay:
    return JobReplay.of(
        job_id=replayed.opening_id,
        as_of=replayed.as_of,
        active_applicants=replayed.active[:limit],
        waitlist_applicants=replayed.waiting[:limit],
        in_review_applicants=replayed.in_review[:limit],
        # Events of the opening itself have no place in this schema; `/events` has them.
        events=[event for event in log if event.application_id is not None],
    )

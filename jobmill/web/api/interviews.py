"""/api/jobs/{jobId}/interviews and /api/interviews: interview times; …/interview: booking one."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field, StrictBool, WithJsonSchema

from jobmill.db import Tx
from jobmill.hiring.applications import outcomes
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.interviews import bookings, interview_times
from jobmill.hiring.interviews.interview_times import InterviewPlan, InterviewTime
from jobmill.hiring.interviews.time_series import TimeSeries
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import OpeningStatus
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web.api.applications import require_own_application
from jobmill.web.api.callers import AnyCaller, RecruiterCaller, ViewerCaller
from jobmill.web.api.operation_roles import or_applicant
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Anyone
from jobmill.web.dependencies import Db
from jobmill.web.parameters import (
    DIGITS_ONLY,
    MAX_ID,
    PLAIN_TEXT,
    ApplicationPathId,
    BodyId,
    InputTime,
    JobPathId,
    OutputTime,
)

router = APIRouter(tags=["interviews"])

Minutes = Annotated[int, Field(strict=True, ge=0, le=1440)]
LocalTime = Annotated[
    dt.time,
    # JSON Schema has no format for a time without an offset; this one is in `timeZone`.
    WithJsonSchema(
        {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$", "examples": ["09:00"]}
    ),
]
PlaceText = Annotated[str, Field(max_length=interview_times.MAX_PLACE_LENGTH), PLAIN_TEXT]
InterviewPathId = Annotated[
    int, Path(alias="interviewId", ge=1, le=MAX_ID, examples=[7]), DIGITS_ONLY
]


class SeriesBody(RequestBody):
    first_day: Annotated[dt.date, Field(examples=["2030-01-14"])]
    last_day: dt.date | None = None
    """By default the first day."""
    from_time: LocalTime
    until_time: LocalTime
    length_minutes: Annotated[Minutes, Field(examples=[30])]
    break_minutes: Minutes = 0
    skip_weekends: StrictBool = True
    time_zone: Annotated[str, Field(max_length=60, examples=["Europe/Berlin"]), PLAIN_TEXT]
    places: Annotated[int, Field(strict=True, ge=1, le=interview_times.MAX_PLACES)] = 1
    place: PlaceText | None = None
    """An address, a room or a link."""
    accept_window_seconds: Annotated[int, Field(strict=True, ge=1, le=31_536_000)] = 86_400


class MoveBody(RequestBody):
    starts_at: InputTime | None = None
    place: PlaceText | None = None


class CancelBody(RequestBody):
    reason: (
        Annotated[str, Field(max_length=2_000, examples=["The room is closed."]), PLAIN_TEXT] | None
    ) = None


class BookBody(RequestBody):
    interview_id: BodyId


class InterviewItem(Schema):
    id: Annotated[int, Field(examples=[7])]
    job_id: Annotated[int, Field(validation_alias="parent_id")]
    starts_at: OutputTime
    ends_at: OutputTime
    time_zone: str
    place: str | None
    status: OpeningStatus
    capacity: int
    occupied: int
    waiting: int


class BookingItem(Schema):
    application_id: int
    """The booking itself, as the log of the interview time names it."""
    interview_id: int
    applicant_id: int
    applicant_name: str
    status: ApplicationStatus
    acknowledge_deadline: OutputTime | None


class InterviewList(Schema):
    interviews: list[InterviewItem]
    bookings: list[BookingItem]


class OwnBookingItem(Schema):
    application_id: int
    interview_id: int
    status: ApplicationStatus
    position: int | None
    acknowledge_deadline: OutputTime | None
    starts_at: OutputTime
    ends_at: OutputTime
    place: str | None
    time_zone: str


class InterviewChoiceAnswer(Schema):
    booking: OwnBookingItem | None
    times: list[InterviewItem]


class BookingResult(Schema):
    application_id: Annotated[int, Field(examples=[12])]
    interview_id: int
    status: ApplicationStatus
    queue_position: int | None
    message: str


@router.post("/jobs/{jobId}/interviews", response_model=InterviewList, status_code=201)
async def add_interviews(job_id: JobPathId, body: SeriesBody, caller: RecruiterCaller) -> Response:
    """Add a series of interview times; times that exist already are not added again."""
    series = TimeSeries(
        first_day=body.first_day,
        last_day=body.last_day or body.first_day,
        from_time=body.from_time.replace(tzinfo=None),
        until_time=body.until_time.replace(tzinfo=None),
        length=dt.timedelta(minutes=body.length_minutes),
        pause=dt.timedelta(minutes=body.break_minutes),
        skip_weekends=body.skip_weekends,
        time_zone=body.time_zone,
    )
    window = dt.timedelta(seconds=body.accept_window_seconds)
    plan = InterviewPlan(body.places, body.place, window)

    return await caller.run_once(
        lambda tx: interview_times.add_times(tx, job_id, series, plan, caller.actor),
        to_schema=lambda times: InterviewList.of(interviews=times, bookings=[]),
        status=201,
    )


@router.get("/jobs/{jobId}/interviews", response_model=InterviewList)
async def list_interviews(job_id: JobPathId, caller: ViewerCaller) -> Response:
    """The interview times of an opening, and their bookings."""
    async with caller.db.transaction() as tx:
        await openings.get(tx, job_id)
        times = await interview_times.list_interviews(tx, job_id)
        booked = await interview_times.list_bookings(tx, job_id)
    return caller.respond(InterviewList.of(interviews=times, bookings=booked))


@router.post("/interviews/{interviewId}/move", response_model=InterviewItem)
async def move_interview(
    interview_id: InterviewPathId, body: MoveBody, caller: RecruiterCaller
) -> Response:
    """Change the start or the place of a time; booked people get a letter."""
    return await caller.run_once(
        lambda tx: interview_times.move_interview(
            tx, interview_id, caller.actor, starts_at=body.starts_at, place=body.place
        ),
        to_schema=InterviewItem.of,
    )


@router.post("/interviews/{interviewId}/cancel", response_model=InterviewItem)
async def cancel_interview(
    interview_id: InterviewPathId, body: CancelBody, caller: RecruiterCaller
) -> Response:
    """Cancel a time; booked people get a letter and can book another."""

    async def work(tx: Tx) -> InterviewTime:
        await interview_times.cancel_interview(
            tx, interview_id, caller.actor, reason=body.reason or None
        )
        return await interview_times.get_interview(tx, interview_id)

    return await caller.run_once(work, to_schema=InterviewItem.of)


@router.get(
    "/applications/{applicationId}/interview",
    response_model=InterviewChoiceAnswer,
    openapi_extra=or_applicant("viewer"),
)
async def show_choice(application_id: ApplicationPathId, caller: AnyCaller) -> Response:
    """The booked time of an application, and the times that it can book."""
    async with caller.db.transaction() as tx:
        await require_own_application(tx, caller.visitor, application_id, "viewer")
        choice = await bookings.read_choice(tx, application_id)
    if choice is None:
        return caller.respond(InterviewChoiceAnswer(booking=None, times=[]))
    return caller.respond(InterviewChoiceAnswer.of(choice))


@router.put(
    "/applications/{applicationId}/interview",
    response_model=BookingResult,
    openapi_extra=or_applicant("recruiter"),
)
async def book(application_id: ApplicationPathId, body: BookBody, caller: AnyCaller) -> Response:
    """Book a time, in exchange for the one booked before, or join the waitlist of a full time."""

    async def work(tx: Tx) -> Placement:
        await require_own_application(tx, caller.visitor, application_id)
        return await bookings.book(tx, application_id, body.interview_id, caller.actor)

    return await caller.run_once(work, to_schema=_to_result)


@router.delete(
    "/applications/{applicationId}/interview",
    status_code=204,
    openapi_extra=or_applicant("recruiter"),
)
async def cancel_booking(application_id: ApplicationPathId, visitor: Anyone, db: Db) -> None:
    """Cancel the booking; its place is offered to the next person."""
    async with db.transaction() as tx:
        await require_own_application(tx, visitor, application_id)
        await bookings.cancel_booking(tx, application_id, visitor.actor)


def _to_result(placement: Placement) -> BookingResult:
    application = placement.application
    waits = application.status == "WAITLIST"
    return BookingResult(
        application_id=application.id,
        interview_id=application.opening_id,
        status=application.status,
        queue_position=placement.position,
        message=outcomes.WAITING.format(placement.position) if waits else "Interview booked.",
    )

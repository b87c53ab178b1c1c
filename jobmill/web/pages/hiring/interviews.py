"""/hiring/{opening_id}/interviews: interview times, their bookings, and new series."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.interviews import interview_times
from jobmill.hiring.interviews.interview_times import Booking, InterviewPlan, InterviewTime
from jobmill.hiring.interviews.time_series import TimeSeries
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.time_zones import (
    format_local_time,
    list_time_zones,
    load_time_zone,
    parse_local_time,
)
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.confirmation import Confirmation
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.status_labels import status_labels
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/hiring/{opening_id}/interviews")

Step = Literal["move", "cancel"]
DEFAULTS: Mapping[str, str] = {
    "from_time": "09:00",
    "until_time": "12:00",
    "length": "30",
    "pause": "0",
    "places": "1",
    "hours": "24",
    "last_day": "",
    "place": "",
    "weekends": "",
}


@dataclass(frozen=True, slots=True)
class InterviewSchedule:
    opening: Opening
    upcoming: Sequence[InterviewTime]
    past: Sequence[InterviewTime]
    bookings: Sequence[Booking]

    def booked(self, id: int) -> list[Booking]:
        return [booking for booking in self.bookings if booking.interview_id == id]


@dataclass(frozen=True, slots=True)
class ScheduleForm:
    """What was typed, and the error or the question about it."""

    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    error: AppError | None = None
    confirmation: Confirmation | None = None


@router.get("")
async def show(opening_id: PathId, visitor: Viewer, page: Page) -> HTMLResponse:
    return await _page(page, opening_id, ScheduleForm())


@router.post("")
async def add(opening_id: PathId, visitor: Recruiter, form: Fields, page: Page) -> Response:
    """Add a series, or show the form again with the error and the input."""

    async def work(tx: Tx) -> None:
        series, plan = _read_series(form), _read_plan(form)
        await interview_times.add_times(tx, opening_id, series, plan, visitor.actor)

    return await _change(page, opening_id, form, work)


@router.post("/{interview_id}/{step}")
async def change(
    opening_id: PathId,
    interview_id: PathId,
    step: Step,
    visitor: Recruiter,
    form: Fields,
    page: Page,
) -> Response:
    """Move one time, or cancel it after a confirmation."""
    if step == "cancel" and form.get("confirmed") != "yes":
        async with page.db.transaction() as tx:
            time = await _get_time(tx, opening_id, interview_id)
        question = _confirm_cancel(time, form.get("reason", ""))
        return await _page(page, opening_id, ScheduleForm(confirmation=question))

    async def work(tx: Tx) -> None:
        time = await _get_time(tx, opening_id, interview_id)
        if step == "cancel":
            reason = form.get("reason", "").strip() or None
            await interview_times.cancel_interview(tx, interview_id, visitor.actor, reason=reason)
            return
        await interview_times.move_interview(
            tx,
            interview_id,
            visitor.actor,
            starts_at=_read_start(form.get("starts_at", ""), time.time_zone),
            place=form.get("place"),
        )

    return await _change(page, opening_id, {}, work)


async def _get_time(tx: Tx, opening_id: int, id: int) -> InterviewTime:
    time = await interview_times.get_interview(tx, id)
    if time.parent_id != opening_id:
        raise interview_times.InterviewNotFound(id)
    return time


def _confirm_cancel(time: InterviewTime, reason: str) -> Confirmation:
    here = f"/hiring/{time.parent_id}/interviews"
    people = time.occupied + time.waiting
    effect = say_many(
        "%(n)s person has booked this interview time or is waiting for it. They get an email and can choose another.",
        "%(n)s people have booked this interview time or are waiting for it. They get an email and can choose another.",
        people,
    )
    return Confirmation(
        f"{here}/{time.id}/cancel",
        here,
        say(
            "Cancel the interview at %(time)s?",
            time=format_local_time(time.starts_at, time.time_zone),
        ),
        say("Cancel interview"),
        [effect if people else say("Nobody has booked this interview time.")],
        {"confirmed": "yes"},
        reason=reason,
        reason_required=False,
        danger=True,
        cancel_label=say("Keep interview"),
    )


async def _change(
    page: PageRenderer,
    opening_id: int,
    form: Mapping[str, str],
    work: Callable[[Tx], Awaitable[None]],
) -> Response:
    try:
        async with page.db.transaction() as tx:
            await work(tx)
    except (Invalid, Conflict) as error:
        return await _page(page, opening_id, ScheduleForm(form, error))
    return RedirectResponse(f"/hiring/{opening_id}/interviews", 303)


async def _page(page: PageRenderer, opening_id: int, form: ScheduleForm) -> HTMLResponse:
    async with page.db.transaction() as tx:
        schedule = await _read(tx, opening_id)
    zone = schedule.opening.time_zone
    tomorrow = schedule.opening.now.astimezone(load_time_zone(zone)).date() + dt.timedelta(days=1)
    defaults = {**DEFAULTS, "first_day": tomorrow.isoformat(), "time_zone": zone}
    return page(
        "hiring/interviews.html",
        topics=["hiring"],
        opening=schedule.opening,
        schedule=schedule,
        typed=defaults | dict(form.typed),
        zones=sorted(list_time_zones()),
        error=form.error,
        confirmation=form.confirmation,
        labels=status_labels(),
    )


async def _read(tx: Tx, opening_id: int) -> InterviewSchedule:
    opening = await openings.get(tx, opening_id)
    openings.refuse_interview_time(opening)
    times = await interview_times.list_interviews(tx, opening_id)
    return InterviewSchedule(
        opening,
        [time for time in times if not time.has_started and time.status != "closed"],
        [time for time in times if time.has_started or time.status == "closed"][::-1],
        await interview_times.list_bookings(tx, opening_id),
    )


def _read_series(form: Mapping[str, str]) -> TimeSeries:
    try:
        first = dt.date.fromisoformat(form.get("first_day", ""))
        return TimeSeries(
            first_day=first,
            last_day=dt.date.fromisoformat(form.get("last_day") or first.isoformat()),
            from_time=dt.time.fromisoformat(form.get("from_time", "")).replace(tzinfo=None),
            until_time=dt.time.fromisoformat(form.get("until_time", "")).replace(tzinfo=None),
            length=_minutes(form, "length"),
            pause=_minutes(form, "pause"),
            skip_weekends=form.get("weekends") != "yes",
            time_zone=form.get("time_zone", "").strip(),
        )
    except ValueError as error:
        raise Invalid(
            say("Enter the days and the times of day, such as 2030-01-14 and 09:00.")
        ) from error


def _minutes(form: Mapping[str, str], name: str) -> dt.timedelta:
    message = say(
        "Enter the length (1 to 1,440 minutes) and the break (0 to 1,440 minutes) as whole numbers."
    )
    return dt.timedelta(minutes=read_whole_number(form, name, message))


def _read_plan(form: Mapping[str, str]) -> InterviewPlan:
    hours = read_whole_number(
        form,
        "hours",
        say("Enter the hours to accept a time that becomes free: a whole number from 1 to 8,760."),
    )
    return InterviewPlan(
        read_whole_number(form, "places", say("Enter the number of people at each time.")),
        form.get("place") or None,
        dt.timedelta(hours=min(hours, 8760)),
    )


def _read_start(text: str, time_zone: str) -> dt.datetime:
    try:
        return parse_local_time(text, time_zone)
    except ValueError as error:
        raise Invalid(say("Enter the new start, such as 2030-01-14 09:00.")) from error

"""jobmill interview: plan, list, move, cancel and book interview times."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

import typer

from jobmill.cli.support import output, session
from jobmill.cli.support.hiring_session import ApplicationId, OpeningId
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.import_export import exports
from jobmill.hiring.interviews import bookings, interview_times
from jobmill.hiring.interviews.interview_times import Booking, InterviewPlan, InterviewTime
from jobmill.hiring.interviews.time_series import TimeSeries
from jobmill.hiring.records import openings
from jobmill.time_zones import format_local_time, parse_local_time

app = typer.Typer(no_args_is_help=True)

TimeId = Annotated[int, typer.Argument(metavar="TIME", min=1, help="Number of the interview time.")]


@app.command()
def add(
    opening: OpeningId,
    day: Annotated[str, typer.Argument(metavar="DAY", help="First day, such as 2030-01-14.")],
    start: Annotated[str, typer.Argument(metavar="FROM", help="Time of day, such as 09:00.")],
    end: Annotated[str, typer.Argument(metavar="UNTIL", help="Time of day, such as 12:00.")],
    last_day: Annotated[
        str | None, typer.Option(metavar="DAY", help="Last day; by default the first.")
    ] = None,
    length: Annotated[int, typer.Option(metavar="MINUTES", min=1)] = 30,
    pause: Annotated[
        int, typer.Option("--break", metavar="MINUTES", min=0, help="Break after each time.")
    ] = 0,
    places: Annotated[int, typer.Option(min=1, help="Number of people in each interview.")] = 1,
    place: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Address, room or link.")
    ] = None,
    time_zone: Annotated[
        str, typer.Option(metavar="ZONE", help="Time zone such as Europe/Berlin; by default UTC.")
    ] = "UTC",
    weekends: Annotated[
        bool, typer.Option("--weekends", help="Also on Saturdays and Sundays.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a series of interview times; times that exist already are not added again."""
    try:
        series = TimeSeries(
            first_day=dt.date.fromisoformat(day),
            last_day=dt.date.fromisoformat(last_day or day),
            from_time=dt.time.fromisoformat(start).replace(tzinfo=None),
            until_time=dt.time.fromisoformat(end).replace(tzinfo=None),
            length=dt.timedelta(minutes=length),
            pause=dt.timedelta(minutes=pause),
            skip_weekends=not weekends,
            time_zone=time_zone,
        )
    except ValueError as error:
        raise Invalid(f"write days as 2030-01-14 and times as 09:00 ({error})") from error
    plan = InterviewPlan(places, place)
    times = session.in_transaction(
        lambda tx: interview_times.add_times(tx, opening, series, plan, LOCAL)
    )
    if not as_json:
        typer.echo(f"Added {output.format_count(len(times), 'interview time')}.")
    for time in times:
        _print_time(time, [], as_json)


@app.command("list")
def list_times(opening: OpeningId, as_json: AsJson = False) -> None:
    """List the interview times of an opening and their bookings."""

    async def read(tx: Tx) -> tuple[list[InterviewTime], list[Booking]]:
        await openings.get(tx, opening)
        return (
            await interview_times.list_interviews(tx, opening),
            await interview_times.list_bookings(tx, opening),
        )

    times, booked = session.in_transaction(read)
    if not times and not as_json:
        typer.echo("No interview times. Add some: jobmill interview add OPENING DAY FROM UNTIL")
    for time in times:
        own = [booking for booking in booked if booking.interview_id == time.id]
        _print_time(time, own, as_json)


@app.command()
def move(
    time: TimeId,
    start: Annotated[
        str | None, typer.Option(metavar="TIME", help="New start, such as 2030-01-14T10:30.")
    ] = None,
    place: Annotated[str | None, typer.Option(metavar="TEXT", help="New location or link.")] = None,
    as_json: AsJson = False,
) -> None:
    """Move an interview or change its location; people who booked it are told by email.

    The new start is in the time zone of the interview.
    """

    async def work(tx: Tx) -> InterviewTime:
        zone = (await interview_times.get_interview(tx, time)).time_zone
        starts_at = _parse_start(start, zone) if start else None
        return await interview_times.move_interview(
            tx, time, LOCAL, starts_at=starts_at, place=place
        )

    _print_time(session.in_transaction(work), [], as_json)


@app.command()
def cancel(
    time: TimeId,
    reason: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Reason, kept in the audit log.")
    ] = None,
) -> None:
    """Cancel an interview time; booked people get a letter and can book another."""
    session.in_transaction(
        lambda tx: interview_times.cancel_interview(tx, time, LOCAL, reason=reason)
    )
    typer.echo(f"Cancelled interview time {time}.")


@app.command()
def book(application: ApplicationId, time: TimeId, as_json: AsJson = False) -> None:
    """Book a time for an application with a place, in exchange for the one booked before."""
    placement = session.in_transaction(lambda tx: bookings.book(tx, application, time, LOCAL))
    _print_placement(placement, as_json)


@app.command()
def unbook(application: ApplicationId, as_json: AsJson = False) -> None:
    """Cancel the booking of an application; its place is offered to the next person."""
    placement = session.in_transaction(lambda tx: bookings.cancel_booking(tx, application, LOCAL))
    _print_placement(placement, as_json)


def _parse_start(text: str, time_zone: str) -> dt.datetime:
    try:
        return parse_local_time(text, time_zone)
    except ValueError as error:
        raise Invalid(f"write the start as 2030-01-14T10:30 ({error})") from error


def _print_time(time: InterviewTime, booked: list[Booking], as_json: bool) -> None:
    if as_json:
        output.print_json(_time_json(time, booked))
        return
    people = ", ".join(
        booking.applicant_name + ("" if booking.status == "ACTIVE" else f" ({booking.status})")
        for booking in booked
    )
    details = [
        format_local_time(time.starts_at, time.time_zone),
        time.place,
        "cancelled" if time.status == "closed" else None,
        f"{time.occupied:,} of {output.format_count(time.capacity, 'place')} taken",
        f"{time.waiting:,} waiting" if time.waiting else None,
        people or None,
    ]
    output.print_wrapped(output.join(details), f"{time.id:>5}  ")


def _time_json(time: InterviewTime, booked: list[Booking]) -> dict[str, Any]:
    fields = exports.to_json_fields(time)
    fields["jobId"] = fields.pop("parentId")
    return fields | {"bookings": [exports.to_json_fields(booking) for booking in booked]}


def _print_placement(placement: Placement, as_json: bool) -> None:
    booking = placement.application
    place = f", number {placement.position} on the waitlist" if placement.position else ""
    output.print_result(
        {
            "applicationId": booking.id,
            "interviewId": booking.opening_id,
            "status": booking.status,
            "queuePosition": placement.position,
        },
        f"Interview time {booking.opening_id}: {booking.status}{place}.",
        as_json,
    )

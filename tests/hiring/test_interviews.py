"""Tests of interview times: series, bookings, exchanges, and what ends them."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from jobmill.db import Database, Tx, connect, fetch_value
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import applicant_applications, offers, submissions, withdrawals
from jobmill.hiring.applications.application_list import ApplicationFilter, list_all
from jobmill.hiring.audit_log import replay, verification
from jobmill.hiring.interviews import bookings, interview_times
from jobmill.hiring.interviews.booking_events import list_booking_events
from jobmill.hiring.interviews.interview_times import InterviewPlan, InterviewTime
from jobmill.hiring.interviews.time_series import TimeSeries, list_times
from jobmill.hiring.messages import letter_templates, notices, webhooks
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.openings import applicant_lists, cards, public_openings
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening, OpeningNotFound
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from jobmill.pipelines import notices as pipeline
from jobmill.web.booking_lines import describe_booking_event
from tests.cli.forked import ForkedProgram
from tests.hiring import booking_process
from tests.hiring.helpers import apply, make_applicant, make_opening, name_error
from tests.hiring.interview_helpers import let_start, make_times, series
from tests.hiring.log_rules import check_log_in


async def make_booked(
    tx: Tx, people: int, count: int = 2, places: int = 1
) -> tuple[Opening, list[Application], list[InterviewTime]]:
    """An opening with all places taken, and its interview times."""
    opening = await make_opening(tx, people, title="Cook")
    placed = [
        (await apply(tx, opening, (await make_applicant(tx, f"P{n}")).id)).application
        for n in range(people)
    ]
    return opening, placed, await make_times(tx, opening, count, places)


async def book(tx: Tx, application: Application, time: InterviewTime) -> str:
    by = by_applicant(application.applicant_id)
    return (await bookings.book(tx, application.id, time.id, by)).application.status


async def find_time(tx: Tx, application: Application) -> tuple[int, str] | None:
    booking = await bookings.find_booking(tx, application.id)
    return (booking.interview_id, booking.status) if booking else None


async def check_logs(tx: Tx, times: Sequence[InterviewTime], *more: int) -> None:
    for id in [*(time.id for time in times), *more]:
        assert (await verification.verify_log(tx, id)).faults == []


def test_a_series_follows_the_clock_of_its_time_zone() -> None:
    friday = dt.date(2026, 10, 23)
    shifts = TimeSeries(
        first_day=friday,
        last_day=friday + dt.timedelta(days=3),
        from_time=dt.time(9),
        until_time=dt.time(10, 30),
        length=dt.timedelta(minutes=30),
        pause=dt.timedelta(minutes=15),
        time_zone="Europe/Berlin",
    )
    # Summer time ends on the Sunday, which is skipped with the Saturday.
    assert [f"{start:%d %H:%M}-{end:%H:%M}" for start, end in list_times(shifts)] == [
        "23 07:00-07:30",
        "23 07:45-08:15",
        "26 08:00-08:30",
        "26 08:45-09:15",
    ]
    # Clocks are set forward from 2:00 to 3:00: half past two does not exist.
    spring = series(
        first_day=dt.date(2027, 3, 28),
        last_day=dt.date(2027, 3, 28),
        from_time=dt.time(1, 30),
        until_time=dt.time(4, 30),
        time_zone="Europe/Berlin",
    )
    assert [f"{start:%H:%M}" for start, _ in list_times(spring)] == ["00:30", "01:30"]
    for wrong in (
        series(until_time=dt.time(8)),
        series(length=dt.timedelta(0)),
        series(last_day=dt.date(2020, 1, 1)),
        series(time_zone="Berlin"),
        series(first_day=dt.date.max, last_day=dt.date.max),
        series(first_day=dt.date.min, last_day=dt.date.min, time_zone="Asia/Tokyo"),
        series(length=dt.timedelta(hours=3)),
    ):
        with pytest.raises(Invalid):
            list_times(wrong)


async def test_interview_times_are_no_openings_for_anybody_else(tx: Tx) -> None:
    opening, (ada, _), times = await make_booked(tx, 2)
    assert [time.place for time in times] == ["Room 4", "Room 4"]
    # The same form sent twice adds nothing.
    assert await make_times(tx, opening) == []
    await book(tx, ada, times[0])
    ids = {time.id for time in times}
    listed = [counts.id for counts in await applicant_lists.list_counts(tx)]
    listed += [card.id for card in await cards.list_cards(tx, limit=50)]
    listed += [shown.id for shown in await public_openings.search(tx)]
    listed += [shown.id for shown in await openings.list_openings(tx)]
    assert set(listed).isdisjoint(ids)
    assert opening.id in listed
    for hidden in (public_openings.get, applicant_lists.get_counts):
        with pytest.raises(OpeningNotFound):
            await hidden(tx, times[0].id)
    with pytest.raises(OpeningNotFound):
        await submissions.apply(tx, times[0].id, (await make_applicant(tx)).id, LOCAL)
    _, standing = await applicant_applications.list_by_applicant(tx, ada.applicant_id)
    assert [application.job_id for application in standing] == [opening.id]
    page = await list_all(tx, ApplicationFilter(), limit=50, reach=1_000_000)
    assert ids.isdisjoint(row.opening_id for row in page.rows)
    with pytest.raises(OpeningNotFound):
        await interview_times.add_times(tx, times[0].id, series(), InterviewPlan(), LOCAL)


async def test_people_with_a_place_book_one_time_and_exchange_it(tx: Tx) -> None:
    opening, (ada, ben), (first, second) = await make_booked(tx, 2)
    waiting = (await apply(tx, opening)).application
    with pytest.raises(Conflict, match="Only people with a place"):
        await book(tx, waiting, first)
    assert await book(tx, ada, first) == "ACTIVE"
    with pytest.raises(Conflict, match="already"):
        await book(tx, ada, first)
    assert await book(tx, ben, first) == "WAITLIST"
    # The freed time is offered to the next person on its waitlist.
    assert await book(tx, ada, second) == "ACTIVE"
    assert await find_time(tx, ada) == (second.id, "ACTIVE")
    assert await find_time(tx, ben) == (first.id, "PENDING_ACKNOWLEDGMENT")
    offered = await bookings.find_booking(tx, ben.id)
    assert offered
    assert offered.acknowledge_deadline
    await offers.answer_offer(tx, offered.application_id, "accept", LOCAL)
    await bookings.cancel_booking(tx, ben.id, by_applicant(ben.applicant_id))
    with pytest.raises(Conflict, match="no booked interview"):
        await bookings.cancel_booking(tx, ben.id, LOCAL)
    choice = await bookings.read_choice(tx, ben.id)
    assert choice
    assert [time.id for time in choice.times] == [first.id, second.id]
    kinds = Counter([kind for kind, _ in await notice_kinds(tx, [first.id, second.id])])
    assert kinds["interview_booked"] == 3
    assert kinds["interview_cancelled"] == 1
    await check_logs(tx, [first, second], opening.id)
    then = await replay.replay_at(tx, second.id)
    assert [shown.applicant_name for shown in then.active] == ["P0"]


async def test_waiting_for_another_time_removes_the_booked_one_from_the_calendar(tx: Tx) -> None:
    _, (ada, ben), (first, second) = await make_booked(tx, 2)
    await book(tx, ada, first)
    await book(tx, ben, second)
    assert await book(tx, ada, second) == "WAITLIST"
    assert await notice_kinds(tx, [first.id]) == [
        ("interview_booked", first.id),
        ("interview_cancelled", first.id),
    ]
    # The calendar shows nothing while she waits.
    assert await book(tx, ada, first) == "ACTIVE"
    assert "interview_cancelled" not in dict(await notice_kinds(tx, [second.id]))


async def test_letters_and_webhooks_of_a_time_use_the_settings_of_its_opening(tx: Tx) -> None:
    opening, (ada,), (time, _) = await make_booked(tx, 1)
    other = await make_opening(tx, 1)
    text = LetterText("See you: $title", "$company meets you.\n")
    await letter_templates.save_text(tx, "interview_booked", text, LOCAL, opening_id=opening.id)
    await tx.execute(
        "UPDATE hiring.opening SET title = 'Chef', employer = 'Mill' WHERE id = %s", [opening.id]
    )
    hooks = [
        await webhooks.add(tx, "https://example.org/hook", opening_id=id, events=["APPLIED"])
        for id in (opening.id, other.id)
    ]
    await book(tx, ada, time)
    id = await fetch_value(tx, int, "SELECT max(id) FROM hiring.notice WHERE webhook_id IS NULL")
    letter = await notices.find_letter(tx, id or 0)
    assert letter
    assert (letter.kind, letter.title, letter.company) == ("interview_booked", "Chef", "Mill")
    assert await pipeline.find_saved_text(tx, letter) == text
    delivered = [
        [delivery.opening_id for delivery in await webhooks.list_deliveries(tx, hook.id)]
        for hook in hooks
    ]
    assert delivered == [[time.id], []]


async def notice_kinds(tx: Tx, ids: Sequence[int]) -> list[tuple[str, int]]:
    cursor = await tx.execute(
        "SELECT kind, opening_id FROM hiring.notice WHERE opening_id = ANY (%s) ORDER BY id",
        [list(ids)],
    )
    return [(kind, id) for kind, id in await cursor.fetchall()]


async def test_an_offer_ends_when_the_interview_starts_at_the_latest(tx: Tx) -> None:
    _, (ada, ben, cy), (time,) = await make_booked(tx, 3, count=1)
    await tx.execute(
        "UPDATE hiring.opening SET acknowledge_window = '365 days' WHERE id = %s", [time.id]
    )
    for application in (ada, ben, cy):
        await book(tx, application, time)
    await tx.execute(
        """
        UPDATE hiring.opening SET starts_at = now() + interval '1 hour',
                                  ends_at = now() + interval '2 hours' WHERE id = %s
        """,
        [time.id],
    )
    await bookings.cancel_booking(tx, ada.id, LOCAL)
    offer = await bookings.find_booking(tx, ben.id)
    assert offer
    assert offer.acknowledge_deadline == offer.starts_at
    await let_start(tx, time.id)
    # A worker ends the offer and the waitlist.
    assert await expire_due_openings(tx)
    assert await find_time(tx, ben) is None
    assert await find_time(tx, cy) is None
    with pytest.raises(Conflict, match="has started"):
        await book(tx, ada, time)
    assert [kind for kind, _ in await notice_kinds(tx, [time.id])][-2:] == ["interview_over"] * 2
    told = [
        describe_booking_event(event)
        for person in (ben, cy)
        for event in await list_booking_events(tx, person.applicant_id, 1)
    ]
    assert "You did not accept the place in the interview" in told[0]
    assert "No place became free for you." in told[1]
    assert (await verification.verify_log(tx, time.id)).faults == []


async def test_a_booking_ends_with_the_application_and_the_next_gets_the_time(tx: Tx) -> None:
    opening, (ada, ben, cy), (time, _) = await make_booked(tx, 3)
    for application in (ada, ben, cy):
        await book(tx, application, time)
    await withdrawals.withdraw(tx, ada.id, LOCAL, reason="no show")
    assert await find_time(tx, ada) is None
    assert await find_time(tx, ben) == (time.id, "PENDING_ACKNOWLEDGMENT")
    await privacy.erase_applicant(tx, ben.applicant_id, LOCAL)
    assert await find_time(tx, ben) is None
    assert await find_time(tx, cy) == (time.id, "PENDING_ACKNOWLEDGMENT")
    assert (await privacy.summarize_stored_data(tx, cy.applicant_id)).applications == 1
    await check_logs(tx, [time], opening.id)


async def test_a_time_is_moved_or_cancelled_with_letters(tx: Tx) -> None:
    _, (ada, ben), (first, second) = await make_booked(tx, 2)
    await book(tx, ada, first)
    later = first.starts_at + dt.timedelta(minutes=30)
    moved = await interview_times.move_interview(
        tx, first.id, LOCAL, starts_at=later, place="Room 5"
    )
    assert (moved.starts_at, moved.place) == (later, "Room 5")
    assert moved.ends_at - moved.starts_at == dt.timedelta(hours=1)
    last = dt.datetime.max.replace(tzinfo=dt.UTC)
    for wrong in (first.starts_at - dt.timedelta(days=800), last, None):
        with pytest.raises((Invalid, Conflict)):
            start = wrong or second.starts_at
            await interview_times.move_interview(
                tx, first.id, LOCAL, starts_at=start, place="Room 4"
            )
    await book(tx, ben, second)
    await interview_times.cancel_interview(tx, second.id, LOCAL, reason="ill")
    await interview_times.cancel_interview(tx, second.id, LOCAL, reason="ill")
    assert await find_time(tx, ben) is None
    with pytest.raises(Conflict):
        await book(tx, ben, second)
    assert await notice_kinds(tx, [first.id, second.id]) == [
        ("interview_booked", first.id),
        ("interview_moved", first.id),
        ("interview_booked", second.id),
        ("interview_cancelled", second.id),
    ]
    # A cancelled time can be added again.
    opening = await openings.get(tx, first.parent_id)
    assert len(await make_times(tx, opening)) == 2
    await check_logs(tx, [first, second])


async def test_a_moved_time_is_told_with_the_open_offer(tx: Tx) -> None:
    _, (ada, ben, cy), (time,) = await make_booked(tx, 3, count=1)
    for application in (ada, ben, cy):
        await book(tx, application, time)
    await bookings.cancel_booking(tx, ada.id, LOCAL)
    before = len(await notice_kinds(tx, [time.id]))
    later = time.starts_at + dt.timedelta(days=1)
    await interview_times.move_interview(tx, time.id, LOCAL, starts_at=later)
    # Ben has an offer; Cy only waits.
    assert (await notice_kinds(tx, [time.id]))[before:] == [("promoted", time.id)]
    id = await fetch_value(tx, int, "SELECT max(id) FROM hiring.notice")
    letter = await notices.find_letter(tx, id or 0)
    assert letter
    assert (letter.starts_at, letter.applicant_id) == (later, ben.applicant_id)
    assert notices.reason_not_to_send(letter) is None


async def test_two_times_moved_at_once_do_not_take_the_same_time_and_place(
    wide_database: Database,
) -> None:
    async with wide_database.transaction() as tx:
        _, _, times = await make_booked(tx, 1, count=2)
    start = times[0].starts_at + dt.timedelta(days=1)

    async def move_second() -> None:
        async with wide_database.transaction() as tx:
            await interview_times.move_interview(tx, times[1].id, LOCAL, starts_at=start)

    async with wide_database.transaction() as tx:
        await interview_times.move_interview(tx, times[0].id, LOCAL, starts_at=start)
        second = asyncio.create_task(move_second())
        while not (second.done() or await is_waiting_for_a_lock(wide_database)):
            await asyncio.sleep(0.01)
    with pytest.raises(Conflict, match="already an interview"):
        await second


async def is_waiting_for_a_lock(database: Database) -> bool:
    async with database.transaction() as tx:
        waiting = await fetch_value(
            tx,
            bool,
            """
            SELECT EXISTS (SELECT FROM pg_stat_activity
                            WHERE wait_event_type = 'Lock' AND datname = current_database())
            """,
        )
    return bool(waiting)


async def test_a_past_interview_does_not_prevent_the_next_one(tx: Tx) -> None:
    _, (ada,), (first, second) = await make_booked(tx, 1)
    await book(tx, ada, first)
    await let_start(tx, first.id)
    assert await book(tx, ada, second) == "ACTIVE"
    cursor = await tx.execute(
        "SELECT why->>'rule' FROM hiring.event WHERE opening_id = %s ORDER BY seq DESC LIMIT 1",
        [first.id],
    )
    assert await cursor.fetchone() == (bookings.OVER,)


@pytest.fixture
async def wide_database(url: str) -> AsyncIterator[Database]:
    async with connect(url, size=24) as database:
        yield database


async def attempt(database: Database, application: Application, time: InterviewTime) -> str:
    try:
        async with database.transaction() as tx:
            return await book(tx, application, time)
    except AppError as error:
        return name_error(error)


async def test_concurrent_bookings_and_exchanges_keep_all_rules(wide_database: Database) -> None:
    """People exchange their times crosswise while others book, leave and are erased."""
    async with wide_database.transaction() as tx:
        opening, people, times = await make_booked(tx, 12, count=3, places=2)
    # The last places: as many people as fit get one at once, the others wait.
    answers = await asyncio.gather(
        *(attempt(wide_database, application, times[0]) for application in people[:8])
    )
    assert Counter(answers) == {"ACTIVE": 2, "WAITLIST": 6}
    # One person at several times at once has one of them.
    await asyncio.gather(*(attempt(wide_database, people[11], time) for time in times))

    async def leave(application: Application) -> str:
        async with wide_database.transaction() as tx:
            await withdrawals.withdraw(tx, application.id, LOCAL)
        return "left"

    async def erase(application: Application) -> str:
        async with wide_database.transaction() as tx:
            await privacy.erase_applicant(tx, application.applicant_id, LOCAL)
        return "erased"

    for turn in range(3):
        await asyncio.gather(
            *(
                attempt(wide_database, application, times[(number + turn) % 3])
                for number, application in enumerate(people[: 10 - turn])
            ),
            leave(people[9 - turn]),
            *([erase(people[11])] if turn == 1 else []),
        )
    async with wide_database.transaction() as tx:
        live = [booking for time in times for booking in await applications.find_live(tx, time.id)]
        per_person = Counter(booking.applicant_id for booking in live)
        assert set(per_person.values()) <= {1}
        gone = {people[number].applicant_id for number in (7, 8, 9, 11)}
        assert gone.isdisjoint(per_person)
        await check_logs(tx, times, opening.id)
    for time in times:
        await check_log_in(wide_database, time.id)


async def test_killed_clients_leave_no_half_booking(database: Database, url: str) -> None:
    async with database.transaction() as tx:
        opening, _, times = await make_booked(tx, 6, count=3)
    clients = [ForkedProgram(booking_process.run, url, seed) for seed in (1, 2)]
    told: set[int] = set()
    for client in clients:
        told |= {int(await asyncio.to_thread(client.stdout.readline)) for _ in range(8)}
    for client in clients:
        client.kill()
    for client in clients:
        # A booking may be committed after the last line that was read.
        told |= {int(line) for line in client.communicate().splitlines()}
    async with database.transaction() as tx:
        # Waits until the connections of the killed clients have let go.
        await check_logs(tx, times, opening.id)
        cursor = await tx.execute("SELECT id FROM hiring.application WHERE parent_id IS NOT NULL")
        assert {id for (id,) in await cursor.fetchall()} >= told
        live = [booking for time in times for booking in await applications.find_live(tx, time.id)]
    assert len({booking.applicant_id for booking in live}) == len(live)

"""Random bookings of interview times: the product, plain models in memory and the logs agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.audit_log import replay, verification
from jobmill.hiring.interviews import bookings, interview_times
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.transitions import ApplicationStatus
from tests.hiring.helpers import apply, make_applicant, make_opening, name_error
from tests.hiring.interview_helpers import make_times
from tests.hiring.model import Model, Refused
from tests.hiring.test_races import allow_short_windows, set_window

PEOPLE, TIMES = 5, 3

Bookings = dict[int, tuple[ApplicationStatus | str, int | None]]
"""State and position by applicant."""


@dataclass(frozen=True)
class BookingStep:
    verb: str
    person: int
    time: int


VERBS = ["book"] * 6 + ["answer"] * 3 + ["decline", "unbook", "end", "resize", "cancel"]
STEPS = some.lists(
    some.builds(
        BookingStep,
        some.sampled_from([*VERBS, "offers end", "offers last"]),
        some.integers(0, PEOPLE - 1),
        some.integers(0, TIMES - 1),
    ),
    min_size=10,
    max_size=25,
)


@dataclass
class InterviewModel:
    """One plain model per interview time; a person has a live booking in one of them at most."""

    times: list[Model]
    with_place: set[int]
    count: int = 0
    booked: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """The time and the booking by person; also one that has ended since."""

    def find_booking(self, person: int) -> tuple[int, int] | None:
        time, id = self.booked.get(person, (0, 0))
        return (time, id) if id and self.times[time].state(id) != "INACTIVE" else None

    def book(self, person: int, time: int) -> None:
        old = self.find_booking(person)
        if person not in self.with_place or (old and old[0] == time):
            raise Refused("Conflict")
        self.count += 1
        self.times[time].apply(self.count, person)
        if old:
            self._end(*old)
        self.booked[person] = time, self.count

    def unbook(self, person: int) -> None:
        old = self.find_booking(person)
        if not old or person not in self.with_place:
            raise Refused("Conflict")
        self.times[old[0]].withdraw(old[1])

    def answer(self, person: int, *, yes: bool) -> str:
        old = self.find_booking(person)
        return self.times[old[0]].answer(old[1], yes=yes) if old else "nothing"

    def end(self, person: int) -> None:
        if person not in self.with_place:
            raise Refused("Conflict")
        self.with_place.remove(person)
        if old := self.find_booking(person):
            self._end(*old)

    def cancel(self, time: int) -> None:
        model = self.times[time]
        model.settle()
        for id in [*model.active, *model.pending, *model.waiting]:
            model.leave(id)
        model.status = "closed"

    def _end(self, time: int, id: int) -> None:
        model = self.times[time]
        model.settle()
        if id not in model.ended:
            model.end(id)

    def list_bookings(self, time: int) -> Bookings:
        model = self.times[time]
        return {
            model.owners[id]: (model.state(id), model.position(id))
            for id in model.owners
            if model.state(id) != "INACTIVE"
        }


class InterviewComparison:
    def __init__(
        self, tx: Tx, model: InterviewModel, ids: list[int], own: list[Application]
    ) -> None:
        self.tx = tx
        self.model = model
        self.ids = ids
        self.own = own
        self.past: dict[tuple[int, int], Bookings] = {}

    async def take(self, step: BookingStep) -> None:
        before = [model.copy() for model in self.model.times]
        with_place, booked = set(self.model.with_place), dict(self.model.booked)
        try:
            expected = self.run_in_model(step)
        except Refused as refusal:
            expected = str(refusal)
            self.model.times, self.model.with_place = before, with_place
            self.model.booked = booked
        try:
            async with self.tx.transaction():
                result = await self.run_in_product(step)
        except AppError as error:
            result = name_error(error)
        assert result == expected, step
        await self.compare()

    def run_in_model(self, step: BookingStep) -> str | None:
        model, person = self.model, step.person
        match step.verb:
            case "book":
                return model.book(person, step.time)
            case "answer" | "decline":
                return model.answer(person, yes=step.verb == "answer")
            case "resize":
                return model.times[step.time].resize(1 + person % 3)
            case "offers end" | "offers last":
                model.times[step.time].offers_end = step.verb == "offers end"
            case "cancel":
                model.cancel(step.time)
            case verb:
                getattr(model, verb)(person)
        return None

    async def run_in_product(self, step: BookingStep) -> Any:
        tx, own, time = self.tx, self.own[step.person].id, self.ids[step.time]
        match step.verb:
            case "book":
                await bookings.book(tx, own, time, LOCAL)
            case "answer" | "decline":
                booking = await bookings.find_booking(tx, own)
                if booking is None:
                    return "nothing"
                answer = offers.acknowledge if step.verb == "answer" else offers.decline
                return type(await answer(tx, booking.application_id, LOCAL)).__name__
            case "resize":
                await lifecycle.set_capacity(tx, time, 1 + step.person % 3, LOCAL)
            case "offers end" | "offers last":
                await set_window(tx, time, "0" if step.verb == "offers end" else "1 day")
            case "cancel":
                await interview_times.cancel_interview(tx, time, LOCAL)
            case "unbook":
                await bookings.cancel_booking(tx, own, LOCAL)
            case _:
                await withdrawals.withdraw(tx, own, LOCAL)
        return None

    async def compare(self) -> None:
        for number, id in enumerate(self.ids):
            live = {
                booking.applicant_id: (
                    booking.status,
                    await applications.find_position(self.tx, booking),
                )
                for booking in await applications.find_live(self.tx, id)
            }
            expected = {
                self.own[person].applicant_id: standing
                for person, standing in self.model.list_bookings(number).items()
            }
            assert live == expected, id
            seq = (await openings.get(self.tx, id)).last_seq
            self.past[id, seq] = expected

    async def compare_past(self, parent_id: int) -> None:
        for (id, seq), then in self.past.items():
            replayed = await replay.replay_at(self.tx, id, seq=seq)
            states = {
                application.applicant_id: (application.status, application.position)
                for application in (*replayed.active, *replayed.waiting)
            }
            assert states == then, (id, seq)
        for id in (*self.ids, parent_id):
            assert (await verification.verify_log(self.tx, id)).faults == []


@settings(max_examples=15)
@given(steps=STEPS, places=some.integers(1, 2))
async def test_interviews_and_the_plain_models_agree(
    tx: Tx, steps: list[BookingStep], places: int
) -> None:
    await tx.rollback()
    await allow_short_windows(tx)
    opening = await make_opening(tx, PEOPLE)
    own = [
        (await apply(tx, opening, (await make_applicant(tx)).id)).application for _ in range(PEOPLE)
    ]
    times = [time.id for time in await make_times(tx, opening, TIMES, places)]
    model = InterviewModel([Model(places, 3) for _ in times], set(range(PEOPLE)))
    actual = InterviewComparison(tx, model, times, own)
    for step in steps:
        await actual.take(step)
    await actual.compare_past(opening.id)

"""Random sequences of steps: the product, a plain model in memory and the log give the same
results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import apply_requests, offers, submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.audit_log import replay, verification
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist.deadlines import expire_one_opening
from tests.hiring.helpers import make_applicant, make_opening
from tests.hiring.model import Model, Refused, States, list_replayed_states, list_states
from tests.hiring.test_races import allow_short_windows, set_window

PEOPLE = 9


@dataclass(frozen=True)
class Step:
    """`which` is a person, an application or a number, depending on the verb."""

    verb: str
    which: int = 0


CONFIRMED = ["apply unconfirmed"] * 5 + ["confirm"] * 2
OFTEN = (
    ["apply"] * 5
    + CONFIRMED
    + ["leave"] * 4
    + ["give up"] * 3
    + ["answer"] * 3
    + ["time goes by"] * 4
)
SELDOM = ["withdraw", "acknowledge", "decline", "resize", "promote", "promote with a slot", "turn"]
RANDOM_STEPS = some.lists(
    some.builds(Step, some.sampled_from(OFTEN + SELDOM), some.integers(0, 60)),
    min_size=20,
    max_size=40,
)


def choose_steps(actual: Comparison, steps: list[Step]) -> Iterator[Step]:
    """Turn random wishes into steps that matter in the current state: a full opening, a waitlist,
    offers that are answered or missed."""
    for step in steps:
        model = actual.model
        live = sorted({*model.active, *model.pending})
        match step.verb:
            case "leave" if live:
                yield Step("withdraw", sorted(model.owners).index(live[step.which % len(live)]))
            case "give up" if model.waiting:
                last = model.waiting[-1 - step.which % min(2, len(model.waiting))]
                yield Step("withdraw", sorted(model.owners).index(last))
            case "answer" if model.pending:
                verb = "decline" if step.which % 4 == 0 else "acknowledge"
                ids = sorted(model.pending)
                yield Step(verb, sorted(model.owners).index(ids[step.which % len(ids)]))
            case "time goes by":
                yield Step("offers last" if step.which % 3 == 0 else "offers end")
                yield Step("tick")
            case "confirm" if model.unconfirmed:
                ids = sorted(model.unconfirmed)
                chosen = ids[step.which % len(ids)]
                yield Step("confirm", sorted(model.owners).index(chosen))
            case "turn":
                wishes = {"open": ["pause", "close"], "paused": ["resume", "close"]}
                yield Step(wishes.get(model.status, ["reopen", "pause"])[step.which % 2])
            case "leave" | "give up" | "answer":
                yield Step("apply", step.which)
            case _:
                yield step


class Comparison:
    """One opening in the database, and the same opening in the plain model."""

    def __init__(self, tx: Tx, opening: Opening, model: Model, people: list[ApplicantId]) -> None:
        self.tx = tx
        self.opening = opening
        self.model = model
        self.people = people
        self.past: dict[int, States] = {}

    async def take(self, step: Step) -> None:
        plain = self.model.copy()
        try:
            expected = self.run_in_model(plain, step)
        except Refused as refusal:
            expected = str(refusal)
        else:
            self.model = plain
        try:
            async with self.tx.transaction():
                result = await self.run_in_product(step)
        except AppError as error:
            result = type(error).__name__
        if isinstance(result, applications.Application):
            self.model.owners = {
                result.id if id == -1 else id: applicant_id
                for id, applicant_id in self.model.owners.items()
            }
            self._name_newcomer(result.id)
            result = None
        assert result == expected, step
        await self.compare()

    def _name_newcomer(self, id: int) -> None:
        """The plain model gives a new application the id -1 first."""
        model = self.model
        model.active = [id if application == -1 else application for application in model.active]
        model.places = [id if application == -1 else application for application in model.places]
        if -1 in model.unconfirmed:
            model.unconfirmed[id] = model.unconfirmed.pop(-1)
        if -1 in model.pending:
            offer = model.pending.pop(-1)
            offer.rank = (offer.rank[0], id)
            model.pending[id] = offer

    def pick_application(self, step: Step) -> int:
        ids = sorted(self.model.owners)
        return ids[step.which % len(ids)] if ids else 0

    def run_in_model(self, model: Model, step: Step) -> str | None:
        id = self.pick_application(step)
        match step.verb:
            case "apply" | "apply unconfirmed":
                ends = None if step.verb == "apply" else step.which % 3 == 0
                model.apply(-1, self.people[step.which % PEOPLE], ends=ends)
            case "offers end" | "offers last":
                model.offers_end = step.verb == "offers end"
            case "tick":
                if any(offer.ends for offer in model.pending.values()) or any(
                    model.unconfirmed.values()
                ):
                    model.settle()
            case "resize":
                model.resize(1 + step.which % 4)
            case "pause" | "resume" | "close" | "reopen":
                model.turn(*TURNS[step.verb])
            case _ if not id:
                raise Refused("ApplicationNotFound")
            case "withdraw" | "confirm":
                getattr(model, step.verb)(id)
            case "acknowledge" | "decline":
                return model.answer(id, yes=step.verb == "acknowledge")
            case _:
                model.promote(id, add_slot=step.verb != "promote")
        return None

    async def run_in_product(self, step: Step) -> Any:
        tx, id, opening = self.tx, self.pick_application(step), self.opening.id
        match step.verb:
            case "apply" | "apply unconfirmed":
                return await self._apply(step)
            case "offers end" | "offers last":
                await set_window(tx, opening, "0" if step.verb == "offers end" else "1 day")
            case "tick":
                while await expire_one_opening(tx):
                    break
            case "resize":
                await lifecycle.set_capacity(tx, opening, 1 + step.which % 4, LOCAL)
            case "pause" | "resume" | "close" | "reopen":
                await getattr(lifecycle, step.verb)(tx, opening, LOCAL)
            case "withdraw" | "confirm":
                await self._end_or_confirm(id, step)
            case "acknowledge" | "decline":
                answer = await getattr(offers, step.verb)(tx, id, LOCAL)
                return type(answer).__name__
            case _:
                add = step.verb != "promote"
                await offers.offer_out_of_turn(tx, id, LOCAL, reason="asked for", add_slot=add)
        return None

    async def _apply(self, step: Step) -> applications.Application:
        window = dt.timedelta(days=step.which % 3 != 0) if step.verb != "apply" else None
        request = ApplyRequest(self.people[step.which % PEOPLE], LOCAL, window)
        results = await submissions.apply_all(self.tx, self.opening.id, [request])
        placed = submissions.single_result(results)
        assert placed.position == await applications.find_position(self.tx, placed.application)
        return placed.application

    async def _end_or_confirm(self, id: int, step: Step) -> None:
        await applications.find_opening_id(self.tx, id)
        if step.verb == "withdraw":
            await withdrawals.withdraw(self.tx, id, LOCAL)
        else:
            await apply_requests.confirm(self.tx, ConfirmationToken("application", id))

    async def compare(self) -> None:
        live: States = {}
        for id in self.model.owners:
            application = await applications.get(self.tx, id)
            live[id] = (application.status, await applications.find_position(self.tx, application))
        assert live == list_states(self.model)
        after = await openings.get(self.tx, self.opening.id)
        model = self.model
        assert (after.capacity, after.status) == (model.capacity, model.status)
        occupied = len(model.active) + len(model.pending)
        assert (after.occupied, after.waiting) == (occupied, len(model.waiting))
        self.past[after.last_seq] = list_replayed_states(model)

    async def compare_past(self) -> None:
        """Compare the replay of each instant with what was visible then."""
        for seq, then in self.past.items():
            replayed = await replay.replay_at(self.tx, self.opening.id, seq=seq)
            replayed_states = {
                application.application_id: (application.status, application.position)
                for application in (*replayed.active, *replayed.waiting)
            }
            assert replayed_states == then, seq
        assert (await verification.verify_log(self.tx, self.opening.id)).faults == []


TURNS = {
    "pause": ({"open"}, "paused"),
    "resume": ({"paused"}, "open"),
    "close": ({"open", "paused"}, "closed"),
    "reopen": ({"closed"}, "open"),
}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=RANDOM_STEPS,
    capacity=some.integers(1, 3),
    max_missed=some.integers(1, 3),
    asks=some.booleans(),
    limit=some.sampled_from([None, None, 2]),
)
async def test_the_product_and_the_plain_model_agree(
    tx: Tx, steps: list[Step], capacity: int, max_missed: int, asks: bool, limit: int | None
) -> None:
    await tx.rollback()
    await allow_short_windows(tx)
    opening = await make_opening(
        tx, capacity, max_missed=max_missed, require_acknowledgement=asks, waitlist_limit=limit
    )
    people = [(await make_applicant(tx)).id for _ in range(PEOPLE)]
    actual = Comparison(tx, opening, Model(capacity, max_missed, asks, limit), people)
    for step in choose_steps(actual, steps):
        await actual.take(step)
    await actual.compare_past()

"""Random sequences of steps: the product, a plain model in memory and the log give the same
results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from jobmill.db import Tx, fetch_value
from jobmill.errors import AppError
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.applications import (
    apply_requests,
    bulk_actions,
    offers,
    submissions,
    withdrawals,
)
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.audit_log import fairness_proof, replay, verification
from jobmill.hiring.audit_log.verify_fairness import Verifier
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.openings import DEFAULT_ACKNOWLEDGE_WINDOW, Admission, Opening
from jobmill.hiring.stages.stage_definitions import DEFAULT_STAGES
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import make_applicant, make_opening, name_error
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
DECIDED = ["decide"] * 5 + ["accept many"] * 2 + ["draw"] * 2 + ["move"] * 3
DECISIONS = {"accept", "accept many", "reject", "score", "draw", "admission", "stage"}
ADMISSIONS: list[Admission] = ["first_come", "review", "lottery"]
STAGES = [stage.key for stage in DEFAULT_STAGES]
SELDOM = [
    "withdraw",
    "acknowledge",
    "decline",
    "resize",
    "promote",
    "promote with a slot",
    "turn",
    "accept",
    "stage",
    "admission",
]
RANDOM_STEPS = some.lists(
    some.builds(Step, some.sampled_from(OFTEN + DECIDED + SELDOM), some.integers(0, 60)),
    min_size=20,
    max_size=40,
)


def choose_steps(actual: Comparison, steps: list[Step]) -> Iterator[Step]:
    """Turn random wishes into steps that matter in the current state: a full opening, a waitlist,
    offers that are answered or missed."""
    for step in steps:
        model = actual.model
        live = sorted({*model.active, *model.pending})
        if step.verb in ("decide", "move"):
            yield choose_decision(model, step)
            continue
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


def choose_decision(model: Model, step: Step) -> Step:
    """A decision on an application in review, or a move of one with a slot."""
    choices = model.in_review if step.verb == "decide" else model.active
    if not choices:
        return Step("apply", step.which)
    verbs = ("accept", "reject", "score", "score") if step.verb == "decide" else ("stage",)
    index = sorted(model.owners).index(choices[step.which // 4 % len(choices)])
    return Step(verbs[step.which % len(verbs)], index + len(model.owners) * step.which)


class Comparison:
    """One opening in the database, and the same opening in the plain model."""

    def __init__(self, tx: Tx, opening: Opening, model: Model, people: list[ApplicantId]) -> None:
        self.tx = tx
        self.opening = opening
        self.model = model
        self.people = people
        self.past: dict[int, States] = {}
        self.past_stages: dict[int, dict[int, str]] = {}
        self.seed = b""
        self.numbers: dict[int, int] = {}
        """The numbers of entries by application id."""
        self.seen = ""
        """The stage that a reviewer saw, sometimes an outdated one."""

    async def take(self, step: Step) -> None:
        if step.verb == "draw":
            self.seed = await self._read_seed()
            self.numbers = await lottery.find_entry_numbers(self.tx, self.model.in_review)
        current = self.model.stage(self.pick_application(step))
        self.seen = "offer" if step.which % 7 == 0 else current
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
            result = name_error(error)
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
        model.in_review = [id if undecided == -1 else undecided for undecided in model.in_review]
        if -1 in model.unconfirmed:
            model.unconfirmed[id] = model.unconfirmed.pop(-1)
        if -1 in model.pending:
            offer = model.pending.pop(-1)
            offer.rank = (offer.rank[0], id)
            model.pending[id] = offer

    def pick_application(self, step: Step) -> int:
        ids = sorted(self.model.owners)
        return ids[step.which % len(ids)] if ids else 0

    async def _read_seed(self) -> bytes:
        query = (
            "SELECT seed FROM hiring.lottery WHERE opening_id = %s ORDER BY opened_seq DESC LIMIT 1"
        )
        return await fetch_value(self.tx, bytes, query, [self.opening.id]) or b""

    def pick_many(self, step: Step) -> list[int]:
        return sorted(self.model.owners)[step.which % 3 :: 2]

    def decide_in_model(self, model: Model, step: Step) -> None:
        id = self.pick_application(step)
        match step.verb:
            case "accept many":
                model.accept(self.pick_many(step))
            case "draw":
                model.draw(self.seed, self.numbers)
            case "admission":
                rest = (None, "accept", "reject")[step.which // 6 % 3]
                model.change_admission(
                    ADMISSIONS[step.which % 3], by_score=step.which % 2 == 1, rest=rest
                )
            case _ if not id:
                raise Refused("ApplicationNotFound")
            case "accept":
                model.accept_one(id)
            case "reject":
                model.reject(id)
            case "score":
                model.score(id, step.which % 101)
            case _:
                model.move(id, self.seen, STAGES[step.which % 5])

    def run_in_model(self, model: Model, step: Step) -> str | None:
        if step.verb in DECISIONS:
            self.decide_in_model(model, step)
            return None
        id = self.pick_application(step)
        match step.verb:
            case "apply" | "apply unconfirmed":
                ends = None if step.verb == "apply" else step.which % 3 == 0
                model.apply(-1, self.people[step.which % PEOPLE], ends=ends)
            case "offers end" | "offers last":
                model.offers_end = step.verb == "offers end"
            case "tick":
                model.tick()
            case "resize":
                model.resize(1 + step.which % 4)
            case "pause" | "resume" | "close" | "reopen":
                model.turn(*TURNS[step.verb])
            case _ if not id:
                raise Refused("ApplicationNotFound")
            case "acknowledge" | "decline":
                return model.answer(id, yes=step.verb == "acknowledge")
            case "promote" | "promote with a slot":
                model.promote(id, add_slot=step.verb != "promote")
            case _:
                getattr(model, step.verb)(id)
        return None

    async def run_in_product(self, step: Step) -> Any:
        tx, id, opening = self.tx, self.pick_application(step), self.opening.id
        if step.verb in DECISIONS:
            return await self._decide(id, step)
        match step.verb:
            case "apply" | "apply unconfirmed":
                return await self._apply(step)
            case "offers end" | "offers last":
                await set_window(tx, opening, "0" if step.verb == "offers end" else "1 day")
            case "tick":
                while await expire_due_openings(tx):
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

    async def _decide(self, id: int, step: Step) -> None:
        tx, opening = self.tx, self.opening.id
        match step.verb:
            case "accept many":
                await bulk_actions.run_bulk_action(
                    tx, opening, "accept", self.pick_many(step), LOCAL, reason=""
                )
            case "draw":
                await lottery.draw(tx, opening, LOCAL)
            case "admission":
                await lifecycle.edit(
                    tx,
                    opening,
                    LOCAL,
                    in_review=(None, "accept", "reject")[step.which // 6 % 3],
                    admission=ADMISSIONS[step.which % 3],
                    review_order="score" if step.which % 2 else "applied",
                    # The window of the test is too short to be saved again.
                    acknowledge_window=DEFAULT_ACKNOWLEDGE_WINDOW,
                )
                await set_window(tx, opening, "0" if self.model.offers_end else "1 day")
            case "score":
                await decisions.score(tx, id, step.which % 101, LOCAL)
            case "stage":
                await move_to_stage(tx, id, STAGES[step.which % 5], LOCAL, seen=self.seen)
            case _:
                await getattr(decisions, step.verb)(tx, id, LOCAL)

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
            notes = (application.score, application.stage)
            assert notes == (self.model.scores.get(id), self.model.stages.get(id))
        assert live == list_states(self.model)
        after = await openings.get(self.tx, self.opening.id)
        model = self.model
        assert (after.capacity, after.status) == (model.capacity, model.status)
        occupied = len(model.active) + len(model.pending)
        assert (after.occupied, after.waiting) == (occupied, len(model.waiting))
        assert (after.in_review, after.collects) == (len(model.in_review), model.collects)
        self.past[after.last_seq] = list_replayed_states(model)
        self.past_stages[after.last_seq] = {
            id: stage.capitalize() for id, stage in model.stages.items() if id in model.active
        }

    async def compare_past(self) -> None:
        """Compare the replay of each instant with what was visible then."""
        for seq, then in self.past.items():
            replayed = await replay.replay_at(self.tx, self.opening.id, seq=seq)
            replayed_states = {
                application.application_id: (application.status, application.position)
                for application in (*replayed.active, *replayed.waiting, *replayed.in_review)
            }
            assert replayed_states == then, seq
            for application in replayed.active:
                stage = self.past_stages[seq].get(application.application_id)
                assert application.stage == stage, seq
        assert (await verification.verify_log(self.tx, self.opening.id)).faults == []
        if self.model.admission != "first_come":
            return
        verifier = Verifier()
        async for line in fairness_proof.iter_lines(self.tx, self.opening.id):
            verifier.read(line)
        verifier.finish([])
        # Steps change the window in the table alone, so the log cannot know how long offers are open.
        assert [fault for fault in verifier.faults if "open for less" not in fault[2]] == []


TURNS = {
    "pause": ({"open"}, "paused"),
    "resume": ({"paused"}, "open"),
    "close": ({"open", "paused"}, "closed"),
    "reopen": ({"closed"}, "open"),
}


@settings(max_examples=40)
@given(
    steps=RANDOM_STEPS,
    capacity=some.integers(1, 3),
    max_missed=some.integers(1, 3),
    asks=some.booleans(),
    limit=some.sampled_from([None, None, 2]),
    admission=some.sampled_from(ADMISSIONS),
)
async def test_the_product_and_the_plain_model_agree(
    tx: Tx,
    steps: list[Step],
    capacity: int,
    max_missed: int,
    asks: bool,
    limit: int | None,
    admission: Admission,
) -> None:
    await tx.rollback()
    await allow_short_windows(tx)
    opening = await make_opening(
        tx,
        capacity,
        max_missed=max_missed,
        require_acknowledgement=asks,
        waitlist_limit=limit,
        fairness_proof=True,
        admission=admission,
    )
    people = [(await make_applicant(tx)).id for _ in range(PEOPLE)]
    model = Model(capacity, max_missed, asks, limit, admission=admission)
    actual = Comparison(tx, opening, model, people)
    for step in choose_steps(actual, steps):
        await actual.take(step)
    await actual.compare_past()

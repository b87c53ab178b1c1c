"""The demo's openings and those who want them: they apply, confirm, forget to, and leave."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
from collections.abc import Sequence

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.actor import Actor, by_applicant
from jobmill.hiring.applications import offers, submissions
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.openings.applicant_lists import ApplicantRow
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.records.openings import Opening, OpeningTerms

EMPLOYER = "Fernhollow Water (demo)"
BY = Actor("company", "demo")
FICTION = "@demo.example"
"""How the addresses end of those whom the demo made."""
SHORTEST = dt.timedelta(seconds=1)
MOST_WAITING = 8

FIRST = (
    "Ada", "Ben", "Chloe", "Dev", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kofi", "Lena",
    "Mirza", "Noor", "Omar", "Pilar", "Quinn", "Rosa", "Sven", "Tala",
)  # fmt: skip
LAST = ("Abbot", "Brook", "Castell", "Dunmore", "Esk", "Farrow", "Glen", "Hale", "Ilves", "Juniper")


async def begin(tx: Tx, dice: random.Random, day: dt.timedelta) -> None:
    """Three openings: one is full, one has offers out, and one has just been left by somebody."""
    offered = _offered(max(day / 6, SHORTEST))
    full, asking, left = [
        await lifecycle.create(tx, terms, capacity, BY) for terms, capacity in offered
    ]
    await _apply(tx, full, _people(dice, 7))
    await _apply(tx, asking, _people(dice, 4))
    await _apply(tx, left, _people(dice, 5))
    first = (await applicant_lists.get_detail(tx, left.id)).active[0]
    await submissions.withdraw(
        tx, first.application_id, by_applicant(first.applicant_id), reason="Found another one."
    )


def _offered(window: dt.timedelta) -> list[tuple[OpeningTerms, int]]:
    def terms(title: str, text: str, *, remote: bool = False, asks: bool = False) -> OpeningTerms:
        return OpeningTerms(
            title,
            text,
            employer=EMPLOYER,
            location="Portland, OR",
            remote=remote,
            require_acknowledgement=asks,
            acknowledge_window=window,
            max_missed=2,
        )

    watch = "You watch the water of twelve towns at night."
    return [
        (terms("Pump Engineer", "You keep our pumps running, and write down what you learn."), 3),
        (terms("Control Room Operator", watch, asks=True), 2),
        (terms("Water Analyst", "You say what is in the water.", remote=True), 2),
    ]


def _people(dice: random.Random, count: int) -> list[applicants.Contact]:
    names = [f"{dice.choice(FIRST)} {dice.choice(LAST)}" for _ in range(count)]
    return [
        applicants.parse_contact(name, f"{name.lower().replace(' ', '.')}{FICTION}")
        for name in dict.fromkeys(names)
    ]


async def _apply(tx: Tx, opening: Opening, people: Sequence[applicants.Contact]) -> None:
    # Who is in it already is refused, as anybody would be.
    await submissions.apply_all(tx, opening.id, [ApplyRequest(one) for one in people])


async def move(tx: Tx, dice: random.Random) -> None:
    """Let somebody do something at one of the openings."""
    found = await openings.list_openings(tx, status="open", limit=20)
    mine = [one for one in found if one.employer == EMPLOYER]
    if not mine:
        return
    opening = dice.choice(mine)
    # Whoever looks at the demo may apply, too, and answers for themselves.
    found_in = (await applicant_lists.get_detail(tx, opening.id, limit=100)).active
    inside = [one for one in found_in if one.applicant_email.endswith(FICTION)]
    offered = [one for one in inside if one.status == "PENDING_ACKNOWLEDGMENT"]
    if awake := [one for one in offered if not _is_forgetful(one)]:
        act = _answer(tx, dice, dice.choice(awake))
    elif inside and (opening.waiting >= MOST_WAITING or dice.random() < 0.3):
        act = _leave(tx, dice.choice(inside))
    else:
        act = _apply(tx, opening, _people(dice, 1))
    # Where an offer ended in this very moment, there is nothing to answer or to leave.
    with contextlib.suppress(AppError):
        async with tx.transaction():
            await act


def _is_forgetful(one: ApplicantRow) -> bool:
    """Every other one never answers: their offers go to the next."""
    return one.applicant_id % 2 == 0


async def _answer(tx: Tx, dice: random.Random, one: ApplicantRow) -> None:
    answer: offers.Answer = "accept" if dice.random() < 0.8 else "decline"
    await offers.answer_offer(tx, one.application_id, answer, by_applicant(one.applicant_id))


async def _leave(tx: Tx, one: ApplicantRow) -> None:
    by = by_applicant(one.applicant_id)
    await submissions.withdraw(tx, one.application_id, by, reason="Changed my mind.")

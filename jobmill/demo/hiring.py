"""The demo's openings and applicants: they apply, confirm, miss deadlines and leave."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
from collections.abc import Awaitable, Sequence
from dataclasses import replace

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring import company_identity
from jobmill.hiring.actor import Actor, by_applicant
from jobmill.hiring.admission import decisions
from jobmill.hiring.applications import offers, outcomes, submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.forms import answers, form_versions
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.forms.form_fields import ApplicationForm, FormField
from jobmill.hiring.forms.form_versions import FormVersion
from jobmill.hiring.openings import applicant_lists, lifecycle, review_list
from jobmill.hiring.openings.applicant_lists import ApplicantRow
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.records.openings import Opening, OpeningTerms

EMPLOYER = "Fernhollow Water (demo)"
BY = Actor("company", "demo")
FICTION = "@demo.example"
"""The domain of all demo applicants' addresses."""
SHORTEST = dt.timedelta(seconds=1)
MOST_WAITING = 8
MOST_IN_REVIEW = 6
LICENCE = FormField(
    key="licence", type="yes_no", label="Do you have a driving licence?", required=True
)

FIRST = (
    "Ada", "Ben", "Chloe", "Dev", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kofi", "Lena",
    "Mirza", "Noor", "Omar", "Pilar", "Quinn", "Rosa", "Sven", "Tala",
)  # fmt: skip
LAST = ("Abbot", "Brook", "Castell", "Dunmore", "Esk", "Farrow", "Glen", "Hale", "Ilves", "Juniper")


async def create_openings(tx: Tx, dice: random.Random, day: dt.timedelta) -> None:
    """Create four openings: one full, one with pending offers, one that an applicant has just left,
    and one that asks a question and reviews applications first."""
    await company_identity.set_name_once(tx, EMPLOYER)
    offered = _offered(max(day / 6, SHORTEST))
    full, with_offers, with_withdrawal, reviewed = [
        await lifecycle.create(tx, terms, capacity, BY) for terms, capacity in offered
    ]
    await _apply(tx, full, _people(dice, 7))
    await _apply(tx, with_offers, _people(dice, 4))
    await _apply(tx, with_withdrawal, _people(dice, 5))
    await form_versions.save_form(tx, reviewed.id, ApplicationForm(fields=(LICENCE,)), BY)
    await _apply(tx, reviewed, _people(dice, 4))
    first = (await applicant_lists.get_detail(tx, with_withdrawal.id)).active[0]
    await withdrawals.withdraw(
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
        (replace(terms("Meter Reader", "You visit forty houses a day."), admission="review"), 2),
    ]


def _people(dice: random.Random, count: int) -> list[applicants.Contact]:
    names = [f"{dice.choice(FIRST)} {dice.choice(LAST)}" for _ in range(count)]
    return [
        applicants.parse_contact(name, f"{name.lower().replace(' ', '.')}{FICTION}")
        for name in dict.fromkeys(names)
    ]


async def _apply(tx: Tx, opening: Opening, people: Sequence[applicants.Contact]) -> None:
    current = await form_versions.find_current(tx, opening.id)
    requests = [ApplyRequest(person, submission=_fill_form(current, person)) for person in people]
    # Repeated applications are refused as usual.
    await submissions.apply_all(tx, opening.id, requests)


def _fill_form(current: FormVersion, person: applicants.Contact) -> FormSubmission | None:
    """Every third applicant or so has no licence."""
    if current.form.find_field(LICENCE.key) is None:
        return None
    raw = {LICENCE.key: ["no" if len(person.name) % 3 == 0 else "yes"]}
    return answers.make_submission(current.form, current.version, raw, {})


async def act_once(tx: Tx, dice: random.Random) -> None:
    """Let a random applicant act in one of the openings."""
    open_openings = await openings.list_openings(tx, status="open", limit=20)
    demo_openings = [candidate for candidate in open_openings if candidate.employer == EMPLOYER]
    if not demo_openings:
        return
    act = await _choose_act(tx, dice, dice.choice(demo_openings))
    # The offer may have expired in this moment.
    with contextlib.suppress(AppError):
        async with tx.transaction():
            await act


async def _choose_act(tx: Tx, dice: random.Random, opening: Opening) -> Awaitable[None]:
    if opening.in_review >= MOST_IN_REVIEW:
        return _accept_next(tx, opening)
    # Visitors of the demo may apply too, and act for themselves.
    active = (await applicant_lists.get_detail(tx, opening.id, limit=100)).active
    fictional = [candidate for candidate in active if candidate.applicant_email.endswith(FICTION)]
    offered = [candidate for candidate in fictional if candidate.status == "PENDING_ACKNOWLEDGMENT"]
    if answering := [candidate for candidate in offered if not _is_forgetful(candidate)]:
        return _answer(tx, dice, dice.choice(answering))
    if fictional and (opening.waiting >= MOST_WAITING or dice.random() < 0.3):
        return _leave(tx, dice.choice(fictional))
    return _apply(tx, opening, _people(dice, 1))


async def _accept_next(tx: Tx, opening: Opening) -> None:
    """Accept the first application in review, so that they do not pile up."""
    page = await review_list.list_in_review(tx, opening.id, limit=1)
    for row in page.rows:
        await decisions.accept(tx, row.application_id, BY)


def _is_forgetful(row: ApplicantRow) -> bool:
    """Every other applicant never answers, so that offers expire."""
    return row.applicant_id % 2 == 0


async def _answer(tx: Tx, dice: random.Random, row: ApplicantRow) -> None:
    answer: outcomes.Answer = "accept" if dice.random() < 0.8 else "decline"
    await offers.answer_offer(tx, row.application_id, answer, by_applicant(row.applicant_id))


async def _leave(tx: Tx, row: ApplicantRow) -> None:
    by = by_applicant(row.applicant_id)
    await withdrawals.withdraw(tx, row.application_id, by, reason="Changed my mind.")

"""A sample to look around in: openings, people, and what happened between them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.actor import Actor, by_applicant
from jobmill.hiring.applications import submissions
from jobmill.hiring.audit_log import events
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.openings import Opening, OpeningId, OpeningTerms

EMPLOYER = "Wells & Co (sample)"
NAMES = ("Ada Okafor", "Ben Silva", "Chloe Martin", "Dev Patel", "Elif Kaya")
# An offer of the sample should still be there tomorrow.
WINDOW = dt.timedelta(days=7)


@dataclass(frozen=True, slots=True)
class SampleData:
    added: bool
    """False: it was there already, and nothing changed."""
    openings: list[OpeningId]
    applicants: list[int]


async def add_sample_data(tx: Tx, by: Actor) -> SampleData:
    """Three openings and five people, once: some have a slot, some wait, one was promoted, one left."""
    people = [await applicants.find_or_add(tx, _person(name)) for name in NAMES]
    ids = [int(one.id) for one in people]
    # Who seeds at the same time has waited for the first of them.
    if known := await _applied_for(tx, people):
        return SampleData(False, known, ids)
    openings = [await lifecycle.create(tx, terms, capacity, by) for terms, capacity in _offered()]
    await _live(tx, openings, people)
    return SampleData(True, [one.id for one in openings], ids)


def _person(name: str) -> applicants.Contact:
    return applicants.parse_contact(name, f"{name.lower().replace(' ', '.')}@sample.example")


async def _applied_for(tx: Tx, people: Sequence[Applicant]) -> list[OpeningId]:
    found = [event for one in people for event in await events.find_by_applicant(tx, one.id)]
    return [OpeningId(id) for id in sorted({event.opening_id for event in found})]


def _offered() -> list[tuple[OpeningTerms, int]]:
    return [
        (
            OpeningTerms(
                "Pump Engineer",
                "You keep our pumps running, and write down what you learn from them.",
                employer=EMPLOYER,
                location="Porto",
                acknowledge_window=WINDOW,
            ),
            2,
        ),
        (
            OpeningTerms(
                "Well Driller",
                "You drill where others have given up.",
                employer=EMPLOYER,
                location="Lisbon",
                acknowledge_window=WINDOW,
                waitlist_limit=20,
            ),
            1,
        ),
        (
            OpeningTerms(
                "Water Analyst",
                "You say what is in the water, and whether it should be.",
                employer=EMPLOYER,
                remote=True,
                acknowledge_window=WINDOW,
            ),
            3,
        ),
    ]


async def _live(tx: Tx, openings: Sequence[Opening], people: Sequence[Applicant]) -> None:
    engineer, driller, analyst = openings
    ada, ben, chloe, dev, elif_ = people
    first = await _apply(tx, engineer, ada)
    for one in (ben, chloe, dev, elif_):
        await _apply(tx, engineer, one)
    # Ada leaves: Chloe, who waits longest, is offered the slot.
    await submissions.withdraw(
        tx, first.application.id, by_applicant(ada.id), reason="Found another one."
    )
    for one in (elif_, ada, ben):
        await _apply(tx, driller, one)
    await _apply(tx, analyst, dev)


async def _apply(tx: Tx, opening: Opening, one: Applicant) -> submissions.Placement:
    return await submissions.apply(tx, opening.id, one.id, by_applicant(one.id))

"""Sample data to explore hiring with: openings, applicants and a few events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx
from jobmill.hiring.actor import Actor, by_applicant
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.audit_log import events
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.openings import Opening, OpeningId, OpeningTerms

EMPLOYER = "Wells & Co (sample)"
NAMES = ("Ada Okafor", "Ben Silva", "Chloe Martin", "Dev Patel", "Elif Kaya")
# The sample offer should still be open tomorrow.
WINDOW = dt.timedelta(days=7)


@dataclass(frozen=True, slots=True)
class SampleData:
    added: bool
    """False: it existed already, and nothing changed."""
    openings: list[OpeningId]
    applicants: list[int]


async def add_sample_data(tx: Tx, by: Actor) -> SampleData:
    """Add three openings and five applicants, once: with a slot, waiting, promoted and withdrawn."""
    contacts = [
        applicants.parse_contact(name, f"{name.lower().replace(' ', '.')}@sample.example")
        for name in NAMES
    ]
    people = [await applicants.find_or_add(tx, contact) for contact in contacts]
    ids = [int(person.id) for person in people]
    # A concurrent call waited above for the row lock of the first applicant, so it sees our openings.
    if existing := await _find_openings(tx, people):
        return SampleData(False, existing, ids)
    openings = [await lifecycle.create(tx, terms, capacity, by) for terms, capacity in _terms()]
    await _apply_for_all(tx, openings, people)
    return SampleData(True, [opening.id for opening in openings], ids)


async def _find_openings(tx: Tx, people: Sequence[Applicant]) -> list[OpeningId]:
    ids = {
        event.opening_id
        for person in people
        for event in await events.find_by_applicant(tx, person.id)
    }
    return [OpeningId(id) for id in sorted(ids)]


def _terms() -> list[tuple[OpeningTerms, int]]:
    common = OpeningTerms("", employer=EMPLOYER, acknowledge_window=WINDOW)
    engineer = replace(
        common,
        title="Pump Engineer",
        description="Keep our pumps running and document what you learn.",
        location="Porto",
    )
    driller = replace(
        common,
        title="Well Driller",
        description="Drill wells in difficult ground.",
        location="Lisbon",
        waitlist_limit=20,
    )
    analyst = replace(
        common,
        title="Water Analyst",
        description="Analyze water samples and report what should not be in them.",
        remote=True,
    )
    return [(engineer, 2), (driller, 1), (analyst, 3)]


async def _apply_for_all(tx: Tx, openings: Sequence[Opening], people: Sequence[Applicant]) -> None:
    engineer, driller, analyst = openings
    ada, ben, chloe, dev, elif_ = people
    first = await _apply(tx, engineer, ada)
    for person in (ben, chloe, dev, elif_):
        await _apply(tx, engineer, person)
    # Ada withdraws: Chloe is first on the waitlist and is offered the slot.
    await withdrawals.withdraw(
        tx, first.application.id, by_applicant(ada.id), reason="Found another job."
    )
    for person in (elif_, ada, ben):
        await _apply(tx, driller, person)
    await _apply(tx, analyst, dev)


async def _apply(tx: Tx, opening: Opening, person: Applicant) -> Placement:
    return await submissions.apply(tx, opening.id, person.id, by_applicant(person.id))

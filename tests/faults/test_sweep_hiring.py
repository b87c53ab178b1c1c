"""Hiring and the budget, cut before and after every statement."""

from __future__ import annotations

import contextlib
import datetime as dt
from decimal import Decimal
from typing import Any, LiteralString

from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.records.applicants import ApplicantId
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import deadlines
from jobmill.outside import budget_ledger
from jobmill.outside.model_question import ModelBlocked
from tests.hiring.helpers import let_pass, make_applicant, make_opening
from tests.outside.test_budget_ledger import ask, caps
from tests.queue.helpers import fetch

from .sweep import Sweep, do

PROMISES: dict[str, LiteralString] = {
    "no more places are taken than there are": """
        SELECT opening.id FROM hiring.opening
          JOIN hiring.application ON opening_id = opening.id
           AND application.status IN ('PENDING_ACKNOWLEDGMENT', 'ACTIVE')
         GROUP BY opening.id, opening.capacity HAVING count(*) > opening.capacity
    """,
    "no place is free while somebody waits": """
        SELECT opening.id FROM hiring.opening
         WHERE EXISTS (SELECT FROM hiring.application
                        WHERE opening_id = opening.id AND application.status = 'WAITLIST')
           AND capacity > (SELECT count(*) FROM hiring.application
                            WHERE opening_id = opening.id
                              AND application.status IN ('PENDING_ACKNOWLEDGMENT', 'ACTIVE'))
    """,
    "nobody has two live applications to one opening": """
        SELECT opening_id, applicant_id FROM hiring.application
         WHERE status <> 'INACTIVE' GROUP BY 1, 2 HAVING count(*) > 1
    """,
}


async def check(database: Database) -> None:
    for promise, query in PROMISES.items():
        assert await fetch(database, query) == [], promise


async def opening_with(
    database: Database, capacity: int, people: int
) -> tuple[Opening, list[ApplicantId]]:
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity, require_acknowledgement=True)
        return opening, [(await make_applicant(tx)).id for _ in range(people)]


async def everybody_applies(database: Database, opening: Opening, people: list[ApplicantId]) -> Any:
    asks = [ApplyRequest(person, by_applicant(person)) for person in people]
    return await do(database, submissions.apply_all, opening.id, asks)


async def applications(database: Database, opening: Opening) -> list[tuple[str, int]]:
    return await fetch(
        database,
        "SELECT status, penalty_count FROM hiring.application WHERE opening_id = %s ORDER BY id",
        [opening.id],
    )


async def test_a_batch_of_applications_is_saved_once_wherever_it_is_cut(
    database: Database, sweep: Sweep
) -> None:
    for position in sweep.positions():
        opening, people = await opening_with(database, 1, 3)
        asks = [ApplyRequest(person, by_applicant(person)) for person in people]
        if not await sweep.attempt(position, submissions.apply_all, opening.id, asks):
            await everybody_applies(database, opening, people)
        statuses = [status for status, _ in await applications(database, opening)]
        assert statuses == ["PENDING_ACKNOWLEDGMENT", "WAITLIST", "WAITLIST"]
        await check(database)


async def test_a_withdrawal_and_its_promotion_happen_once_wherever_they_are_cut(
    database: Database, sweep: Sweep
) -> None:
    for position in sweep.positions():
        opening, people = await opening_with(database, 1, 2)
        [placed, _] = await everybody_applies(database, opening, people)
        application = placed.application.id
        if not await sweep.attempt(position, withdrawals.withdraw, application, LOCAL):
            # Refused if the first withdrawal was committed.
            with contextlib.suppress(AppError):
                await do(database, withdrawals.withdraw, application, LOCAL)
        statuses = [status for status, _ in await applications(database, opening)]
        assert statuses == ["INACTIVE", "PENDING_ACKNOWLEDGMENT"]
        await check(database)


async def test_a_missed_offer_is_taken_back_once_wherever_it_is_cut(
    database: Database, sweep: Sweep
) -> None:
    for position in sweep.positions():
        opening, people = await opening_with(database, 1, 3)
        await everybody_applies(database, opening, people)
        await do(database, let_pass, opening, dt.timedelta(days=30))
        if not await sweep.attempt(position, deadlines.expire_due_openings):
            await do(database, deadlines.expire_due_openings)
        penalties = [penalty for _, penalty in await applications(database, opening)]
        assert penalties == [1, 0, 0], "one penalty for one missed offer"
        await check(database)


async def test_a_budget_is_never_exceeded_wherever_a_reservation_is_cut(
    database: Database, sweep: Sweep
) -> None:
    """A reservation stays counted if its answer was lost, so a budget is never exceeded."""
    cap = Decimal(3)
    acknowledged = 0
    limits = caps(day=cap, month=cap, run=cap)
    reservation = (ask(), "model", Decimal(1), limits, dt.timedelta(hours=1))
    for position in sweep.positions():
        if await sweep.attempt(position, budget_ledger.reserve, *reservation):
            acknowledged += 1
        [reserved] = await fetch(database, "SELECT coalesce(sum(counted), 0) FROM budget.call")
        assert acknowledged <= reserved <= cap
    while not isinstance(await do(database, budget_ledger.reserve, *reservation), ModelBlocked):
        acknowledged += 1
    assert acknowledged <= cap

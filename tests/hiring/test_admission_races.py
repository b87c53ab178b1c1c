"""Decisions on applications by concurrent connections: one wins, and the others learn what happened."""

from __future__ import annotations

import asyncio
from functools import partial

from jobmill.db import Database, Tx
from jobmill.hiring.actor import LOCAL, SYSTEM
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from tests.hiring.log_rules import LogChecker, check_log_in
from tests.hiring.test_races import (
    allow_short_windows,
    create_opening,
    do,
    fill,
    people,
    set_window,
    wide_database,
)

__all__ = ["wide_database"]


async def check(database: Database, opening: Opening) -> LogChecker:
    async with database.transaction() as tx:
        assert (await verification.verify_log(tx, opening.id)).faults == []
    return await check_log_in(database, opening.id)


async def test_one_of_several_decisions_wins(wide_database: Database) -> None:
    applicant_ids = await people(wide_database, 3)
    for _ in range(5):
        opening = await create_opening(wide_database, 1, admission="review")
        [first, *_] = await fill(wide_database, opening, applicant_ids)
        answers = await asyncio.gather(
            *(
                do(wide_database, partial(act, application_id=first, by=LOCAL))
                for act in (decisions.accept, decisions.reject) * 3
            )
        )
        assert sorted(answers) == ["NotInReview"] * 5 + ["ok"]
        await check(wide_database, opening)


async def test_decisions_withdrawals_and_missed_offers_at_once_lose_no_slot(
    wide_database: Database,
) -> None:
    applicant_ids = await people(wide_database, 10)
    async with wide_database.transaction() as tx:
        await allow_short_windows(tx)
    for _ in range(3):
        opening = await create_opening(wide_database, 2, admission="review", max_missed=1)
        async with wide_database.transaction() as tx:
            await set_window(tx, opening.id, "0")
        ids = await fill(wide_database, opening, applicant_ids)

        async def expire(tx: Tx, opening: Opening = opening) -> None:
            async with lock_and_expire_offers(tx, opening.id, SYSTEM):
                pass

        await asyncio.gather(
            *(
                do(wide_database, partial(decisions.accept, application_id=id, by=LOCAL))
                for id in ids
            ),
            *(
                do(wide_database, partial(withdrawals.withdraw, application_id=id, by=LOCAL))
                for id in ids[::2]
            ),
            *(do(wide_database, expire) for _ in ids),
        )
        await check(wide_database, opening)
        async with wide_database.transaction() as tx:
            assert (await openings.get(tx, opening.id)).in_review == 0


async def test_a_lottery_is_drawn_once(wide_database: Database) -> None:
    applicant_ids = await people(wide_database, 6)
    opening = await create_opening(wide_database, 2, admission="lottery")
    ids = await fill(wide_database, opening, applicant_ids)
    answers = await asyncio.gather(
        *(
            do(wide_database, partial(lottery.draw, opening_id=opening.id, by=LOCAL))
            for _ in range(4)
        ),
        *(
            do(wide_database, partial(withdrawals.withdraw, application_id=id, by=LOCAL))
            for id in ids[:2]
        ),
    )
    assert sorted(answers) == ["Conflict"] * 3 + ["ok"] * 3
    assert len((await check(wide_database, opening)).occupied) == 2


async def test_two_reviewers_move_an_application_from_one_stage_once(
    wide_database: Database,
) -> None:
    applicant_ids = await people(wide_database, 2)
    for _ in range(3):
        opening = await create_opening(wide_database, 1)
        [first, _] = await fill(wide_database, opening, applicant_ids)
        answers = await asyncio.gather(
            *(
                do(
                    wide_database,
                    partial(move_to_stage, application_id=first, to=to, by=LOCAL, seen="screen"),
                )
                for to in ("interview", "offer", "hired", "interview")
            )
        )
        assert sorted(answers) == ["StageMoved"] * 3 + ["ok"]
        async with wide_database.transaction() as tx:
            assert (await applications.get(tx, first)).stage != "screen"
        await check(wide_database, opening)

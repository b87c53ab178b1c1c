"""Those who apply at the same moment share a transaction, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from jobmill.db import Database
from jobmill.hiring import applicants, blocked, company, openings
from jobmill.hiring.actor import LOCAL, applicant
from jobmill.hiring.applicants import Person
from jobmill.hiring.steps import Ask
from jobmill.web.crowd import Crowd
from jobmill.web.view import Door
from tests.hiring.kit import make_applicant, make_opening
from tests.hiring.log import judge_in


def person(number: int) -> Person:
    return applicants.person("Ada", f"p{number}@example.org")


async def all_at_once(crowd: Crowd, opening_id: int, asks: list[Ask]) -> list[Any]:
    return await asyncio.gather(
        *(crowd.apply(opening_id, ask) for ask in asks), return_exceptions=True
    )


def named(answers: list[Any]) -> Counter[str]:
    return Counter(type(one).__name__ for one in answers)


async def opened(database: Database, capacity: int = 5, **terms: Any) -> int:
    async with database.transaction() as tx:
        return (await make_opening(tx, capacity, **terms)).id


async def test_a_crowd_is_served_in_order_and_few_transactions(database: Database) -> None:
    id = await opened(database)
    crowd = Crowd(Door(database, 10), None)
    answers = await all_at_once(crowd, id, [Ask(person(n)) for n in range(60)])
    assert [one.application.status for one in answers] == ["ACTIVE"] * 5 + ["WAITLIST"] * 55
    assert [one.position for one in answers[5:]] == list(range(1, 56))
    await judge_in(database, id)
    async with database.transaction() as tx:
        stamps = await tx.execute(
            "SELECT count(DISTINCT xmin::text) FROM hiring.event WHERE type = 'APPLIED'"
        )
        assert await stamps.fetchone() == (1,)


async def test_who_is_refused_costs_the_others_nothing_and_leaves_nothing(
    database: Database,
) -> None:
    id = await opened(database, 2, waitlist_limit=3)
    async with database.transaction() as tx:
        await blocked.add(tx, "p3@example.org", "because")
        known = await make_applicant(tx)
    crowd = Crowd(Door(database, 10), None)
    asks = [Ask(person(n)) for n in (1, 1, 2, 3)] + [Ask(known.id, applicant(known.id))] * 2
    asks += [Ask(10**9, LOCAL), *(Ask(person(n)) for n in range(10, 20))]
    answers = named(await all_at_once(crowd, id, asks))
    assert answers == {
        "Placed": 5,
        "Duplicate": 2,
        "Refused": 1,
        "NoApplicant": 1,
        "Conflict": 8,
    }
    async with database.transaction() as tx:
        assert len(await applicants.find(tx)) == 5
    await judge_in(database, id)


async def test_a_person_may_apply_so_often_a_day(database: Database) -> None:
    made = [await opened(database) for _ in range(3)]
    crowd = Crowd(Door(database, 10), 2)
    answers = [(await all_at_once(crowd, id, [Ask(person(1))]))[0] for id in made]
    assert [type(one).__name__ for one in answers] == ["Placed", "Placed", "AppliedTooOften"]


async def test_nobody_is_served_where_there_is_no_opening(database: Database) -> None:
    crowd = Crowd(Door(database, 10), None)
    answers = await all_at_once(crowd, 10**9, [Ask(person(n)) for n in range(3)])
    assert named(answers) == {"NoOpening": 3}
    assert await all_at_once(crowd, 10**9, [Ask(10**9)]) != []
    async with database.transaction() as tx:
        assert await applicants.find(tx) == []


async def test_one_whose_transaction_fails_does_not_take_the_others_along(
    database: Database,
) -> None:
    id = await opened(database)
    crowd = Crowd(Door(database, 10), None)
    # A text that the database cannot hold, past every check of ours.
    broken = Ask(Person("Ada \0", "ada@example.org", "ada@example.org"))
    asks = [Ask(person(1)), Ask(person(2)), broken, Ask(person(3))]
    answers = named(await all_at_once(crowd, id, asks))
    assert answers["Placed"] == 3
    assert len(answers) == 2
    async with database.transaction() as tx:
        assert (await openings.get(tx, id)).occupied == 3


async def test_openings_do_not_wait_for_each_other(database: Database) -> None:
    busy, free = await opened(database), await opened(database)
    crowd = Crowd(Door(database, 10), None)
    async with database.transaction() as tx:
        await company.set_capacity(tx, busy, 9, LOCAL)
        waits = asyncio.create_task(crowd.apply(busy, Ask(person(1))))
        placed = await crowd.apply(free, Ask(person(2)))
        assert placed.application.status == "ACTIVE"
        assert not waits.done()
    assert (await waits).application.status == "ACTIVE"


async def test_who_asks_for_others_stands_in_the_log(database: Database) -> None:
    id = await opened(database)
    crowd = Crowd(Door(database, 10), None)
    await all_at_once(crowd, id, [Ask(person(1), LOCAL), Ask(person(2))])
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT actor FROM hiring.event WHERE type = 'APPLIED' ORDER BY seq"
        )
        actors = [actor for (actor,) in await cursor.fetchall()]
    assert actors[0] == "local"
    assert actors[1].startswith("applicant:")

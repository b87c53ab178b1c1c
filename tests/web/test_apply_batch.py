"""Tests of applications in one batch: they share a transaction and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jobmill.db import Database, Tx, connect, fetch_value
from jobmill.errors import Conflict, Unavailable
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications, blocklist, openings
from jobmill.hiring.records.applicants import Contact
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.idempotent_responses import (
    IdempotencyKeyReused,
    KeyedRequest,
    NewResponse,
    StoredResponse,
)
from jobmill.web.apply_batch import COMMIT_CHECKS, ApplyBatches, CommitUnknown, IdempotentApply
from jobmill.web.dependencies import RequestDatabase
from tests.hiring.helpers import make_applicant, make_opening
from tests.hiring.log_rules import check_log_in


def person(number: int) -> Contact:
    return applicants.parse_contact("Ada", f"p{number}@example.org")


async def apply_at_once(
    batches: ApplyBatches, opening_id: int, requests: list[ApplyRequest]
) -> list[Any]:
    return await asyncio.gather(
        *(batches.apply(opening_id, request) for request in requests), return_exceptions=True
    )


def count_types(answers: list[Any]) -> Counter[str]:
    return Counter(type(answer).__name__ for answer in answers)


async def create_opening(database: Database, capacity: int = 5, **terms: Any) -> int:
    async with database.transaction() as tx:
        return (await make_opening(tx, capacity, **terms)).id


async def test_concurrent_applications_are_handled_in_order_and_few_transactions(
    database: Database,
) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    answers = await apply_at_once(batches, id, [ApplyRequest(person(n)) for n in range(60)])
    assert [answer.application.status for answer in answers] == ["ACTIVE"] * 5 + ["WAITLIST"] * 55
    assert [answer.position for answer in answers[5:]] == list(range(1, 56))
    await check_log_in(database, id)
    async with database.transaction() as tx:
        stamps = await tx.execute(
            "SELECT count(DISTINCT xmin::text) FROM hiring.event WHERE type = 'APPLIED'"
        )
        assert await stamps.fetchone() == (1,)


async def test_a_refused_request_leaves_nothing_and_does_not_affect_the_others(
    database: Database,
) -> None:
    id = await create_opening(database, 2, waitlist_limit=3)
    async with database.transaction() as tx:
        await blocklist.add(tx, "p3@example.org", "because")
        applicant = await make_applicant(tx)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    requests = [ApplyRequest(person(n)) for n in (1, 1, 2, 3)] + [
        ApplyRequest(applicant.id, by_applicant(applicant.id))
    ] * 2
    requests += [ApplyRequest(10**9, LOCAL), *(ApplyRequest(person(n)) for n in range(10, 20))]
    answers = count_types(await apply_at_once(batches, id, requests))
    assert answers == {
        "Placement": 5,
        "DuplicateApplication": 2,
        "AddressBlocked": 1,
        "ApplicantNotFound": 1,
        "Conflict": 8,
    }
    async with database.transaction() as tx:
        assert len(await applicants.list_applicants(tx)) == 5
    await check_log_in(database, id)


async def test_applications_per_day_are_limited(database: Database) -> None:
    made = [await create_opening(database) for _ in range(3)]
    batches = ApplyBatches(RequestDatabase(database, 10), 2)
    answers = [(await apply_at_once(batches, id, [ApplyRequest(person(1))]))[0] for id in made]
    assert [type(answer).__name__ for answer in answers] == [
        "Placement",
        "Placement",
        "AppliedTooOften",
    ]


async def test_applicants_named_by_the_company_do_not_count_for_the_limit(
    database: Database,
) -> None:
    first, second = await create_opening(database), await create_opening(database)
    async with database.transaction() as tx:
        applicant = await make_applicant(tx)
    batches = ApplyBatches(RequestDatabase(database, 10), 1)
    requests = [ApplyRequest(applicant.id, LOCAL), ApplyRequest(person(1))]
    answers = [await apply_at_once(batches, id, requests) for id in (first, second)]
    assert [count_types(batch) for batch in answers] == [
        {"Placement": 2},
        {"Placement": 1, "AppliedTooOften": 1},
    ]


async def test_a_personal_link_does_not_bypass_limit_and_blocklist(database: Database) -> None:
    first, second = await create_opening(database), await create_opening(database)
    async with database.transaction() as tx:
        ada, bob = await make_applicant(tx), await make_applicant(tx)
        await blocklist.add(tx, bob.email, "because")
    batches = ApplyBatches(RequestDatabase(database, 10), 1)
    requests = [
        ApplyRequest(ada.id, by_applicant(ada.id)),
        ApplyRequest(bob.id, by_applicant(bob.id)),
    ]
    answers = [await apply_at_once(batches, id, requests) for id in (first, second)]
    assert [count_types(batch) for batch in answers] == [
        {"Placement": 1, "AddressBlocked": 1},
        {"AppliedTooOften": 1, "AddressBlocked": 1},
    ]


async def test_the_company_can_name_a_person_that_is_refused_otherwise(
    database: Database,
) -> None:
    first, second = await create_opening(database), await create_opening(database)
    async with database.transaction() as tx:
        ada, bob = await make_applicant(tx), await make_applicant(tx)
        await blocklist.add(tx, bob.email, "because")
    batches = ApplyBatches(RequestDatabase(database, 10), 1)
    await batches.apply(first, ApplyRequest(ada.id, by_applicant(ada.id)))
    requests = [ApplyRequest(id, by) for id in (ada.id, bob.id) for by in (by_applicant(id), LOCAL)]
    answers = await apply_at_once(batches, second, requests)
    names = [type(answer).__name__ for answer in answers]
    assert names == ["AppliedTooOften", "Placement", "AddressBlocked", "Placement"]


async def test_all_requests_for_a_missing_opening_are_refused(database: Database) -> None:
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    answers = await apply_at_once(batches, 10**9, [ApplyRequest(person(n)) for n in range(3)])
    assert count_types(answers) == {"OpeningNotFound": 3}
    assert await apply_at_once(batches, 10**9, [ApplyRequest(10**9)]) != []
    async with database.transaction() as tx:
        assert await applicants.list_applicants(tx) == []


async def test_a_failing_request_does_not_fail_the_batch(
    database: Database,
) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    # A text that passes validation and that the database refuses.
    broken = ApplyRequest(Contact("Ada \0", "ada@example.org", "ada@example.org"))
    requests = [ApplyRequest(person(1)), ApplyRequest(person(2)), broken, ApplyRequest(person(3))]
    answers = count_types(await apply_at_once(batches, id, requests))
    assert answers["Placement"] == 3
    assert len(answers) == 2
    async with database.transaction() as tx:
        assert (await openings.get(tx, id)).occupied == 3


class Counting(RequestDatabase):
    """Counts its transactions."""

    transactions = 0

    @asynccontextmanager
    async def transaction(self, time_limit: float | None = None) -> AsyncGenerator[Tx]:
        self.transactions += 1
        async with super().transaction(time_limit) as tx:
            yield tx


async def test_two_requests_of_one_person_share_a_transaction(
    database: Database,
) -> None:
    id = await create_opening(database)
    request_database = Counting(database, 10)
    requests = [ApplyRequest(person(n)) for n in (1, 1, 2)]
    answers = await apply_at_once(ApplyBatches(request_database, None), id, requests)
    assert [type(answer).__name__ for answer in answers] == [
        "Placement",
        "DuplicateApplication",
        "Placement",
    ]
    assert request_database.transactions == 1


async def test_an_unreachable_database_is_tried_only_a_few_times_per_batch(
    database: Database,
) -> None:
    id = await create_opening(database)
    request_database = Counting(database, 0.2)
    batches = ApplyBatches(request_database, None)
    async with database.transaction() as tx:
        await openings.request_lock(tx, id)
        waits = asyncio.gather(
            *(batches.apply(id, ApplyRequest(person(n))) for n in range(150)),
            return_exceptions=True,
        )
        assert count_types(await waits) == {"Unavailable": 150}
    assert request_database.transactions == 3
    assert count_types(
        await apply_at_once(batches, id, [ApplyRequest(person(1)), ApplyRequest(person(2))])
    ) == {"Placement": 2}


class Losing(RequestDatabase):
    """Commits its first transactions but loses the responses."""

    losses = 1

    @asynccontextmanager
    async def transaction(self, time_limit: float | None = None) -> AsyncGenerator[Tx]:
        async with super().transaction(time_limit) as tx:
            yield tx
        self.losses -= 1
        if self.losses >= 0:
            raise Unavailable("The server closed the connection.")


@pytest.mark.parametrize("people", [1, 3])
async def test_a_commit_with_a_lost_response_is_not_repeated(
    database: Database, people: int
) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(Losing(database, 10), None)
    answers = await apply_at_once(batches, id, [ApplyRequest(person(n)) for n in range(people)])
    assert count_types(answers) == {"Placement": people}
    async with database.transaction() as tx:
        assert (await openings.get(tx, id)).occupied == people
        stored = await applications.get(tx, answers[0].application.id)
    assert stored.applicant_id == answers[0].application.applicant_id


async def test_an_application_that_may_be_committed_is_not_called_a_duplicate(
    database: Database,
) -> None:
    id = await create_opening(database, 1)
    request_database = Losing(database, 10)
    request_database.losses = 1 + COMMIT_CHECKS
    batches, other_process = (
        ApplyBatches(request_database, None),
        ApplyBatches(RequestDatabase(database, 10), None),
    )
    requests = [ApplyRequest(person(n), request_id=f"first {n}") for n in range(3)]
    answers = await apply_at_once(batches, id, requests)
    assert count_types(answers) == {"CommitUnknown": 3}
    retries = [ApplyRequest(person(n), request_id=f"second {n}") for n in range(3)]
    first = await apply_at_once(batches, id, retries)
    assert [(answer.application.status, answer.position) for answer in first] == [
        ("ACTIVE", None),
        ("WAITLIST", 1),
        ("WAITLIST", 2),
    ]
    assert all(answer.is_new_applicant for answer in first)
    # Another web process learns of it as soon as the database tells that the transaction committed.
    for _ in range(200):
        again = await apply_at_once(other_process, id, retries)
        if count_types(again) == {"Placement": 3}:
            break
        await asyncio.sleep(0.05)
    assert again == first
    # The same person with another name is another request.
    changed = applicants.parse_contact("Eve", "p1@example.org")
    [refused] = await apply_at_once(batches, id, [ApplyRequest(changed)])
    assert isinstance(refused, DuplicateApplication)
    assert refused.application_id == first[1].application.id
    async with database.transaction() as tx:
        assert (await openings.get(tx, id)).last_seq == 1 + 3


async def test_an_attempt_recognises_an_earlier_one_of_the_same_request_in_the_log(
    database: Database,
) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    request = ApplyRequest(person(1), request_id="r-1")
    first = await batches.apply(id, request)
    assert await batches.apply(id, request) == first
    [refused] = await apply_at_once(batches, id, [ApplyRequest(person(1), request_id="r-2")])
    assert isinstance(refused, DuplicateApplication)


def keyed(key: str, content: str = "") -> IdempotentApply:
    return IdempotentApply(
        KeyedRequest(key.encode(), content.encode()),
        lambda placement: NewResponse(201, str(placement.application.id)),
    )


async def count_stored(database: Database) -> int:
    async with database.transaction() as tx:
        return await fetch_value(tx, int, "SELECT count(*) FROM hiring.idempotent_response") or 0


async def test_keyed_and_plain_applications_share_a_transaction(database: Database) -> None:
    id = await create_opening(database)
    request_database = Counting(database, 10)
    batches = ApplyBatches(request_database, None)
    plain = [batches.apply(id, ApplyRequest(person(n))) for n in range(30)]
    with_key = [
        batches.apply_once(id, ApplyRequest(person(n)), keyed(f"k-{n}")) for n in range(30, 60)
    ]
    first: list[Any] = await asyncio.gather(*plain, *with_key)
    assert count_types(first) == {"Placement": 60}
    assert request_database.transactions == 1
    again: list[Any] = await asyncio.gather(
        *(batches.apply_once(id, ApplyRequest(person(n)), keyed(f"k-{n}")) for n in range(30, 60))
    )
    assert [answer.body for answer in again] == [str(new.application.id) for new in first[30:]]
    assert await count_stored(database) == 30
    await check_log_in(database, id)


async def test_a_key_applies_once_in_many_processes_and_a_refused_one_can_be_repeated(
    database: Database,
) -> None:
    id = await create_opening(database, 1, waitlist_limit=0)
    processes = [ApplyBatches(RequestDatabase(database, 10), None) for _ in range(3)]
    answers: list[Any] = await asyncio.gather(
        *(
            batches.apply_once(id, ApplyRequest(person(1)), keyed("k-1"))
            for batches in processes * 4
        )
    )
    assert count_types(answers) == {"Placement": 1, "StoredResponse": 11}
    reused, refused = await asyncio.gather(
        processes[0].apply_once(id, ApplyRequest(person(2)), keyed("k-1", "other")),
        processes[0].apply_once(id, ApplyRequest(person(2)), keyed("k-2")),
        return_exceptions=True,
    )
    assert isinstance(reused, IdempotencyKeyReused)
    assert isinstance(refused, Conflict)
    assert await count_stored(database) == 1
    async with database.transaction() as tx:
        await lifecycle.set_capacity(tx, id, 2, LOCAL)
    placed = await processes[1].apply_once(id, ApplyRequest(person(2)), keyed("k-2"))
    assert isinstance(placed, Placement)


async def test_a_keyed_request_gets_its_response_after_a_lost_commit(database: Database) -> None:
    id = await create_opening(database)
    request_database = Losing(database, 10)
    request_database.losses = 1 + COMMIT_CHECKS
    batches = ApplyBatches(request_database, None)
    with pytest.raises(CommitUnknown):
        await batches.apply_once(id, ApplyRequest(person(1)), keyed("k-1"))
    assert isinstance(
        await batches.apply_once(id, ApplyRequest(person(1)), keyed("k-1")), StoredResponse
    )


async def test_the_daily_limit_holds_for_parallel_applications_of_a_person(url: str) -> None:
    """To many openings, in two web processes: each process has its own connections."""
    async with connect(url, size=12) as first, connect(url, size=12) as second:
        processes = [ApplyBatches(RequestDatabase(database, 10), 2) for database in (first, second)]
        made = [await create_opening(first) for _ in range(8)]
        async with first.transaction() as tx:
            ada = await make_applicant(tx)
        for request in (ApplyRequest(person(1)), ApplyRequest(ada.id, by_applicant(ada.id))):
            answers: list[Any] = await asyncio.gather(
                *(batches.apply(id, request) for id in made for batches in processes),
                return_exceptions=True,
            )
            counts = count_types(answers)
            assert counts["Placement"] == 2
            assert counts["AppliedTooOften"] >= 12


class Killed(RequestDatabase):
    """Loses its first connection between the last statement and COMMIT."""

    kills = 1

    @asynccontextmanager
    async def transaction(self, time_limit: float | None = None) -> AsyncGenerator[Tx]:
        async with super().transaction(time_limit) as tx:
            yield tx
            self.kills -= 1
            if self.kills == 0:
                pid = tx.info.backend_pid
                async with self._database.transaction() as other:
                    await other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


async def test_applications_without_a_commit_are_repeated(database: Database) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(Killed(database, 10), None)
    answers = await apply_at_once(batches, id, [ApplyRequest(person(n)) for n in range(3)])
    assert count_types(answers) == {"Placement": 3}
    async with database.transaction() as tx:
        assert (await openings.get(tx, id)).occupied == 3


async def test_a_slow_request_does_not_delay_the_others(
    database: Database,
) -> None:
    id = await create_opening(database)
    async with database.transaction() as tx:
        ada = await make_applicant(tx)
    async with database.transaction() as tx:
        await tx.execute("SELECT FROM hiring.applicant WHERE id = %s FOR UPDATE", [ada.id])
        requests = [ApplyRequest(person(1)), ApplyRequest(ada.id), ApplyRequest(person(2))]
        answers = await apply_at_once(
            ApplyBatches(RequestDatabase(database, 0.5), None), id, requests
        )
    assert [type(answer).__name__ for answer in answers] == [
        "Placement",
        "Unavailable",
        "Placement",
    ]


async def test_openings_do_not_wait_for_each_other(database: Database) -> None:
    busy, free = await create_opening(database), await create_opening(database)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    async with database.transaction() as tx:
        await lifecycle.set_capacity(tx, busy, 9, LOCAL)
        waits = asyncio.create_task(batches.apply(busy, ApplyRequest(person(1))))
        placed = await batches.apply(free, ApplyRequest(person(2)))
        assert placed.application.status == "ACTIVE"
        assert not waits.done()
    assert (await waits).application.status == "ACTIVE"


async def test_the_log_records_the_actor_of_an_application_for_others(database: Database) -> None:
    id = await create_opening(database)
    batches = ApplyBatches(RequestDatabase(database, 10), None)
    await apply_at_once(batches, id, [ApplyRequest(person(1), LOCAL), ApplyRequest(person(2))])
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT actor FROM hiring.event WHERE type = 'APPLIED' ORDER BY seq"
        )
        actors = [actor for (actor,) in await cursor.fetchall()]
    assert actors[0] == "local"
    assert actors[1].startswith("applicant:")

"""Tests of concurrent requests on real connections."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from jobmill.db import Database, Tx, connect
from jobmill.errors import AppError
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import bulk_actions, offers, submissions, withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.records.applicants import ApplicantId, Contact
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.hiring.helpers import make_applicant, make_opening, name_error
from tests.hiring.log_rules import check_log_in

ROUNDS = 8
MIN_STEPS = 100


@pytest.fixture
async def wide_database(url: str) -> AsyncIterator[Database]:
    """A database with enough connections for all concurrent requests."""
    async with connect(url, size=64) as database:
        yield database


async def people(database: Database, count: int) -> list[ApplicantId]:
    async with database.transaction() as tx:
        return [(await make_applicant(tx)).id for _ in range(count)]


async def create_opening(database: Database, capacity: int, **terms: Any) -> Opening:
    async with database.transaction() as tx:
        return await make_opening(tx, capacity, **terms)


async def do(database: Database, work: Callable[[Tx], Awaitable[Any]]) -> str:
    """The result: `ok`, or the name of an expected error."""
    try:
        async with database.transaction() as tx:
            await work(tx)
    except AppError as error:
        return name_error(error)
    return "ok"


def applying(opening: Opening, applicant_ids: ApplicantId) -> Callable[[Tx], Awaitable[Any]]:
    return lambda tx: submissions.apply(tx, opening.id, applicant_ids, by_applicant(applicant_ids))


async def fill(database: Database, opening: Opening, applicant_ids: list[ApplicantId]) -> list[int]:
    """Apply one after the other; returns the applications."""
    ids: list[int] = []
    for applicant in applicant_ids:
        async with database.transaction() as tx:
            ids.append((await submissions.apply(tx, opening.id, applicant, LOCAL)).application.id)
    return ids


async def test_sixty_four_concurrent_applications_never_get_more_slots_than_exist(
    wide_database: Database,
) -> None:
    applicant_ids = await people(wide_database, 64)
    for _ in range(ROUNDS):
        opening = await create_opening(wide_database, 5)
        answers = await asyncio.gather(
            *(do(wide_database, applying(opening, applicant)) for applicant in applicant_ids)
        )
        assert set(answers) == {"ok"}
        checker = await check_log_in(wide_database, opening.id)
        assert (len(checker.occupied), len(checker.waiting)) == (5, 59)


async def test_one_person_applying_many_times_at_once_has_one_application(
    wide_database: Database,
) -> None:
    [ada] = await people(wide_database, 1)
    for _ in range(10):
        opening = await create_opening(wide_database, 3)
        answers = await asyncio.gather(
            *(do(wide_database, applying(opening, ada)) for _ in range(8))
        )
        assert Counter(answers) == {"ok": 1, "DuplicateApplication": 7}
        assert len((await check_log_in(wide_database, opening.id)).occupied) == 1


async def test_one_new_address_applying_many_times_at_once_is_one_person(
    wide_database: Database,
) -> None:
    opening = await create_opening(wide_database, 3)
    spellings = ["Ada@Example.org", "ada@example.org", "ADA@EXAMPLE.ORG"] * 4

    def by_address(email: str) -> Callable[[Tx], Awaitable[Any]]:
        person = applicants.parse_contact("Ada", email)
        return lambda tx: submissions.apply_with_contact(tx, opening.id, person)

    answers = await asyncio.gather(
        *(do(wide_database, by_address(contact)) for contact in spellings)
    )
    assert Counter(answers) == {"ok": 1, "DuplicateApplication": 11}
    async with wide_database.transaction() as tx:
        assert len(await applicants.list_applicants(tx)) == 1


async def test_a_refused_address_leaves_no_applicant(wide_database: Database) -> None:
    opening = await create_opening(wide_database, 1)
    async with wide_database.transaction() as tx:
        await lifecycle.close(tx, opening.id, LOCAL)
    person = applicants.parse_contact("Ada", "ada@example.org")
    answer = await do(
        wide_database, lambda tx: submissions.apply_with_contact(tx, opening.id, person)
    )
    assert answer == "Conflict"
    async with wide_database.transaction() as tx:
        assert await applicants.list_applicants(tx) == []


@pytest.mark.parametrize("step", [withdrawals.withdraw, offers.acknowledge])
async def test_concurrent_repeats_of_a_step_happen_once(
    wide_database: Database, step: Callable[..., Any]
) -> None:
    applicant_ids = await people(wide_database, 3)
    for _ in range(10):
        opening = await create_opening(wide_database, 1, require_acknowledgement=True)
        [first, *_] = await fill(wide_database, opening, applicant_ids)
        twice = partial(step, application_id=first, by=LOCAL)
        answers = await asyncio.gather(*(do(wide_database, twice) for _ in range(4)))
        assert Counter(answers) == {"ok": 1, "Conflict": 3}
        await check_log_in(wide_database, opening.id)


async def test_withdrawing_and_confirming_at_once_ends_the_application(
    wide_database: Database,
) -> None:
    applicant_ids = await people(wide_database, 2)
    for _ in range(40):
        opening = await create_opening(wide_database, 1, require_acknowledgement=True)
        [first, second] = await fill(wide_database, opening, applicant_ids)
        withdrawn, _ = await asyncio.gather(
            do(wide_database, partial(withdrawals.withdraw, application_id=first, by=LOCAL)),
            do(wide_database, partial(offers.acknowledge, application_id=first, by=LOCAL)),
        )
        assert withdrawn == "ok"
        checker = await check_log_in(wide_database, opening.id)
        assert (checker.ended, checker.occupied) == ({first}, {second})


async def test_a_newcomer_never_gets_a_slot_before_the_waitlist(wide_database: Database) -> None:
    applicant_ids = await people(wide_database, 12)
    for _ in range(20):
        opening = await create_opening(wide_database, 2)
        ids = await fill(wide_database, opening, applicant_ids[:4])
        await asyncio.gather(
            *(
                do(wide_database, lambda tx, id=id: withdrawals.withdraw(tx, id, LOCAL))
                for id in ids[:2]
            ),
            *(do(wide_database, applying(opening, applicant)) for applicant in applicant_ids[4:]),
        )
        assert (await check_log_in(wide_database, opening.id)).occupied == set(ids[2:])


async def test_concurrent_withdrawals_free_one_slot_each(wide_database: Database) -> None:
    applicant_ids = await people(wide_database, 40)
    opening = await create_opening(wide_database, 20)
    ids = await fill(wide_database, opening, applicant_ids)
    leaving = [lambda tx, id=id: withdrawals.withdraw(tx, id, LOCAL) for id in ids[:20]]
    answers = await asyncio.gather(*(do(wide_database, step) for step in leaving))
    assert set(answers) == {"ok"}
    checker = await check_log_in(wide_database, opening.id)
    assert checker.promotions == 20
    assert checker.occupied == set(ids[20:])


async def test_concurrent_workers_expire_an_offer_once(wide_database: Database) -> None:
    applicant_ids = await people(wide_database, 12)
    made = [await create_opening(wide_database, 3) for _ in range(6)]
    await do(wide_database, allow_short_windows)
    for opening in made:
        await fill(wide_database, opening, applicant_ids)
        await do(wide_database, lambda tx, id=opening.id: set_window(tx, id, "0"))
        await do(wide_database, lambda tx, id=opening.id: lifecycle.set_capacity(tx, id, 6, LOCAL))
        await do(wide_database, lambda tx, id=opening.id: set_window(tx, id, "1 day"))

    async def work() -> None:
        for _ in range(20):
            async with wide_database.transaction() as tx:
                await expire_due_openings(tx)

    await asyncio.gather(*(work() for _ in range(12)))
    for opening in made:
        checker = await check_log_in(wide_database, opening.id)
        # Three offers expired, three others were made, and nothing happened twice.
        assert (checker.misses, checker.promotions) == (3, 6)


async def allow_short_windows(tx: Tx) -> None:
    await tx.execute("ALTER TABLE hiring.opening DROP CONSTRAINT opening_acknowledge_window_check")


async def set_window(tx: Tx, id: int, window: str) -> None:
    """Let later offers expire after this time; `0` means at once."""
    await tx.execute(
        "UPDATE hiring.opening SET acknowledge_window = %s WHERE id = %s", [window, id]
    )


async def any_of(tx: Tx, opening: Opening) -> int:
    cursor = await tx.execute(
        "SELECT id FROM hiring.application WHERE opening_id = %s ORDER BY random() LIMIT 1",
        [opening.id],
    )
    row = await cursor.fetchone()
    return row[0] if row else 1


def random_contact() -> Contact:
    """One of a few addresses, so that erased applicants apply again."""
    return applicants.parse_contact("Eve", f"eve.{random.randint(1, 20)}@example.org")


async def erase_random_applicant(tx: Tx) -> None:
    if applicant := await applicants.find_by_email_key(tx, random_contact().email_key):
        await privacy.erase_applicant(tx, applicant.id, LOCAL)


async def several(tx: Tx, opening: Opening) -> None:
    ids = [await any_of(tx, opening) for _ in range(4)]
    action = random.choice(list(bulk_actions.MAX_APPLICATIONS))
    await bulk_actions.run_bulk_action(
        tx, opening.id, action, ids, LOCAL, reason="all of them", message="Hello"
    )


async def run_random_steps(database: Database, seconds: float, seed: int) -> Counter[str]:
    """Take random steps concurrently: apply, withdraw, confirm, decline, resize, pause, expire
    offers, erase applicants."""
    chance = random.Random(seed)
    applicant_ids = await people(database, 60)
    made = [await create_opening(database, 4, max_missed=2) for _ in range(3)]
    await do(database, allow_short_windows)
    answers: Counter[str] = Counter()
    end = asyncio.get_running_loop().time() + seconds

    def act(opening: Opening) -> Callable[[Tx], Awaitable[Any]]:
        async def step(tx: Tx, doing: Callable[..., Awaitable[Any]], **more: Any) -> Any:
            return await doing(tx, await any_of(tx, opening), LOCAL, **more)

        return chance.choice(
            [
                applying(opening, chance.choice(applicant_ids)),
                applying(opening, chance.choice(applicant_ids)),
                lambda tx: step(tx, withdrawals.withdraw),
                lambda tx: step(tx, offers.acknowledge),
                lambda tx: step(tx, offers.decline),
                lambda tx: step(tx, offers.offer_out_of_turn, reason="asked for"),
                lambda tx: lifecycle.set_capacity(tx, opening.id, chance.randint(1, 8), LOCAL),
                lambda tx: lifecycle.pause(tx, opening.id, LOCAL),
                lambda tx: lifecycle.resume(tx, opening.id, LOCAL),
                lambda tx: lifecycle.resume(tx, opening.id, LOCAL),
                lambda tx: set_window(tx, opening.id, chance.choice(["0", "1 day"])),
                lambda tx: submissions.apply_with_contact(tx, opening.id, random_contact()),
                lambda tx: submissions.apply_with_contact(tx, opening.id, random_contact()),
                lambda tx: several(tx, opening),
                erase_random_applicant,
                expire_due_openings,
            ]
        )

    async def client() -> None:
        # On a busy machine few steps fit into the time.
        while asyncio.get_running_loop().time() < end or answers["ok"] <= MIN_STEPS:
            answers[await do(database, act(chance.choice(made)))] += 1

    await asyncio.gather(*(client() for _ in range(24)))
    for opening in made:
        await check_log_in(database, opening.id)
        async with database.transaction() as tx:
            after = await openings.get(tx, opening.id)
            assert after.occupied <= after.capacity + after.excess
            assert (await verification.verify_log(tx, opening.id)).faults == []
    return answers


async def test_random_concurrent_steps_keep_all_rules(wide_database: Database) -> None:
    answers = await run_random_steps(wide_database, 6, seed=11)
    # Every result is an answer; a deadlock or a violated constraint would have raised.
    assert set(answers) <= {
        "ok",
        "DuplicateApplication",
        "Conflict",
        "InvalidTransition",
        "ApplicationNotFound",
    }
    assert answers["ok"] > MIN_STEPS


@pytest.mark.soak
async def test_many_random_concurrent_steps_keep_all_rules(wide_database: Database) -> None:
    await run_random_steps(wide_database, 180, seed=random.randrange(10**6))

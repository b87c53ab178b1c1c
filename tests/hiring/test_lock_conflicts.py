"""Tests of two transactions at the same row: they do not deadlock, and neither undoes the other."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import replace

import pytest
from psycopg.errors import UniqueViolation

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Conflict
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, SYSTEM
from jobmill.hiring.applications import bulk_actions, offers, outcomes, submissions, withdrawals
from jobmill.hiring.applications.outcomes import MissedOffer
from jobmill.hiring.locked_opening import lock_opening
from jobmill.hiring.messages import notices, webhooks
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Applicant, Contact
from jobmill.hiring.waitlist import overdue_offers
from jobmill.hiring.waitlist.deadlines import expire_due_openings, lock_and_expire_offers
from tests.hiring.helpers import apply, let_pass, make_applicant, make_opening

from .log_rules import check_log_in

HOUR = dt.timedelta(hours=1)


async def waits(tx: Tx) -> None:
    """Wait until a connection waits for a lock."""
    while not await fetch_value(
        tx,
        bool,
        """
        SELECT EXISTS (SELECT FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock')
        """,
    ):
        # Otherwise a transaction sees only the connections that it saw first.
        await tx.execute("SELECT pg_stat_clear_snapshot()")
        await asyncio.sleep(0.01)


def as_person(applicant: Applicant) -> Contact:
    return applicants.parse_contact(applicant.name, applicant.email)


async def test_batches_with_the_same_people_by_id_and_by_address_never_deadlock(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        ada, bob = await make_applicant(tx, "Ada"), await make_applicant(tx, "Bob")

    async def apply_both(first: Applicant, second: Applicant) -> int:
        async with database.transaction() as tx:
            opening = await make_opening(tx, 2)
        async with database.transaction() as tx:
            asks = [
                submissions.ApplyRequest(first.id, LOCAL),
                submissions.ApplyRequest(as_person(second), LOCAL),
            ]
            answers = await submissions.apply_all(tx, opening.id, asks)
        return sum(isinstance(answer, outcomes.Placement) for answer in answers)

    for _ in range(20):
        placed = await asyncio.gather(apply_both(ada, bob), apply_both(bob, ada))
        assert placed == [2, 2]


async def test_a_row_changed_twice_does_not_wait_for_an_erasure(
    database: Database,
) -> None:
    """PostgreSQL checks the foreign key of a row that this transaction has written before, and the
    erasure, which holds the applicant, waits for the opening."""
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        ada = await make_applicant(tx)
        id = (await apply(tx, opening, ada.id)).application.id
        await let_pass(tx, opening, HOUR)

    async def erase() -> None:
        async with database.transaction() as tx:
            await privacy.erase_applicant(tx, ada.id, LOCAL)

    async with database.transaction() as tx:
        await tx.execute("SELECT FROM hiring.opening FOR NO KEY UPDATE")
        erasing = asyncio.create_task(erase())
        await waits(tx)
        await bulk_actions.run_bulk_action(
            tx, opening.id, "withdraw", [id], LOCAL, reason="the offer was missed"
        )
    await erasing
    assert len((await check_log_in(database, opening.id)).ended) == 1


@pytest.mark.parametrize("leaves", [False, True])
async def test_an_offer_expires_and_is_made_again_during_an_erasure(
    database: Database, leaves: bool
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        ada = await make_applicant(tx)
        id = (await apply(tx, opening, ada.id)).application.id
        await let_pass(tx, opening, HOUR)
    async with database.transaction() as erasing:
        # This is how an erasure begins; it then waits for the opening.
        await erasing.execute("SELECT FROM hiring.applicant WHERE id = %s FOR UPDATE", [ada.id])
        async with asyncio.timeout(5), database.transaction() as tx:
            await (withdrawals.withdraw(tx, id, LOCAL) if leaves else expire_due_openings(tx))
    checker = await check_log_in(database, opening.id)
    assert (checker.misses, checker.promotions, len(checker.ended)) == (1, 1, leaves)


async def test_an_answer_that_waits_past_its_deadline_does_not_count_for_a_later_offer(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        id = (await apply(tx, opening)).application.id

    async def accept() -> object:
        async with database.transaction() as tx:
            return await offers.answer_offer(tx, id, "accept", LOCAL)

    async with database.transaction() as tx:
        await let_pass(tx, opening, HOUR)
        answer = asyncio.create_task(accept())
        await waits(tx)
    # The only waiting applicant got a new offer; the answer was not for that offer.
    assert isinstance(missed := await answer, MissedOffer)
    assert missed.application.status == "PENDING_ACKNOWLEDGMENT"
    assert (await check_log_in(database, opening.id)).misses == 1


async def test_applying_does_not_fail_if_a_webhook_is_removed_meanwhile(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx)
        hook = await webhooks.add(tx, "https://hooks.example.org/x")
        remaining = await webhooks.add(tx, "https://hooks.example.org/y")
        ada = await make_applicant(tx)
    async with database.transaction() as removing:
        await webhooks.remove(removing, hook.id)
        async with asyncio.timeout(5), database.transaction() as tx:
            await submissions.apply(tx, opening.id, ada.id, LOCAL)
    async with database.transaction() as tx:
        assert [
            delivery.event for delivery in await webhooks.list_deliveries(tx, remaining.id)
        ] == ["APPLIED"]


async def test_a_passed_deadline_is_checked_only_once(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, require_acknowledgement=True)
        id = (await apply(tx, opening)).application.id
        await offers.acknowledge(tx, id, LOCAL)
        await let_pass(tx, opening, HOUR)
        assert await overdue_offers.find_overdue_opening(tx, opening.id) == [opening.id]
        async with lock_and_expire_offers(tx, opening.id, SYSTEM):
            pass
        # Later readers of the opening take no lock.
        assert await overdue_offers.find_overdue_opening(tx, opening.id) == []
    await check_log_in(database, opening.id)


async def test_an_opening_with_many_overdue_offers_does_not_hide_the_others(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        busy = await make_opening(tx, 120, require_acknowledgement=True)
        asks = [submissions.ApplyRequest(person(n), LOCAL) for n in range(120)]
        await submissions.apply_all(tx, busy.id, asks)
        await let_pass(tx, busy, 2 * HOUR)
        other = await make_opening(tx, 1, require_acknowledgement=True)
        await apply(tx, other)
        await let_pass(tx, other, HOUR)
    async with database.transaction() as holding:
        await holding.execute(
            "SELECT FROM hiring.opening WHERE id = %s FOR NO KEY UPDATE", [busy.id]
        )
        async with database.transaction() as tx:
            assert await expire_due_openings(tx)
    assert (await check_log_in(database, other.id)).misses == 1


async def test_a_mail_servers_reply_about_an_erased_person_is_not_stored(tx: Tx) -> None:
    ada = await make_applicant(tx)
    placed = await apply(tx, await make_opening(tx), ada.id)
    id = await fetch_value(
        tx,
        int,
        "SELECT id FROM hiring.notice WHERE application_id = %s",
        [placed.application.id],
    )
    assert id
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    # The letter was being sent.
    await notices.record_failed_attempt(tx, id, f"{ada.email} is unknown here")
    await notices.record_result(tx, id, "failed", f"{ada.email} is unknown here")
    cursor = await tx.execute("SELECT state, detail FROM hiring.notice WHERE id = %s", [id])
    assert await cursor.fetchone() == ("dropped", None)


async def test_many_expired_offers_are_written_at_once(tx: Tx) -> None:
    opening = await make_opening(tx, 60, require_acknowledgement=True)
    asks = [submissions.ApplyRequest(person(n), LOCAL) for n in range(60)]
    await submissions.apply_all(tx, opening.id, asks)
    await lifecycle.pause(tx, opening.id, LOCAL)
    await let_pass(tx, opening, HOUR)
    async with lock_and_expire_offers(tx, opening.id, SYSTEM):
        pass
    waiting = await applications.find_first_waiting(tx, opening.id, 100)
    assert [application.queue_key for application in waiting] == list(range(2, 122, 2))
    written = await fetch_value(
        tx,
        int,
        """
        SELECT n_tup_ins + n_tup_upd FROM pg_stat_xact_user_tables WHERE relid = 'hiring.waitlist_block'::regclass
        """,
    )
    assert written == 1


def person(number: int) -> Contact:
    return applicants.parse_contact("Ada", f"p{number}@example.org")


async def test_an_application_that_changed_without_the_lock_is_not_overwritten(tx: Tx) -> None:
    opening = await make_opening(tx)
    id = (await apply(tx, opening)).application.id
    with pytest.raises(Conflict, match="changed by another request"):
        async with lock_opening(tx, opening.id, LOCAL) as locked:
            stale = await locked.get_application(id)
            await tx.execute(
                "UPDATE hiring.application SET status = 'INACTIVE' WHERE id = %s", [id]
            )
            await withdrawals.end_application(
                locked, stale, rule="withdrawn", reason=None, fill=False
            )


async def test_the_database_allows_one_live_application_per_person(tx: Tx) -> None:
    opening = await make_opening(tx, capacity=3)
    placed = (await apply(tx, opening)).application
    twin = replace(placed, id=applications.ApplicationId(placed.id + 1))
    with pytest.raises(UniqueViolation, match="application_live"):
        await applications.insert(tx, [twin])

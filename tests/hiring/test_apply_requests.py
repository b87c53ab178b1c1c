"""Addresses are confirmed once, in time, and without a second application, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Gone
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, by_applicant
from jobmill.hiring.applications import apply_requests, offers, submissions, withdrawals
from jobmill.hiring.applications.submissions import ApplyRequest
from jobmill.hiring.audit_log import events, replay, summary, verification
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import (
    ConfirmationToken,
    OfferLinkToken,
    PersonalLinkToken,
)
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Contact, parse_contact
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist.deadlines import expire_due_openings
from tests.cli.forked import ForkedProgram
from tests.hiring import uncommitted_writes
from tests.hiring.change_past import age
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.hiring.log_rules import check_log_in, read_log
from tests.hiring.test_races import create_opening, do, people, wide_database
from tests.queue.helpers import fetch

__all__ = ["wide_database"]
DAY = dt.timedelta(days=1)
ADA = parse_contact("Ada", "ada@example.org")


async def request(tx: Tx, opening: Opening, contact: Contact = ADA) -> ConfirmationToken:
    """Submit a request to apply; returns what its letter links to."""
    await apply_requests.submit(tx, opening.id, contact, DAY)
    [id] = await fetch(
        tx,
        "SELECT id FROM hiring.apply_request WHERE email_key = %s ORDER BY id DESC LIMIT 1",
        [contact.email_key],
    )
    return ConfirmationToken("request", id)


async def place(tx: Tx, opening: Opening, window: dt.timedelta = DAY) -> int:
    """Place an application with an unconfirmed address; returns its id."""
    applicant = await make_applicant(tx)
    requests = [ApplyRequest(applicant.id, by_applicant(applicant.id), window)]
    result = submissions.single_result(await submissions.apply_all(tx, opening.id, requests))
    return result.application.id


def confirming(token: ConfirmationToken) -> Callable[[Tx], Awaitable[Any]]:
    return lambda tx: apply_requests.confirm(tx, token)


async def types_of(tx: Tx, opening: Opening) -> list[str]:
    return [event.type for event in await read_log(tx, opening.id)]


async def test_a_request_takes_no_slot_and_no_event_until_it_is_confirmed(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    token = await request(tx, opening)
    assert await types_of(tx, opening) == ["OPENED"]
    assert await applicants.find_by_email_key(tx, ADA.email_key) is None
    other = await apply(tx, opening)
    assert other.application.status == "ACTIVE"
    confirmed = await apply_requests.confirm(tx, token)
    application = await applications.get(tx, confirmed.application_id)
    # The order counts from the confirmation.
    assert application.status == "WAITLIST"
    assert (await applicants.get(tx, confirmed.applicant_id)).confirmed_at
    assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_a_confirmed_request_applies_once_even_after_a_withdrawal(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    token = await request(tx, opening)
    first = await apply_requests.confirm(tx, token)
    await withdrawals.withdraw(tx, first.application_id, by_applicant(first.applicant_id))
    assert await apply_requests.confirm(tx, token) == first
    assert (await types_of(tx, opening)).count("APPLIED") == 1


async def test_a_request_is_confirmed_in_its_time_and_while_the_opening_takes_applications(
    tx: Tx,
) -> None:
    opening = await make_opening(tx, 1)
    token = await request(tx, opening)
    await lifecycle.pause(tx, opening.id, LOCAL)
    with pytest.raises(Conflict, match="paused"):
        async with tx.transaction():
            await apply_requests.confirm(tx, token)
    await lifecycle.resume(tx, opening.id, LOCAL)
    await tx.execute("UPDATE hiring.apply_request SET expires_at = clock_timestamp()")
    with pytest.raises(Gone):
        async with tx.transaction():
            await apply_requests.confirm(tx, token)
    assert await applicants.find_by_email_key(tx, ADA.email_key) is None


async def test_a_request_is_confirmed_no_later_than_the_application_deadline(tx: Tx) -> None:
    until = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    opening = await make_opening(tx, 1, apply_until=until)
    await request(tx, opening)
    assert await fetch(tx, "SELECT expires_at FROM hiring.apply_request") == [until]


async def test_a_confirmation_finds_the_application_that_the_company_added_meanwhile(
    tx: Tx,
) -> None:
    opening = await make_opening(tx, 1)
    token = await request(tx, opening)
    added = await submissions.apply_with_contact(tx, opening.id, ADA, LOCAL)
    confirmed = await apply_requests.confirm(tx, token)
    assert confirmed.application_id == added.application.id


async def test_the_owner_of_an_address_ends_the_links_of_strangers_and_chooses_the_name(
    tx: Tx,
) -> None:
    first, second = await make_opening(tx, 1), await make_opening(tx, 1)
    stranger = Contact("Stranger", ADA.email, ADA.email_key)
    placed = await submissions.apply_with_contact(tx, first.id, stranger)
    id = placed.application.applicant_id
    link = PersonalLinkToken(id, 1, dt.datetime.now(dt.UTC))
    assert await personal_links.is_current(tx, link)
    await apply_requests.confirm(tx, await request(tx, second))
    assert not await personal_links.is_current(tx, link)
    assert (await applicants.get(tx, id)).name == "Ada"


async def test_letters_to_one_address_are_few(tx: Tx) -> None:
    openings = [await make_opening(tx, 1) for _ in range(apply_requests.LETTERS_PER_DAY + 2)]
    for opening in openings:
        await request(tx, opening)
        await request(tx, opening)
    letters = await fetch(tx, "SELECT kind FROM hiring.notice")
    assert letters == ["confirm"] * apply_requests.LETTERS_PER_DAY


async def test_an_unconfirmed_application_loses_its_slot_to_the_next(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    id = await place(tx, opening, dt.timedelta())
    waits = await apply(tx, opening)
    # Applying settles what is overdue, so the newcomer found a free slot.
    assert waits.application.status == "ACTIVE"
    assert (await applications.get(tx, id)).status == "INACTIVE"
    assert await types_of(tx, opening) == ["OPENED", "APPLIED", "ADDRESS_UNCONFIRMED", "APPLIED"]
    token = ConfirmationToken("application", id)
    assert (await apply_requests.find_state(tx, token)).missed
    with pytest.raises(Gone):
        await apply_requests.confirm(tx, token)
    assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_a_worker_ends_unconfirmed_applications_and_offers_their_slots(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    id = await place(tx, opening)
    waits = await apply(tx, opening)
    await tx.execute("UPDATE hiring.application SET confirm_by = now() WHERE id = %s", [id])
    await tx.execute("UPDATE hiring.opening SET next_deadline_at = now()")
    assert await expire_due_openings(tx)
    assert not await expire_due_openings(tx)
    offered = await applications.get(tx, waits.application.id)
    assert offered.status == "PENDING_ACKNOWLEDGMENT"


async def test_a_replay_ends_unconfirmed_applications_by_the_clock(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    await place(tx, opening)
    waits = await place(tx, opening)
    [applied] = [
        event
        for event in await events.find_by_opening(tx, opening.id)
        if event.application_id == waits
    ]
    deadline = dt.datetime.fromisoformat(applied.metadata["confirmBy"])
    before = await replay.replay_at(tx, opening.id)
    assert (len(before.active), len(before.waiting)) == (1, 1)
    # No event yet, but the deadline is in the past of a reader.
    await tx.execute(
        "UPDATE hiring.opening SET last_event_at = %s", [deadline + dt.timedelta(seconds=1)]
    )
    after = await replay.replay_at(tx, opening.id, as_of=deadline)
    assert (after.active, after.waiting) == ([], [])


async def test_an_offer_accepted_by_its_mailed_link_confirms_the_address(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    id = await place(tx, opening)
    deadline = (await applications.get(tx, id)).acknowledge_deadline
    assert deadline
    await offers.answer_by_link(tx, OfferLinkToken(id, deadline), "accept")
    application = await applications.get(tx, id)
    assert (application.status, application.confirm_by) == ("ACTIVE", None)
    assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_the_time_to_accept_an_offer_does_not_count_from_a_confirmation(tx: Tx) -> None:
    minute = dt.timedelta(minutes=1)
    opening = await make_opening(tx, 1, require_acknowledgement=True)
    id = await place(tx, opening)
    await age(tx, opening.id, 2 * minute)
    await apply_requests.confirm(tx, ConfirmationToken("application", id))
    await age(tx, opening.id, minute)
    await offers.acknowledge(tx, id, LOCAL)
    figures = await summary.summarize(tx, opening.id)
    assert figures.avg_acknowledgment_time_seconds == pytest.approx(180, abs=60)


async def test_confirmations_while_the_opening_fills_never_overbook_it(
    wide_database: Database,
) -> None:
    opening = await create_opening(wide_database, 5)
    contacts = [parse_contact("Bo", f"bo.{n}@example.net") for n in range(16)]
    async with wide_database.transaction() as tx:
        tokens = [await request(tx, opening, contact) for contact in contacts]
    others = await people(wide_database, 16)
    work = [confirming(token) for token in tokens] + [
        lambda tx, id=id: submissions.apply(tx, opening.id, id, LOCAL) for id in others
    ]
    assert await asyncio.gather(*(do(wide_database, step) for step in work)) == ["ok"] * 32
    checker = await check_log_in(wide_database, opening.id)
    assert (len(checker.occupied), len(checker.waiting)) == (5, 27)


async def test_confirming_twice_at_once_applies_once(wide_database: Database) -> None:
    opening = await create_opening(wide_database, 5)
    async with wide_database.transaction() as tx:
        token = await request(tx, opening)
    results = await asyncio.gather(*(do(wide_database, confirming(token)) for _ in range(12)))
    assert results == ["ok"] * 12
    async with wide_database.transaction() as tx:
        assert (await types_of(tx, opening)).count("APPLIED") == 1


async def test_confirming_while_withdrawing_leaves_one_ended_application(
    wide_database: Database,
) -> None:
    outcomes: Counter[str] = Counter()
    for _ in range(10):
        opening = await create_opening(wide_database, 1)
        async with wide_database.transaction() as tx:
            id = await place(tx, opening)
        steps: list[Callable[[Tx], Awaitable[Any]]] = [
            confirming(ConfirmationToken("application", id)),
            lambda tx, id=id: withdrawals.withdraw(tx, id, LOCAL),
        ]
        confirmed, withdrawn = await asyncio.gather(*(do(wide_database, step) for step in steps))
        assert withdrawn == "ok"
        outcomes[confirmed] += 1
        checker = await check_log_in(wide_database, opening.id)
        assert checker.ended == {id}
    assert set(outcomes) <= {"ok", "Gone"}


async def test_confirming_while_the_window_ends_does_one_of_both(wide_database: Database) -> None:
    for _ in range(10):
        opening = await create_opening(wide_database, 1)
        async with wide_database.transaction() as tx:
            id = await place(tx, opening, dt.timedelta(milliseconds=20))
        token = ConfirmationToken("application", id)
        steps: list[Callable[[Tx], Awaitable[Any]]] = [expire_due_openings, confirming(token)] * 4
        await asyncio.gather(*(do(wide_database, step) for step in steps))
        await asyncio.sleep(0.02)
        await do(wide_database, expire_due_openings)
        async with wide_database.transaction() as tx:
            endings = (await types_of(tx, opening))[2:]
            assert endings in (["ADDRESS_CONFIRMED"], ["ADDRESS_UNCONFIRMED"])
            assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_confirming_while_the_data_are_erased_leaves_no_trace_or_an_application(
    wide_database: Database,
) -> None:
    for _ in range(10):
        first, second = [await create_opening(wide_database, 1) for _ in range(2)]
        async with wide_database.transaction() as tx:
            placed = await submissions.apply_with_contact(tx, first.id, ADA)
            token = await request(tx, second)
        id = placed.application.applicant_id
        steps: list[Callable[[Tx], Awaitable[Any]]] = [
            confirming(token),
            lambda tx, id=id: privacy.erase_applicant(tx, id, LOCAL),
        ]
        confirmed, erased = await asyncio.gather(*(do(wide_database, step) for step in steps))
        assert erased == "ok"
        assert confirmed in ("ok", "Gone")
        async with wide_database.transaction() as tx:
            assert await applicants.find_by_email_key(tx, ADA.email_key) is None
            assert await fetch(tx, "SELECT id FROM hiring.apply_request") == []


async def test_a_process_killed_before_it_commits_has_confirmed_nothing(
    url: str, database: Database
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1)
        token = await request(tx, opening)
    process = ForkedProgram(uncommitted_writes.confirm_request, url, token.id)
    assert await asyncio.to_thread(process.stdout.readline) == "written\n"
    process.close()
    # Waits until PostgreSQL has noticed and released the locks of the dead process.
    async with database.transaction() as tx:
        await apply_requests.confirm(tx, token)
    checker = await check_log_in(database, opening.id)
    assert len(checker.occupied) == 1
    async with database.transaction() as tx:
        assert await types_of(tx, opening) == ["OPENED", "APPLIED"]

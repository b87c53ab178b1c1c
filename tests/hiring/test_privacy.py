"""Tests of exporting and erasing personal data, which leaves the audit log valid."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from jobmill.db import Database, Tx
from jobmill.errors import AppError
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL, SYSTEM, by_applicant
from jobmill.hiring.applications import submissions, withdrawals
from jobmill.hiring.audit_log import verification
from jobmill.hiring.interviews import bookings
from jobmill.hiring.messages import personal_links
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applicants, applications
from jobmill.hiring.records.applicants import Applicant, ApplicantNotFound
from jobmill.hiring.records.openings import Opening
from jobmill.pipelines import maintenance
from jobmill.queue import Advance, Finish, ItemId, Work
from jobmill.tools import Tools
from tests.hiring.change_past import age
from tests.hiring.helpers import apply, make_applicant, make_opening
from tests.hiring.interview_helpers import make_times

DAY = dt.timedelta(days=1)


async def valid(tx: Tx, *openings: Opening) -> None:
    for opening in openings:
        assert (await verification.verify_log(tx, opening.id)).faults == []


async def test_an_export_contains_all_data_of_one_person_only(tx: Tx) -> None:
    opening = await make_opening(tx, 1, title="Cook")
    ada, ben = await make_applicant(tx, "Ada"), await make_applicant(tx, "Ben")
    first = (await apply(tx, opening, ada.id)).application
    await apply(tx, opening, ben.id)
    await withdrawals.withdraw(tx, first.id, LOCAL, reason="no longer there")
    shown: dict[str, Any] = json.loads(json.dumps(await privacy.export_personal_data(tx, ada.id)))
    assert (shown["applicant"]["name"], shown["applicant"]["email"]) == (ada.name, ada.email)
    assert [
        (application["id"], application["opening"]) for application in shown["applications"]
    ] == [(first.id, "Cook")]
    assert [(event["type"], event["note"]) for event in shown["events"]] == [
        ("APPLIED", None),
        ("WITHDRAWN", "no longer there"),
    ]
    assert {notice["kind"] for notice in shown["notices"]} == {"applied", "removed"}
    assert ben.email not in json.dumps(shown)
    with pytest.raises(ApplicantNotFound):
        await privacy.export_personal_data(tx, 0)


async def test_an_export_says_when_and_where_an_interview_is(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    ada = await make_applicant(tx)
    application = (await apply(tx, opening, ada.id)).application
    [time] = await make_times(tx, opening, count=1)
    await bookings.book(tx, application.id, time.id, by_applicant(ada.id))
    shown = await privacy.export_personal_data(tx, ada.id)
    [plain, booking] = shown["applications"]
    assert "told_position" in plain
    assert "interview" not in plain
    assert dt.datetime.fromisoformat(booking["interview"]["starts_at"]) == time.starts_at
    assert booking["interview"]["place"] == "Room 4"


async def test_erasing_ends_the_application_and_offers_its_slot_to_the_next(tx: Tx) -> None:
    openings = [await make_opening(tx, 1), await make_opening(tx, 1)]
    ada = await make_applicant(tx)
    for opening in openings:
        await apply(tx, opening, ada.id)
    next = [(await apply(tx, opening)).application for opening in openings]
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    for application in next:
        assert (await applications.get(tx, application.id)).status == "PENDING_ACKNOWLEDGMENT"
    after = await applicants.get(tx, ada.id)
    assert (after.name, after.email) == ("Erased applicant", "")
    assert after.erased_at
    assert await personal_links.find_link_version(tx, ada.id) is None
    assert after.link_version == ada.link_version + 1
    await valid(tx, *openings)


async def test_erasing_leaves_nothing_that_names_the_person(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    ada = await make_applicant(tx, "Adelheid")
    application = (await apply(tx, opening, ada.id)).application
    await withdrawals.withdraw(tx, application.id, LOCAL, reason="Adelheid is rude")
    other = (await apply(tx, opening, ada.id)).application
    await tx.execute(
        "UPDATE hiring.notice SET data = '{\"text\": \"Dear Adelheid\"}', detail = 'to adelheid@'"
    )
    await privacy.erase_applicant(tx, ada.id, by_applicant(ada.id))
    for table in ("applicant", "application", "event", "notice"):
        query = SQL("SELECT count(*) FROM hiring.{} AS kept WHERE kept::text ILIKE '%adelheid%'")
        cursor = await tx.execute(query.format(Identifier(table)))
        assert await cursor.fetchone() == (0,), table
    cursor = await tx.execute("SELECT DISTINCT state FROM hiring.notice")
    assert await cursor.fetchall() == [("dropped",)]
    assert (await applications.get(tx, other.id)).status == "INACTIVE"
    await valid(tx, opening)


async def test_erasing_twice_changes_nothing(tx: Tx) -> None:
    opening = await make_opening(tx, 1)
    ada = await make_applicant(tx)
    await apply(tx, opening, ada.id)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    once = await privacy.export_personal_data(tx, ada.id)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    assert await privacy.export_personal_data(tx, ada.id) == once
    with pytest.raises(ApplicantNotFound):
        await privacy.erase_applicant(tx, 0, LOCAL)


async def test_an_expired_offer_does_not_prevent_erasing(tx: Tx) -> None:
    opening = await make_opening(tx, 1, require_acknowledgement=True, max_missed=1)
    ada = await make_applicant(tx)
    application = (await apply(tx, opening, ada.id)).application
    await age(tx, opening.id, DAY)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    assert (await applications.get(tx, application.id)).status == "INACTIVE"
    await valid(tx, opening)


async def test_the_address_of_an_erased_person_can_apply_as_a_new_person(tx: Tx) -> None:
    opening = await make_opening(tx, 2)
    ada = await make_applicant(tx)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    placed = await submissions.apply_with_contact(
        tx, opening.id, applicants.parse_contact("Ada", ada.email)
    )
    assert placed.application.applicant_id != ada.id


async def test_an_erased_person_cannot_apply(tx: Tx) -> None:
    opening = await make_opening(tx)
    ada = await make_applicant(tx)
    await privacy.erase_applicant(tx, ada.id, LOCAL)
    with pytest.raises(ApplicantNotFound):
        await apply(tx, opening, ada.id)


async def ended(tx: Tx, opening: Opening, applicant: Applicant, days: int) -> None:
    """Apply, then withdraw that long ago."""
    application = (await apply(tx, opening, applicant.id)).application
    await withdrawals.withdraw(tx, application.id, by_applicant(applicant.id))
    await age(tx, opening.id, days * DAY)


async def is_erased(tx: Tx, applicant: Applicant) -> bool:
    return (await applicants.get(tx, applicant.id)).erased_at is not None


@pytest.mark.parametrize(
    ("keep", "days", "erased"),
    [
        ([30], [31], True),
        ([30], [29], False),
        ([30, 60], [61, 61], True),
        ([30, 60], [59, 59], False),  # the second opening keeps data longer
        ([30, None], [31, 999], False),  # the second opening keeps data forever
        ([], [], False),
    ],
)
async def test_data_are_kept_as_long_as_every_opening_requires(
    tx: Tx, keep: list[int | None], days: list[int], erased: bool
) -> None:
    ada = await make_applicant(tx)
    openings = [await make_opening(tx, 1, keep_days=keep_days) for keep_days in keep]
    for opening, span in zip(openings, days, strict=True):
        await ended(tx, opening, ada, span)
    assert await privacy.erase_expired(tx) == erased
    assert await is_erased(tx, ada) == erased
    assert await privacy.erase_expired(tx) == 0
    await valid(tx, *openings)


async def test_a_person_with_a_live_application_is_kept(tx: Tx) -> None:
    opening = await make_opening(tx, 1, keep_days=1)
    ada = await make_applicant(tx)
    await ended(tx, opening, ada, 5)
    await apply(tx, opening, ada.id)
    await age(tx, opening.id, 5 * DAY)
    assert await privacy.erase_expired(tx) == 0


def item(erased: int = 0) -> Work:
    return Work(
        id=ItemId(1), kind="x", stage="x", key="x", data={"erased": erased}, attempt=1,
        retry_count=0, max_retries=3, steps=1, spawn_depth=0, tracking_id="x", parent_id=None,
        waited_for=None,
    )  # fmt: skip


async def test_expired_data_are_erased_in_batches(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, keep_days=1)
        for _ in range(privacy.BATCH_SIZE + 1):
            application = (await apply(tx, opening)).application
            await withdrawals.withdraw(tx, application.id, LOCAL)
        await age(tx, opening.id, 2 * DAY)
    moves = [await maintenance.erase_applicants(Tools(database), item())]
    while isinstance(moves[-1], Advance):
        assert moves[-1].data
        moves.append(await maintenance.erase_applicants(Tools(database), item(**moves[-1].data)))
    assert [move.data for move in moves[:-1]] == [{"erased": 50}, {"erased": 51}]
    assert moves[-1] == Finish("51 applicants erased")
    async with database.transaction() as tx:
        await valid(tx, opening)


async def attempt(database: Database, work: Callable[[Tx], Awaitable[Any]]) -> None:
    """Refusals are fine; any other error, such as a deadlock, is not."""
    await asyncio.sleep(random.random() / 100)
    try:
        async with database.transaction() as tx:
            await work(tx)
    except AppError:
        pass


@pytest.mark.parametrize("round", range(8))
async def test_erasing_while_the_person_applies_and_withdraws_keeps_the_log_valid(
    database: Database, round: int
) -> None:
    async with database.transaction() as tx:
        openings = [await make_opening(tx, 1) for _ in range(2)]
        ada = await make_applicant(tx)
        application = (await apply(tx, openings[0], ada.id)).application
        other = (await apply(tx, openings[0])).application
    person = applicants.parse_contact("Ada", ada.email)
    works: list[Callable[[Tx], Awaitable[Any]]] = [
        lambda tx: privacy.erase_applicant(tx, ada.id, LOCAL),
        lambda tx: privacy.erase_applicant(tx, ada.id, SYSTEM),
        lambda tx: withdrawals.withdraw(tx, application.id, LOCAL, reason="rude"),
        lambda tx: withdrawals.withdraw(tx, other.id, LOCAL),
        lambda tx: submissions.apply_with_contact(tx, openings[0].id, person),
        lambda tx: submissions.apply_with_contact(tx, openings[1].id, person),
        lambda tx: submissions.apply(tx, openings[0].id, ada.id, LOCAL),
        lambda tx: submissions.apply(tx, openings[1].id, ada.id, LOCAL),
        lambda tx: lifecycle.set_capacity(tx, openings[1].id, 2, LOCAL),
    ]
    await asyncio.gather(*(attempt(database, work) for work in works))
    async with database.transaction() as tx:
        await valid(tx, *openings)
        assert await is_erased(tx, ada)
        cursor = await tx.execute(
            """
            SELECT DISTINCT application.status, note FROM hiring.application
              JOIN hiring.event ON application_id = application.id
             WHERE applicant_id = %s
            """,
            [ada.id],
        )
        assert await cursor.fetchall() == [("INACTIVE", None)]

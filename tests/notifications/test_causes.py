"""Events are written by the transaction that causes them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from jobmill.catalog import history, listings, source_health, sources
from jobmill.db import Database, Tx
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.applications import offers, withdrawals
from jobmill.hiring.reviews import notes
from jobmill.hiring.waitlist import deadlines
from jobmill.matching import job_search_erasure, matches
from jobmill.notifications import events
from jobmill.outside.model_question import ModelBlocked
from jobmill.people.persons import LOCAL
from jobmill.queue import alerts
from tests.catalog import helpers as catalog
from tests.catalog.helpers import START
from tests.hiring.helpers import apply, let_pass, make_opening
from tests.matching import judged
from tests.notifications.helpers import add_channel, recorded
from tests.outside.test_budget_ledger import caps, put
from tests.people.helpers import make_person
from tests.queue.helpers import fetch


async def kinds(tx: Tx) -> list[str]:
    return [kind for kind, _ in await recorded(tx)]


async def test_nothing_is_recorded_for_people_without_a_channel(tx: Tx) -> None:
    place = await judged.make(tx)
    await matches.save_verdict(tx, place.word(95))
    await alerts.raise_alert(tx, "deep", "a lineage", "12 items")
    assert await recorded(tx) == []


async def test_a_new_match_is_recorded_once_and_a_better_score_again(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx)
    id = await matches.save_verdict(tx, place.word(81, threshold=80))
    await matches.save_verdict(tx, place.word(82, threshold=80))
    assert await recorded(tx) == [("match", {"match": id})]
    # The first event was planned and led to no message.
    await tx.execute("UPDATE notification.event SET planned_at = now(), frequency = 'off'")
    await matches.save_verdict(tx, place.word(97))
    await matches.save_verdict(tx, place.word(80, threshold=80))
    await matches.save_verdict(tx, place.word(97))
    assert await kinds(tx) == ["match", "match"]


async def test_matches_are_told_to_their_owner_only(database: Database) -> None:
    seeker = await make_person(database, "bo@example.org", "seeker")
    recruiter = await make_person(database, "cy@example.org", "recruiter")
    async with database.transaction() as tx:
        for owner in (LOCAL, seeker.id, recruiter.id):
            await add_channel(tx, owner=owner)
        for number, owner in enumerate((seeker.id, recruiter.id), 1):
            postings = [catalog.posting(number)]
            place = await judged.make(tx, owner=owner, postings=postings)
            await matches.save_verdict(tx, place.word(95))
        await alerts.raise_alert(tx, "deep", "a lineage", "12 items")
    events_told = await fetch(
        database, "SELECT person_id, kind FROM notification.event ORDER BY id"
    )
    assert events_told == [(seeker.id, "match"), (None, "alert")]


async def test_a_job_that_closes_or_changes_is_told_after_an_application(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx, listings=2)
    ids = [await matches.save_verdict(tx, place.word(95, listing)) for listing in place.listings]
    await matches.set_status(tx, ids[0] or 0, "applied")
    await tx.execute("DELETE FROM notification.event")
    for listing in place.listings:
        await listings.close(tx, listing, "gone")
    assert await recorded(tx) == [("job_update", {"match": ids[0], "what": "closed", "fields": []})]


async def test_a_changed_job_is_told_with_the_fields_that_matter(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx)
    id = await matches.save_verdict(tx, place.word(95)) or 0
    await matches.set_status(tx, id, "applied")
    await tx.execute("DELETE FROM notification.event")
    [source] = await fetch(tx, "SELECT id FROM catalog.source")
    # A new date alone is no news.
    for hour, facts in ((1, {}), (2, {"posted_at": START}), (3, {"location": "Leeds"})):
        await catalog.run(tx, source, hour, [catalog.posting(1, **facts)])
    await history.record(tx, "listing", place.listing, "changed", fields=["tags", "title"])
    changes = [(data["what"], data["fields"]) for _, data in await recorded(tx)]
    assert changes == [("changed", ["location"]), ("changed", ["title"])]


async def test_a_next_step_is_told_on_its_day_once(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx, listings=2)
    today = dt.datetime.now(dt.UTC).date()
    for listing, day in zip(
        place.listings, (today - dt.timedelta(1), today + dt.timedelta(1)), strict=True
    ):
        id = await matches.save_verdict(tx, place.word(95, listing))
        await matches.set_status(tx, id or 0, "applied")
        await tx.execute(
            "INSERT INTO matching.application (match_id, next_step, next_step_on) VALUES (%s, %s, %s)",
            [id, "Call Bo", day],
        )
    await tx.execute("DELETE FROM notification.event")
    for _ in range(2):
        await events.record_due_steps(tx)
    [(kind, data)] = await recorded(tx)
    assert (kind, data["step"]) == ("follow_up", "Call Bo")


async def test_sources_in_trouble_are_told_but_not_those_that_a_person_disabled(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx)
    [source] = await fetch(tx, "SELECT id FROM catalog.source")
    await sources.disable(tx, source, "not needed")
    assert await recorded(tx) == []
    await sources.enable(tx, source)
    for _ in range(source_health.MAX_CONSECUTIVE_FAILURES):
        await source_health.record_failure(tx, source, None, "gone", "404")
    [(kind, data)] = await recorded(tx)
    assert (kind, data["noun"], data["id"]) == ("source", "source", str(source))
    assert place


async def test_applications_and_offers_are_told_to_recruiters(tx: Tx) -> None:
    await add_channel(tx)
    opening = await make_opening(tx, 1)
    first = await apply(tx, opening)
    second, third = await apply(tx, opening), await apply(tx, opening)
    assert (await recorded(tx))[0] == (
        "application",
        {
            "opening": opening.id,
            "application": first.application.id,
            "title": opening.title,
            "what": "APPLIED",
        },
    )
    await withdrawals.withdraw(tx, first.application.id, SYSTEM)
    await let_pass(tx, opening, dt.timedelta(hours=1))
    async with deadlines.lock_and_expire_offers(tx, opening.id, SYSTEM):
        pass
    await offers.answer_offer(tx, third.application.id, "accept", SYSTEM)
    events_told = [(kind, data["application"], data["what"]) for kind, data in await recorded(tx)]
    assert events_told[3:] == [
        ("offer", second.application.id, "DECAY_TRIGGERED"),
        ("offer", third.application.id, "ACKNOWLEDGED"),
    ]


async def test_reviews_that_wait_and_mentions_are_told(database: Database) -> None:
    ada = await make_person(database)
    other = await make_person(database, "bo@example.org")
    async with database.transaction() as tx:
        for person in (ada, other):
            await add_channel(tx, owner=person.id)
        application = (await apply(tx, await make_opening(tx, admission="review"))).application
        await tx.execute("DELETE FROM notification.event WHERE person_id = %s", [other.id])
        await notes.add_note(tx, application.id, "Ask @bo", SYSTEM)
    events_told = await fetch(
        database, "SELECT person_id, kind, data->>'what' FROM notification.event ORDER BY id"
    )
    assert events_told == [(ada.id, "review", "APPLIED"), (other.id, "review", "MENTION")]


async def test_an_alert_is_told_when_it_is_raised_and_not_while_it_stands(tx: Tx) -> None:
    await add_channel(tx)
    for items in (12, 13):
        await alerts.raise_alert(tx, "deep", "a lineage", f"{items} items")
    assert await recorded(tx) == [("alert", {"rule": "deep", "detail": "12 items"})]


async def test_a_spent_budget_is_told_once_a_day(tx: Tx) -> None:
    await add_channel(tx)
    limits = caps(day=Decimal("0.5"))
    for _ in range(2):
        assert isinstance(await put(tx, "0.4", limits), int | ModelBlocked)
    for _ in range(2):
        await tx.execute(
            "UPDATE budget.call SET settled_at = now(), cost = reserved, outcome = 'answered'"
        )
        assert isinstance(await put(tx, "0.4", limits), ModelBlocked)
    [(kind, data)] = await recorded(tx)
    assert kind == "budget"
    assert "budget_day" in data["detail"]


async def test_a_failed_backup_is_told(tx: Tx) -> None:
    await add_channel(tx)
    await events.record_failed_backup(tx, "nightly.dump: the disk is full")
    assert await recorded(tx) == [("backup", {"detail": "nightly.dump: the disk is full"})]


async def test_an_event_goes_with_the_transaction_that_causes_it(database: Database) -> None:
    async with database.transaction() as tx:
        await add_channel(tx)
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as tx:
            await alerts.raise_alert(tx, "deep", "a lineage", "12 items")
            raise ZeroDivisionError
    assert await recorded(database) == []


async def test_two_transactions_with_the_same_cause_write_one_event(database: Database) -> None:
    async with database.transaction() as tx:
        await add_channel(tx)
        place = await judged.make(tx)
        id = await matches.save_verdict(tx, place.word(95)) or 0
        await matches.set_status(tx, id, "applied")
        await tx.execute(
            "INSERT INTO matching.application (match_id, next_step, next_step_on) "
            "VALUES (%s, 'Call', current_date - 1)",
            [id],
        )
        await tx.execute("DELETE FROM notification.event")
    await catalog.overlap(database, events.record_due_steps, events.record_due_steps)
    assert [kind for kind, _ in await recorded(database)] == ["follow_up"]


async def test_erasing_a_job_search_erases_its_events(tx: Tx) -> None:
    await add_channel(tx)
    place = await judged.make(tx)
    await matches.save_verdict(tx, place.word(95))
    await alerts.raise_alert(tx, "deep", "a lineage", "12 items")
    await job_search_erasure.erase_search(tx, LOCAL)
    assert await kinds(tx) == ["alert"]

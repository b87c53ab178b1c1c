"""Events become deliveries: at once, in a digest, after the quiet hours, or not at all."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill.db import Database, Tx
from jobmill.matching import matches, saved_views
from jobmill.matching.saved_views import InboxFilters
from jobmill.notifications import channels, preferences
from jobmill.notifications.kinds import KINDS, Frequency, Kind
from jobmill.notifications.preferences import DigestSchedule
from jobmill.people import persons
from jobmill.people.persons import LOCAL
from jobmill.pipelines import notifications as pipeline
from jobmill.settings import Settings
from tests.matching import judged
from tests.notifications.helpers import Notifier, add_channel, add_event, states
from tests.people.helpers import make_person
from tests.queue.helpers import fetch


async def choose(tx: Tx, kind: Kind, frequency: Frequency) -> None:
    await preferences.save_frequencies(tx, LOCAL, {kind: frequency})


async def read_plan(tx: Tx) -> list[tuple[str, int]]:
    """Key and number of events of all deliveries, in order."""
    return await fetch(
        tx,
        """
        SELECT key, (SELECT count(*)::int FROM notification.delivery_event WHERE delivery_id = id)
          FROM notification.delivery ORDER BY id
        """,
    )


async def test_an_event_is_sent_at_once_to_every_channel_except_feeds(tx: Tx) -> None:
    await add_channel(tx)
    await add_channel(tx, "slack", url="https://hooks.slack.com/services/a/b/c")
    await add_channel(tx, "feed")
    off = await add_channel(tx, "slack", url="https://hooks.slack.com/services/d/e/f")
    await channels.set_enabled(tx, off.id, False)
    await add_event(tx)
    for _ in range(2):
        assert not await pipeline.plan(tx)
    [(id, frequency)] = await fetch(tx, "SELECT id, frequency FROM notification.event")
    assert frequency == "instant"
    assert await read_plan(tx) == [(f"event {id}", 1), (f"event {id}", 1)]


async def test_many_events_at_once_become_one_message(tx: Tx) -> None:
    await add_channel(tx)
    for number in range(pipeline.MAX_SEPARATE + 1):
        await add_event(tx, cause=f"cause {number}")
    await pipeline.plan(tx)
    [(key, events)] = await read_plan(tx)
    assert key.startswith("events ")
    assert events == pipeline.MAX_SEPARATE + 1


async def test_digests_collect_events_until_they_are_sent(tx: Tx) -> None:
    await add_channel(tx)
    await choose(tx, "alert", "daily")
    for cause in ("first", "second"):
        await add_event(tx, cause=cause)
        await pipeline.plan(tx)
    [(first, count)] = await read_plan(tx)
    assert (first.split()[0], count) == ("daily", 2)
    # The digest is on its way: what comes now is for the next one.
    await tx.execute("UPDATE notification.delivery SET state = 'queued'")
    await add_event(tx, cause="third")
    await pipeline.plan(tx)
    [_, (second, count)] = await read_plan(tx)
    assert count == 1
    assert second > first


async def test_nothing_is_planned_for_kinds_that_are_off(tx: Tx) -> None:
    await add_channel(tx)
    await choose(tx, "alert", "off")
    await add_event(tx)
    await add_event(tx, kind="kind of a later version", cause="another")
    await pipeline.plan(tx)
    assert await read_plan(tx) == []
    assert await fetch(tx, "SELECT frequency FROM notification.event") == ["off", "off"]


async def test_quiet_hours_hold_instead_of_drop(tx: Tx) -> None:
    await add_channel(tx)
    now = dt.datetime.now(dt.UTC)
    begin, end = (now - dt.timedelta(hours=1)).time(), (now + dt.timedelta(hours=1)).time()
    await preferences.save_schedule(tx, LOCAL, DigestSchedule(quiet_from=begin, quiet_until=end))
    await add_event(tx)
    await pipeline.plan(tx)
    [(state, due_at)] = await fetch(tx, "SELECT state, due_at FROM notification.delivery")
    assert state == "waiting"
    assert dt.timedelta(minutes=50) < due_at - now <= dt.timedelta(hours=1)


@pytest.mark.parametrize(
    ("high", "saved", "score", "kind", "view"),
    [
        ("instant", "daily", 95, "saved_search", "Best"),
        # A match is told once, as the first kind that is not off.
        ("instant", "off", 95, "high_match", None),
        ("off", "off", 95, "match", None),
        ("instant", "daily", 84, "match", None),
    ],
)
async def test_a_match_is_told_as_a_saved_search_or_a_high_match(
    tx: Tx, high: Frequency, saved: Frequency, score: int, kind: str, view: str | None
) -> None:
    await add_channel(tx)
    place = await judged.make(tx)
    await saved_views.save(tx, place.profile, "Best", InboxFilters(min_score=90))
    await choose(tx, "high_match", high)
    await choose(tx, "saved_search", saved)
    await matches.save_verdict(tx, place.word(score))
    await pipeline.plan(tx)
    assert await fetch(tx, "SELECT kind, data->>'view' FROM notification.event") == [(kind, view)]
    assert len(await read_plan(tx)) == (kind != "match")


async def test_two_planners_write_each_delivery_once(database: Database) -> None:
    async with database.transaction() as tx:
        await add_channel(tx)
        await choose(tx, "alert", "daily")
        for number in range(50):
            await add_event(tx, cause=f"cause {number}")
            await add_event(tx, "backup", cause=f"backup {number}")

    async def plan() -> None:
        async with database.transaction() as tx:
            await pipeline.plan(tx)

    await asyncio.gather(*(plan() for _ in range(4)))
    linked = await fetch(
        database,
        "SELECT count(*)::int, count(DISTINCT event_id)::int FROM notification.delivery_event",
    )
    assert linked == [(100, 100)]


async def test_a_role_that_lost_its_rights_is_told_nothing_more(database: Database) -> None:
    person = await make_person(database, role="admin")
    await make_person(database, "bo@example.org", role="admin")
    notifier = Notifier(database, Settings())
    async with database.transaction() as tx:
        await add_channel(tx, "slack", owner=person.id, url="https://hooks.slack.com/services/a/b")
        await add_event(tx, owner=person.id)
    await notifier.plan()
    async with database.transaction() as tx:
        await persons.set_role(tx, person.email, "seeker")
        await add_event(tx, cause="a later one", owner=person.id)
    await notifier.send()
    assert [(state, detail) for _, state, detail in await states(database)] == [
        ("dropped", "nothing is left to report")
    ]


async def test_every_kind_has_a_default() -> None:
    assert {rule.default for rule in KINDS.values()} == {"instant", "daily"}

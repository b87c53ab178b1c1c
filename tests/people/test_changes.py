"""The log of administrative changes."""

from __future__ import annotations

import psycopg
import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.hiring.messages import webhooks
from jobmill.hiring.records import blocklist
from jobmill.people import changes, keys, persons
from jobmill.people.changes import AdminChange
from jobmill.queue import Finish, Work, operator_actions
from jobmill.rotation import searches
from tests.queue.helpers import stages

from .helpers import PASSWORD


async def told(tx: Tx, count: int = 1) -> list[tuple[str, str, str, list[str]]]:
    """The last changes, oldest first."""
    recent = await changes.find_recent(tx, limit=count)
    return [
        (change.noun, change.subject, change.what, change.details) for change in reversed(recent)
    ]


async def test_changes_to_a_person_are_logged_without_the_password(tx: Tx) -> None:
    await persons.add(tx, "Ada", "ada@example.org", "viewer", PASSWORD)
    await persons.set_role(tx, "ada@example.org", "admin")
    await persons.set_password(tx, "ada@example.org", "quite another password")
    added, role, password = await told(tx, 3)
    assert added == (
        "person",
        "Ada",
        "added",
        ["name: Ada", "role: viewer", "email: …", "password: …"],
    )
    assert role == ("person", "Ada", "changed", ["role: viewer → admin"])
    assert password == ("person", "Ada", "changed", ["password: … → …"])


async def test_closing_an_account_is_logged(tx: Tx) -> None:
    await persons.add(tx, "Ada", "ada@example.org", "viewer", PASSWORD)
    ended = await persons.deactivate(tx, "ada@example.org")
    [(_, _, what, [detail])] = await told(tx)
    assert ended.ended_at is not None
    assert (what, detail) == ("changed", f"ended at: none → {ended.ended_at:%Y-%m-%d %H:%M}")


async def test_changes_to_a_key_are_logged_without_use_and_digest(tx: Tx) -> None:
    made = await keys.add(tx, "reports", "read", lifetime=None)
    before = await told(tx)
    assert before == [("key", "reports", "added", ["name: reports", "scope: read"])]
    assert await keys.find_holder(tx, made.key)
    assert await told(tx) == before


async def test_changes_to_webhooks_and_blocked_addresses_are_logged_without_private_data(
    tx: Tx,
) -> None:
    hook = await webhooks.add(tx, "https://example.org/?token=abc")
    await webhooks.remove(tx, hook.id)
    await blocklist.add(tx, "eve@example.org", "sends the same thing daily")
    recent = await changes.find_recent(tx, limit=3)
    assert [(change.noun, change.what) for change in reversed(recent)] == [
        ("webhook", "added"),
        ("webhook", "removed"),
        ("blocked address", "added"),
    ]
    text = repr(recent)
    assert not any(word in text for word in ("token", "eve", "daily", hook.secret))


async def test_pauses_and_searches_are_logged(tx: Tx) -> None:
    await queue.declare_stages(tx, stages(tea=pour))
    await operator_actions.pause_phase(tx, "tea", "run", "descaling")
    await operator_actions.resume_phase(tx, "tea", "run")
    search = await searches.add(tx, "jooble", ["cook"], [""])
    await searches.update_search(tx, search.id, priority=9)
    paused, resumed, added, changed = await told(tx, 4)
    assert paused == ("pause", "tea run", "added", ["reason: descaling"])
    assert resumed[:3] == ("pause", "tea run", "removed")
    assert added[:3] == ("search", f"jooble {search.id}", "added")
    assert added[3] == [
        "enabled: yes", "keywords: cook", "platform: jooble", "priority: 50", "locations: any",
    ]  # fmt: skip
    assert changed[2:] == ("changed", ["priority: 50 → 9"])


async def pour(work: Work) -> Finish:
    return Finish()


async def test_the_actor_of_a_change_is_logged_with_a_name(database: Database) -> None:
    async with database.transaction() as tx:
        ada = await persons.add(tx, "Ada", "ada@example.org", "admin", PASSWORD)
    async with database.transaction(by=f"person:{ada.id}") as tx:
        await keys.add(tx, "reports", "read", lifetime=None)
    # The next transaction on this connection has another actor.
    async with database.transaction() as tx:
        await keys.add(tx, "copies", "read")
        actors = {
            change.subject: (change.actor, change.by) for change in await changes.find_recent(tx)
        }
    assert actors == {
        "Ada": ("local", None),
        "reports": (f"person:{ada.id}", "Ada"),
        "copies": ("local", None),
    }


async def test_changes_are_paged_and_updates_without_effect_are_not_logged(tx: Tx) -> None:
    await persons.add(tx, "Ada", "ada@example.org", "viewer", PASSWORD)
    await persons.set_role(tx, "ada@example.org", "viewer")
    await persons.set_role(tx, "ada@example.org", "admin")
    second: AdminChange
    [second] = await changes.find_recent(tx, limit=1)
    [first] = await changes.find_recent(tx, before=second.id, limit=1)
    assert (first.what, second.what) == ("added", "changed")


async def test_a_rolled_back_change_is_not_logged(database: Database) -> None:
    with pytest.raises(psycopg.errors.RaiseException):
        async with database.transaction() as tx:
            await keys.add(tx, "reports", "read", lifetime=None)
            await tx.execute("DO $$ BEGIN RAISE EXCEPTION 'no'; END $$")
    async with database.transaction() as tx:
        assert await changes.find_recent(tx) == []

from __future__ import annotations

import pytest

from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid, NotFound, Unauthenticated
from jobmill.people import passwords, persons, sessions
from tests.people.helpers import PASSWORD, make_person


async def test_an_address_belongs_to_one_person_in_any_case(tx: Tx) -> None:
    made = await persons.add(tx, " Ada ", "Ada@Example.org", "admin", PASSWORD)
    assert (made.name, made.email, made.role) == ("Ada", "Ada@Example.org", "admin")
    with pytest.raises(Conflict, match="already"):
        await persons.add(tx, "Eve", "ada@example.ORG ", "viewer", PASSWORD)
    credentials = await persons.find_credentials(tx, " ADA@example.org")
    assert credentials
    assert (credentials.id, credentials.role) == (made.id, "admin")
    assert await passwords.verify(credentials.password, PASSWORD)


@pytest.mark.parametrize(
    "email", ["", "ada", "@x", "a@", "a b@c", "a@b@c", "a\0@b", "x" * 65 + "@b"]
)
async def test_an_invalid_address_is_refused(tx: Tx, email: str) -> None:
    with pytest.raises(Invalid, match="not an email address"):
        await persons.add(tx, "Ada", email, "viewer", PASSWORD)


async def test_a_person_needs_a_name(tx: Tx) -> None:
    with pytest.raises(Invalid, match="name"):
        await persons.add(tx, " ", "a@b", "viewer", PASSWORD)


async def test_an_admin_counts_until_closed_or_demoted(tx: Tx) -> None:
    assert not await persons.has_admin(tx)
    await persons.add(tx, "Bo", "bo@b", "recruiter", PASSWORD)
    assert not await persons.has_admin(tx)
    await persons.set_role(tx, "bo@b", "admin")
    assert await persons.has_admin(tx)
    await persons.deactivate(tx, "BO@b")
    assert not await persons.has_admin(tx)


async def test_a_closed_account_cannot_sign_in_and_can_be_reopened(tx: Tx) -> None:
    first = await persons.add(tx, "Ada", "a@b", "admin", PASSWORD)
    ended = await persons.deactivate(tx, "a@b")
    assert ended.ended_at
    assert await persons.find_credentials(tx, "a@b") is None
    for act in (persons.deactivate(tx, "a@b"), persons.set_role(tx, "a@b", "admin")):
        with pytest.raises(NotFound):
            await act
    again = await persons.add(tx, "Ada L", "a@b", "viewer", PASSWORD)
    assert (again.id, again.name, again.role, again.ended_at) == (first.id, "Ada L", "viewer", None)


@pytest.mark.parametrize("change", ["password", "end"])
async def test_a_new_password_or_closing_the_account_ends_all_sessions(tx: Tx, change: str) -> None:
    await persons.add(tx, "Ada", "a@b", "viewer", PASSWORD)
    await persons.add(tx, "Bo", "b@b", "viewer", PASSWORD)
    ada, bo = await persons.find_credentials(tx, "a@b"), await persons.find_credentials(tx, "b@b")
    assert ada
    assert bo
    first, other = await sessions.create(tx, ada), await sessions.create(tx, bo)
    if change == "end":
        await persons.deactivate(tx, "a@b")
    else:
        await persons.set_password(tx, "a@b", "another password")
    assert await sessions.find(tx, first) is None
    assert await sessions.find(tx, other)
    # A sign-in with the old password comes too late.
    with pytest.raises(Unauthenticated):
        await sessions.create(tx, ada)


async def test_a_session_has_the_persons_current_role(tx: Tx) -> None:
    await persons.add(tx, "Ada", "a@b", "viewer", PASSWORD)
    ada = await persons.find_credentials(tx, "a@b")
    assert ada
    id = await sessions.create(tx, ada)
    await persons.set_role(tx, "a@b", "admin")
    assert await sessions.find(tx, id) == sessions.Session(
        ada.id, "Ada", "admin", is_confirmed=True, stale=False
    )
    assert await sessions.find(tx, id + "x") is None
    await sessions.delete(tx, id)
    assert await sessions.find(tx, id) is None


async def test_an_expired_session_is_deleted(tx: Tx) -> None:
    await persons.add(tx, "Ada", "a@b", "viewer", PASSWORD)
    ada = await persons.find_credentials(tx, "a@b")
    assert ada
    old, new = await sessions.create(tx, ada), await sessions.create(tx, ada)
    await tx.execute(
        "UPDATE people.session SET expires_at = now() WHERE digest = %s",
        [sessions.digest(old)],
    )
    assert await sessions.find(tx, old) is None
    assert await sessions.prune(tx) == 1
    assert await sessions.find(tx, new)


async def test_the_table_holds_neither_password_nor_session(database: Database) -> None:
    await make_person(database)
    async with database.transaction() as tx:
        ada = await persons.find_credentials(tx, "ada@example.org")
        assert ada
        id = await sessions.create(tx, ada)
        cursor = await tx.execute(
            "SELECT person::text || session::text FROM people.person CROSS JOIN people.session"
        )
        [(text,)] = await cursor.fetchall()
    assert PASSWORD not in text
    assert id not in text
    assert id.encode().hex() not in text

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Invalid, NotFound
from jobmill.people import keys, persons, secrets
from tests.people.helpers import make_person


async def test_a_key_works_until_it_is_revoked(tx: Tx) -> None:
    made = await keys.add(tx, " reports ", "read")
    assert made.key.startswith("jm_")
    assert len(made.key) > 40
    holder = await keys.find_holder(tx, made.key)
    assert holder
    assert (holder.id, holder.name, holder.scope) == (made.id, "reports", "read")
    for wrong in ("", made.key[:-1], made.key + "x", made.key[3:], "jm_\ud800"):
        assert await keys.find_holder(tx, wrong) is None
    first = await keys.revoke(tx, made.id)
    assert first.ended_at
    assert await keys.find_holder(tx, made.key) is None
    assert await keys.revoke(tx, made.id) == first
    with pytest.raises(NotFound):
        await keys.revoke(tx, 2**62)
    with pytest.raises(Invalid):
        await keys.add(tx, " ", "read")


async def test_the_table_does_not_hold_the_key(tx: Tx) -> None:
    made = await keys.add(tx, "x", "admin")
    row = await fetch_value(
        tx, str, "SELECT api_key::text FROM people.api_key WHERE id = %s", [made.id]
    )
    assert row
    assert made.key not in row
    assert made.key.encode().hex() not in row


@pytest.mark.parametrize(("ago", "noted"), [(None, True), ("59 s", False), ("61 s", True)])
async def test_the_use_of_a_key_is_recorded_at_most_once_a_minute(
    tx: Tx, ago: str | None, noted: bool
) -> None:
    made = await keys.add(tx, "x", "admin")
    await tx.execute("UPDATE people.api_key SET used_at = now() - %s::interval", [ago])
    await keys.find_holder(tx, made.key)
    [key] = await keys.find_all(tx)
    now = await fetch_value(tx, bool, "SELECT used_at = now() FROM people.api_key")
    assert key.used_at
    assert now is noted


async def test_concurrent_requests_do_not_wait_to_record_the_use(database: Database) -> None:
    async with database.transaction() as tx:
        made = await keys.add(tx, "x", "admin")
    async with database.transaction() as first:
        assert await keys.find_holder(first, made.key)
        async with asyncio.timeout(5), database.transaction() as second:
            assert await keys.find_holder(second, made.key)


async def test_concurrent_callers_get_the_same_signing_key(database: Database) -> None:
    async def ask() -> bytes:
        async with database.transaction() as tx:
            return await secrets.get_signing_key(tx)

    signing_keys = set(await asyncio.gather(*(ask() for _ in range(6))))
    assert len(signing_keys) == 1
    assert len(signing_keys.pop()) >= 32


async def test_an_expired_key_opens_nothing(tx: Tx) -> None:
    made = await keys.add(tx, "x", "read", lifetime=dt.timedelta(days=1))
    assert await keys.find_holder(tx, made.key)
    await tx.execute("UPDATE people.api_key SET expires_at = now()")
    assert await keys.find_holder(tx, made.key) is None
    [key] = await keys.find_all(tx)
    assert (key.is_active, key.ended_at) == (False, None)


async def test_a_key_created_while_its_owner_is_removed_does_not_survive(
    database: Database,
) -> None:
    owner = await make_person(database)

    async def create() -> bool:
        try:
            async with database.transaction() as tx:
                await keys.add(tx, "x", "read", owner_id=owner.id)
        except NotFound:
            return False
        return True

    async def remove() -> None:
        async with database.transaction() as tx:
            await persons.deactivate(tx, owner.email)

    await asyncio.gather(*(create() for _ in range(3)), remove(), *(create() for _ in range(3)))
    async with database.transaction() as tx:
        assert not any(key.is_active for key in await keys.find_all(tx))

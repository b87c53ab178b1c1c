from __future__ import annotations

import asyncio

import pytest

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.people import changes, model_keys, stored_settings
from jobmill.settings import Settings

KEY = "sk-ant-secret-1"


async def test_a_stored_value_applies_unless_the_environment_or_the_file_sets_it(tx: Tx) -> None:
    await stored_settings.save(tx, {"budget_day": ("", "2.5"), "processors": ("", "3")})
    applied = await stored_settings.apply(tx, Settings(processors=7))
    assert (applied.budget_day, applied.processors) == (2.5, 7)
    # Applied settings can be applied again: a value that is saved later counts.
    await stored_settings.save(tx, {"budget_day": ("2.5", "4")})
    assert (await stored_settings.apply(tx, applied)).budget_day == 4
    await stored_settings.save(tx, {"budget_day": ("4", "")})
    assert (await stored_settings.apply(tx, Settings())).budget_day == 1
    described = [(row.noun, row.subject, row.what) for row in await changes.find_recent(tx)]
    assert described[0] == ("setting", "budget_day", "removed")
    assert len(described) == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [("processors", "many"), ("data_dir", "/tmp"), ("chromium", "/bin/sh"), ("nonsense", "1")],
)
async def test_a_wrong_value_or_name_changes_nothing(tx: Tx, name: str, value: str) -> None:
    with pytest.raises(Invalid):
        await stored_settings.save(tx, {name: ("", value)})
    assert await stored_settings.read_all(tx) == {}


async def test_a_value_of_another_version_is_ignored(tx: Tx) -> None:
    await tx.execute("INSERT INTO people.setting (name, value) VALUES ('processors', 'many')")
    assert (await stored_settings.apply(tx, Settings())).processors == Settings().processors


async def test_of_two_admins_who_edit_one_setting_the_second_is_told(database: Database) -> None:
    async def save(name: str, value: str) -> str:
        try:
            async with database.transaction() as tx:
                await stored_settings.save(tx, {name: ("", value)})
        except Conflict:
            return "conflict"
        return value

    saved = await asyncio.gather(
        *(save("budget_day", str(value)) for value in range(2, 8)), save("processors", "5")
    )
    kept = [value for value in saved[:-1] if value != "conflict"]
    async with database.transaction() as tx:
        stored = await stored_settings.read_all(tx)
    assert (len(kept), stored) == (1, {"budget_day": kept[0], "processors": "5"})


async def test_a_key_is_stored_encrypted_and_stands_in_for_an_unset_variable(tx: Tx) -> None:
    await model_keys.save(tx, "ANTHROPIC_API_KEY", f" {KEY}\n")
    assert await model_keys.with_stored_keys(tx, {"A": "b", "ANTHROPIC_API_KEY": ""}) == {
        "A": "b",
        "ANTHROPIC_API_KEY": KEY,
    }
    from_environment = {"ANTHROPIC_API_KEY": "sk-of-the-environment"}
    assert await model_keys.with_stored_keys(tx, from_environment) == from_environment
    stored = await fetch_value(tx, bytes, "SELECT encrypted FROM people.model_key")
    assert stored
    assert KEY.encode() not in stored
    logged = await fetch_value(tx, str, "SELECT string_agg(change::text, ' ') FROM people.change")
    assert logged
    assert "model key" in logged
    assert KEY not in logged
    assert stored.hex() not in logged
    await model_keys.remove(tx, "ANTHROPIC_API_KEY")
    assert await model_keys.with_stored_keys(tx, {}) == {}
    with pytest.raises(NotFound):
        await model_keys.remove(tx, "ANTHROPIC_API_KEY")


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "x" * 501])
async def test_what_is_no_key_is_refused(tx: Tx, key: str) -> None:
    with pytest.raises(Invalid):
        await model_keys.save(tx, "OPENAI_API_KEY", key)


async def test_a_key_of_another_installation_is_ignored(tx: Tx) -> None:
    await model_keys.save(tx, "OPENAI_API_KEY", KEY)
    await tx.execute("UPDATE people.secret SET key = sha256('other')")
    assert await model_keys.with_stored_keys(tx, {}) == {"OPENAI_API_KEY": ""}

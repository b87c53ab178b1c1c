"""`jobmill notification`."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobmill.db import Database
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.notifications.helpers import add_channel, recorded


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return forked.runner(home, url)


async def test_channels_are_added_tested_listed_and_removed(run: Run) -> None:
    assert "jobmill notification add email" in (await run("notification", "channels")).stdout
    (added,) = json_lines(
        await run("notification", "add", "webhook", "https://hook.example/in", "--json")
    )
    assert set(added) == {"id", "kind", "name", "secret"}
    (channel,) = json_lines(await run("notification", "channels", "--json"))
    assert (channel["id"], channel["enabled"]) == (added["id"], True)
    assert (await run("notification", "list")).stdout == "No deliveries yet.\n"
    assert "queued" in (await run("notification", "test", added["id"])).stdout
    (delivery,) = json_lines(await run("notification", "list", "--json"))
    assert (delivery["frequency"], delivery["state"]) == ("test", "waiting")
    assert "webhook hook.example …e/in · waiting" in (await run("notification", "list")).stdout
    assert (await run("notification", "remove", added["id"])).stdout == "Channel 1 removed.\n"
    again = await run("notification", "remove", added["id"])
    assert again.returncode == 3


async def test_the_frequency_of_a_kind_is_chosen(run: Run) -> None:
    await run("notification", "set", "alert", "weekly")
    rows = json_lines(await run("notification", "kinds", "--json"))
    assert {"kind": "alert", "audience": "operators", "frequency": "weekly"} in rows
    wrong = await run("notification", "set", "weather", "daily")
    assert wrong.returncode == 2
    assert "Choose one of high_match" in wrong.stderr


async def test_a_failed_backup_is_told_to_the_operators(
    run: Run, database: Database, tmp_path: Path
) -> None:
    async with database.transaction() as tx:
        await add_channel(tx)
    existing = tmp_path / "nightly.dump"
    existing.write_text("yesterday")
    assert (await run("db", "backup", str(existing))).returncode == 4
    [(kind, data)] = await recorded(database)
    assert kind == "backup"
    assert data["detail"].startswith("nightly.dump: ")

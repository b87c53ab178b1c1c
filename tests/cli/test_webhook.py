"""`jobmill webhook`."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobmill.db import Database
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.hiring.helpers import apply, make_opening

WEBHOOK = {"id", "url", "jobId", "events", "enabled", "createdAt"}
DELIVERY = {
    "id", "webhookId", "jobId", "seq", "eventType", "state", "attempts", "detail", "createdAt",
    "endedAt",
}  # fmt: skip
URL = "https://example.org/hook"


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return forked.runner(home, url)


async def test_deliveries_of_a_webhook_are_listed(run: Run, database: Database) -> None:
    assert "jobmill webhook add" in (await run("webhook", "list")).stdout
    (added,) = json_lines(await run("webhook", "add", URL, "--event", "APPLIED", "--json"))
    assert set(added) == {"id", "url", "secret"}
    assert "No deliveries yet" in (await run("webhook", "deliveries", added["id"])).stdout
    async with database.transaction() as tx:
        opening = await make_opening(tx)
        await apply(tx, opening)
    (delivery,) = json_lines(await run("webhook", "deliveries", added["id"], "--json"))
    assert set(delivery) == DELIVERY
    assert (delivery["eventType"], delivery["jobId"]) == ("APPLIED", opening.id)
    assert "APPLIED · " in (await run("webhook", "deliveries", added["id"])).stdout
    none = await run("webhook", "deliveries", added["id"], "--state", "failed")
    assert none.stdout == "No deliveries match.\n"


async def test_a_webhook_can_be_disabled_shown_and_removed(run: Run, database: Database) -> None:
    (added,) = json_lines(await run("webhook", "add", URL, "--json"))
    assert added["secret"] not in (await run("webhook", "show", added["id"])).stdout
    assert "is disabled" in (await run("webhook", "disable", added["id"])).stdout
    shown = (await run("webhook", "list")).stdout
    assert "disabled · all events · all openings" in shown
    (webhook,) = json_lines(await run("webhook", "list", "--json"))
    assert set(webhook) == WEBHOOK
    assert json_lines(await run("webhook", "show", added["id"], "--json")) == [webhook]
    (on,) = json_lines(await run("webhook", "enable", added["id"], "--json"))
    assert on["enabled"]
    (gone,) = json_lines(await run("webhook", "remove", added["id"], "--json"))
    assert gone == {"id": added["id"], "removed": True}


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("show", 999), "`jobmill webhook list`"),
        (("replay", 999), "`jobmill webhook deliveries WEBHOOK`"),
        (("add", URL, "--opening", 999), "`jobmill opening list`"),
    ],
)
async def test_a_missing_record_is_reported_with_a_command_that_lists_the_existing_ones(
    run: Run, words: tuple[object, ...], where: str, database: Database
) -> None:
    done = await run("webhook", *words)
    assert (done.returncode, where in done.stderr) == (3, True)

"""The commands for the rotation, as somebody would use them, against a site on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobmill.cli.rotation import reports
from tests.cli import forked
from tests.outside.site import Site, open_site, reply

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]

JOBS = {
    "jobs": [
        {
            "id": 1,
            "title": "Pump Engineer",
            "absolute_url": "https://wells.example/1",
            "content": "You look after our wells.",
            "location": {"name": "Porto"},
        }
    ]
}


@pytest.fixture
async def site() -> Any:
    async with open_site() as site:
        site.on(
            "/v1/boards/wells/jobs",
            reply(json.dumps(JOBS).encode(), content_type="application/json"),
        )
        yield site


@pytest.fixture
def run(home: Path, url: str, site: Site) -> Run:
    own = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "DATABASE_URL": forked.as_url(url),
        "JOBMILL_HOST_OVERRIDES": f"boards-api.greenhouse.io={site.place}",
        "JOBMILL_HOST_INTERVAL_SECONDS": "0.001",
    }

    async def call(
        *arguments: object, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            forked.jobmill, "rotate", *arguments, stdin=stdin, folder=home, variables=own | more
        )

    return call


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_boards_are_imported_called_and_told_of(run: Run) -> None:
    told = lines(await run("import", "-", "--json", stdin="greenhouse,wells\ngreenhouse,gone\n"))
    assert told == [{"boards": 2, "new": 2, "known": 0}]
    due = lines(await run("due", "--json"))
    assert {one["name"] for one in due} == {"wells", "gone"}

    (ran,) = lines(await run("run", "--json"))
    assert (ran["trigger"], ran["chosen"], ran["called"], ran["new"]) == ("manual", 2, 2, 1)
    assert (ran["failures"], ran["waiting"]) == (1, 0)
    assert lines(await run("report", "--json"))[0] == ran
    (failed,) = ran["failed"]
    assert (failed["platform"], failed["slug"]) == ("greenhouse", "gone")
    pages = {one["slug"]: one["pages"] for one in ran["calls"]}
    asked = {"signature": "greenhouse:board_token=wells", "result_count": 1}
    assert pages["wells"] == [asked]
    assert "greenhouse gone failed: it is not there (status 404)" in (await run("report")).stdout
    said = "Nothing is due within 0.5 hours. `jobmill rotate due --ahead 24` looks further ahead."
    assert (await run("due", "--ahead", 0.5)).stdout.split() == said.split()
    assert "Nothing can be read" in (await run("run")).stdout

    (status,) = lines(await run("status", "--json"))
    (platform,) = status["platforms"]
    assert [platform[name] for name in ("calls", "new", "unique_listings")] == [2, 1, 1]
    assert any(one["what"] == "theirstack" for one in status["standing_still"])
    assert "Pump" not in (await run("status")).stdout

    (wells,) = [one["source"] for one in due if one["name"] == "wells"]
    (synced,) = lines(await run("sync", wells, "--json"))
    assert synced["outcome"] in ("complete", "unchanged")


@pytest.mark.parametrize(
    ("ahead", "advised"), [(0, "--ahead 24"), (12, "--ahead 24"), (24, "--ahead 48"), (48, "--ahead 96"),
    (8_000, "--ahead 8760"), (8_760, None)]
)  # fmt: skip
def test_whoever_has_looked_ahead_is_led_further_or_nowhere(
    ahead: float, advised: str | None
) -> None:
    said = reports.describe_nothing_due(ahead)
    assert said.startswith("Nothing is due")
    assert (f"{advised}`" in said) if advised else ("--ahead" not in said)


async def test_a_report_names_some_of_many_failures(run: Run, url: str) -> None:
    await run("import", "-", stdin="".join(f"greenhouse,gone{n:02}\n" for n in range(23)))
    (told,) = lines(await run("run", "--queue", "--json"))
    async with await psycopg.AsyncConnection.connect(url) as tx:
        await tx.execute(
            """
            INSERT INTO rotation.call (source_id, platform, run_id, signature, key, called_at,
                                       answer, detail, requests, result_count, new, duplicates)
            SELECT id, source_type, %s, 'x', 'x', now(), 'gone', 'it is not there', 1, 0, 0, 0
              FROM catalog.source
            """,
            [told["run"]],
        )
    said = (await run("report")).stdout
    assert said.count(" failed: it is not there") == 20
    assert "gone19 failed" in said
    assert "gone20" not in said
    assert "and 3 more failed" in said


async def test_what_is_told_of_the_rotation_fits_a_narrow_screen(run: Run, url: str) -> None:
    await run("add", "greenhouse", "wells")
    await run("add", "smartrecruiters", "wells")
    await run("run", "--platform", "greenhouse")
    async with await psycopg.AsyncConnection.connect(url) as tx:
        await tx.execute(
            """
            INSERT INTO rotation.call (source_id, platform, signature, key, called_at, answer,
                                       requests, result_count, new, duplicates)
            SELECT id, source_type, 'x', 'x', now(), 'ok', 1, 40, 9, 3
              FROM catalog.source, generate_series(1, 12000)
             WHERE source_type = 'smartrecruiters'
            """
        )
    told = (await run("status")).stdout
    assert "smartrecruiters" in told
    assert "480000" in told
    assert max(map(len, told.splitlines())) <= 80
    assert max(map(len, (await run("report")).stdout.splitlines())) <= 80


async def test_a_turn_is_changed_while_somebody_changes_another(run: Run, url: str) -> None:
    await run("add", "greenhouse", "wells", "gone")
    one, two = [due["source"] for due in lines(await run("due", "--json"))]
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
        # Both are to be looked at by whoever comes first.
        await other.execute("INSERT INTO rotation.changed_source SELECT id FROM catalog.source")
        async with other.transaction():
            await other.execute(
                "SELECT 1 FROM rotation.target WHERE source_id = %s FOR UPDATE", [two]
            )
            assert "is paused" in (await run("pause", one)).stdout


async def test_turns_are_changed_by_people(run: Run) -> None:
    assert "1 new board" in (await run("add", "greenhouse", "wells", "--priority", 5)).stdout
    (due,) = lines(await run("due", "--json"))
    assert due["priority"] == 5
    id = due["source"]
    assert "is paused" in (await run("pause", id)).stdout
    assert lines(await run("due", "--json")) == []
    again = await run("pause", id)
    assert (again.returncode, "already" in again.stderr) == (4, True)
    assert "is active" in (await run("resume", id)).stdout
    assert lines(await run("revive", id, "--json"))[0]["status"] == "active"
    assert (await run("pause", 999)).returncode == 3
    (told,) = lines(await run("limit", "greenhouse", "--per-hour", 0, "--json"))
    assert told == {"platform": "greenhouse", "per_hour": 0, "per_day": None}
    done = await run("run")
    assert "greenhouse was skipped: its calls" in done.stdout


async def test_wrong_lines_are_named_and_nothing_is_added(run: Run) -> None:
    done = await run("import", "-", stdin="greenhouse,wells\nnowhere,x\n")
    assert done.returncode == 2
    assert "line 2: there is no platform nowhere" in done.stderr
    assert lines(await run("due", "--json")) == []


async def test_searches_are_kept_and_become_slices(run: Run) -> None:
    assert "No searches" in (await run("search", "list")).stdout
    (told,) = lines(
        await run("search", "add", "jooble", "cook", "diver", "--location", "Porto", "--json")
    )
    assert (told["slices"], told["enabled"]) == (2, True)
    id = told["id"]
    assert "cook, diver" in (await run("search", "list")).stdout
    assert f"Search {id} is disabled: 0 slices" in (await run("search", "disable", id)).stdout
    assert f"Search {id} is enabled: 2 slices" in (await run("search", "enable", id)).stdout
    assert lines(await run("search", "prioritise", id, 90, "--json"))[0]["priority"] == 90
    done = await run("run", "--slices")
    assert "JOOBLE_API_KEY" in done.stdout
    assert (await run("search", "remove", id)).returncode == 0
    assert (await run("run", "--slices", "--companies")).returncode == 2


async def test_a_run_at_the_pace_of_the_schedule_may_find_nothing_to_do(run: Run) -> None:
    await run("add", "greenhouse", "wells")
    done = await run("run", "--trigger", "schedule", JOBMILL_ROTATION_CALLS_PER_DAY="0")
    assert "Nothing is due at this pace" in done.stdout
    queued = lines(await run("run", "--queue", "--json"))
    assert (queued[0]["chosen"], queued[0]["waiting"]) == (1, 1)

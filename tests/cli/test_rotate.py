"""`jobmill rotate` against a site on loopback."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobmill.cli.rotation import reports
from tests.cli.forked import Run, json_lines, runner
from tests.outside.site import LoopbackSite, open_site, reply

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
def run(home: Path, url: str, site: LoopbackSite) -> Run:
    command = runner(home, url, JOBMILL_HOST_OVERRIDES=f"boards-api.greenhouse.io={site.place}")

    async def call(
        *arguments: object, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return await command("rotate", *arguments, stdin=stdin, **more)

    return call


async def test_boards_are_imported_read_and_reported(run: Run) -> None:
    imported = json_lines(
        await run("import", "-", "--json", stdin="greenhouse,wells\ngreenhouse,gone\n")
    )
    assert imported == [{"boards": 2, "new": 2, "known": 0}]
    due = json_lines(await run("due", "--json"))
    assert {entry["name"] for entry in due} == {"wells", "gone"}

    (ran,) = json_lines(await run("run", "--json"))
    assert (ran["trigger"], ran["chosen"], ran["called"], ran["new"]) == ("manual", 2, 2, 1)
    assert (ran["failures"], ran["waiting"]) == (1, 0)
    assert json_lines(await run("report", "--json"))[0] == ran
    (failed,) = ran["failed"]
    assert (failed["platform"], failed["slug"]) == ("greenhouse", "gone")
    pages = {entry["slug"]: entry["pages"] for entry in ran["calls"]}
    page = {"signature": "greenhouse:board_token=wells", "result_count": 1}
    assert pages["wells"] == [page]
    assert "greenhouse gone failed: not found (status 404)" in (await run("report")).stdout
    nothing_due = (
        "Nothing is due within 0.5 hours. `jobmill rotate due --ahead 24` looks further ahead."
    )
    assert (await run("due", "--ahead", 0.5)).stdout.split() == nothing_due.split()
    assert "Nothing can be read" in (await run("run")).stdout

    (status,) = json_lines(await run("status", "--json"))
    (platform,) = status["platforms"]
    assert [platform[name] for name in ("calls", "new", "unique_listings")] == [2, 1, 1]
    assert any(entry["what"] == "theirstack" for entry in status["blocked"])
    assert "Pump" not in (await run("status")).stdout

    (wells,) = [entry["source"] for entry in due if entry["name"] == "wells"]
    (synced,) = json_lines(await run("sync", wells, "--json"))
    assert synced["outcome"] in ("complete", "unchanged")


@pytest.mark.parametrize(
    ("ahead", "advised"), [(0, "--ahead 24"), (12, "--ahead 24"), (24, "--ahead 48"), (48, "--ahead 96"),
    (8_000, "--ahead 8760"), (8_760, None)]
)  # fmt: skip
def test_an_empty_due_list_suggests_a_longer_range(ahead: float, advised: str | None) -> None:
    text = reports.describe_nothing_due(ahead)
    assert text.startswith("Nothing is due")
    assert (f"{advised}`" in text) if advised else ("--ahead" not in text)


async def test_a_report_names_some_of_many_failures(run: Run, url: str) -> None:
    await run("import", "-", stdin="".join(f"greenhouse,gone{n:02}\n" for n in range(23)))
    (queued,) = json_lines(await run("run", "--queue", "--json"))
    async with await psycopg.AsyncConnection.connect(url) as tx:
        await tx.execute(
            """
            INSERT INTO rotation.call (source_id, platform, run_id, signature, key, called_at,
                                       answer, detail, requests, result_count, new, duplicates)
            SELECT id, source_type, %s, 'x', 'x', now(), 'gone', 'not found', 1, 0, 0, 0
              FROM catalog.source
            """,
            [queued["run"]],
        )
    report = (await run("report")).stdout
    assert report.count(" failed: not found") == 20
    assert "gone19 failed" in report
    assert "gone20" not in report
    assert "and 3 more failed" in report


async def test_rotation_reports_fit_80_columns(run: Run, url: str) -> None:
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
    status = (await run("status")).stdout
    assert "smartrecruiters" in status
    assert "480000" in status
    assert max(map(len, status.splitlines())) <= 80
    assert max(map(len, (await run("report")).stdout.splitlines())) <= 80


async def test_a_target_can_be_changed_while_another_is_locked(run: Run, url: str) -> None:
    await run("add", "greenhouse", "wells", "gone")
    source, locked_source = [due["source"] for due in json_lines(await run("due", "--json"))]
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as other:
        # The next command has to update both targets.
        await other.execute("INSERT INTO rotation.changed_source SELECT id FROM catalog.source")
        async with other.transaction():
            await other.execute(
                "SELECT 1 FROM rotation.target WHERE source_id = %s FOR UPDATE", [locked_source]
            )
            assert "is paused" in (await run("pause", source)).stdout


async def test_a_sync_waits_in_the_queue_for_a_busy_host(
    run: Run, url: str, site: LoopbackSite
) -> None:
    await run("add", "greenhouse", "wells")
    async with await psycopg.AsyncConnection.connect(url) as tx:
        await tx.execute(
            "INSERT INTO outside.host (name, last_start_at, reservations, held_until)"
            " VALUES ('boards-api.greenhouse.io', now(), '{}', now() + interval '1 hour')"
        )
    synced = await run("sync", 1, "--json")
    assert (synced.returncode, json_lines(synced)[0]["outcome"]) == (0, "waiting")
    assert not site.requests
    async with await psycopg.AsyncConnection.connect(url) as tx:
        cursor = await tx.execute(
            "SELECT status::text, available_at - now() > interval '50 minutes' FROM queue.live"
        )
        assert await cursor.fetchall() == [("PENDING", True)]
        cursor = await tx.execute("SELECT count(*) FROM catalog.run")
        assert await cursor.fetchall() == [(0,)]
    assert "Task" in (await run("sync", 1)).stdout


async def test_targets_can_be_paused_resumed_and_limited(run: Run) -> None:
    assert "1 new board" in (await run("add", "greenhouse", "wells", "--priority", 5)).stdout
    (due,) = json_lines(await run("due", "--json"))
    assert due["priority"] == 5
    id = due["source"]
    assert "is paused" in (await run("pause", id)).stdout
    assert json_lines(await run("due", "--json")) == []
    again = await run("pause", id)
    assert (again.returncode, "already" in again.stderr) == (4, True)
    assert "is active" in (await run("resume", id)).stdout
    assert json_lines(await run("revive", id, "--json"))[0]["status"] == "active"
    assert (await run("pause", 999)).returncode == 3
    (limits,) = json_lines(await run("limit", "greenhouse", "--per-hour", 0, "--json"))
    assert limits == {"platform": "greenhouse", "per_hour": 0, "per_day": None}
    (changed,) = json_lines(await run("set", id, "--priority", 70, "--interval", "2d", "--json"))
    assert (changed["priority"], changed["own_interval"]) == (70, changed["interval"])
    # The names that scripts know, whatever the columns are called.
    assert {"known_at", "found", "looked", "shown", "shown_days", "rho", "d", "gate_at"} <= {
        *changed
    }
    assert (await run("set", id)).returncode == 2
    assert "paused" not in (await run("set", id, "--interval", "usual", "--window", "6h")).stdout
    done = await run("run")
    assert "greenhouse was skipped: its calls" in done.stdout


async def test_invalid_board_lines_are_named_and_nothing_is_added(run: Run) -> None:
    done = await run("import", "-", stdin="greenhouse,wells\nnowhere,x\n")
    assert done.returncode == 2
    assert "line 2: there is no platform nowhere" in done.stderr
    assert json_lines(await run("due", "--json")) == []


async def test_searches_are_saved_and_become_slices(run: Run) -> None:
    assert "No searches" in (await run("search", "list")).stdout
    (search,) = json_lines(
        await run("search", "add", "jooble", "cook", "diver", "--location", "Porto", "--json")
    )
    assert (search["slices"], search["enabled"]) == (2, True)
    id = search["id"]
    assert "cook, diver" in (await run("search", "list")).stdout
    assert f"Search {id} is disabled: 0 slices" in (await run("search", "disable", id)).stdout
    assert f"Search {id} is enabled: 2 slices" in (await run("search", "enable", id)).stdout
    assert json_lines(await run("search", "prioritise", id, 90, "--json"))[0]["priority"] == 90
    (changed,) = json_lines(
        await run("search", "set", id, "--days-back", 7, "--interval", "2d", "--json")
    )
    assert (changed["days_back"], changed["priority"]) == (7, 90)
    assert "jobs of 7 days" in (await run("search", "list")).stdout
    refused = await run("search", "add", "careerjet", "cook")
    assert (refused.returncode, "403 Forbidden" in refused.stderr) == (2, True)
    assert "careerjet is not read now: 403" in (await run("due", "--platform", "careerjet")).stdout
    assert "careerjet was skipped: 403" in (await run("run", "--platform", "careerjet")).stdout
    done = await run("run", "--slices")
    assert "JOOBLE_API_KEY" in done.stdout
    assert (await run("search", "remove", id)).returncode == 0
    assert (await run("run", "--slices", "--companies")).returncode == 2


async def test_a_scheduled_run_can_have_nothing_to_do(run: Run) -> None:
    await run("add", "greenhouse", "wells")
    done = await run("run", "--trigger", "schedule", JOBMILL_ROTATION_CALLS_PER_DAY="0")
    assert "Nothing is due at this pace" in done.stdout
    queued = json_lines(await run("run", "--queue", "--json"))
    assert (queued[0]["chosen"], queued[0]["waiting"]) == (1, 1)

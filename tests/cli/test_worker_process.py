"""A worker process with real stages: what it logs, how fast it may start, and which settings it refuses."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from jobmill.db import Database
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from tests.cli.forked import as_url, jobmill
from tests.cli.test_serve import Running
from tests.queue.helpers import fetch

ROOT = Path(__file__).parents[2]
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def variables(home: Path, url: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "DATABASE_URL": as_url(url),
        "JOBMILL_LOG_FORMAT": "json",
    }


@pytest.fixture
async def run(home: Path, variables: dict[str, str], database: Database) -> Run:
    """The command on a database that has a profile."""
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile())

    def call(*arguments: str, **more: str) -> CompletedProcess[str]:
        return jobmill(*arguments, folder=home, variables=variables | more)

    return call


def export(home: Path, jobs: int) -> str:
    """A file of jobs that the older queue had read, so that no stage needs the network. Their URLs do not
    name the company, whose analysis they would wait for."""
    job_data = {
        "company": "Brinewell",
        "location": "Remote",
        "description": "You design, build and test pumps for clean water. " * 5,
    }
    lines = [
        {
            "id": f"job-{number}",
            "type": "job",
            "url": f"https://listings.example/jobs/{number}",
            "pipeline_state": {"job_data": job_data | {"title": f"Pump Engineer {number}"}},
        }
        for number in range(jobs)
    ]
    (home / "old.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return "old.jsonl"


def log_lines(done: CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stderr.splitlines()]


async def test_a_worker_logs_each_start_step_and_end_with_its_duration(
    run: Run, home: Path, database: Database
) -> None:
    assert run("queue", "import", export(home, 1)).stdout == "1 item imported\n"
    done = run("worker", "--drain")
    assert done.returncode == 0, done.stderr
    lines = log_lines(done)
    [id] = await fetch(database, "SELECT id FROM queue.item WHERE kind = 'listing'")
    about_item = [
        (line["message"], line["phase"], line.get("next") or line.get("status"))
        for line in lines
        if line.get("item") == id and line["level"] == "info"
    ]
    [outcome] = await fetch(database, "SELECT status FROM queue.items WHERE id = %s", [id])
    assert about_item[:4] == [
        ("item started", "listing/scrape", None),
        ("stage changed", "listing/scrape", "filter"),
        ("item started", "listing/filter", None),
        ("stage changed", "listing/filter", "analyze"),
    ]
    assert about_item[-1][0] == "item ended", "\n".join(done.stderr.splitlines()[-6:])
    assert about_item[-1][2] == outcome
    ends = [line for line in lines if line["message"] in ("stage changed", "item ended")]
    assert all(0 <= line["seconds"] < 60 for line in ends)
    assert sum(line["seconds"] for line in ends) > 0

    shown = json.loads(run("queue", "show", str(id), "--json").stdout)
    ended_runs = [event for event in shown["timeline"] if event["was"] == "PROCESSING"]
    assert ended_runs
    assert all(0 < event["seconds"] < 60 for event in ended_runs)
    assert "took" in run("queue", "show", str(id)).stdout


def log_until(process: Running, count: int) -> list[dict[str, Any]]:
    """The statistics and health lines of a running worker, when it has logged this many; then stop it."""
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            lines = [json.loads(line) for line in process.errors.read_text().splitlines(keepends=True)
                     if line.endswith("\n")]  # fmt: skip
            status = [line for line in lines if line["logger"] == "jobmill.queue.status_log"]
            if len(status) >= count:
                return status
            time.sleep(0.1)
    finally:
        process.tell()
        process.ended()
        process.close()
    pytest.fail(process.errors.read_text())


async def test_a_worker_logs_statistics_and_health(
    variables: dict[str, str], home: Path, run: Run
) -> None:
    run("queue", "import", export(home, 2))
    run("queue", "pause", "listing")
    by_name = {
        line["message"]: line
        for line in log_until(Running(("worker",), home, variables).up(), count=2)
    }
    statistics, health = by_name["queue statistics"], by_name["queue health"]
    assert (statistics["level"], statistics["phases"]["listing/scrape"]["pending"]) == ("info", 2)
    assert {"pending", "later", "processing", "blocked", "retrying"} <= set(statistics)
    assert (health["level"], health["workers"], health["dead_workers"]) == ("info", 1, 0)
    assert set(health["processors"]) == {"idle", "busy", "error"}


async def test_the_levels_of_statistics_and_health_can_be_set(
    variables: dict[str, str], home: Path
) -> None:
    levels = {
        "JOBMILL_LOG_LEVEL": "warning",
        "JOBMILL_LOG_STATISTICS_LEVEL": "info",
        "JOBMILL_LOG_HEALTH_LEVEL": "warning",
    }
    process = Running(("worker",), home, variables | levels).up()
    assert [(line["message"], line["level"]) for line in log_until(process, count=1)] == [
        ("queue health", "warning")
    ]
    assert "queue statistics" not in process.errors.read_text()


async def test_a_phase_starts_no_more_tasks_than_its_start_rate_allows(
    run: Run, home: Path, database: Database
) -> None:
    run("queue", "import", export(home, 5))
    done = run("worker", "--drain", JOBMILL_START_RATE_BY_PHASE="listing/scrape=2/600s")
    assert done.returncode == 0, done.stderr
    rows = await fetch(
        database, "SELECT item_id FROM queue.event WHERE type = 'started' AND stage = 'scrape'"
    )
    assert len(rows) == 2
    waiting = "SELECT count(*) FROM queue.live WHERE kind = 'listing' AND stage = 'scrape'"
    assert await fetch(database, waiting) == [3]


@pytest.mark.parametrize("command", [("config", "check"), ("worker", "--drain")])
@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("PROCESSORS_BY_PHASE", "extract=4",
         "processors_by_phase: there is no phase 'extract', did you mean company/extract?"),
        ("START_RATE_BY_PHASE", "company/fetsh=3/5s",
         "start_rate_by_phase: there is no phase 'company/fetsh', did you mean company/fetch?"),
        ("START_RATE_BY_PHASE", "company/fetch=3 per 5s",
         "JOBMILL_START_RATE_BY_PHASE (company/fetch) should be phase=STARTS/SECONDSs"),
    ],
)  # fmt: skip
async def test_an_unknown_phase_in_the_settings_is_an_error(
    run: Run, command: tuple[str, ...], variable: str, value: str, problem: str
) -> None:
    done = run(*command, **{f"JOBMILL_{variable}": value})
    assert done.returncode == 2
    assert problem in done.stderr


async def test_the_example_in_the_reference_is_valid(run: Run, home: Path) -> None:
    page = (ROOT / "docs/reference/settings.md").read_text()
    [example] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (home / "jobmill.yaml").write_text(example)
    done = run("config", "check")
    assert (done.returncode, done.stdout[:4]) == (0, "ok: "), done.stderr
    [variable] = re.findall(r"JOBMILL_PROCESSORS_BY_PHASE=(\S+)", example)
    assert run("config", "check", JOBMILL_PROCESSORS_BY_PHASE=variable).returncode == 0

"""The `jobmill demo` commands."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from jobmill.db import Database
from tests.cli import forked
from tests.cli.forked import ForkedCommand
from tests.queue.helpers import fetch


async def test_the_demo_starts_reports_its_status_and_ends(home: Path, url: str) -> None:
    run = forked.runner(home, url)
    assert json.loads((await run("demo", "status", "--json")).stdout)["on"] is False
    begun = await run("demo", "start", "--day", "60", "--json")
    assert json.loads(begun.stdout)["holds"]["companies"] == 25
    again = await run("demo", "start")
    assert (again.returncode, "already" in again.stderr) == (4, True)
    assert "25" in (await run("demo", "status")).stdout
    unasked = await run("demo", "clear")
    assert (unasked.returncode, "--yes" in unasked.stderr) == (2, True)
    ended = json.loads((await run("demo", "clear", "--yes", "--json")).stdout)
    assert (ended["ended"], ended["removed"]["companies"]) == (True, 25)
    assert json.loads((await run("demo", "clear", "--yes", "--json")).stdout) == {
        "ended": False,
        "removed": {},
    }


async def test_after_the_demo_is_cleared_jobmill_continues_empty(
    home: Path, url: str, database: Database
) -> None:
    variables = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "DATABASE_URL": forked.as_url(url),
        "JOBMILL_WEB_PORT": "0",
        "JOBMILL_LOG_LEVEL": "error",
    }
    errors = home / "errors"
    process = ForkedCommand(("demo", "run"), home, variables, errors)
    with process.stdout:
        try:
            first = _up(process, errors)
            assert any(line.startswith("demo") for line in first)
            ended = await forked.runner(home, url)("demo", "clear", "--yes")
            assert ended.returncode == 0, ended.stderr
            second = _up(process, errors)
            assert second[0] == "The demo has ended. Jobmill is now empty and ready for your data."
            assert not any(line.startswith("demo") for line in second)
        finally:
            process.terminate()
            code = await asyncio.to_thread(process.wait, 30)
    assert code == 0, errors.read_text()
    assert await fetch(database, "SELECT count(*) FROM demo.world") == [0]


def _up(process: ForkedCommand, errors: Path) -> list[str]:
    """Its output until it says how to stop it."""
    lines = list[str]()
    for line in process.stdout:
        lines.append(line.strip())
        if lines[-1].startswith("stop"):
            return lines
    raise AssertionError(errors.read_text())

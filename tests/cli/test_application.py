"""`jobmill application`."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from tests.cli import forked
from tests.matching import judged
from tests.people.helpers import make_person

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]
FILE = """title,company,url,status,applied_on,next_step,notes
Ward nurse,City Clinic,https://clinic.example/jobs/7,interviewing,2026-10-02,Call the ward,Spoke to Ana
Cook,,,applied,,,
Ward nurse,City Clinic,https://clinic.example/jobs/7,applied,,,
Night nurse,City Clinic,,won,,,
"""


@pytest.fixture
def run(home: Path, url: str) -> Run:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "dana", "DATABASE_URL": forked.as_url(url)}  # fmt: skip

    async def call(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            forked.jobmill, "application", *arguments, stdin=stdin, folder=home, variables=variables
        )

    return call


async def make(database: Database) -> MatchId:
    async with database.transaction() as tx:
        place = await judged.make(tx)
        id = await matches.save_verdict(tx, place.word(90, place.listing))
        assert id is not None
        await matches.set_status(tx, id, "saved")
    return id


def parse(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def rows(run: Run, *arguments: object) -> list[dict[str, Any]]:
    done = await run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return parse(done.stdout)


async def test_an_application_is_listed_moved_noted_and_shown(run: Run, database: Database) -> None:
    id = await make(database)
    [listed] = await rows(run, "list")
    assert (listed["id"], listed["status"], listed["days_in_status"]) == (id, "saved", 0)
    [moved] = await rows(run, "move", id, "applied")
    assert (moved["id"], moved["status"]) == (id, "applied")
    [note] = await rows(run, "note", id, "Call Ana")
    assert [note] == await rows(run, "note", id, "Call Ana"), "the same text adds nothing"
    assert (await run("note", id, "-", stdin="From stdin\n")).returncode == 0
    [shown] = await rows(run, "show", id)
    assert (shown["status"], shown["notes"]) == ("applied", ["From stdin", "Call Ana"])


@pytest.mark.parametrize(
    "arguments",
    [("show", 999), ("move", 999, "applied"), ("note", 999, "x"), ("import", "missing.csv")],
)
async def test_what_does_not_exist_is_named(
    run: Run, database: Database, arguments: tuple[object, ...]
) -> None:
    await make(database)
    done = await run(*arguments)
    assert done.returncode != 0
    assert str(arguments[1]) in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_wrong_status_or_an_empty_note_changes_nothing(
    run: Run, database: Database
) -> None:
    id = await make(database)
    assert (await run("move", id, "won")).returncode == 2
    assert (await run("note", id, "  ")).returncode == 2
    [shown] = await rows(run, "show", id)
    assert (shown["status"], shown["notes"]) == ("saved", [])


async def test_a_file_is_tried_imported_once_and_exported_again(
    run: Run, database: Database, home: Path
) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile(titles=("Nurse",)))
    assert "No applications yet" in (await run("list")).stdout
    (home / "mine.csv").write_text(FILE)
    outcomes = ["new", "problem", "repeated", "problem"]
    tried = await run("import", "mine.csv", "--dry-run", "--json")
    assert tried.returncode == 1, "a row cannot be imported"
    assert [row["outcome"] for row in parse(tried.stdout)] == outcomes
    assert "No applications yet" in (await run("list")).stdout
    done = await run("import", "mine.csv", "--json")
    assert [row["outcome"] for row in parse(done.stdout)] == outcomes
    again = parse((await run("import", "mine.csv", "--json")).stdout)
    assert again[0]["outcome"] == "known"
    [listed] = await rows(run, "list")
    assert (listed["title"], listed["status"]) == ("Ward nurse", "interviewing")
    assert (await run("export", "--out", "out.csv")).returncode == 0
    [row] = list(csv.DictReader((home / "out.csv").read_text().splitlines()))
    assert (row["company"], row["applied_on"], row["notes"]) == (
        "City Clinic", "2026-10-02", "Spoke to Ana",
    )  # fmt: skip
    assert parse((await run("export", "--json")).stdout)[0]["next_step"] == "Call the ward"


async def test_a_person_is_chosen_and_others_are_not_touched(run: Run, database: Database) -> None:
    id = await make(database)
    person = await make_person(database, "ana@mill.example", "seeker")
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile(titles=("Nurse",)), owner=person.id)
    assert (await run("--person", "ana@mill.example", "show", id)).returncode != 0
    chosen = await run("--person", "ana@mill.example", "list")
    assert "No applications yet" in chosen.stdout, chosen.stderr

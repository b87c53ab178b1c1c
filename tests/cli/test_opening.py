"""`jobmill opening`."""

from __future__ import annotations

import csv
import datetime as dt
import io
import stat
from pathlib import Path

import pytest

from jobmill.cli.support import times
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.records import openings
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.hiring.forms.test_forms import CONTENT, send, upload
from tests.hiring.helpers import apply, make_opening
from tests.queue.helpers import fetch


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return forked.runner(home, url)


@pytest.fixture(autouse=True)
async def numbers(database: Database) -> None:
    """Ids start at 1: tests before this one used numbers of the template database."""
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE hiring.opening ALTER COLUMN id RESTART")
        await tx.execute("ALTER TABLE hiring.applicant ALTER COLUMN id RESTART")
        await tx.execute("ALTER TABLE hiring.application ALTER COLUMN id RESTART")


async def fill(database: Database, capacity: int, people: int) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, capacity)
        for _ in range(people):
            await apply(tx, opening)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("5 min", 300), ("2H", 7_200), ("3d", 259_200), ("45", 45)],
)
def test_durations_are_parsed(text: str, seconds: int) -> None:
    assert times.parse_duration(text) == dt.timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["soon", "", "-5m", "5 years", "1.5h", "999999999w"])
def test_invalid_durations_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="5m"):
        times.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-15T09:30:00Z", dt.datetime(2026, 11, 15, 9, 30, tzinfo=dt.UTC)),
        ("2026-11-15 10:30+01:00", dt.datetime(2026, 11, 15, 9, 30, tzinfo=dt.UTC)),
        ("2026-11-15 09:30", dt.datetime(2026, 11, 15, 9, 30).astimezone()),
        ("2026-11-15", dt.datetime(2026, 11, 15).astimezone()),
    ],
)
def test_times_without_a_zone_are_local(text: str, at: dt.datetime) -> None:
    assert times.parse_time(text) == at


@pytest.mark.parametrize("text", ["tomorrow", "", "0001-01-01", "2026-13-01", "25:00"])
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is not a time"):
        times.parse_time(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(300, "5 minutes"), (90, "90 seconds"), (3_600, "1 hour"), (172_800, "2 days")],
)
def test_durations_are_printed_in_the_largest_exact_unit(seconds: int, words: str) -> None:
    assert times.format_duration(dt.timedelta(seconds=seconds)) == words


async def test_an_opening_is_created_edited_paused_and_closed(run: Run) -> None:
    assert "jobmill opening create" in (await run("opening", "list")).stdout
    (made,) = json_lines(
        await run(
            "opening", "create", "Baker", "--capacity", 2, "--window", "2h", "--remote",
            "--waitlist-limit", 3, "--apply-until", "2030-01-01T00:00:00Z",
            "--time-zone", "Europe/Berlin", "--quiet-hours", "21:00-08:00", "--json",
        )
    )  # fmt: skip
    assert (made["acknowledgeWindowSeconds"], made["remote"], made["waitlistLimit"]) == (
        7_200,
        True,
        3,
    )
    assert made["applyUntil"] == "2030-01-01T00:00:00.000Z"
    assert [made[name] for name in ("timeZone", "quietFrom", "quietUntil")] == [
        "Europe/Berlin",
        "21:00",
        "08:00",
    ]
    wrong = await run("opening", "edit", 1, "--quiet-hours", "late")
    assert (wrong.returncode, "should look like 21:00" in wrong.stderr) == (2, True)
    change = [
        "opening", "edit", 1, "--title", "Master", "--waitlist-limit", "none",
        "--quiet-hours", "none",
    ]  # fmt: skip
    dry = await run(*change, "--dry-run")
    assert dry.stdout.splitlines() == [
        "title: Baker → Master",
        "waitlist limit: 3 → (none)",
        "quiet from: 21:00 → (none)",
        "quiet until: 08:00 → (none)",
        "Nothing was changed.",
    ]
    assert json_lines(await run("opening", "list", "--json"))[0]["title"] == "Baker"
    (changed,) = json_lines(await run(*change, "--json"))
    assert changed["changed"]["title"] == {"from": "Baker", "to": "Master"}
    assert "already has these values" in (await run(*change)).stdout
    assert (await run("opening", "edit", 1)).returncode == 2
    assert "is paused" in (await run("opening", "pause", 1)).stdout
    again = await run("opening", "pause", 1)
    assert (again.returncode, "cannot change from paused" in again.stderr) == (4, True)
    (shown,) = json_lines(await run("opening", "list", "--status", "paused", "--json"))
    assert (shown["title"], shown["waitlistLimit"], shown["remote"]) == ("Master", None, True)
    missing = await run("opening", "close", 99)
    assert (missing.returncode, "jobmill opening list" in missing.stderr) == (3, True)


async def test_people_who_wait_are_told_why_an_opening_closes(run: Run, database: Database) -> None:
    await fill(database, 1, 3)
    close = ("opening", "close", 1, "--reason", "The oven broke.")
    refused = await run(*close)
    assert (refused.returncode, "--reason needs --tell" in refused.stderr) == (2, True)
    dry = await run(*close, "--tell", "letter", "--dry-run")
    assert "This would end 2 applications (0 with an offer), 2 letters" in dry.stdout
    (result,) = json_lines(await run(*close, "--tell", "letter", "--json"))
    assert (result["ended"], result["letters"]) == (2, 2)
    reasons = "SELECT data->>'text' FROM hiring.notice WHERE kind = 'closed'"
    assert await fetch(database, reasons) == ["The oven broke."] * 2


async def test_a_capacity_dry_run_names_the_people_to_be_promoted(
    run: Run, database: Database
) -> None:
    await fill(database, 1, 3)
    dry = await run("opening", "capacity", 1, 2, "--dry-run")
    assert "Opening 1 would have 2 of 2 places taken, 1 waiting." in dry.stdout
    assert "2  Ada would be offered a place." in dry.stdout
    (shown,) = json_lines(await run("opening", "show", 1, "--json"))
    assert (shown["capacity"], shown["waitlistCount"]) == (1, 2)
    (done,) = json_lines(await run("opening", "capacity", 1, 2, "--json"))
    assert [row["applicationId"] for row in done["promoted"]] == [2]
    assert "Nobody is removed: 1 above" in (await run("opening", "capacity", 1, 1)).stdout


async def test_applicants_of_an_opening_are_shown_in_pages(run: Run, database: Database) -> None:
    await fill(database, 1, 4)
    first = await run("opening", "show", 1, "--limit", 2)
    assert [line for line in first.stdout.splitlines() if line.startswith(("Places", "Wai"))] == [
        "Places taken (1)",
        "Waiting (3)",
    ]
    assert "time to confirm  5 minutes" in first.stdout
    after = first.stderr.split("--after ")[1].strip()
    second = (await run("opening", "show", 1, "--after", after)).stdout
    assert "time to confirm" not in second
    assert [line.split(" · ")[0].strip() for line in second.splitlines() if "position" in line] == [
        "position 2",
        "position 3",
    ]
    (roster,) = json_lines(await run("opening", "show", 1, "--json"))
    assert [row["queuePosition"] for row in roster["waitlistApplicants"]] == [1, 2, 3]
    assert roster["activeApplicants"][0].keys() >= {
        "applicationId", "applicantId", "applicantName", "applicantEmail", "status",
        "queuePosition", "appliedAt", "promotedAt", "acknowledgeDeadline",
    }  # fmt: skip


async def test_openings_are_exported_and_imported(run: Run, database: Database, home: Path) -> None:
    file = home / "openings.csv"
    file.write_text("title,capacity,maxMissed\nBaker,2,5\n=Cook,1,\n")
    dry = await run("opening", "import", file, "--dry-run")
    assert dry.stdout == "2 openings would be created. Nothing was changed.\n"
    assert json_lines(await run("opening", "list", "--json")) == []
    assert "2 openings created" in (await run("opening", "import", file)).stdout
    out = (await run("opening", "export")).stdout
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert [(row["title"], row["maxMissed"], row["remote"]) for row in rows] == [
        ("Baker", "5", "false"),
        ("'=Cook", "3", "false"),
    ]
    bad = await run("opening", "import", "-", stdin="title,capacity\nX,1\nBaker,0\n,1\n")
    assert bad.returncode == 2
    assert "row 3: capacity" in bad.stderr
    assert "row 4: title" in bad.stderr
    made = json_lines(await run("opening", "export", "--json"))
    assert len(made) == 2
    first = made[0]["id"]
    await run("hiring", "apply", first, "--name", "@Ada", "--email", "ada@a.example")
    written = await run("opening", "export", first, "--out", home / "one.csv")
    assert stat.S_IMODE((home / "one.csv").stat().st_mode) == 0o600
    assert "1 application written" in written.stderr
    (row,) = csv.DictReader(io.StringIO((home / "one.csv").read_text(), newline=""))
    assert (row["applicantName"], row["status"]) == ("'@Ada", "ACTIVE")
    assert (await run("opening", "export", 99, "--out", home / "no.csv")).returncode == 3
    assert not (home / "no.csv").exists()


async def test_a_blocked_address_cannot_apply(run: Run, database: Database) -> None:
    await fill(database, 1, 0)
    assert "Nothing is blocked" in (await run("opening", "blocked")).stdout
    await run("opening", "block", "@Evil.example", "--reason", "spam")
    assert "@evil.example spam" in (await run("opening", "blocked")).stdout
    eve = ["hiring", "apply", 1, "--name", "Eve", "--email", "eve@evil.example"]
    assert "not accepted" in (await run(*eve)).stderr
    await run("opening", "unblock", "@evil.example")
    assert (await run(*eve)).returncode == 0
    gone = await run("opening", "unblock", "@evil.example")
    assert (gone.returncode, "`jobmill opening blocked`" in gone.stderr) == (3, True)


async def test_a_form_is_shown_and_set(run: Run, database: Database, home: Path) -> None:
    await fill(database, 2, 0)
    assert "a name and an email address only" in (await run("opening", "form", "show", 1)).stdout
    file = home / "form.json"
    file.write_text('{"fields": [{"type": "file", "label": "CV", "required": true}]}')
    assert (
        "Version 1 of the form: 1 question."
        in (await run("opening", "form", "set", 1, file)).stdout
    )
    assert "1  CV (file, required)" in (await run("opening", "form", "show", 1)).stdout
    shown = await run("opening", "form", "show", 1, "--json")
    assert json_lines(shown)[0]["fields"][0] == {
        "key": "cv",
        "type": "file",
        "label": "CV",
        "required": True,
    }
    again = await run("opening", "form", "set", 1, "-", "--json", stdin=shown.stdout)
    assert json_lines(again)[0]["version"] == 1
    refused = await run("opening", "form", "set", 1, "-", stdin='{"fields": [{"type": "file"}]}')
    assert (refused.returncode, "Question 1, label: is missing" in refused.stderr) == (2, True)
    stale = await run("opening", "form", "set", 1, "-", stdin='{"version": 7, "fields": []}')
    assert "changed meanwhile" in stale.stderr

    async with database.transaction() as tx:
        opening = await openings.get(tx, 1)
        id = await upload(tx, opening)
        application = await send(tx, opening, FormSubmission(1, "{}", (id,)))
    person = application  # The first applicant has the first application.
    await run("hiring", "export-person", person, "--files", home / "files")
    [written] = (home / "files").iterdir()
    assert written.read_bytes() == CONTENT
    again = await run("hiring", "export-person", person, "--files", home / "files")
    assert (again.returncode, again.stderr.splitlines()) == (
        2,
        [f"jobmill: cannot create {home / 'files'}: File exists"],
    )

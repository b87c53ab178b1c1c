from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jobmill import app
from jobmill.cli.queue.commands import read_data
from jobmill.db import Database
from jobmill.errors import Invalid, OutsideError
from jobmill.queue import (
    Advance,
    Block,
    Finish,
    HandOver,
    ItemId,
    Move,
    NewItem,
    Stage,
    Stages,
    Work,
)
from jobmill.tools import Tools
from tests.cli import forked
from tests.cli.forked import TerminalCommand
from tests.queue.helpers import drain, fetch, put

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(home: Path, url: str) -> Run:
    """`jobmill queue …` on the test's database."""
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "DATABASE_URL": forked.as_url(url)}

    def call(*arguments: object, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return forked.jobmill(
            "queue", *arguments, stdin=stdin, folder=home, variables=variables | more
        )

    return call


async def boil(work: Work) -> Move:
    match work.key:
        case "broken":
            raise OutsideError("the kettle is gone", permanent=True)
        case "dry":
            return Block("water", "There is no water")
        case "slow":
            return Advance("steep")
        case _:
            spawn = [NewItem("cup", "find", f"cup of {work.key}"), NewItem("tea", "boil", work.key)]
            return HandOver("steep", data={"hot": True}, spawn=spawn)


async def end(work: Work) -> Move:
    return Finish("Enjoy [bold]it[/bold] \x1b[2J")


TEA: Stages = {
    ("tea", "boil"): Stage(boil),
    ("tea", "steep"): Stage(end),
    ("cup", "find"): Stage(end),
}


async def make_tea(database: Database, *keys: str) -> list[ItemId]:
    return await put(database, TEA, *(NewItem("tea", "boil", key, {"for": "two"}) for key in keys))


def test_an_empty_queue_is_described_in_words(run: Run) -> None:
    assert run("list").stdout == "The queue has no items yet.\n"
    stats = run("stats").stdout
    for words in ("No phases yet", "Nothing has run yet", "workers    none", "never"):
        assert words in stats
    assert run("alerts").stdout == "No active alerts.\n"


async def test_submit_prints_the_id_of_the_new_item(run: Run, database: Database) -> None:
    done = run("submit", "upkeep", "prune", "x", "--data", "-", "--priority", 7, stdin='{"a": 1}')
    assert (done.returncode, done.stderr) == (0, "")
    [item] = await fetch(database, "SELECT id, key, data, priority FROM queue.items")
    assert item == (int(done.stdout), "x", {"a": 1}, 7)
    delayed = run("submit", "upkeep", "prune", "y", "--delay", "60", "--json")
    id = json.loads(delayed.stdout)["id"]
    assert await fetch(
        database, "SELECT available_at > now() + '50 s' FROM queue.live WHERE id = %s", [id]
    ) == [True]


async def test_a_refused_item_is_exit_code_4_and_names_the_live_item(
    run: Run, database: Database
) -> None:
    prune = {("upkeep", "prune"): Stage(end), ("upkeep", "sweep"): Stage(end)}
    queued, running, elsewhere = await put(
        database,
        prune,
        NewItem("upkeep", "prune", "queued"),
        NewItem("upkeep", "prune", "running"),
        NewItem("upkeep", "sweep", "elsewhere"),
    )
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE queue.live SET status = 'PROCESSING', worker = 1 WHERE id = %s", [running]
        )
    for key, id, words in (
        ("queued", queued, "Already queued"),
        ("running", running, "Currently processing"),
        ("elsewhere", elsewhere, "Wrong phase"),
    ):
        done = run("submit", "upkeep", "prune", key)
        assert (done.returncode, done.stdout) == (4, "")
        assert words in done.stderr
        assert f"jobmill queue show {id}" in done.stderr
    full = run("submit", "upkeep", "prune", "new", JOBMILL_QUEUE_CAPACITY="1")
    assert full.returncode == 4
    assert "Queue full" in full.stderr


def test_an_unknown_phase_is_a_usage_error_that_lists_the_phases(run: Run) -> None:
    done = run("submit", "upkeep", "prine", "x")
    assert done.returncode == 2
    assert "the phases are: company/analyze, " in done.stderr
    assert ", upkeep/prune" in done.stderr
    assert run("pause", "upkeep/").returncode == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "is not JSON"),
        ("[1]", "must be a JSON object"),
        ('{"n": ' + "1" * 5000 + "}", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("@nowhere", "cannot read nowhere"),
        ("@latin", "is not UTF-8"),
    ],
)
def test_data_that_is_not_an_object_is_refused(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin").write_bytes('{"a": "é"}'.encode("latin-1"))
    with pytest.raises(Invalid, match=words):
        read_data(text)


def test_data_can_be_read_from_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text('{"a": "é"}', encoding="utf-8-sig")
    assert read_data(f"@{file}") == {"a": "é"}


async def test_pages_of_a_list_hold_every_item_once(run: Run, database: Database) -> None:
    ids = await make_tea(database, "a", "b", "c", "d", "e")
    listed: list[int] = []
    before: list[object] = []
    while True:
        page = json.loads(run("list", "--limit", 2, "--json", *before).stdout)
        listed += [item["id"] for item in page["items"]]
        if page["next_before"] is None:
            break
        before = ["--before", page["next_before"]]
    assert listed == sorted(ids, reverse=True)
    first_page = run("list", "--limit", 2)
    assert f"--before {listed[1]}" in first_page.stderr
    assert "--before" not in run("list", "--limit", 5).stderr


async def test_a_list_is_filtered_by_status_kind_and_key(run: Run, database: Database) -> None:
    await make_tea(database, "green", "broken")
    await drain(database, TEA)

    def listed(*options: str) -> list[tuple[str, str]]:
        page = json.loads(run("list", "--json", *options).stdout)
        return [(item["kind"], item["key"]) for item in page["items"]]

    assert listed("--status", "failed") == [("tea", "broken")]
    assert listed("--kind", "cup") == [("cup", "cup of green")]
    assert listed("--key", "green", "--status", "SUCCESS") == [("tea", "green"), ("tea", "green")]
    assert run("list", "--kind", "coffee").stdout == "No items match.\n"


async def test_a_failed_item_is_shown_with_data_history_and_a_hint(
    run: Run, database: Database
) -> None:
    [id] = await make_tea(database, "broken")
    await drain(database, TEA)
    shown = run("show", id).stdout
    for words in ("FAILED", '"for": "two"', "the kettle is gone", "submitted", "started"):
        assert words in shown
    assert shown.splitlines()[-1].endswith(f"Retry it: `jobmill queue retry {id}`")
    tree = " ".join(run("tree", id).stdout.split())
    assert f"See `jobmill queue show {id}`; `jobmill queue retry {id}` runs it again" in tree
    story = json.loads(run("show", id, "--json").stdout)
    assert story["item"]["error_text"] == "the kettle is gone"
    assert [event["what"] for event in story["timeline"]] == ["submitted", "started", "failed"]
    missing = run("show", 2**70)
    assert (missing.returncode, missing.stderr) == (3, f"jobmill: item {2**70} does not exist\n")


async def test_control_characters_of_an_item_are_escaped(run: Run, database: Database) -> None:
    [id] = await make_tea(database, "green")
    await drain(database, TEA)
    for command in (("list",), ("show", id + 1), ("tree", id)):
        shown = run(*command).stdout
        assert "\x1b" not in shown
        assert command[0] == "tree" or "[bold]it[/bold]" in shown


async def test_a_tree_shows_children_successors_and_refused_items(
    run: Run, database: Database
) -> None:
    [id] = await make_tea(database, "green")
    await drain(database, TEA)
    [tracking] = await fetch(database, "SELECT DISTINCT tracking_id::text FROM queue.item")
    lines = run("tree", id).stdout.splitlines()
    assert lines[0].rstrip() == f"lineage {tracking}"
    assert [line.strip(" │├└─").split("  ")[0] for line in lines[1:]] == [
        f"{id} SUCCESS tea/boil green",
        f"{id + 1} SUCCESS tea/steep green",
        f"{id + 2} SUCCESS cup/find cup of green",
        "✗ refused circular: tea/boil green",
    ]
    assert "handed over" in lines[1]
    assert "next stage of its parent" in lines[2]
    tree = json.loads(run("tree", tracking, "--json").stdout)
    assert [item["id"] for item in tree["items"]] == [id, id + 1, id + 2]
    assert [event["item_id"] for event in tree["refused"]] == [id]
    assert run("tree", 99).returncode == 3
    assert run("tree", "green").returncode == 2


async def test_several_items_are_retried_independently(run: Run, database: Database) -> None:
    broken, green = await make_tea(database, "broken", "green")
    await drain(database, TEA)
    done = run("retry", green, broken, 99)
    assert done.returncode == 4
    assert done.stdout == f"item {broken}: queued again\n"
    assert f"item {green} is SUCCESS" in done.stderr
    assert "item 99 does not exist" in done.stderr
    assert "2 of 3 items were not queued again" in done.stderr
    assert await fetch(database, "SELECT status FROM queue.items WHERE id = %s", [broken]) == [
        "PENDING"
    ]
    assert run("retry", 99).returncode == 3
    results = json.loads(run("retry", green, 99, "--json").stdout)
    assert [(result["id"], result["ok"]) for result in results] == [(green, False), (99, False)]


async def test_a_cancelled_item_keeps_the_reason(run: Run, database: Database) -> None:
    [id] = await make_tea(database, "green")
    assert run("cancel", id, "--reason", "no guests").returncode == 0
    assert await fetch(database, "SELECT status, message FROM queue.items") == [
        ("SKIPPED", "Cancelled: no guests")
    ]


def test_a_phase_is_paused_shown_and_resumed(run: Run) -> None:
    assert run("pause", "upkeep/prune", "--reason", "a move").returncode == 0
    assert "paused: a move" in run("stats").stdout
    refused = run("resume", "upkeep")
    assert refused.returncode == 4
    assert "currently paused: upkeep/prune" in refused.stderr
    assert run("resume", "upkeep/prune").returncode == 0
    assert json.loads(run("stats", "--json").stdout)["phases"][0]["paused"] is None


async def test_blocked_items_continue_after_unblock(run: Run, database: Database) -> None:
    [id] = await make_tea(database, "dry")
    await drain(database, TEA)
    assert "`jobmill queue unblock water`" in run("show", id).stdout
    wrong = run("unblock", "milk")
    assert wrong.returncode == 4
    assert "blocked on: water" in wrong.stderr
    assert run("unblock", "water").stdout == "1 item blocked on water released\n"
    assert await fetch(database, "SELECT status FROM queue.live") == ["PENDING"]


async def test_an_alert_stays_until_it_is_cleared(run: Run, database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            "INSERT INTO queue.alert (rule, subject, detail) VALUES ('deep', 'x', 'very deep')"
        )
    [alert] = json.loads(run("alerts", "--json").stdout)
    assert "very deep" in run("stats").stdout
    assert run("clear-alert", alert["id"]).returncode == 0
    assert run("alerts").stdout == "No active alerts.\n"
    assert "very deep" in run("alerts", "--all").stdout
    assert run("clear-alert", alert["id"]).returncode == 3


async def test_stats_count_items_runs_and_workers(run: Run, database: Database) -> None:
    await make_tea(database, "green", "broken", "dry")
    await drain(database, TEA)
    await make_tea(database, "black")
    async with database.transaction() as tx:
        processors = [
            {"kind": "tea", "stage": "boil", "number": n, "state": state, "since": "2026-01-01"}
            for n, state in enumerate(["idle", "busy", "busy", "error"])
        ]
        await tx.execute(
            """
            INSERT INTO queue.worker (name, lease, processors)
            VALUES ('here:1', interval '20 s', %(given)s::jsonb)
            """,
            {"given": json.dumps(processors)},
        )
        await tx.execute(
            """
            INSERT INTO queue.worker (name, lease, heartbeat_at, processors)
            VALUES ('dead:1', interval '20 s', now() - interval '1 min', %(given)s::jsonb)
            """,
            {"given": json.dumps(processors)},
        )
    stats = json.loads(run("stats", "--json").stdout)
    phase = next(entry for entry in stats["phases"] if entry["stage"] == "boil")
    assert (phase["pending"], phase["blocked"]) == (1, 1)
    runs = next(entry for entry in stats["runs"] if entry["stage"] == "boil")
    assert [runs[name] for name in ("runs", "success", "waited", "failed")] == [3, 1, 1, 1]
    states = next(entry for entry in stats["processors"] if entry["stage"] == "boil")
    assert (states["idle"], states["busy"], states["error"]) == (1, 2, 1)
    assert [(worker["name"], worker["alive"]) for worker in stats["workers"]] == [
        ("here:1", True),
        ("dead:1", False),
    ]
    shown = run("stats").stdout
    assert "1 idle, 2 busy, 1 error" in shown
    assert re.search(r"here:1 \(heartbeat \d s ago\), dead:1 \(heartbeat \d+ s ago: dead\)", shown)
    assert run("processors").stdout.count("tea/boil") == 8


async def test_schedules_are_listed_after_they_are_declared(run: Run, database: Database) -> None:
    assert run("schedules").stdout.startswith("No schedules yet")
    await app.declare_schedules(Tools(database))
    assert "every 1 h" in run("schedules").stdout
    every = {
        schedule["name"]: schedule["every"]
        for schedule in json.loads(run("schedules", "--json").stdout)
    }
    assert every == {
        "prune": 3600.0,
        "prune listings": 86_400.0,
        "prune records": 86_400.0,
        "erase applicants": 86_400.0,
        "rotation": 300.0,
        "pending companies": 3600.0,
        "postponed pages": 3600.0,
    }


LINES = """\
{"id": "a", "type": "firm", "url": "https://x.example", "status": "failed"}

{"id": "b", "type": "firm", "url": "https://y.example"}
"""


async def test_an_import_takes_every_line_once(run: Run, database: Database, home: Path) -> None:
    (home / "items").write_text(LINES, encoding="utf-8-sig")
    renamed = ("--rename", "firm=company")
    dry = run("import", "items", *renamed, "--dry-run")
    assert dry.stdout == "2 items would be imported\n"
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [0]
    assert await fetch(database, "SELECT count(*) FROM catalog.company") == [0]
    assert run("import", "items", *renamed).stdout == "2 items imported\n"
    again = run("import", "-", *renamed, stdin=LINES)
    assert again.stdout == "0 items imported, 2 already imported\n"


async def test_bad_lines_are_named_and_nothing_is_imported_without_skip_bad(
    run: Run, database: Database, home: Path
) -> None:
    bad = (
        b'\xff{"kind": "company"}\nnonsense\n'
        + b'{"kind": "company", "key": "https://k.example"}\n'
    )
    huge = b'{"kind": "company", "key": "' + b"x" * (17 * 1024 * 1024) + b'"}\n'
    (home / "items").write_bytes(bad + huge + b'{"kind": "company", "key": "https://last.example"}')
    done = run("import", "items")
    assert done.returncode == 2
    errors = done.stderr.splitlines()
    assert errors[0].startswith("line 1: not UTF-8")
    assert errors[1].startswith("line 2: not JSON")
    assert errors[2].startswith("line 4: longer than")
    assert errors[3].startswith("jobmill: 3 bad lines, so nothing was imported")
    assert await fetch(database, "SELECT count(*) FROM queue.item") == [0]
    done = run("import", "items", "--skip-bad", "--json")
    assert (json.loads(done.stdout)["imported"], len(json.loads(done.stdout)["bad"])) == (2, 3)
    assert await fetch(database, "SELECT name FROM catalog.company ORDER BY id") == ["K", "Last"]


def test_an_unreadable_file_is_a_plain_error(run: Run) -> None:
    """The file is checked before the database is opened."""
    for name, code, words in (
        ("nowhere", 3, "file nowhere does not exist"),
        (".", 2, ". is a folder, not a file"),
    ):
        done = run("import", name, DATABASE_URL="postgresql://127.0.0.1:1/x")
        assert (done.returncode, done.stderr) == (code, f"jobmill: {words}\n")


def test_a_utf_16_file_is_recognized(run: Run, home: Path) -> None:
    (home / "utf16").write_bytes('{"kind": "upkeep"}'.encode("utf-16"))
    done = run("import", "utf16")
    assert (done.returncode, "UTF-16" in done.stderr) == (2, True)


def test_watch_prints_once_into_a_pipe(run: Run) -> None:
    done = run("watch")
    assert "not a terminal" in done.stderr
    assert "workers    none" in done.stdout
    assert json.loads(run("watch", "--json").stdout)["workers"] == []


@pytest.mark.parametrize("key", [b"q", b"\x03"])
async def test_watch_draws_until_stopped_and_restores_the_terminal(
    key: bytes, home: Path, url: str, database: Database
) -> None:
    await make_tea(database, "green")
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    variables = {"DATABASE_URL": forked.as_url(url), "TERM": "xterm", "COLUMNS": "100"}
    process = TerminalCommand(("queue", "watch"), home, os.environ | variables, theirs)
    drawn = _read_until(ours, b"quit")
    assert b"tea/boil" in drawn
    os.write(ours, key)
    drawn += _read_until(ours, b"\x1b[?1049l")
    assert process.wait(5) == 0
    assert b"Traceback" not in drawn
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def _read_until(terminal: int, mark: bytes) -> bytes:
    output, deadline = b"", time.monotonic() + 15
    while mark not in output:
        assert time.monotonic() < deadline, output.decode(errors="replace")
        if select.select([terminal], [], [], 0.1)[0]:
            output += os.read(terminal, 65536)
    return output


async def test_a_lost_database_connection_is_a_one_line_error(run: Run, database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute("LOCK TABLE queue.item IN ACCESS EXCLUSIVE MODE")
        listing = asyncio.create_task(asyncio.to_thread(run, "list"))
        while not await fetch(
            database,
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'
            """,
        ):
            await asyncio.sleep(0.05)
        done = await listing
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].startswith(
        "jobmill: the connection to the database was lost: "
    )
    assert "Traceback" not in done.stderr

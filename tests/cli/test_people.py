from __future__ import annotations

import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database
from jobmill.people import keys, passwords, persons
from tests.cli.forked import Run, TerminalCommand, as_url, runner


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return runner(home, url)


async def run_json(run: Run, *words: str, stdin: str = "") -> Any:
    done = await run(*words, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def password_hash(database: Database, email: str) -> str:
    async with database.transaction() as tx:
        credentials = await persons.find_credentials(tx, email)
    assert credentials
    return credentials.password


async def test_a_person_is_added_listed_changed_and_removed(run: Run, database: Database) -> None:
    assert "jobmill person add" in (await run("person", "list")).stdout
    ada = ("person", "add", "Ada", "ada@example.org", "--role", "admin", "--password-stdin")
    made = await run_json(run, *ada, stdin="correct horse\r\nrest\n")
    assert (made["name"], made["role"], made["ended_at"]) == ("Ada", "admin", None)
    assert await passwords.verify(await password_hash(database, "ada@example.org"), "correct horse")
    assert (await run(*ada, stdin="correct horse\n")).returncode == 4

    assert (await run_json(run, "person", "role", "ADA@example.org", "viewer"))["role"] == "viewer"
    await run_json(
        run, "person", "password", "ada@example.org", "--password-stdin", stdin="battery staple\n"
    )
    assert await passwords.verify(
        await password_hash(database, "ada@example.org"), "battery staple"
    )
    table = await run("person", "list")
    assert "ada@example.org" in table.stdout
    assert "argon2" not in table.stdout

    assert (await run_json(run, "person", "end", "ada@example.org"))["ended_at"]
    assert await run_json(run, "person", "list") == []
    assert len(await run_json(run, "person", "list", "--all")) == 1
    assert (await run("person", "end", "ada@example.org")).returncode == 3


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (("add", "Ada", "a@b", "--password-stdin"), "short\n", "10 to 1,000 characters"),
        (("add", "Ada", "a@b"), "correct horse\n", "--password-stdin"),
        (("add", "Ada", "nowhere", "--password-stdin"), "correct horse\n", "not an email address"),
        (("add", "Ada", "a@b", "--role", "king"), "", "king"),
    ],
)
async def test_what_is_wrong_is_told(
    run: Run, words: tuple[str, ...], stdin: str, message: str
) -> None:
    done = await run("person", *words, stdin=stdin)
    assert done.returncode == 2
    assert message in done.stderr


async def test_a_key_is_shown_once_and_revoked(run: Run, database: Database) -> None:
    assert "jobmill key add" in (await run("key", "list")).stdout
    made = await run_json(run, "key", "add", "reports", "--scope", "hiring")
    async with database.transaction() as tx:
        assert await keys.find_holder(tx, made["key"])
    shown = await run("key", "add", "other")
    assert "jm_" in shown.stdout
    assert "not shown again" in shown.stdout
    [first, second] = await run_json(run, "key", "list")
    assert "key" not in first
    assert "digest" not in first
    assert (first["name"], first["scope"], second["scope"]) == ("reports", "hiring", "read")
    assert first["used_at"]
    assert (await run_json(run, "key", "end", str(made["id"])))["ended_at"]
    async with database.transaction() as tx:
        assert await keys.find_holder(tx, made["key"]) is None
    assert [key["name"] for key in await run_json(run, "key", "list")] == ["other"]
    assert len(await run_json(run, "key", "list", "--all")) == 2
    gone = await run("key", "end", str(2**62))
    assert (gone.returncode, "`jobmill key list --all`" in gone.stderr) == (3, True)


async def test_a_typed_password_is_not_echoed(home: Path, url: str, database: Database) -> None:
    terminal, child_terminal = pty.openpty()
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "DATABASE_URL": as_url(url)}
    words = ("person", "add", "Ada", "ada@example.org")
    process = TerminalCommand(words, home, variables, child_terminal)
    os.close(child_terminal)
    output = ""
    try:
        for prompt in ("Password: ", "Repeat for confirmation: "):
            while not output.endswith(prompt):
                output += os.read(terminal, 1_000).decode()
            os.write(terminal, b"correct horse\n")
        while more := _read(terminal):
            output += more
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert "horse" not in output
    assert "ada@example.org" in output
    assert await passwords.verify(await password_hash(database, "ada@example.org"), "correct horse")


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 1_000).decode()
    except OSError:
        # The child closed its end.
        return ""


async def test_changes_are_listed_with_control_characters_escaped(run: Run) -> None:
    assert (await run("person", "changes")).stdout == "No changes yet.\n"
    await run_json(run, "key", "add", "re\x1b[2Jports")
    [made] = await run_json(run, "person", "changes")
    assert (made["noun"], made["what"], made["actor"]) == ("key", "added", "local")
    done = await run("person", "changes")
    assert "key re\\x1b[2Jports added · by local" in done.stdout
    assert "scope: read" in done.stdout
    before = ("person", "changes", "--before", str(made["id"]))
    assert (await run(*before)).stdout == "No changes yet.\n"


async def test_an_operator_manages_the_job_search_of_a_person(
    run: Run, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "me.yaml"
    file.write_text("titles: [Cook]\n")
    email = "anna@example.org"
    added = ("person", "add", "Anna", email, "--role", "seeker", "--password-stdin")
    anna = await run_json(run, *added, stdin="correct horse\n")
    assert (await run("profile", "import", str(file))).returncode == 0
    assert (await run("profile", "show", "main")).returncode == 0
    given = await run("profile", "give", "main", email)
    assert "main now belongs to anna@example.org" in given.stdout
    assert (await run("profile", "show", "main")).returncode != 0
    own = ("profile", "--person", email)
    shown = await run(*own, "show", "main")
    assert "Cook" in shown.stdout
    listed = await run("profile", "list", "--all", "--json")
    assert json.loads(listed.stdout)["owner_id"] == anna["id"]
    assert (await run("match", "--person", email, "list")).returncode == 0
    for share, expected in (("25%", 0), ("0.5", 0), ("much", 2), ("none", 0)):
        done = await run("person", "budget", email, share)
        assert done.returncode == expected, done.stderr
    assert (await run("person", "end", email)).returncode == 0
    assert (await run("person", "erase-search", email)).returncode != 0
    erased = await run_json(run, "person", "erase-search", email, "--yes")
    assert erased == {"email": email, "erased_profiles": 1}
    changes = (await run("person", "changes")).stdout
    assert "budget share" in changes
    assert "profile" in changes

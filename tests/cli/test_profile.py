"""`jobmill profile`."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import forked
from tests.cli.forked import json_lines
from tests.matching import helpers

Run = Callable[..., subprocess.CompletedProcess[str]]

YAML = """\
titles: [Cook]
skills:
- {name: Python, rank: primary}
"""


@pytest.fixture
def run(home: Path, url: str) -> Run:
    variables = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TMPDIR": str(home),
        "USER": "dana",
        "DATABASE_URL": forked.as_url(url),
    }

    def call(*arguments: object, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return forked.jobmill(
            "profile", *arguments, stdin=stdin, folder=home, variables=variables | more
        )

    return call


def editor(home: Path, script: str) -> str:
    """An editor that runs the shell script with the file as `$1`."""
    file = home / "editor"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)
    return str(file)


def drafts(home: Path) -> list[Path]:
    return sorted(home.glob("jobmill-*.yaml"))


def test_a_profile_is_checked_saved_shown_and_compared(run: Run, home: Path) -> None:
    file = home / "me.yaml"
    file.write_text(YAML)
    assert run("check", "me.yaml").stdout == "ok: me.yaml is a valid profile\n"
    dry = run("import", "me.yaml", "--dry-run")
    assert "+- Cook" in dry.stdout
    assert json_lines(run("list", "--json")) == []

    assert run("import", "me.yaml").stdout == "Saved as version 1 of main.\n"
    assert "No changes: version 1" in run("import", "me.yaml").stdout
    assert "would not change" in run("import", "me.yaml", "--dry-run").stdout
    file.write_text(YAML.replace("Cook", "Diver"))
    (saved,) = json_lines(run("import", "me.yaml", "--note", "tired", "--json"))
    assert (saved["version"], saved["changed"], saved["saved"]) == (2, True, True)

    shown = run("show").stdout
    assert shown.startswith("# main, version 2, saved 20")
    assert shown.splitlines()[0].endswith("by dana: tired")
    assert "- Diver" in shown
    (first,) = json_lines(run("show", "main", "--version", 1, "--json"))
    assert first["profile"]["titles"] == ["Cook"]
    assert first["profile"]["rules"]["match"] == {"score": 80, "with_home_city": 65}

    changes = run("diff", "main", 1, 2).stdout
    assert "-- Cook\n+- Diver\n" in changes
    (comparison,) = json_lines(run("diff", "main", 1, 2, "--json"))
    assert comparison["diff"] == changes.splitlines()
    assert "No differences" in run("diff", "main", 1, 1).stdout
    assert [step["note"] for step in json_lines(run("history", "--json"))] == [
        "tired",
        "imported from me.yaml",
    ]
    assert "tired" in run("history", "main").stdout


def test_a_shown_profile_can_be_imported_again(run: Run) -> None:
    example = run("example").stdout
    run("import", "-", stdin=example)
    again = run("import", "-", "--name", "copy", stdin=run("show").stdout)
    assert again.stdout == "Saved as version 1 of copy.\n"
    original, imported = (
        json_lines(run("show", name, "--json"))[0]["profile"] for name in ("main", "copy")
    )
    assert original == imported == json_lines(run("example", "--json"))[0]


def test_an_exported_profile_can_be_imported_again(run: Run) -> None:
    yaml = (
        "person: {name: Dana Pell}\nresume:\n  experience:\n  - {title: Cook, employer: Linden, start: 2019-04, "
        "end: present, highlights: [Ran the grill]}\n"
    )
    assert run("import", "-", stdin=yaml).returncode == 0
    exported = run("export", "--format", "json-resume").stdout
    assert json.loads(exported)["work"][0]["position"] == "Cook"
    assert run("import", "-", "--name", "copy", "--save", stdin=exported).returncode == 0
    (first,), (second,) = (
        [json_lines(run("show", name, "--json"))[0]["profile"]["resume"]]
        for name in ("main", "copy")
    )
    assert first == second
    again = run("import", "-", stdin=run("export", "main", "--format", "yaml").stdout)
    assert "No changes: version 1" in again.stdout


def test_one_of_several_profiles_is_the_default(run: Run) -> None:
    assert "No profiles" in run("list").stdout
    for name in ("night", "day"):
        run("import", "-", "--name", name, stdin=YAML)
    assert run("show").stdout.startswith("# night,")
    assert run("use", "day").stdout == "day is now the default profile.\n"
    profiles = json_lines(run("list", "--json"))
    assert [(profile["name"], profile["is_default"]) for profile in profiles] == [
        ("day", True),
        ("night", False),
    ]
    assert json_lines(run("use", "night", "--json")) == [{"name": "night", "is_default": True}]
    assert "night" in run("list").stdout


def test_all_problems_are_reported_by_line(run: Run, home: Path) -> None:
    (home / "me.yaml").write_text("titels: [Cook]\nskills: [{name: Go, rank: best}]\n")
    done = run("check", "me.yaml")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "me.yaml:1: titels is not a profile field: did you mean titles?",
        "me.yaml:2: skills.1.rank should be 'primary', 'strong' or 'familiar', not 'best'",
    ]
    checked = run("check", "me.yaml", "--json")
    assert checked.returncode == 1
    assert {json.loads(line)["line"] for line in checked.stdout.splitlines()} == {1, 2}
    refused = run("import", "me.yaml")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 2
    assert json_lines(run("list", "--json")) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cv.txt", helpers.TEXT.encode()),
        ("cv.pdf", helpers.pdf(helpers.TEXT.splitlines())),
        ("cv.docx", helpers.word()),
        ("cv.json", helpers.json_resume()),
    ],
)
def test_a_resume_becomes_a_draft_profile(run: Run, home: Path, name: str, data: bytes) -> None:
    (home / name).write_bytes(data)
    draft = run("import", name)
    assert draft.returncode == 0, draft.stderr
    assert draft.stdout.startswith("# Read from a resume")
    assert "- Staff Engineer" in draft.stdout
    assert json_lines(run("list", "--json")) == []
    # The printed draft is a valid profile.
    assert "version 1" in run("import", "-", stdin=draft.stdout).stdout
    (saved,) = json_lines(run("import", name, "--save", "--name", "cv", "--json"))
    assert (saved["version"], saved["saved"]) == (1, True)
    assert "locations" in saved["missing"]
    (dry,) = json_lines(run("import", name, "--save", "--dry-run", "--name", "other", "--json"))
    assert (dry["version"], dry["saved"]) == (None, False)
    assert [profile["name"] for profile in json_lines(run("list", "--json"))] == ["cv", "main"]


def test_a_profile_is_edited(run: Run, home: Path) -> None:
    begin = run("edit", EDITOR=editor(home, 'grep -q "^rules:" "$1"'))
    assert "Saved as version 1 of main." in begin.stdout, begin.stderr
    change = run(
        "edit",
        "--note",
        "moved",
        VISUAL=editor(home, 'sed -i "s/Seattle/Porto/" "$1"'),
        EDITOR="no",
    )
    assert "-- Seattle\n+- Porto\n" in change.stdout
    assert "Saved as version 2 of main." in change.stdout
    (same,) = json_lines(run("edit", "main", "--json", EDITOR="true"))
    assert same == {
        "profile_id": 1, "name": "main", "version": 2, "changed": False, "waiting": 0,
    }  # fmt: skip
    assert drafts(home) == []


def test_an_invalid_edit_is_kept_as_a_draft(run: Run, home: Path) -> None:
    run("import", "-", stdin=YAML)
    done = run("edit", EDITOR=editor(home, 'echo "colour: red" > "$1"'))
    assert done.returncode == 2
    (draft,) = drafts(home)
    assert draft.read_text() == "colour: red\n"
    assert f"{draft}:1: colour is not a profile field" in done.stderr
    assert f"the draft is in {draft}" in done.stderr
    assert len(json_lines(run("history", "--json"))) == 1


def test_an_invalid_edit_can_be_corrected_on_a_terminal(home: Path, url: str) -> None:
    script = 'if [ -e again ]; then echo "titles: [Diver]" > "$1"; else echo "- " > "$1"; fi; touch again'
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    done = forked.jobmill(
        "profile",
        "edit",
        terminal=os.ttyname(theirs),
        folder=home,
        variables={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(home),
            "DATABASE_URL": forked.as_url(url),
            "EDITOR": editor(home, script),
        },
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "not a profile" in done.stderr
    assert "Saved as version 1 of main." in done.stdout
    assert drafts(home) == []


def test_an_edit_does_not_overwrite_a_newer_version(run: Run, home: Path, url: str) -> None:
    run("import", "-", stdin=YAML)
    version = (
        "INSERT INTO matching.profile_version (profile_id, version, content)"
        " SELECT id, 2, '{}' FROM matching.profile"
    )
    meanwhile = editor(
        home,
        f'echo "titles: [Diver]" > "$1"; exec {shlex.quote(sys.executable)} -c'
        f' \'import psycopg, os; psycopg.connect(os.environ["AT"], autocommit=True)'
        f'.execute(os.environ["SQL"]).connection.close()\'',
    )
    done = run("edit", EDITOR=meanwhile, AT=url, SQL=version)
    assert done.returncode == 4, done.stderr
    assert "its newest version is 2" in done.stderr
    (draft,) = drafts(home)
    assert "Diver" in draft.read_text()
    assert str(draft) in done.stderr


def test_bad_wishes_are_refused_with_what_to_do(run: Run, home: Path) -> None:
    run("import", "-", stdin=YAML)
    (home / "cv.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (home / "latin.yaml").write_bytes("titles: [Köchin]".encode("latin-1"))
    for arguments, code, words in [
        (["import", "nothing.yaml"], 2, "cannot read"),
        (["import", "."], 2, "cannot read"),
        (["import", "cv.pdf"], 2, "cv.pdf is a damaged PDF"),
        (["import", "latin.yaml"], 2, "not UTF-8"),
        (["check", "nothing.yaml"], 2, "cannot read"),
        (["show", "nobody"], 3, "profile nobody does not exist; `jobmill profile list`"),
        (["show", "--version", 9], 3, "main has no version 9: the newest is 1"),
        (["history", "nobody"], 3, "nobody"),
        (["diff", "main", 1, 7], 3, "version 7"),
        (["use", "nobody"], 3, "nobody"),
        (["edit", "../x"], 2, "is not a valid profile name"),
    ]:
        done = run(*arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert words in done.stderr, (arguments, done.stderr)
    assert run("import", "-", "--name", "No Way", stdin=YAML).returncode == 2
    done = run("edit", EDITOR="no-such-editor")
    assert done.returncode == 5
    assert "set $EDITOR" in done.stderr
    assert "nothing was saved" in run("edit", EDITOR="false").stderr
    assert [profile["name"] for profile in json_lines(run("list", "--json"))] == ["main"]

"""The outputs of docs/reference/compatibility.md, compared with the commands and the code."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.queue.run import QueueGoal
from evaluation.goal import Goal
from evaluation.run import line
from jobmill.rotation.policies import create_policy
from jobmill.settings import OTHER_VARIABLES, PREFIX, Settings
from jobmill.web.api import router
from tests.cli import forked

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "compatibility.md"
SECTIONS = {
    heading: body
    for heading, body in re.findall(
        r"^##+ (.+)\n((?:(?!^#).*\n?)*)", PAGE.read_text("utf-8"), re.MULTILINE
    )
}
FIELD = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)
GOAL = re.compile(r"goal (\S+) (\S+) ([<>]=\S+) (ok|short)")

SOURCE_READ = "`jobmill source read --json`"
LISTING_READ = "`jobmill listing read --json`"
DEDUP = "`jobmill listing dedup --json`"

RESPONSE = [
    {
        "id": "a-1",
        "text": "Pump Engineer",
        "categories": {"location": "Porto", "team": "Water", "commitment": "Full-time"},
        "workplaceType": "hybrid",
        "createdAt": 1794700800000,
        "descriptionPlain": "We pump water.",
        "salaryRange": {
            "min": 42000, "max": 48000, "currency": "EUR", "interval": "per-year-salary",
        },
        "hostedUrl": "https://jobs.lever.co/wells/a-1",
        "applyUrl": "https://jobs.lever.co/wells/a-1/apply",
    }
]  # fmt: skip
JSON_LD = {
    "@type": "JobPosting",
    "title": "Diver",
    "hiringOrganization": {"name": "Wells"},
    "jobLocation": {"address": {"addressLocality": "Porto", "addressCountry": "PT"}},
    "description": "You dive.",
}
COOK = {"title": "Cook", "company": "Wells", "url": "https://wells.example/cook/1"}
FILES = {
    "response.json": json.dumps(RESPONSE),
    "broken.json": "<html>",
    "page.html": f'<script type="application/ld+json">{json.dumps(JSON_LD)}</script>',
    "postings.jsonl": "\n".join(json.dumps(COOK | {"id": id}) for id in "ab"),
}


def documented(heading: str) -> dict[str, str]:
    """The types of a table of the page, by field."""
    return dict(FIELD.findall(SECTIONS[heading]))


def example(heading: str) -> dict[str, Any]:
    (text,) = re.findall(r"^```json\n(.*)\n```$", SECTIONS[heading], re.MULTILINE)
    return json.loads(text)


def fits(value: object, type: str) -> bool:
    """Whether a value is of a type in the words of the page."""
    *others, last = (part for text in type.split(", ") for part in text.split(" or "))
    if type.startswith("array of "):
        inner = (
            type.removeprefix("array of ").replace("arrays", "array").replace("strings", "string")
        )
        inner = inner.replace("numbers", "number")
        return isinstance(value, list) and all(fits(element, inner) for element in value)
    checks: Mapping[str, object] = {
        "string": isinstance(value, str),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "object": isinstance(value, dict),
        "null": value is None,
    }
    return any(checks.get(part, f"`{value}`" == part) for part in (*others, last))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command that needs no database."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    return forked.jobmill(
        *arguments, "--json", stdin=stdin, folder=folder, variables=kept | {"HOME": str(folder)}
    )


def print_lines(folder: Path, *arguments: str, stdin: str = "") -> list[dict[str, Any]]:
    done = run(folder, *arguments, stdin=stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(text) for text in done.stdout.splitlines()]


def check(record: Mapping[str, Any], types: Mapping[str, str]) -> None:
    """A record has exactly the documented fields, with their types."""
    assert set(record) == set(types)
    assert [name for name, type in types.items() if not fits(record[name], type)] == []


def test_a_detected_board_has_the_documented_fields(folder: Path) -> None:
    heading = "`jobmill source detect --json`"
    board, none = print_lines(
        folder, "source", "detect", "https://boards.greenhouse.io/acme", "https://acme.example/"
    )
    for record in (board, none):
        check(record, documented(heading))
    assert board == example(heading)
    assert [name for name, value in none.items() if value is not None] == ["url"]


def test_a_posting_of_a_response_has_the_documented_fields(folder: Path) -> None:
    (posting,) = print_lines(folder, "source", "read", "response.json", "--platform", "lever")
    check(posting, documented(SOURCE_READ))
    assert posting == example(SOURCE_READ)
    salary = re.search(r"^`salary` has (.*)\.", SECTIONS[SOURCE_READ], re.MULTILINE)
    assert salary
    assert [name for name in posting["salary"] if f"`{name}`" not in salary[1]] == []
    body = json.dumps({"body": FILES["response.json"], "platform": "lever"})
    (posting,) = print_lines(folder, "source", "read", "-", stdin=body)
    assert set(posting) == set(documented(SOURCE_READ)) - {"file"}


def test_the_posting_of_a_page_has_the_documented_fields(folder: Path) -> None:
    types = documented(SOURCE_READ) | documented(LISTING_READ)
    (posting,) = print_lines(
        folder, "listing", "read", "page.html", "--url", "https://wells.example/1"
    )
    check(posting, types)
    assert posting == example(LISTING_READ)
    body = json.dumps({"html": FILES["page.html"], "url": "https://wells.example/1"})
    (posting,) = print_lines(folder, "listing", "read", "-", stdin=body)
    assert set(posting) == set(types) - {"file"}


def test_a_group_of_duplicates_has_the_documented_fields(folder: Path) -> None:
    (group,) = print_lines(folder, "listing", "dedup", "postings.jsonl")
    check(group, documented(DEDUP))
    assert group == example(DEDUP)
    numbered = "\n".join([json.dumps(COOK)] * 2)
    (group,) = print_lines(folder, "listing", "dedup", "-", stdin=numbered)
    check(group, documented(DEDUP))
    assert group["members"] == [0, 1]


def test_an_input_that_cannot_be_read_prints_an_error_line(folder: Path) -> None:
    heading = "Error lines"
    done = run(folder, "source", "read", "broken.json", "response.json", "--platform", "lever")
    error, posting = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, error) == (1, example(heading))
    check(posting, documented(SOURCE_READ))
    done = run(folder, "listing", "dedup", "-", stdin="[]\n")
    (error,) = map(json.loads, done.stdout.splitlines())
    check(error, documented(heading) | {"line": "number"})


def test_goal_lines_have_the_documented_format() -> None:
    form, *examples = re.findall(r"^    (goal .*)$", SECTIONS["Goal lines"], re.MULTILINE)
    assert form == "goal NAME FIGURE WANTED ok|short"
    lines = [
        line(Goal("dedup: precision", 0.9987, 0.99), "dedup"),
        line(Goal("ingest.memory_growth", 1.07, 1.05, at_most=True), "ingest"),
    ]
    assert lines == examples
    lines += [
        line(Goal("dollars for a match", 123456.0, 1e6, at_most=True), "replay"),
        QueueGoal("latency-p50", 0.5, "<=1.0", met=True).line,
    ]
    for text in lines:
        match = GOAL.fullmatch(text)
        assert match, text
        float(match[2])
        float(match[3][2:])


def test_every_operation_of_the_contract_exists() -> None:
    section = SECTIONS["The hiring API"]
    paths: Mapping[str, Any] = router.description()["paths"]
    requests = re.findall(r"^\| `([A-Z]+) (/api/\S+)`.*\| (\d{3})\b", section, re.MULTILINE)
    assert len(requests) == 16
    for method, path, status in requests:
        assert status in paths[path][method.lower()]["responses"], path


def test_the_shapes_of_the_contract_are_those_of_the_api() -> None:
    schemas: Mapping[str, Any] = router.description()["components"]["schemas"]
    rows = dict(re.findall(r"^\| (\w+) \| (.*`.*) \|$", SECTIONS["The hiring API"], re.MULTILINE))
    shapes = {name: cells for name, cells in rows.items() if not name.isdigit()}
    assert len(shapes) == 13
    for name, cells in shapes.items():
        fields = re.findall(r"`(\w+)`(\??)", cells)
        properties = schemas[name]["properties"]
        assert [field for field, _ in fields if field not in properties] == [], name
        nullable = {
            field
            for field, _ in fields
            if any(part.get("type") == "null" for part in properties[field].get("anyOf", ()))
        }
        assert {field for field, mark in fields if mark} == nullable, name


def test_policies_are_created_and_called_as_documented() -> None:
    section = SECTIONS["Rotation policies"]
    calls = dict(re.findall(r"`(?:\S+\.)?(\w+)\(([^)]*)\)`", section))
    names = [name for name in re.findall(r"`(\w+)`", section) if name in ("yield", "seed")]
    assert len(names) == 2
    assert [*inspect.signature(create_policy).parameters] == calls.pop("create_policy").split(", ")
    for name in names:
        policy = create_policy(name)
        for call, arguments in calls.items():
            assert [*inspect.signature(getattr(policy, call)).parameters] == arguments.split(", ")


def test_the_documented_variables_set_something() -> None:
    names = re.findall(r"`([A-Z_]+[A-Z])`", SECTIONS["Settings"].partition("| purpose")[2])
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert len(names) > 20
    assert set(names) - known - set(OTHER_VARIABLES) == {"DATABASE_URL"}

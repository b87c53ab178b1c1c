"""`jobmill setup`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import forked

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(home: Path, url: str) -> Run:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "dana", "DATABASE_URL": forked.as_url(url)}  # fmt: skip

    def call(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return forked.jobmill(*arguments, folder=home, variables=variables | more)

    return call


def test_companies_are_listed_and_searched(run: Run) -> None:
    [company] = [company for company in json.loads(run("setup", "companies", "--search", "stripe", "--json").stdout) if company["key"] == "greenhouse/stripe"]  # fmt: skip
    assert company["name"] == "Stripe"
    assert "No company matches" in run("setup", "companies", "--search", "zzz").stdout


def test_boards_and_pages_are_added_and_queued(run: Run) -> None:
    done = run(
        "setup", "add", "greenhouse/stripe", "https://jobs.lever.co/acme", "acme.example/jobs"
    )
    assert done.returncode == 0, done.stderr
    assert "2 boards: 2 new." in done.stdout
    again = json.loads(run("setup", "add", "greenhouse/stripe", "--json").stdout)
    assert (again["boards"], again["new"], again["queued"]) == (1, 0, 0)


@pytest.mark.parametrize("lines", [[], ["greenhouse/stripe", "not a board"]])
def test_setup_add_rejects_unknown_lines_and_adds_nothing(run: Run, lines: list[str]) -> None:
    done = run("setup", "add", *lines)
    assert done.returncode == 2
    assert "No sources" in run("source", "list").stdout


def test_check_model_without_a_key_names_the_missing_variable(run: Run) -> None:
    done = run("setup", "check-model", "--json")
    assert done.returncode == 1
    answers = json.loads(done.stdout)
    assert {answer["ok"] for answer in answers} == {False}
    assert all("ANTHROPIC_API_KEY" in answer["detail"] for answer in answers)


def test_a_resume_without_any_facts_creates_no_profile(run: Run, home: Path) -> None:
    (home / "cv.txt").write_text("asdf")
    done = run("profile", "import", "cv.txt", "--save")
    assert done.returncode == 2
    assert "Nothing was found in cv.txt" in done.stderr
    assert json.loads(run("profile", "list", "--json").stdout or "[]") == []

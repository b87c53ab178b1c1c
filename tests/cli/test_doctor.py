from __future__ import annotations

import datetime as dt
import json
import socket
from pathlib import Path

import psycopg
import pytest

from jobmill.cli import doctor
from jobmill.db.state import DatabaseState, ServerFacts
from jobmill.settings import Settings
from tests.cli.conftest import Jobmill
from tests.cli.forked import as_url

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def checks(output: str) -> dict[str, str]:
    return {check["subject"]: check["result"] for check in json.loads(output)}


def state(
    *,
    major: int = 18,
    minor: int = 99,
    pending: list[str] | None = None,
    unknown: list[str] | None = None,
) -> DatabaseState:
    facts = ServerFacts(f"{major}.{minor}", major, 1, 1, 100, NOW)
    return DatabaseState(facts, ["0001"], pending or [], unknown or [])


def test_all_checks_pass_on_a_fresh_machine(jobmill: Jobmill) -> None:
    done = jobmill("doctor", "--json", JOBMILL_CONTACT="me@wells.example", CHROMIUM="python3")
    assert done.returncode == 0, done.stdout
    assert checks(done.stdout) == dict.fromkeys(
        [
            "Python",
            "settings",
            "PostgreSQL programs",
            "data folder",
            "free space",
            "database",
            "migrations",
            "clock",
            "web address",
            "contact",
            "browser",
            "models",
            "mail",
        ],
        "ok",
    )
    assert jobmill("db", "status", "--json").stdout.count('"running": false') == 1


def test_wrong_settings_fail_and_are_named(jobmill: Jobmill) -> None:
    done = jobmill("doctor", JOBMILL_PROCESSORS="x")
    assert done.returncode == 1
    assert "JOBMILL_PROCESSORS should be" in done.stdout


def test_a_database_that_does_not_answer_fails(jobmill: Jobmill) -> None:
    done = jobmill("doctor", "--json", DATABASE_URL="postgresql://127.0.0.1:1/x")
    assert done.returncode == 1
    assert checks(done.stdout)["database"] == "fail"


def test_a_newer_database_fails(jobmill: Jobmill, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO jobmill_migration VALUES ('9999_later.sql', 'x')")
    done = jobmill("doctor", "--json", DATABASE_URL=as_url(url))
    assert done.returncode == 1
    assert checks(done.stdout)["migrations"] == "fail"


def test_missing_programs_and_folders_fail(jobmill: Jobmill, home: Path) -> None:
    (home / "file").write_text("")
    place = str(home / "file" / "below")
    done = jobmill("doctor", "--json", JOBMILL_POSTGRES_BIN="/nowhere", JOBMILL_DATA_DIR=place)
    results = checks(done.stdout)
    assert done.returncode == 1
    assert (results["PostgreSQL programs"], results["data folder"]) == ("fail", "fail")
    assert results["database"] == "fail"


def test_a_taken_port_is_a_warning(jobmill: Jobmill, url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = jobmill("doctor", "--json", DATABASE_URL=as_url(url), JOBMILL_WEB_PORT=port)
    assert done.returncode == 0
    results = checks(done.stdout)
    assert (results["web address"], results["stored keys"]) == ("warn", "ok")


def test_no_contact_no_browser_and_unreadable_keys_are_warnings(jobmill: Jobmill, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO people.model_key VALUES ('OPENAI_API_KEY', 'other key')")
    done = jobmill("doctor", "--json", DATABASE_URL=as_url(url), CHROMIUM="no-such-browser")
    assert done.returncode == 0
    results = checks(done.stdout)
    assert [results[name] for name in ("contact", "browser", "stored keys")] == ["warn"] * 3
    assert "cannot be decrypted: OPENAI_API_KEY" in done.stdout


def test_a_folder_writable_by_others_is_a_warning(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert doctor.check_rights(tmp_path, tmp_path).result == "warn"
    tmp_path.chmod(0o755)
    assert doctor.check_rights(tmp_path, tmp_path).result == "ok"


@pytest.mark.parametrize(("major", "result"), [(14, "fail"), (15, "ok")])
def test_an_old_server_fails(major: int, result: str) -> None:
    assert doctor.check_version(state(major=major)).result == result


@pytest.mark.parametrize(
    ("major", "minor", "result"),
    [
        (18, 3, "warn"),
        (18, 4, "ok"),
        (17, 9, "warn"),
        (16, 14, "ok"),
        (15, 1, "warn"),
        (19, 0, "ok"),
    ],
)
def test_a_server_without_security_fixes_is_a_warning(major: int, minor: int, result: str) -> None:
    check = doctor.check_version(state(major=major, minor=minor))
    assert check.result == result
    assert ("lacks security fixes" in check.finding) == (result == "warn")


def test_old_programs_are_a_warning(tmp_path: Path) -> None:
    programs = tmp_path / "postgres"
    programs.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.1'\n")
    programs.chmod(0o755)
    check = doctor.check_programs(Settings(postgres_bin=tmp_path))
    assert (check.result, check.subject) == ("warn", "PostgreSQL programs")
    assert "18.4" in check.advice


@pytest.mark.parametrize(
    ("database_state", "result"),
    [
        (state(), "ok"),
        (state(pending=["0002"]), "warn"),
        (state(unknown=["0009"]), "fail"),
    ],
)
def test_pending_and_unknown_migrations_are_reported(
    database_state: DatabaseState, result: str
) -> None:
    assert doctor.check_migrations(database_state).result == result


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [(-1, 1, "ok"), (-60, 60, "ok"), (-60, -6, "warn"), (6, 60, "warn"), (4, 60, "ok")],
)
def test_a_clock_that_differs_is_a_warning(before: int, after: int, result: str) -> None:
    seconds = [NOW + dt.timedelta(seconds=number) for number in (before, after)]
    assert doctor.check_clock(state(), *seconds).result == result


@pytest.mark.parametrize(("free", "result"), [(10**8, "fail"), (2 * 10**9, "warn"), (10**10, "ok")])
def test_low_disk_space_is_reported(free: int, result: str) -> None:
    assert doctor.check_space(free).result == result


def test_the_model_mode_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    without = doctor.check_models(Settings())
    assert (without.result, without.finding) == ("ok", "local only")
    assert "ANTHROPIC_API_KEY" in without.advice
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    with_key = doctor.check_models(Settings(model_strong="none"))
    assert with_key.finding == "cheap: anthropic:claude-haiku-5-5"
    assert "sk-secret" not in repr(with_key)
    assert doctor.check_models(Settings(budget_day=0)).finding == "local only"

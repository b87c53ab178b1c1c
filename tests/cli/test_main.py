from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from jobmill import cli, errors
from jobmill.cli.support import output
from jobmill.cli.support.lazy_commands import LazyCommand
from jobmill.errors import AppError
from tests.cli.conftest import Jobmill


def test_version_is_printed(jobmill: Jobmill) -> None:
    assert jobmill("--version").stdout == f"jobmill {version('jobmill')}\n"


def test_wrong_usage_is_exit_code_2(jobmill: Jobmill) -> None:
    done = jobmill("db", "bakcup")
    assert done.returncode == 2
    assert "backup" in done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.Invalid(""), 2),
        (errors.NotFound("item", 1), 3),
        (errors.Conflict(""), 4),
        (errors.Unavailable(""), 5),
        (errors.OutsideError(""), 5),
        (errors.AppError(""), 1),
        (type("AlreadyThere", (errors.Conflict,), {})(""), 4),
    ],
)
def test_every_error_has_an_exit_code(error: AppError, code: int) -> None:
    assert cli.exit_code(error) == code


def test_an_error_is_one_line_and_a_traceback_only_when_debugging(jobmill: Jobmill) -> None:
    wrong = {"DATABASE_URL": "postgresql://me:s3cret@127.0.0.1:1/x"}
    done = jobmill("db", "status", **wrong)
    assert done.returncode == 5
    assert done.stderr.startswith("jobmill: no PostgreSQL server answers at")
    assert done.stderr.count("\n") == 1
    assert "s3cret" not in done.stderr
    for debug in ({"JOBMILL_DEBUG": "1"}, {"JOBMILL_LOG_LEVEL": "debug"}):
        done = jobmill("db", "status", **wrong, **debug)
        assert "Traceback" in done.stderr
        assert done.stderr.splitlines()[-1].startswith("jobmill: no PostgreSQL")


def test_help_does_not_import_the_modules_of_commands() -> None:
    code = "import jobmill.cli, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    heavy = {"psycopg", "pydantic", "fastapi", "uvicorn", "yaml", "rich.table"}
    assert not heavy & set(loaded.stdout.split())


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.command_name)
def test_the_help_page_repeats_the_first_line_of_each_command(command: LazyCommand) -> None:
    assert command.help == command.load().help.partition("\n\n")[0]


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_499, "999 kB"), (999_999, "1.0 MB"),
     (8_230_000, "8.2 MB"), (84_400_000_000, "84.4 GB"), (10**16, "10000 TB")],
)  # fmt: skip
def test_sizes_are_short(number: int, words: str) -> None:
    assert output.format_size(number) == words


def test_control_characters_in_a_value_are_escaped() -> None:
    assert output.printable("a\x1b[2J\nb\x07") == "a\\x1b[2J b\\x07"

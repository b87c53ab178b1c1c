from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

TEST_SERVER = "JOBMILL_TEST_DATABASE_URL"
ROOT = Path(__file__).parent.parent.parent

OLD = """#!/bin/sh
[ "$1" = -V ] && echo "Python 3.9.2" && exit
exit 1
"""

BARE = """#!/bin/sh
case "$*" in *ensurepip*) exit 1 ;; esac
"""

# Answers like Python, and records what it was asked to make and to install.
GOOD = """#!/bin/sh
case "$1 $2" in
    "-V "*) echo "Python 3.12.0" ;;
    "-m venv") echo "venv $3" >>calls; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip") case "$*" in
        *"--require-hashes -r "*) cat "$8" >>installed ;;
        *) echo "pip $*" >>calls ;;
        esac ;;
    "-c import pip"*) echo "$(cd "$(dirname "$0")/.." && pwd)|3|12" ;;
esac
"""

SLEEPER = """
import time
def test_that_waits(server, request):
    with open({note!r}, "w") as file:
        file.write(server)
    time.sleep(60)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that `make` needs, in a folder with a space in its name."""
    folder = tmp_path / "my jobmill"
    (folder / "scripts").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "scripts/setup"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], check=False, cwd=folder, capture_output=True, text=True
    )


def fake_python(folder: Path, text: str) -> str:
    (folder / "python 3").write_text(text)
    (folder / "python 3").chmod(0o755)
    return f"PYTHON={folder / 'python 3'}"


def test_an_old_python_is_reported_with_the_required_version(checkout: Path) -> None:
    done = make(checkout, "setup", fake_python(checkout, OLD))
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "is Python 3.9.2" in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_without_venv_is_reported_with_the_missing_package(checkout: Path) -> None:
    done = make(checkout, "setup", fake_python(checkout, BARE))
    assert done.returncode != 0
    assert "install the package python3-venv" in done.stderr


def test_a_missing_python_is_reported(checkout: Path) -> None:
    done = make(checkout, "setup", "PYTHON=/nowhere/python3")
    assert done.returncode != 0
    assert "was found at /nowhere/python3" in done.stderr


def test_help_lists_every_target(checkout: Path) -> None:
    listed = set(re.findall(r"^  make (\S+)", make(checkout, "help").stdout, re.MULTILINE))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert listed == set(targets)
    assert listed >= {"run", "test", "check", "fmt", "eval", "bench", "soak", "clean"}


def test_a_second_setup_does_nothing_until_something_changes(checkout: Path) -> None:
    python = fake_python(checkout, GOOD)
    assert make(checkout, "setup", python).returncode == 0
    assert calls(checkout) == ["venv", "pip"]
    assert installed(checkout) == requirements(checkout)
    assert make(checkout, "setup").stderr == ""
    assert len(calls(checkout)) == 2
    assert installed(checkout) == requirements(checkout)

    (checkout / "requirements.lock").write_text("another==1 --hash=sha256:0\n")
    (checkout / "installed").unlink()
    make(checkout, "setup")
    assert calls(checkout)[2:] == ["pip"]
    assert installed(checkout) == requirements(checkout) == ["another==1 --hash=sha256:0"]

    moved = checkout.rename(checkout.with_name("moved here"))
    make(moved, "setup", f"PYTHON={moved / 'python 3'}")
    assert calls(moved)[3:] == ["venv", "pip"]

    (moved / ".venv" / "bin" / "python").unlink()
    make(moved, "setup", f"PYTHON={moved / 'python 3'}")
    assert calls(moved)[5:] == ["venv", "pip"]


@pytest.mark.parametrize(
    ("works", "fails"),
    [('cat "$8" >>installed', '! grep -q fastapi== "$8"'), ('echo "pip $*" >>calls', "exit 1")],
    ids=["one of the requirements", "the project"],
)
def test_a_failed_setup_is_repeated(checkout: Path, works: str, fails: str) -> None:
    python = fake_python(checkout, GOOD.replace(works, fails))
    assert make(checkout, "setup", python).returncode != 0
    assert not (checkout / ".venv" / ".run").exists()
    (checkout / "installed").unlink(missing_ok=True)
    (checkout / ".venv" / "bin" / "python").write_text(GOOD)
    assert make(checkout, "setup").returncode == 0
    assert calls(checkout) == ["venv", "pip"]
    assert installed(checkout) == requirements(checkout)


def test_ctrl_c_ends_the_setup_with_everything_it_started(checkout: Path, tmp_path: Path) -> None:
    endless = GOOD.replace('cat "$8" >>installed', "echo $$ >>installed; exec sleep 60")
    fake_python(checkout, endless)
    parts = tmp_path / "parts"
    parts.mkdir()
    setup = subprocess.Popen(
        ["scripts/setup", "run"],
        cwd=checkout,
        env={**os.environ, "PYTHON": str(checkout / "python 3"), "TMPDIR": str(parts)},
        stderr=subprocess.DEVNULL,
        preexec_fn=listen_to_ctrl_c,  # noqa: PLW1509
    )
    wait_until(lambda: (checkout / "installed").exists() and len(installed(checkout)) == 4)
    setup.send_signal(signal.SIGINT)
    assert setup.wait() == 130
    wait_until(lambda: not any(map(is_running, installed(checkout))))
    assert list(parts.iterdir()) == []


def listen_to_ctrl_c() -> None:
    """A background job ignores SIGINT, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def is_running(process: str) -> bool:
    try:
        # Empty for a zombie: its parent has ended, too.
        return Path("/proc", process, "cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        time.sleep(0.05)


def calls(folder: Path) -> list[str]:
    """The modules that Python was asked to run, but for the requirements."""
    return [line.split()[0] for line in (folder / "calls").read_text().splitlines()]


def installed(folder: Path) -> list[str]:
    """The lines of all requirements that pip was given."""
    return sorted((folder / "installed").read_text().splitlines())


def requirements(folder: Path) -> list[str]:
    return sorted((folder / "requirements.lock").read_text().splitlines())


def test_ctrl_c_leaves_no_test_server_behind(tmp_path: Path) -> None:
    note = tmp_path / "note"
    (tmp_path / "test_sleeper.py").write_text(SLEEPER.format(note=str(note)))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    variables = {name: text for name, text in os.environ.items() if name != TEST_SERVER}
    run = subprocess.Popen(
        [*command, "-p", "tests.conftest", str(tmp_path / "test_sleeper.py")],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=listen_to_ctrl_c,  # noqa: PLW1509
    )
    while not note.exists() or not note.read_text():
        assert run.poll() is None
        time.sleep(0.05)
    server = note.read_text()
    data = Path(str(psycopg.conninfo.conninfo_to_dict(server)["host"]))
    process = Path("/proc") / (data / "postmaster.pid").read_text().split()[0] / "cwd"
    assert process.exists()
    run.send_signal(signal.SIGINT)
    assert run.wait() == 2
    assert not process.exists()
    assert not data.exists()

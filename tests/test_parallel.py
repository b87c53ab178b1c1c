"""The processes that run the tests report everything, also their own deaths and an interruption."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEADLY = """
import os, signal, pytest

@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")

def test_passes(folder):
    assert folder.is_dir()

def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)
"""
MIXED = """
import pytest

def test_fails():
    print("said", "aloud")
    assert 1 + 1 == 3

def test_is_skipped():
    pytest.skip("not today")
"""
INTERRUPTED = """
def test_is_interrupted():
    raise KeyboardInterrupt

def test_is_left_out():
    pass
"""
WAITING = """
import pathlib, time, pytest

@pytest.fixture(scope="session")
def place():
    path = pathlib.Path(__file__).with_suffix(".running")
    path.touch()
    yield
    path.unlink()

def test_waits(place):
    time.sleep(300)
"""


def start(folder: Path, *arguments: str, **files: str) -> subprocess.Popen[str]:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    plugins = ("-p", "tests.parallel", "-p", "no:cacheprovider", "-p", "no:schemathesis")
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-rsf", *plugins, "--rootdir", str(folder), *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A background job ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def test_failures_skips_and_deaths_are_reported(tmp_path: Path) -> None:
    run = start(tmp_path, "--processes", "2", deadly=DEADLY, mixed=MIXED)
    output, _ = run.communicate()
    assert run.returncode == 1, output
    assert "2 failed, 1 passed, 1 skipped" in output
    assert "SKIPPED" in output
    assert "not today" in output
    assert "assert (1 + 1) == 3" in output
    assert "said aloud" in output
    assert "The process of this test ended with status -9." in output
    assert "FAILED test_deadly.py::test_dies" in output


def test_tests_that_did_not_run_fail_the_run(tmp_path: Path) -> None:
    run = start(tmp_path, "--processes", "2", interrupted=INTERRUPTED, deadly=DEADLY, mixed=MIXED)
    output, _ = run.communicate()
    assert run.returncode == 1, output
    assert "FAILED test_interrupted.py::test_is_interrupted" in output
    # The group that follows the deadly test ran.
    assert "4 failed, 1 passed, 1 skipped" in output
    assert "Tests that did not run: 1." in output


def test_the_first_failure_can_end_the_run(tmp_path: Path) -> None:
    run = start(tmp_path, "--processes", "2", "-x", mixed=MIXED, waiting=WAITING)
    output, _ = run.communicate()
    assert run.returncode == 1, output
    assert "stopping after 1 failures" in output
    assert not (tmp_path / "test_waiting.running").exists()


def test_ctrl_c_tears_down_fixtures_in_all_processes(tmp_path: Path) -> None:
    run = start(tmp_path, "--processes", "2", waiting=WAITING, more=WAITING)
    marks = [tmp_path / f"test_{name}.running" for name in ("waiting", "more")]
    while not all(mark.exists() for mark in marks):
        assert run.poll() is None
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate()
    assert run.returncode == 2, output
    assert not any(mark.exists() for mark in marks)

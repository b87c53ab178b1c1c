"""A merge needs the browser tests; a developer without a browser may skip them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.missing_browser import REQUIRED, skip_or_fail

ROOT = Path(__file__).parents[1]
NO_BROWSER = {"CHROMIUM": "/nowhere/chromium", "PATH": os.environ["PATH"]}


@pytest.mark.parametrize(
    ("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_a_test_without_its_browser_is_skipped_or_fails_with_a_reason(
    required: str, outcome: type[BaseException]
) -> None:
    # Catch both: a skip that escapes would skip this test, too.
    outcomes = (pytest.skip.Exception, pytest.fail.Exception)
    with pytest.raises(outcomes, match=r"No Chromium was found\.") as caught:
        skip_or_fail("No Chromium was found.", {REQUIRED: required})
    assert caught.type is outcome


@pytest.mark.parametrize(("required", "starts"), [("", True), ("1", False)])
def test_make_test_fails_without_a_browser_only_if_one_is_required(
    required: str, starts: bool
) -> None:
    # Only the search for a browser runs here, and an `echo` in place of Python.
    command = ["make", "-o", "setup-dev", "PY=echo", "test"]
    done = subprocess.run(
        command, cwd=ROOT, env=NO_BROWSER | {REQUIRED: required},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert ("-m pytest" in done.stdout) is starts
    assert (done.returncode == 0) is starts
    assert "CHROMIUM=/nowhere/chromium does not run" in done.stderr


def test_the_check_before_a_merge_requires_a_browser(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "$1 ${REQUIRED}"\n')
    make.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [ROOT / ".ci/run"], env=environ, check=True, capture_output=True, text=True
    )
    assert done.stdout.split("\n")[:2] == ["check 1", "test 1"]

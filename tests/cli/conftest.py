from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import forked

Jobmill = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def jobmill(home: Path) -> Jobmill:
    """Runs the real command in its own folder with its own environment."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("JOBMILL_")}
    inherited.pop("DATABASE_URL", None)
    folders = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_DATA_HOME": home / "data"}
    base = {
        **inherited,
        **{name: str(path) for name, path in folders.items()},
        "JOBMILL_WEB_PORT": "0",
    }

    def run(
        *arguments: object, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return forked.jobmill(*arguments, stdin=stdin, folder=home, variables=base | variables)

    return run

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
        return subprocess.run(
            [sys.executable, "-m", "jobmill", *map(str, arguments)],
            check=False,
            capture_output=True,
            cwd=home,
            env=base | variables,
            input=stdin,
            text=True,
        )

    return run

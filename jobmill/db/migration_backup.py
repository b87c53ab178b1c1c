"""Backups that a new version writes before its migrations change a database."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from jobmill.db import backup
from jobmill.db.backup import Backup
from jobmill.errors import Unavailable

MAX_KEPT = 3
PREFIX = "before-"


def write(url: str, bin: Path, folder: Path, first_pending: str) -> Backup:
    """Back up the database, and delete all but the newest of these backups."""
    time = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S%fZ")
    path = folder / f"{PREFIX}{first_pending.partition('_')[0]}-{time}.dump"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = backup.write_backup(url, bin, path)
    except (OSError, Unavailable) as error:
        raise Unavailable(
            f"no backup could be written to {folder}, so nothing was upgraded: {error}. Correct this, "
            "or make a backup of your own and set migration_backup to false"
        ) from error
    for old in list_backups(folder)[:-MAX_KEPT]:
        old.unlink(missing_ok=True)
    # A killed process leaves the part that it had written. The caller holds the migration lock, so
    # no other process is writing one.
    for part in folder.glob(f".{PREFIX}*.part"):
        part.unlink(missing_ok=True)
    return written


def list_backups(folder: Path) -> list[Path]:
    """The backups before migrations, oldest first."""
    return sorted(folder.glob(f"{PREFIX}*.dump"), key=lambda path: path.stem.rpartition("-")[2])

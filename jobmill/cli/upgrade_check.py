"""jobmill upgrade-check: can this version use the database, and what would it change?"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import typer

from jobmill.cli import doctor
from jobmill.cli.doctor import Diagnosis
from jobmill.cli.support import environment, output
from jobmill.cli.support.output import AsJson
from jobmill.db import state
from jobmill.db.state import DatabaseState
from jobmill.errors import AppError
from jobmill.settings import Settings


def upgrade_check(as_json: AsJson = False) -> None:
    """Check whether this version can use your database, and what it would change."""
    checks = list(examine(environment.load_settings()))
    output.print_table(checks, as_json=as_json)
    if any(check.result == "fail" for check in checks):
        raise typer.Exit(1)


def examine(settings: Settings) -> Iterator[Diagnosis]:
    """Read the state of the database; nothing is changed."""
    yield Diagnosis("ok", "Jobmill", version("jobmill"))
    yield doctor.check_python()
    try:
        with environment.running_server(settings) as url:
            database_state = asyncio.run(state.read_state(url))
    except AppError as error:
        yield Diagnosis("fail", "database", str(error), "`jobmill doctor` shows details")
        return
    direct = bool(settings.database_direct_url)
    yield doctor.check_version(database_state, direct=direct)
    yield check_migrations(database_state)
    if database_state.pending and database_state.applied:
        yield check_backup(settings, database_state.facts.bytes)
        yield check_clients(database_state)


def check_migrations(database_state: DatabaseState) -> Diagnosis:
    pending = database_state.pending
    if database_state.unknown:
        return doctor.check_migrations(database_state)
    if database_state.edited:
        text = f"{database_state.edited[0]} differs from the one that was applied"
        advice = (
            "an unreleased Jobmill created the database: run that version, or use a new database"
        )
        return Diagnosis("fail", "migrations", text, advice)
    if not database_state.applied:
        return Diagnosis("ok", "migrations", "the database is new")
    if not pending:
        return Diagnosis("ok", "migrations", "up to date: there is nothing to change")
    text = f"{output.format_count(len(pending), 'migration')} to apply: {', '.join(pending)}"
    return Diagnosis("ok", "migrations", text, "start Jobmill, or run `jobmill db migrate`")


def check_backup(settings: Settings, database_bytes: int) -> Diagnosis:
    folder = environment.backup_folder(settings)
    if not settings.migration_backup:
        advice = "run `jobmill db backup FILE` first"
        return Diagnosis("warn", "backup", "migration_backup is false: none is written", advice)
    existing = doctor.nearest_existing(folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        advice = "make it writable for this user, or set data_dir"
        return Diagnosis("fail", "backup", f"{existing} is not a writable folder", advice)
    return _check_space(folder, shutil.disk_usage(existing).free, database_bytes)


def _check_space(folder: Path, free: int, database_bytes: int) -> Diagnosis:
    # A backup is compressed: it needs less than the database.
    if free < database_bytes:
        text = f"{output.format_size(free)} free for a database of {output.format_size(database_bytes)}"
        return Diagnosis(
            "warn", "backup", text, "free some space, or set data_dir to a larger disk"
        )
    return Diagnosis("ok", "backup", f"is written to {folder} first")


def check_clients(database_state: DatabaseState) -> Diagnosis:
    others = database_state.facts.connections - 1
    if others > 0:
        text = f"{output.format_count(others, 'other connection')} to the server"
        return Diagnosis("warn", "clients", text, "stop Jobmill of the old version first")
    return Diagnosis("ok", "clients", "no one else is connected")

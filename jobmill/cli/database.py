"""jobmill db …: look after the database."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jobmill.cli.support import environment, output
from jobmill.cli.support.output import AsJson
from jobmill.db import backup, binaries, migrate, redact_passwords, state, to_url
from jobmill.db.embedded import EmbeddedServer
from jobmill.settings import Settings

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The file of the backup.")]


@dataclass(frozen=True)
class Status:
    kind: str
    place: str
    running: bool
    version: str | None = None
    bytes: int | None = None
    connections: int | None = None
    max_connections: int | None = None
    applied: list[str] | None = None
    pending: list[str] | None = None
    unknown: list[str] | None = None


@dataclass(frozen=True)
class Migrated:
    applied: list[str]


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show which database is used and how it is. Starts nothing."""
    found = asyncio.run(_status(environment.load_settings()))
    formatters = {
        "bytes": output.format_size,
        "applied": _count,
        "pending": _names,
        "unknown": _names,
    }
    output.print_record(found, as_json=as_json, formatters=formatters)


@app.command("migrate")
def migrate_database(as_json: AsJson = False) -> None:
    """Bring the database up to date; every start of Jobmill does so too."""
    applied = asyncio.run(_migrate(environment.load_settings()))
    if as_json:
        output.print_record(Migrated(applied), as_json=True)
    else:
        typer.echo(f"applied {', '.join(applied)}" if applied else "up to date")


@app.command("backup")
def back_up(
    file: File,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the whole database to a file, while Jobmill may go on working."""
    settings = environment.load_settings()
    with environment.running_server(settings) as url:
        made = backup.write_backup(
            url, binaries.find_folder(settings.postgres_bin), file, replace=force
        )
    output.print_record(
        made, as_json=as_json, formatters={"bytes": output.format_size, "migrations": _count}
    )


@app.command()
def restore(
    file: File,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put the backup in place of all data there is.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Fill an empty database from a file, or replace one. A failure changes nothing."""
    settings = environment.load_settings()
    if replace and not yes:
        where = _named_database(settings)
        typer.confirm(f"All data in {where} will be lost. Replace it?", abort=True, err=True)
    with environment.running_server(settings) as url:
        backup.restore_backup(
            url, binaries.find_folder(settings.postgres_bin), file, replace=replace
        )
        asyncio.run(_migrate(settings))
    typer.echo(f"restored from {file}")


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def psql(context: typer.Context) -> None:
    """Open psql on the database. What you add is handed on: jobmill db psql -c 'SELECT 1'"""
    settings = environment.load_settings()
    program = binaries.find_folder(settings.postgres_bin) / "psql"
    with environment.running_server(settings) as url:
        # Not in our place: somebody has to stop the server afterwards. Ctrl-C is for psql.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            command = backup.client_command(program, url, *context.args)
            code = subprocess.call(command, env=backup.client_environment(url))
        finally:
            signal.signal(signal.SIGINT, before)
    raise typer.Exit(code)


@app.command()
def url() -> None:
    """Print the URL of the database, password included, for other programs. Starts nothing."""
    settings = environment.load_settings()
    bundled = environment.bundled_server(settings)
    if bundled is None:
        typer.echo(to_url(environment.direct_url(settings)))
        return
    found = bundled.status()
    typer.echo(found.url)
    if not found.running:
        typer.echo("jobmill: the server is not running: `jobmill up` starts it", err=True)


def _named_database(settings: Settings) -> str:
    if not settings.database_url:
        return str(settings.data_dir)
    pooled = settings.database_pooler == "transaction"
    return f"the database in {'database_direct_url' if pooled else 'DATABASE_URL'}"


async def _status(settings: Settings) -> Status:
    bundled = environment.bundled_server(settings)
    if bundled is None:
        url = environment.direct_url(settings)
        return await _ask("external", redact_passwords(url), url)
    return await _status_of(bundled)


async def _status_of(bundled: EmbeddedServer) -> Status:
    found = bundled.status()
    if found.running:
        return await _ask("bundled", str(found.data), found.url)
    version = str(found.version) if found.version else None
    return Status("bundled", str(found.data), running=False, version=version)


async def _ask(kind: str, place: str, url: str) -> Status:
    found = await state.read_state(url)
    return Status(
        kind=kind,
        place=place,
        running=True,
        version=found.facts.version,
        bytes=found.facts.bytes,
        connections=found.facts.connections,
        max_connections=found.facts.max_connections,
        applied=found.applied,
        pending=found.pending,
        unknown=found.unknown,
    )


async def _migrate(settings: Settings) -> list[str]:
    async with (
        environment.open_database(settings, migrate=False) as database,
        database.transaction() as tx,
    ):
        return await migrate.migrate(tx)


def _count(names: list[str]) -> str:
    return str(len(names))


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"

"""jobmill db: status, migration, backup and restore of the database."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from jobmill.cli.support import environment, output
from jobmill.cli.support.output import AsJson
from jobmill.db import (
    CONNECTION_ERRORS,
    backup,
    binaries,
    connect,
    redact_passwords,
    state,
    to_url,
)
from jobmill.db.embedded import EmbeddedServer
from jobmill.errors import AppError, Unavailable
from jobmill.notifications import events
from jobmill.settings import Settings

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="Backup file.")]
SERVER_FACTS = ("version", "bytes", "connections", "max_connections")
MIGRATIONS = ("applied", "pending", "unknown")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show which database is used and its state, without starting it."""
    database_status = asyncio.run(_read_status(environment.load_settings()))
    formatters = {
        "bytes": output.format_size,
        "applied": _format_count,
        "pending": _format_names,
        "unknown": _format_names,
    }
    output.print_record(database_status, as_json=as_json, formatters=formatters)


@app.command("migrate")
def migrate_database(as_json: AsJson = False) -> None:
    """Apply pending migrations after a backup; every start of Jobmill does so, too."""
    settings = environment.load_settings()
    with environment.running_server(settings) as url:
        applied = asyncio.run(environment.apply_migrations(settings, url))
    output.print_result(
        {"applied": applied}, f"applied {', '.join(applied)}" if applied else "up to date", as_json
    )


@app.command("backup")
def back_up(
    file: File,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Back up the database to a file, also while Jobmill is running."""
    settings = environment.load_settings()
    with environment.running_server(settings) as url:
        try:
            dump = backup.write_backup(
                url, binaries.find_folder(settings.postgres_bin), file, replace=force
            )
        except (AppError, OSError) as error:
            asyncio.run(_notify_operators(url, file, error))
            raise
    output.print_record(
        dump, as_json=as_json, formatters={"bytes": output.format_size, "migrations": _format_count}
    )


async def _notify_operators(url: str, file: Path, error: Exception) -> None:
    """Tell the operators that a backup failed: the output of a scheduled command may stay unread."""
    with contextlib.suppress(Unavailable, *CONNECTION_ERRORS):
        async with connect(url, size=1) as database, database.transaction() as tx:
            await events.record_failed_backup(tx, f"{file.name}: {error}")


@app.command()
def restore(
    file: File,
    replace: Annotated[bool, typer.Option("--replace", help="Replace all existing data.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    trusted: Annotated[
        bool,
        typer.Option(
            "--trusted",
            help="Restore as a database superuser. Only for a backup that you trust: it can run "
            "programs.",
        ),
    ] = False,
) -> None:
    """Restore a backup into an empty database, or replace one. A failure changes nothing."""
    settings = environment.load_settings()
    if replace and not yes:
        target = _describe_target(settings)
        typer.confirm(f"All data in {target} will be lost. Replace it?", abort=True, err=True)
    with environment.running_server(settings) as url:
        backup.restore_backup(
            url,
            binaries.find_folder(settings.postgres_bin),
            file,
            replace=replace,
            trusted=trusted,
        )
        # The restored file is the backup.
        unsaved = settings.model_copy(update={"migration_backup": False})
        asyncio.run(environment.apply_migrations(unsaved, url))
    typer.echo(f"restored from {file}")


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def psql(context: typer.Context) -> None:
    """Open psql on the database; arguments are passed on: jobmill db psql -c 'SELECT 1'"""
    settings = environment.load_settings()
    program = binaries.find_folder(settings.postgres_bin) / "psql"
    with environment.running_server(settings) as url:
        # A child process, because the server must be stopped afterwards. Ctrl-C is for psql.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            command = backup.client_command(program, url, *context.args)
            code = subprocess.call(command, env=backup.client_environment(url))
        finally:
            signal.signal(signal.SIGINT, handler)
    raise typer.Exit(code)


@app.command()
def url() -> None:
    """Print the URL of the database, including its password, without starting it."""
    settings = environment.load_settings()
    bundled = environment.bundled_server(settings)
    if bundled is None:
        typer.echo(to_url(environment.direct_url(settings)))
        return
    server = bundled.status()
    typer.echo(server.url)
    if not server.running:
        typer.echo("jobmill: the server is not running; `jobmill up` starts it", err=True)


def _describe_target(settings: Settings) -> str:
    if not settings.database_url:
        return str(settings.data_dir)
    pooled = settings.database_pooler == "transaction"
    return f"the database in {'database_direct_url' if pooled else 'DATABASE_URL'}"


async def _read_status(settings: Settings) -> dict[str, object]:
    bundled = environment.bundled_server(settings)
    if bundled is None:
        url = environment.direct_url(settings)
        return await _query_status("external", redact_passwords(url), url)
    return await _read_bundled_status(bundled)


async def _read_bundled_status(bundled: EmbeddedServer) -> dict[str, object]:
    server = bundled.status()
    if server.running:
        return await _query_status("bundled", str(server.data), server.url)
    status: dict[str, object] = {"kind": "bundled", "place": str(server.data), "running": False}
    version = str(server.version) if server.version else None
    return status | dict.fromkeys((*SERVER_FACTS, *MIGRATIONS)) | {"version": version}


async def _query_status(kind: str, place: str, url: str) -> dict[str, object]:
    database_state = await state.read_state(url)
    status: dict[str, object] = {"kind": kind, "place": place, "running": True}
    facts = output.pick(database_state.facts, *SERVER_FACTS)
    return status | facts | output.pick(database_state, *MIGRATIONS)


def _format_count(names: list[str]) -> str:
    return str(len(names))


def _format_names(names: list[str]) -> str:
    return ", ".join(names) or "none"

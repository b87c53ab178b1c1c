"""jobmill config: the settings and where they come from."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from jobmill import settings
from jobmill.cli.support import output
from jobmill.cli.support.output import AsJson
from jobmill.db import redact_passwords

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class _SettingRow:
    name: str
    value: object
    origin: str


@dataclass(frozen=True)
class _SettingsFile:
    path: str | None
    looked_for: list[str]


@app.command("show")
def show_settings(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from, without passwords."""
    loaded, origins = settings.load()
    values = loaded.model_dump()
    values |= {name: _without_password(values[name]) for name in settings.CONNECTION_STRINGS}
    rows = [_SettingRow(name, values[name], origin) for name, origin in origins.items()]
    output.print_table(rows, as_json=as_json)


@app.command()
def check() -> None:
    """Check the settings; exit code 2 if one is wrong."""
    loaded, origins = settings.load()
    # Imported here, because `config show` needs no stages.
    from jobmill.app import check_phases

    check_phases(loaded)
    changed = sum(origin != "default" for origin in origins.values())
    typer.echo(f"ok: {len(origins)} settings, {changed} set, the others at their default")


@app.command()
def path(as_json: AsJson = False) -> None:
    """Print the settings file in use, or the places where one would be read from."""
    file = settings.find_file()
    candidates = [str(path) for path in settings.search_paths()]
    if as_json:
        output.print_record(_SettingsFile(str(file) if file else None, candidates), as_json=True)
    elif file:
        typer.echo(file)
    else:
        typer.echo(f"no settings file; looked for {' and '.join(candidates)}", err=True)


def _without_password(url: str) -> str:
    return redact_passwords(url) if url else ""

"""jobmill config …: what is set, and where."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from jobmill import settings
from jobmill.cli.support import output
from jobmill.cli.support.output import AsJson
from jobmill.db import redact_passwords

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class Setting:
    name: str
    value: object
    origin: str


@dataclass(frozen=True)
class Place:
    path: str | None
    looked_for: list[str]


@app.command("show")
def show_settings(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from. Passwords are left out."""
    loaded, origins = settings.load()
    values = loaded.model_dump()
    values |= {name: _without_password(values[name]) for name in settings.CONNECTION_STRINGS}
    found = [Setting(name, values[name], origin) for name, origin in origins.items()]
    output.print_table(found, as_json=as_json)


@app.command()
def check() -> None:
    """Say whether the settings are right; if not, what is wrong (exit code 2)."""
    _, origins = settings.load()
    changed = sum(origin != "default" for origin in origins.values())
    typer.echo(f"ok: {len(origins)} settings, {changed} of them set, the others at their default")


@app.command()
def path(as_json: AsJson = False) -> None:
    """Print the file that settings are read from, or where one would be looked for."""
    found = settings.find_file()
    places = [str(place) for place in settings.search_paths()]
    if as_json:
        output.print_record(Place(str(found) if found else None, places), as_json=True)
    elif found:
        typer.echo(found)
    else:
        typer.echo(f"no file; looked for {' and '.join(places)}", err=True)


def _without_password(url: str) -> str:
    return redact_passwords(url) if url else ""

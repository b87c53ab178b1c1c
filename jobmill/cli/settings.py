"""jobmill config: the settings, where they come from, and those saved in the database."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from jobmill import settings
from jobmill.cli.support import output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx, redact_passwords
from jobmill.errors import Conflict, Invalid
from jobmill.outside.model_endpoint import KEY_VARIABLES
from jobmill.people import model_keys, stored_settings

app = typer.Typer(no_args_is_help=True)


@app.command("show")
def show_settings(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from, without passwords."""
    loaded, origins = settings.load()
    values = loaded.model_dump()
    urls = {name: values[name] for name in settings.CONNECTION_STRINGS}
    values |= {name: redact_passwords(url) if url else "" for name, url in urls.items()}
    rows = [
        {"name": name, "value": values[name], "origin": origin} for name, origin in origins.items()
    ]
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
        output.print_json({"path": str(file) if file else None, "looked_for": candidates})
    elif file:
        typer.echo(file)
    else:
        typer.echo(f"no settings file; looked for {' and '.join(candidates)}", err=True)


@app.command("test-mail")
def send_test_mail(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where to send the letter.")],
    as_json: AsJson = False,
) -> None:
    """Send a test letter with the mail settings; exit code 5 if the server does not take it."""
    loaded, _ = settings.load()
    # Imported here, because `config show` sends no mail.
    from jobmill.outside.mail_check import send_test_letter

    asyncio.run(send_test_letter(loaded, address))
    text = f"The mail server accepted the test letter to {output.printable(address)}."
    output.print_result({"address": address, "accepted": True}, text, as_json)


@app.command("stored")
def show_stored(as_json: AsJson = False) -> None:
    """Show the settings and model keys that are saved in the database, as on the Settings page."""

    async def read(tx: Tx) -> dict[str, object]:
        # The environment variables that saved keys stand in for; the keys themselves are not shown.
        keys = [key.variable for key in await model_keys.find_all(tx)]
        return {"settings": await stored_settings.read_all(tx), "model_keys": keys}

    output.print_record(session.in_transaction(read), as_json=as_json)


@app.command("set")
def set_value(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as budget_day.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help='"" restores the default.')],
) -> None:
    """Save a setting in the database; the environment and the settings file override it."""
    _, origins = settings.load()
    if (origin := origins.get(name, "default")) != "default":
        raise Conflict(f"{name} is set by {origin}. Change it there.")

    async def act(tx: Tx) -> None:
        seen = (await stored_settings.read_all(tx)).get(name, "")
        await stored_settings.save(tx, {name: (seen, value)})

    session.in_transaction(act)
    is_live = name.startswith(stored_settings.LIVE_PREFIXES)
    when = "Running workers use it within a few seconds." if is_live else "Restart to apply it."
    typer.echo(f"{name} {'saved' if value.strip() else 'reset to its default'}. {when}")


Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="anthropic or openai.")]


@app.command("set-key")
def set_key(provider: Provider) -> None:
    """Save the API key of a model, read from stdin; it is stored encrypted and never shown."""
    variable = _find_variable(provider)
    if sys.stdin.isatty():
        key = typer.prompt(f"{provider} API key", hide_input=True)
    else:
        key = sys.stdin.read()
    session.in_transaction(lambda tx: model_keys.save(tx, variable, key))
    typer.echo(f"{provider} key saved. Test it: jobmill setup check-model")


@app.command("remove-key")
def remove_key(provider: Provider) -> None:
    """Remove the saved API key of a model."""
    variable = _find_variable(provider)
    session.in_transaction(lambda tx: model_keys.remove(tx, variable))
    typer.echo(f"{provider} key removed.")


def _find_variable(provider: str) -> str:
    for name, variable in KEY_VARIABLES.items():
        if name == provider:
            return variable
    raise Invalid(f"the provider is {' or '.join(KEY_VARIABLES)}, not {provider!r}")

"""jobmill person, key: who may sign in, and what programs show."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import typer

from jobmill.cli.support import hiring_session, output, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.people import changes, keys, persons
from jobmill.people.changes import AdminChange
from jobmill.people.persons import Person

app = typer.Typer(no_args_is_help=True)
keys_app = typer.Typer(no_args_is_help=True)

Role = Literal["viewer", "recruiter", "admin"]
RoleOption = Annotated[
    Role, typer.Option("--role", help="viewer looks, recruiter also changes, admin does all.")
]
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="Their address.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of input.")
]
All = Annotated[bool, typer.Option("--all", help="Also those that ended.")]


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call them.")],
    email: Email,
    role: RoleOption = "viewer",
    password_stdin: FromStdin = False,
    as_json: AsJson = False,
) -> None:
    """Let somebody sign in; asks for their password."""
    password = read_password(from_stdin=password_stdin)
    _tell(lambda tx: persons.add(tx, name, email, role, password), as_json)


@app.command("list")
def list_persons(every: All = False, as_json: AsJson = False) -> None:
    """List those who may sign in."""
    found = [
        one for one in hiring_session.in_transaction(persons.find_all) if every or not one.ended_at
    ]
    if found or as_json:
        output.print_table(found, as_json=as_json)
    else:
        typer.echo("Nobody yet. `jobmill person add NAME EMAIL --role admin` adds the first.")


@app.command("role")
def set_role(
    email: Email,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="viewer, recruiter or admin.")],
    as_json: AsJson = False,
) -> None:
    """Change what somebody may do, from their next request on."""
    _tell(lambda tx: persons.set_role(tx, email, role), as_json)


@app.command("password")
def set_password(email: Email, password_stdin: FromStdin = False, as_json: AsJson = False) -> None:
    """Give somebody a new password; wherever they are signed in, they no longer are."""
    password = read_password(from_stdin=password_stdin)
    _tell(lambda tx: persons.set_password(tx, email, password), as_json)


@app.command("end")
def end_person(email: Email, as_json: AsJson = False) -> None:
    """Sign somebody out everywhere, for good; what they did stays in the log."""
    _tell(lambda tx: persons.deactivate(tx, email), as_json)


@app.command("changes")
def list_changes(
    limit: output.Limit = 50,
    before: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only what is older than this one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show who changed people, keys, pauses, searches and webhooks, the newest first."""
    found = hiring_session.in_transaction(
        lambda tx: changes.find_recent(tx, before=before, limit=limit)
    )
    if as_json:
        output.print_table(found, as_json=True)
    elif found:
        output.print_entries(_entry(one) for one in found)
    else:
        typer.echo("Nothing was changed yet.")


def _entry(one: AdminChange) -> tuple[int, list[str], list[str]]:
    what = " ".join(word for word in (one.noun, one.subject, one.what) if word)
    when = f"{times.format_minute(one.at)}"
    details = [] if one.what == "removed" else one.details
    return one.id, [what, f"by {one.by or one.actor}", when], details


@keys_app.command("add")
def add_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    role: RoleOption = "viewer",
    as_json: AsJson = False,
) -> None:
    """Make a key, and show it this once."""
    made = hiring_session.in_transaction(lambda tx: keys.add(tx, name, role))
    output.print_record(made, as_json=as_json)
    if not as_json:
        typer.echo("Keep the key now: it is shown only once. Send it as `Authorization: Bearer …`.")


@keys_app.command("list")
def list_keys(every: All = False, as_json: AsJson = False) -> None:
    """List the keys, and when each was last used."""
    found = [
        one for one in hiring_session.in_transaction(keys.find_all) if every or not one.ended_at
    ]
    if found or as_json:
        output.print_table(found, as_json=as_json)
    else:
        typer.echo("There is no key. `jobmill key add NAME --role viewer` makes one.")


@keys_app.command("end")
def end_key(
    id: Annotated[int, typer.Argument(metavar="ID", help="Its number in `jobmill key list`.")],
    as_json: AsJson = False,
) -> None:
    """Take a key's rights away."""
    output.print_record(
        hiring_session.in_transaction(lambda tx: keys.revoke(tx, id)), as_json=as_json
    )


def read_password(*, from_stdin: bool) -> str:
    """Typed twice and not seen, or the first line of the input."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid("there is nobody to ask for a password: give it with --password-stdin")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True)


def _tell(act: Callable[[Tx], Awaitable[Person]], as_json: bool) -> None:
    output.print_record(hiring_session.in_transaction(act), as_json=as_json)

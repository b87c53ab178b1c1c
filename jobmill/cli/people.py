"""jobmill person, key: people with access, and API keys."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

import typer

from jobmill.cli.support import output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import job_search_erasure
from jobmill.outside import budget_ledger
from jobmill.people import changes, keys, persons, second_factors, sessions
from jobmill.people.changes import AdminChange
from jobmill.people.keys import NewApiKey
from jobmill.people.persons import Person
from jobmill.people.sessions import OpenSession

app = typer.Typer(no_args_is_help=True)
keys_app = typer.Typer(no_args_is_help=True)

Role = Literal["seeker", "viewer", "recruiter", "admin"]
Scope = Literal["metrics", "read", "search", "hiring", "admin"]
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="Email address of the person.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of stdin.")
]
All = Annotated[bool, typer.Option("--all", help="Also list ended ones.")]


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the person.")],
    email: Email,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            help="seeker has a job search of their own, viewer reads hiring, recruiter also changes "
            "openings and applications, admin does everything.",
        ),
    ] = "viewer",
    password_stdin: FromStdin = False,
    as_json: AsJson = False,
) -> None:
    """Add a person with access; asks for the password."""
    password = read_password(from_stdin=password_stdin)
    _run_and_print(lambda tx: persons.add(tx, name, email, role, password), as_json)


@app.command("list")
def list_persons(every: All = False, as_json: AsJson = False) -> None:
    """List the people with access."""
    rows = [row for row in session.in_transaction(persons.find_all) if every or not row.ended_at]
    empty = "No people yet. Add an admin: jobmill person add NAME EMAIL --role admin"
    output.print_table(rows, as_json=as_json, empty=empty)


@app.command("role")
def set_role(
    email: Email,
    role: Annotated[
        Role, typer.Argument(metavar="ROLE", help="seeker, viewer, recruiter or admin.")
    ],
    as_json: AsJson = False,
) -> None:
    """Change the role of a person, from the next request on."""
    _run_and_print(lambda tx: persons.set_role(tx, email, role), as_json)


@app.command("password")
def set_password(email: Email, password_stdin: FromStdin = False, as_json: AsJson = False) -> None:
    """Set a new password and sign the person out everywhere."""
    password = read_password(from_stdin=password_stdin)
    _run_and_print(lambda tx: persons.set_password(tx, email, password), as_json)


@app.command("end")
def end_person(email: Email, as_json: AsJson = False) -> None:
    """End the access of a person, with their sessions and API keys; the history stays."""
    _run_and_print(lambda tx: persons.deactivate(tx, email), as_json)


@app.command("reset-second-factor")
def reset_second_factor(email: Email, as_json: AsJson = False) -> None:
    """Turn off two-factor authentication, for example for a locked-out person."""
    _change_and_print(email, second_factors.reset, as_json)


@app.command("budget")
def set_budget_share(
    email: Email,
    share: Annotated[
        str,
        typer.Argument(
            metavar="SHARE",
            help="US dollars per day (0.50) or percent of the daily budget (25%); none: no limit.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Limit what models may cost per day for the job search of a person."""
    parsed = None if share == "none" else budget_ledger.parse_share(share)
    _change_and_print(email, lambda tx, id: budget_ledger.set_share(tx, id, parsed), as_json)


@app.command("erase-search")
def erase_search(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase the job search of a person: profiles, matches, notes, views and added jobs."""
    if not yes and not sys.stdin.isatty():
        raise Invalid("cannot ask for confirmation without a terminal: use --yes")
    if not yes:
        typer.confirm(f"Erase the job search of {email} for good?", abort=True)

    async def act(tx: Tx) -> int:
        return await job_search_erasure.erase_search(tx, (await persons.get_by_email(tx, email)).id)

    count = session.in_transaction(act)
    text = f"{output.format_count(count, 'profile')} erased."
    output.print_result({"email": email, "erased_profiles": count}, text, as_json)


@app.command("sessions")
def list_sessions(email: Email, as_json: AsJson = False) -> None:
    """List where a person is signed in."""

    async def find(tx: Tx) -> list[OpenSession]:
        return await sessions.find_open(tx, (await persons.get_active(tx, email)).id)

    rows = session.in_transaction(find)
    output.print_table(rows, as_json=as_json, empty="Not signed in anywhere.")


@app.command("sign-out")
def sign_out(email: Email, as_json: AsJson = False) -> None:
    """Sign a person out everywhere."""
    _change_and_print(email, sessions.delete_all, as_json)


@app.command("changes")
def list_changes(
    limit: Limit = 50,
    before: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only changes before this change.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List changes of people, keys, pauses, searches and webhooks, newest first."""
    rows = session.in_transaction(lambda tx: changes.find_recent(tx, before=before, limit=limit))
    if as_json:
        output.print_table(rows, as_json=True)
    elif rows:
        output.print_entries(map(_entry, rows))
    else:
        typer.echo("No changes yet.")


def _entry(change: AdminChange) -> tuple[int, list[str], list[str]]:
    what = " ".join(word for word in (change.noun, change.subject, change.what) if word)
    when = f"{times.format_minute(change.at)}"
    details = [] if change.what == "removed" else change.details
    return change.id, [what, f"by {change.by or change.actor}", when], details


@keys_app.command("add")
def add_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Purpose of the key.")],
    scope: Annotated[
        Scope,
        typer.Option(
            "--scope",
            help="metrics reads /metrics, read sees hiring and the job search of its owner, search "
            "changes that job search, hiring does what recruiters do, admin does everything except "
            "managing people and keys.",
        ),
    ] = "read",
    owner: Annotated[
        str,
        typer.Option(
            metavar="EMAIL",
            help="Person for whom the key acts; it ends when they lose access. Default: the local user.",
        ),
    ] = "",
    days: Annotated[
        int, typer.Option(min=0, max=3650, help="Days until the key expires; 0: never.")
    ] = keys.DEFAULT_LIFETIME.days,
    as_json: AsJson = False,
) -> None:
    """Create an API key and show it once."""
    lifetime = dt.timedelta(days=days) if days else None

    async def create(tx: Tx) -> NewApiKey:
        owner_id = (await persons.get_active(tx, owner)).id if owner else None
        return await keys.add(tx, name, scope, owner_id=owner_id, lifetime=lifetime)

    key = session.in_transaction(create)
    output.print_record(key, as_json=as_json)
    if not as_json:
        typer.echo(
            "Save the key now: it is not shown again. Send it as `Authorization: Bearer KEY`."
        )


@keys_app.command("list")
def list_keys(every: All = False, as_json: AsJson = False) -> None:
    """List the API keys: owner, scope, expiry and last use."""
    rows = [row for row in session.in_transaction(keys.find_all) if every or row.is_active]
    empty = "No keys yet. Create one: jobmill key add NAME --scope read"
    output.print_table(rows, as_json=as_json, empty=empty)


@keys_app.command("end")
def end_key(
    id: Annotated[
        int, typer.Argument(metavar="ID", help="Number of the key in `jobmill key list`.")
    ],
    as_json: AsJson = False,
) -> None:
    """Revoke an API key."""
    output.print_record(session.in_transaction(lambda tx: keys.revoke(tx, id)), as_json=as_json)


def read_password(*, from_stdin: bool) -> str:
    """Ask for a password twice without showing it, or read it from stdin."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Invalid("cannot ask for the password without a terminal: use --password-stdin")
    return typer.prompt("Password", hide_input=True, confirmation_prompt=True)


def _change_and_print(
    email: str, change: Callable[[Tx, int], Awaitable[object]], as_json: bool
) -> None:
    async def act(tx: Tx) -> Person:
        person = await persons.get_active(tx, email)
        await change(tx, person.id)
        return person

    _run_and_print(act, as_json)


def _run_and_print(act: Callable[[Tx], Awaitable[Person]], as_json: bool) -> None:
    output.print_record(session.in_transaction(act), as_json=as_json)

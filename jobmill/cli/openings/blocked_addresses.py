"""jobmill opening block, unblock, blocked: email addresses that cannot apply."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.support import output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.errors import Invalid
from jobmill.hiring.import_export import exports
from jobmill.hiring.records import blocklist

Entry = Annotated[
    str, typer.Argument(metavar="ENTRY", help="Email address, or a domain such as @example.org.")
]


def block(
    entry: Entry,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason; applicants do not see it.")],
    as_json: AsJson = False,
) -> None:
    """Block applications from an address or a domain; existing applications stay."""
    key = blocklist.parse_entry(entry)
    if not reason.strip():
        raise Invalid("give a reason: --reason TEXT")
    session.in_transaction(lambda tx: blocklist.add(tx, key, reason))
    output.print_result(
        {"address": key, "reason": reason}, f"{output.printable(key)} is blocked.", as_json
    )


def unblock(entry: Entry, as_json: AsJson = False) -> None:
    """Allow applications from a blocked address or domain again."""
    key = blocklist.parse_entry(entry)
    session.in_transaction(lambda tx: blocklist.remove(tx, key))
    output.print_result(
        {"address": key, "removed": True}, f"{output.printable(key)} can apply again.", as_json
    )


def list_blocked(as_json: AsJson = False) -> None:
    """List blocked addresses and domains, with the reasons."""
    rows = session.in_transaction(blocklist.list_blocked)
    for row in rows:
        if as_json:
            at = exports.to_json_value(row.created_at)
            output.print_json({"address": row.email_key, "reason": row.reason, "createdAt": at})
        else:
            text = f"{row.email_key}  {row.reason} · {times.format_ago(row.created_at)}"
            typer.echo(output.printable(text))
    if not rows and not as_json:
        typer.echo(
            "Nothing is blocked. Block one: jobmill opening block @example.org --reason TEXT"
        )

"""jobmill opening block|unblock|blocked: who may not apply."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill.cli.support import hiring_session, output, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.import_export import exports
from jobmill.hiring.records import blocklist

Entry = Annotated[
    str, typer.Argument(metavar="ENTRY", help="An address, or a domain: @example.org.")
]


def block(
    entry: Entry,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it stays with us.")],
    as_json: AsJson = False,
) -> None:
    """Take no applications from an address, or from all of a domain; who is in already stays."""
    key = blocklist.parse_entry(entry)
    if not reason.strip():
        raise Invalid("say why: --reason TEXT")

    async def act(tx: Tx) -> None:
        await blocklist.add(tx, key, reason)

    hiring_session.in_transaction(act)
    if as_json:
        output.print_json({"address": key, "reason": reason})
    else:
        typer.echo(f"{output.printable(key)} is blocked.")


def unblock(entry: Entry, as_json: AsJson = False) -> None:
    """Take applications from there again."""
    key = blocklist.parse_entry(entry)

    async def act(tx: Tx) -> None:
        await blocklist.remove(tx, key)

    hiring_session.in_transaction(act)
    if as_json:
        output.print_json({"address": key, "removed": True})
    else:
        typer.echo(f"{output.printable(key)} may apply again.")


def blocked(as_json: AsJson = False) -> None:
    """List who may not apply, and why."""
    found = hiring_session.in_transaction(blocklist.list_blocked)
    if as_json:
        for one in found:
            at = exports.to_json_value(one.created_at)
            output.print_json({"address": one.email_key, "reason": one.reason, "createdAt": at})
    elif found:
        for one in found:
            typer.echo(
                output.printable(
                    f"{one.email_key}  {one.reason} · {times.format_ago(one.created_at)}"
                )
            )
    else:
        typer.echo("Nobody is blocked. `jobmill opening block @example.org --reason TEXT` does it.")

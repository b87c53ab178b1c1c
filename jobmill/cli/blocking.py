"""jobmill opening block|unblock|blocked: who may not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobmill.cli import recruiter, show
from jobmill.cli.show import AsJson
from jobmill.errors import Invalid

if TYPE_CHECKING:
    from jobmill.db import Tx

Entry = Annotated[
    str, typer.Argument(metavar="ENTRY", help="An address, or a domain: @example.org.")
]


def block(
    entry: Entry,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it stays with us.")],
    as_json: AsJson = False,
) -> None:
    """Take no applications from an address, or from all of a domain; who is in already stays."""
    from jobmill.hiring.records import blocklist

    key = blocklist.entry(entry)
    if not reason.strip():
        raise Invalid("say why: --reason TEXT")

    async def act(tx: Tx) -> None:
        await blocklist.add(tx, key, reason)

    recruiter.change(act)
    if as_json:
        show.print_json({"address": key, "reason": reason})
    else:
        typer.echo(f"{show.plain(key)} is blocked.")


def unblock(entry: Entry, as_json: AsJson = False) -> None:
    """Take applications from there again."""
    from jobmill.hiring.records import blocklist

    key = blocklist.entry(entry)

    async def act(tx: Tx) -> None:
        await blocklist.remove(tx, key)

    recruiter.change(act)
    if as_json:
        show.print_json({"address": key, "removed": True})
    else:
        typer.echo(f"{show.plain(key)} may apply again.")


def blocked(as_json: AsJson = False) -> None:
    """List who may not apply, and why."""
    from jobmill.hiring.import_export import exports
    from jobmill.hiring.records import blocklist

    found = recruiter.change(blocklist.find)
    if as_json:
        for one in found:
            at = exports.plain(one.created_at)
            show.print_json({"address": one.email_key, "reason": one.reason, "createdAt": at})
    elif found:
        for one in found:
            typer.echo(
                show.plain(f"{one.email_key}  {one.reason} · {recruiter.ago(one.created_at)}")
            )
    else:
        typer.echo("Nobody is blocked. `jobmill opening block @example.org --reason TEXT` does it.")

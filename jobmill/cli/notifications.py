"""jobmill notification: channels, preferences and deliveries of notifications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeVar

import typer

from jobmill.cli.support import environment, lookups, output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.notifications import channels, deliveries, preferences
from jobmill.notifications.channels import NewChannel, NotificationChannel
from jobmill.notifications.deliveries import LoggedDelivery
from jobmill.notifications.kinds import KINDS, Frequency, as_kind, kinds_of_role
from jobmill.outside.webhook import allowed_private_hosts
from jobmill.people import persons
from jobmill.people.persons import Owner

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, callback=lookups.choose_person)
Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the channel.")]


def _run(act: Callable[[Tx, Owner], Awaitable[T]]) -> T:
    async def with_owner(tx: Tx) -> T:
        return await act(tx, await lookups.find_owner(tx))

    return session.in_transaction(with_owner)


@app.command("list")
def list_deliveries(
    before: Annotated[
        int | None, typer.Option(metavar="DELIVERY", help="Only deliveries before this one.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List deliveries and their results, newest first."""
    rows = _run(lambda tx, owner: deliveries.find_log(tx, owner, before=before, limit=limit + 1))
    empty = "No deliveries yet."
    output.print_page(rows, _entry, limit=limit, option="--before", empty=empty, as_json=as_json)


def _entry(row: LoggedDelivery) -> output.Entry:
    details = [
        row.frequency,
        output.format_count(row.events, "event") if row.events else None,
        row.detail,
        times.format_ago(row.ended_at or row.due_at),
    ]
    return row.id, [f"{row.channel_kind} {row.channel}", row.state], details


@app.command("channels")
def list_channels(as_json: AsJson = False) -> None:
    """List the channels."""
    names = ("id", "kind", "name", "enabled", "problem")
    output.print_rows(
        [output.pick(channel, *names) for channel in _run(channels.find_by_owner)],
        as_json=as_json,
        empty="No channels yet. Add one: jobmill notification add email me@example.org",
    )


@app.command()
def add(
    kind: Annotated[
        Literal["email", "webhook", "ntfy", "telegram", "slack", "discord", "feed"],
        typer.Argument(help="email, webhook, ntfy, telegram, slack, discord or feed."),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Address, URL or Telegram chat.")
    ] = "",
    token: Annotated[str, typer.Option(help="Access token of ntfy, or of the Telegram bot.")] = "",
    as_json: AsJson = False,
) -> None:
    """Add a channel for notifications."""
    private = allowed_private_hosts(environment.load_settings())

    async def add_channel(tx: Tx, owner: Owner) -> tuple[NotificationChannel, NewChannel]:
        address = "" if owner is None else (await persons.get(tx, owner)).email
        form = {"address": target, "url": target, "chat": target, "token": token}
        new = channels.read_form(kind, form, private, address=address)
        return await channels.add(tx, owner, new), new

    channel, new = _run(add_channel)
    # Of a webhook or a feed; shown once.
    secret = new.config.get("secret") or new.token
    record = output.pick(channel, "id", "kind", "name") | {"secret": secret}
    output.print_record(record, as_json=as_json)
    if not as_json:
        typer.echo(f"Check it: jobmill notification test {channel.id}")


@app.command("test")
def send_test(id: Id, as_json: AsJson = False) -> None:
    """Send a test message; a running worker delivers it."""

    async def add_test(tx: Tx, owner: Owner) -> None:
        await deliveries.add_test(tx, (await channels.get(tx, owner, id)).id)

    _run(add_test)
    text = "The test message is queued. See the result: jobmill notification list"
    output.print_result({"id": id, "queued": True}, text, as_json)


@app.command()
def remove(id: Id, as_json: AsJson = False) -> None:
    """Remove a channel with its deliveries."""
    _run(lambda tx, owner: channels.remove(tx, owner, id))
    output.print_result({"id": id, "removed": True}, f"Channel {id} removed.", as_json)


@app.command("kinds")
def list_kinds(as_json: AsJson = False) -> None:
    """List the kinds of notifications and how often each comes."""

    async def read(tx: Tx, owner: Owner) -> list[dict[str, object]]:
        role = "admin" if owner is None else (await persons.get(tx, owner)).role
        chosen = (await preferences.read_frequencies(tx, [owner]))[owner]
        return [
            {"kind": kind, "audience": KINDS[kind].audience, "frequency": chosen[kind]}
            for kind in kinds_of_role(role)
        ]

    output.print_rows(_run(read), as_json=as_json)


@app.command("set")
def set_frequency(
    kind: Annotated[str, typer.Argument(help="Kind, as `jobmill notification kinds` names it.")],
    frequency: Annotated[Frequency, typer.Argument(help="instant, daily, weekly or off.")],
    as_json: AsJson = False,
) -> None:
    """Choose how often a kind of notification comes."""
    checked = as_kind(kind)
    if checked is None:
        raise Invalid(f"{kind} is not a kind of notification. Choose one of {', '.join(KINDS)}.")
    _run(lambda tx, owner: preferences.save_frequencies(tx, owner, {checked: frequency}))
    output.print_result({"kind": kind, "frequency": frequency}, f"{kind}: {frequency}", as_json)

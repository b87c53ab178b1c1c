"""jobmill webhook …: servers that are told of what happens to openings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from jobmill.cli.support import environment, hiring_session, output, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages import webhooks
from jobmill.hiring.messages.webhooks import CreatedWebhook, Webhook, WebhookDelivery
from jobmill.outside import webhook

app = typer.Typer(no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Which webhook.")]


@app.command()
def add(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to POST; https:// only.")],
    opening: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only of this opening.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="Only of these, such as PROMOTED; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell a server of every event from now on. Its secret is shown this one time."""
    checked = webhook.check_url(url, webhook.allowed_private_hosts(environment.load_settings()))

    async def act(tx: Tx) -> CreatedWebhook:
        return await webhooks.add(tx, checked, opening_id=opening, events=event)

    added = hiring_session.in_transaction(act)
    output.print_record(added, as_json=as_json)
    if not as_json:
        typer.echo("Keep the secret: it is not shown again, and signs every delivery.")


@app.command("list")
def list_webhooks(as_json: AsJson = False) -> None:
    """List all webhooks."""
    found = hiring_session.in_transaction(webhooks.list_webhooks)
    if not found and not as_json:
        typer.echo("Nobody is told. `jobmill webhook add URL` tells a server of every event.")
        return
    for one in found:
        if as_json:
            output.print_json(_record(one))
    if not as_json:
        output.print_entries((one.id, [one.url], _told(one)) for one in found)


def _told(one: Webhook) -> list[str | None]:
    return [
        None if one.enabled else "disabled",
        ", ".join(one.events) if one.events else "all events",
        f"opening {one.opening_id}" if one.opening_id else "all openings",
        f"added {times.format_ago(one.created_at)}",
    ]


def _record(one: Webhook | WebhookDelivery) -> dict[str, Any]:
    """By the names of the HTTP API."""
    named = {"openingId": "jobId", "event": "eventType"}
    return {named.get(name, name): value for name, value in exports.to_json_fields(one).items()}


@app.command("show")
def show_webhook(id: Id, as_json: AsJson = False) -> None:
    """Show one webhook; its secret is not shown again."""

    async def find(tx: Tx) -> Webhook:
        return await webhooks.get(tx, id)

    found = hiring_session.in_transaction(find)
    if as_json:
        output.print_json(_record(found))
    else:
        output.print_record(found, as_json=False)


@app.command()
def remove(id: Id, as_json: AsJson = False) -> None:
    """Forget a webhook, with the record of its deliveries."""

    async def act(tx: Tx) -> None:
        await webhooks.remove(tx, id)

    hiring_session.in_transaction(act)
    if as_json:
        output.print_json({"id": id, "removed": True})
    else:
        typer.echo(f"Webhook {id} is removed.")


@app.command()
def enable(id: Id, as_json: AsJson = False) -> None:
    """Tell it again, of what happens from now on."""
    _switch(id, True, as_json)


@app.command()
def disable(id: Id, as_json: AsJson = False) -> None:
    """Tell it nothing until it is enabled; what is on its way is dropped."""
    _switch(id, False, as_json)


def _switch(id: int, enabled: bool, as_json: bool) -> None:
    async def act(tx: Tx) -> Webhook:
        return await webhooks.set_enabled(tx, id, enabled)

    done = hiring_session.in_transaction(act)
    if as_json:
        output.print_json(_record(done))
    else:
        typer.echo(f"Webhook {id} is {'enabled' if done.enabled else 'disabled'}.")


@app.command()
def deliveries(
    id: Id,
    state: Annotated[
        Literal["waiting", "queued", "sent", "dropped", "failed"] | None,
        typer.Option(help="Only those in this state."),
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="DELIVERY", help="Only those before this one.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List what a webhook was told, the latest first, and what became of it."""

    async def find(tx: Tx) -> list[WebhookDelivery]:
        return await webhooks.list_deliveries(tx, id, state=state, before=before, limit=limit + 1)

    found = hiring_session.in_transaction(find)
    for one in found[:limit]:
        if as_json:
            output.print_json(_record(one))
    if not as_json:
        output.print_entries(
            (one.id, [one.event, one.state], _became(one)) for one in found[:limit]
        )
    if not found and not as_json:
        typer.echo("There are none such." if state or before else "It was told nothing yet.")
    if len(found) > limit:
        typer.echo(f"There are more: --before {found[limit - 1].id}", err=True)


def _became(one: WebhookDelivery) -> list[str | None]:
    return [
        f"event {one.seq} of opening {one.opening_id}",
        f"tried {output.format_count(one.attempts, 'time')}" if one.attempts else None,
        one.detail,
        times.format_ago(one.ended_at or one.created_at),
    ]


@app.command()
def replay(
    delivery: Annotated[int, typer.Argument(metavar="DELIVERY", min=1, help="Which delivery.")],
    as_json: AsJson = False,
) -> None:
    """Make a delivery once more, as a new one with a number of its own."""

    async def act(tx: Tx) -> int:
        return await webhooks.redeliver(tx, delivery)

    id = hiring_session.in_transaction(act)
    if as_json:
        output.print_json({"id": id})
    else:
        typer.echo(f"Delivery {delivery} will be made again, as {id}.")

"""jobmill webhook: send events of openings to other servers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from jobmill.cli.support import environment, output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.hiring.import_export import exports
from jobmill.hiring.messages import webhooks
from jobmill.hiring.messages.webhooks import Webhook, WebhookDelivery
from jobmill.outside import webhook

app = typer.Typer(no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the webhook.")]


@app.command()
def add(
    url: Annotated[str, typer.Argument(metavar="URL", help="URL to POST to; https:// only.")],
    opening: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only events of this opening.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE", help="Only events of this type, such as PROMOTED; may be repeated."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a webhook for all future events; its secret is shown once."""
    checked = webhook.check_url(url, webhook.allowed_private_hosts(environment.load_settings()))

    added = session.in_transaction(
        lambda tx: webhooks.add(tx, checked, opening_id=opening, events=event)
    )
    output.print_record(added, as_json=as_json)
    if not as_json:
        typer.echo("Save the secret now: it is not shown again. It signs every delivery.")


@app.command("list")
def list_webhooks(as_json: AsJson = False) -> None:
    """List the webhooks."""
    rows = session.in_transaction(webhooks.list_webhooks)
    empty = "No webhooks yet. Add one: jobmill webhook add URL"
    output.print_list(rows, _webhook_entry, empty=empty, as_json=as_json, to_json=_to_json)


def _webhook_entry(webhook: Webhook) -> output.Entry:
    details = [
        None if webhook.enabled else "disabled",
        ", ".join(webhook.events) if webhook.events else "all events",
        f"opening {webhook.opening_id}" if webhook.opening_id else "all openings",
        f"added {times.format_ago(webhook.created_at)}",
    ]
    return webhook.id, [webhook.url], details


def _to_json(record: Webhook | WebhookDelivery) -> dict[str, Any]:
    """The fields under their names in the HTTP API."""
    api_names = {"openingId": "jobId", "event": "eventType"}
    fields = exports.to_json_fields(record)
    return {api_names.get(name, name): value for name, value in fields.items()}


@app.command("show")
def show_webhook(id: Id, as_json: AsJson = False) -> None:
    """Show a webhook, without its secret."""
    webhook = session.in_transaction(lambda tx: webhooks.get(tx, id))
    output.print_record(_to_json(webhook) if as_json else webhook, as_json=as_json)


@app.command()
def remove(id: Id, as_json: AsJson = False) -> None:
    """Delete a webhook and the history of its deliveries."""
    session.in_transaction(lambda tx: webhooks.remove(tx, id))
    output.print_result({"id": id, "removed": True}, f"Webhook {id} deleted.", as_json)


@app.command()
def enable(id: Id, as_json: AsJson = False) -> None:
    """Enable a webhook again, for future events."""
    _set_enabled(id, True, as_json)


@app.command()
def disable(id: Id, as_json: AsJson = False) -> None:
    """Disable a webhook and drop its queued deliveries."""
    _set_enabled(id, False, as_json)


def _set_enabled(id: int, enabled: bool, as_json: bool) -> None:
    webhook = session.in_transaction(lambda tx: webhooks.set_enabled(tx, id, enabled))
    state = "enabled" if webhook.enabled else "disabled"
    output.print_result(_to_json(webhook), f"Webhook {id} is {state}.", as_json)


@app.command()
def deliveries(
    id: Id,
    state: Annotated[
        Literal["waiting", "queued", "sent", "dropped", "failed"] | None,
        typer.Option(help="Only deliveries in this state."),
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="DELIVERY", help="Only deliveries before this one.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List the deliveries of a webhook and their results, newest first."""
    rows = session.in_transaction(
        lambda tx: webhooks.list_deliveries(tx, id, state=state, before=before, limit=limit + 1)
    )
    output.print_page(
        rows,
        _delivery_entry,
        limit=limit,
        option="--before",
        empty="No deliveries match." if state or before else "No deliveries yet.",
        as_json=as_json,
        to_json=_to_json,
    )


def _delivery_entry(delivery: WebhookDelivery) -> output.Entry:
    details = [
        f"event {delivery.seq} of opening {delivery.opening_id}",
        f"tried {output.format_count(delivery.attempts, 'time')}" if delivery.attempts else None,
        delivery.detail,
        times.format_ago(delivery.ended_at or delivery.created_at),
    ]
    return delivery.id, [delivery.event, delivery.state], details


@app.command()
def replay(
    delivery: Annotated[
        int, typer.Argument(metavar="DELIVERY", min=1, help="Number of the delivery.")
    ],
    as_json: AsJson = False,
) -> None:
    """Send a delivery again, as a new delivery."""
    id = session.in_transaction(lambda tx: webhooks.redeliver(tx, delivery))
    output.print_result(
        {"id": id}, f"Delivery {delivery} will be sent again as delivery {id}.", as_json
    )

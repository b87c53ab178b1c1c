"""jobmill queue: inspect and control the work queue."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import math
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from uuid import UUID

import typer
from rich.table import Table

from jobmill import queue
from jobmill.cli.queue import import_file, lineage_tree, tables, watch
from jobmill.cli.support import environment, files, output, session
from jobmill.cli.support.output import AsJson, DataclassT, Limit
from jobmill.db import Database, Tx
from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.queue import ItemId, alerts, inspect, lineage, operator_actions, overview, search
from jobmill.queue.inspect import Item, ItemEvent

app = typer.Typer(no_args_is_help=True)

MAX_DELAY_SECONDS = 10 * 365 * 86_400
MAX_DRAWN_ITEMS = 1_000

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the item.")]
Ids = Annotated[list[int], typer.Argument(metavar="ID", min=1, help="Numbers of the items.")]
PhaseName = Annotated[
    str, typer.Argument(metavar="KIND[/STAGE]", help="A phase, or all phases of a kind.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown in the history.")]
StatusName = Literal["PENDING", "PROCESSING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"]


@dataclass(frozen=True)
class _ItemResult:
    id: int
    ok: bool
    message: str


@app.command("stats")
def show_stats(as_json: AsJson = False) -> None:
    """Show phases, runs, processors, workers and active alerts."""
    stats = tables.summarize(session.in_transaction(overview.read_overview))
    if as_json:
        output.print_record(stats, as_json=True)
    else:
        output.print_rich(tables.stats_page(stats))


@app.command("list")
def list_items(
    status: Annotated[
        StatusName | None,
        typer.Option(case_sensitive=False, help="Only items with this status."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only items of this kind.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only items with exactly this key.")
    ] = None,
    limit: Limit = 50,
    before: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, help="Only items older than this one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List items, newest first."""
    item_filter = search.ItemFilter(status, kind, key)
    items, next_before = session.in_transaction(
        lambda tx: search.search_items(tx, item_filter, before=before, limit=limit)
    )
    if as_json:
        output.print_json({"items": items, "next_before": next_before})
        return
    if not items:
        filtered = any(option is not None for option in (status, kind, key, before))
        typer.echo("No items match." if filtered else "The queue has no items yet.")
        return
    output.print_rich(tables.item_table(items, dt.datetime.now(dt.UTC)))
    if next_before:
        output.print_more_hint("--before", next_before)


@app.command("show")
def show_item(id: Id, as_json: AsJson = False) -> None:
    """Show an item: its state, its data and its history."""

    async def read(tx: Tx) -> tuple[Item, list[ItemEvent]]:
        return (
            await inspect.get_item(tx, cast("ItemId", id)),
            await inspect.list_events(tx, cast("ItemId", id)),
        )

    item, timeline = session.in_transaction(read)
    advice = next_step(item)
    if as_json:
        output.print_json({"item": item, "timeline": timeline, "next_step": advice})
        return
    output.print_rich(tables.item_facts(item), "", tables.format_data(item.data), "")
    output.print_rich(tables.event_table(timeline))
    if advice:
        typer.echo(f"\n{output.printable(advice)}")


@app.command()
def tree(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Number of an item, or tracking id of a lineage.")
    ],
    as_json: AsJson = False,
) -> None:
    """Draw the lineage of an item as a tree, with the status of each item."""
    items, refused = session.in_transaction(lambda tx: _read_lineage(tx, id))
    if as_json:
        tracking_id = items[0].tracking_id
        output.print_json({"tracking_id": tracking_id, "items": items, "refused": refused})
        return
    output.print_rich(lineage_tree.draw_lineage(items, refused))
    if len(items) == MAX_DRAWN_ITEMS:
        typer.echo(f"Only the first {MAX_DRAWN_ITEMS:,} items are drawn.", err=True)


@app.command("watch")
def watch_queue(as_json: AsJson = False) -> None:
    """Watch the queue on a screen that is redrawn every second; quit with q or Ctrl-C."""
    if sys.stdout.isatty() and not as_json:
        asyncio.run(watch.run(environment.load_settings()))
        return
    if not as_json:
        typer.echo("The output is not a terminal: showing the current state once.", err=True)
    show_stats(as_json=as_json)


@app.command()
def submit(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Kind of work.")],
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="First stage.")],
    key: Annotated[str, typer.Argument(metavar="KEY", help="Subject of the work, such as a URL.")],
    data: Annotated[
        str,
        typer.Option(metavar="JSON", help="A JSON object, @FILE to read one, or - for stdin."),
    ] = "{}",
    priority: Annotated[
        int, typer.Option(metavar="N", min=-32768, max=32767, help="Lower runs first.")
    ] = 100,
    delay: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, max=MAX_DELAY_SECONDS, help="Seconds until it may run."
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Submit an item and print its number; exit code 4 if the same work is already queued."""
    new_item = queue.NewItem(
        kind, stage, key, data=read_data(data), priority=priority, delay=_to_timedelta(delay)
    )
    try:
        id = session.in_transaction(lambda tx: queue.submit(tx, new_item), declared=True)
    except queue.NotAdmitted as error:
        live = error.refused.live
        hint = f"; see item {live}: `jobmill queue show {live}`" if live else ""
        raise Conflict(f"{error}{hint}") from error
    output.print_result({"id": id}, id, as_json)


@app.command()
def retry(ids: Ids, as_json: AsJson = False) -> None:
    """Retry items that did not succeed, each from the stage where it ended."""
    _act_on_each(ids, operator_actions.retry_item, "queued again", as_json=as_json)


@app.command()
def cancel(
    ids: Ids,
    reason: Reason = "by hand",
    as_json: AsJson = False,
) -> None:
    """Cancel items that are pending or blocked. A running item cannot be canceled."""
    _act_on_each(
        ids,
        lambda tx, id: operator_actions.cancel_item(tx, id, reason),
        "cancelled",
        as_json=as_json,
    )


@app.command()
def pause(
    phase: PhaseName,
    reason: Reason = "by hand",
) -> None:
    """Stop claiming items of a phase, or of a whole kind; running items finish."""
    kind, stage = _parse_phase(phase)
    session.in_transaction(
        lambda tx: operator_actions.pause_phase(tx, kind, stage, reason), declared=True
    )
    typer.echo(f"{phase} is paused; `jobmill queue resume {phase}` resumes it")


@app.command()
def resume(phase: PhaseName) -> None:
    """Resume a paused phase or kind."""
    kind, stage = _parse_phase(phase)

    async def resume_phase(tx: Tx) -> None:
        try:
            await operator_actions.resume_phase(tx, kind, stage)
        except Conflict as error:
            paused = [
                _phase_name(pause.kind, pause.stage) for pause in await inspect.list_pauses(tx)
            ]
            raise Conflict(
                f"{error}; currently paused: {', '.join(paused) or 'nothing'}"
            ) from error

    session.in_transaction(resume_phase, declared=True)
    typer.echo(f"{phase} is running again")


@app.command()
def unblock(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of the missing resource: a budget, key or model."
        ),
    ],
) -> None:
    """Release the items that are blocked on a resource that is available again."""

    async def unblock_items(tx: Tx) -> int:
        released = await operator_actions.unblock_items(tx, name)
        if not released:
            names = ", ".join(block.name for block in await inspect.count_blocked(tx)) or "nothing"
            raise Conflict(f"no item is blocked on {name}; items are blocked on: {names}")
        return released

    released = session.in_transaction(unblock_items)
    typer.echo(f"{output.format_count(released, 'item')} blocked on {name} released")


@app.command("alerts")
def list_alerts(
    everything: Annotated[bool, typer.Option("--all", help="Also cleared alerts.")] = False,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List active alerts, newest first."""
    rows = session.in_transaction(
        lambda tx: alerts.list_alerts(tx, standing=not everything, limit=limit)
    )
    empty = "No alert was ever raised." if everything else "No active alerts."
    _print_rows(rows, tables.alert_table, empty, as_json)


@app.command("clear-alert")
def clear_alert(
    id: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the alert.")],
) -> None:
    """Clear an alert. It is raised again if its cause returns."""
    if not session.in_transaction(lambda tx: alerts.clear_alert(tx, id)):
        raise NotFound("active alert", id)
    typer.echo(f"alert {id} is cleared")


@app.command()
def schedules(as_json: AsJson = False) -> None:
    """List the schedules, and when each is due."""
    rows = session.in_transaction(inspect.list_schedules)
    empty = "No schedules yet. Start `jobmill up` or `jobmill worker`."
    _print_rows(rows, tables.schedule_table, empty, as_json)


@app.command()
def processors(as_json: AsJson = False) -> None:
    """List the processors, and the item that each runs."""
    rows = session.in_transaction(inspect.list_processors)
    empty = "No processors. Start `jobmill up` or `jobmill worker`."
    _print_rows(rows, tables.processor_table, empty, as_json)


def _print_rows(
    rows: list[DataclassT],
    draw_table: Callable[[list[DataclassT], dt.datetime], Table],
    empty: str,
    as_json: bool,
) -> None:
    if rows and not as_json:
        output.print_rich(draw_table(rows, dt.datetime.now(dt.UTC)))
    else:
        output.print_table(rows, as_json=as_json, empty=empty)


@app.command("import")
def import_items(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="One JSON object per line; - is stdin.")
    ],
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Import kind OLD as kind NEW; may be repeated."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Profile to score jobs for; else the default profile."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip bad lines and import the others.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen without changing anything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import items exported from an older queue, all or none. Importing twice changes nothing."""
    renames = dict(_parse_rename(text) for text in rename or [])
    with import_file.open_lines(file) as lines:
        report = session.with_database(
            lambda db: import_file.import_items(
                db, lines, renames, profile=profile, skip_bad=skip_bad, dry_run=dry_run
            ),
            declared=True,
        )
    output.print_result(report, import_file.describe(report, dry_run=dry_run), as_json)


def next_step(item: Item) -> str | None:
    """What an operator can do about an item that does not continue by itself."""
    match item.status:
        case "FAILED":
            return f"It will not run again by itself. Retry it: `jobmill queue retry {item.id}`"
        case "SKIPPED" | "FILTERED":
            return f"Run it anyway: `jobmill queue retry {item.id}`"
        case "BLOCKED":
            return (
                f"It is blocked on {item.blocked_on}. Release it: `jobmill queue unblock "
                f"{item.blocked_on}`, or cancel it: `jobmill queue cancel {item.id}`"
            )
        case _:
            return None


async def _read_lineage(tx: Tx, text: str) -> tuple[list[Item], list[ItemEvent]]:
    if text.isascii() and text.isdigit() and len(text) < 20:
        tracking_id = await lineage.get_tracking_id(tx, ItemId(int(text)))
    else:
        try:
            tracking_id = UUID(text)
        except ValueError:
            raise Invalid(f"{text!r} is neither an item number nor a tracking id") from None
    items = await lineage.read_lineage(tx, tracking_id, limit=MAX_DRAWN_ITEMS)
    if not items:
        raise NotFound("lineage", tracking_id)
    return items, await lineage.list_refused_spawns(tx, [item.id for item in items])


def _act_on_each(
    ids: list[int],
    act: Callable[[Tx, ItemId], Awaitable[None]],
    word: str,
    *,
    as_json: bool,
) -> None:
    """Act on each item in its own transaction, so that one failure does not stop the others."""

    async def act_on_item(database: Database, id: int) -> _ItemResult | AppError:
        try:
            async with database.transaction() as tx:
                await act(tx, cast("ItemId", id))
        except (Conflict, NotFound) as error:
            return error
        return _ItemResult(id, True, word)

    async def run(database: Database) -> list[_ItemResult | AppError]:
        return [await act_on_item(database, id) for id in dict.fromkeys(ids)]

    outcomes = session.with_database(run, declared=True)
    errors = [outcome for outcome in outcomes if isinstance(outcome, AppError)]
    if len(outcomes) == 1 and errors:
        raise errors[0]
    results = [
        outcome if isinstance(outcome, _ItemResult) else _ItemResult(id, False, str(outcome))
        for id, outcome in zip(dict.fromkeys(ids), outcomes, strict=True)
    ]
    if as_json:
        output.print_table(results, as_json=True)
    else:
        for result in results:
            text = f"item {result.id}: {result.message}" if result.ok else result.message
            typer.echo(text, err=not result.ok)
    if errors:
        raise Conflict(f"{len(errors)} of {len(results)} items were not {word}")


def read_data(text: str) -> dict[str, Any]:
    """Parse the object of `--data`: JSON, `@FILE` or `-` for stdin."""
    origin = "--data"
    if text == "-":
        origin, text = "stdin", files.decode_strictly(sys.stdin.buffer.read(), "stdin")
    elif text.startswith("@"):
        origin = text[1:]
        text = files.decode_strictly(files.read_bytes(origin), origin)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{origin} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise Invalid(f'{origin} must be a JSON object: {{"name": value}}')
    return cast("dict[str, Any]", data)


def _to_timedelta(seconds: float) -> dt.timedelta:
    if not math.isfinite(seconds):
        raise Invalid("--delay must be a number of seconds")
    return dt.timedelta(seconds=seconds)


def _parse_phase(text: str) -> tuple[str, str | None]:
    kind, slash, stage = text.partition("/")
    if not kind or (slash and not stage):
        raise Invalid(f"{text!r} must be KIND or KIND/STAGE")
    return kind, stage or None


def _phase_name(kind: str, stage: str) -> str:
    return f"{kind}/{stage}" if stage else kind


def _parse_rename(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not old or not new:
        raise Invalid(f"--rename {text!r} must be OLD=NEW")
    return old, new

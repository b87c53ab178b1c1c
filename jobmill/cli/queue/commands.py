"""jobmill queue …: see what is in the work queue, and act on it."""

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

from jobmill import queue
from jobmill.cli.queue import import_file, lineage_tree, tables, watch
from jobmill.cli.support import environment, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import AppError, Conflict, Invalid, NotFound
from jobmill.queue import ItemId, alerts, inspect, lineage, operator_actions, overview, search
from jobmill.queue.inspect import Item, ItemEvent

app = typer.Typer(no_args_is_help=True)

LONGEST_DELAY = 10 * 365 * 86_400
MOST_DRAWN = 1_000

Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of an item.")]
Ids = Annotated[list[int], typer.Argument(metavar="ID", min=1, help="The numbers of items.")]
PhaseName = Annotated[str, typer.Argument(metavar="KIND[/STAGE]", help="A phase, or a whole kind.")]


StatusName = Literal["PENDING", "PROCESSING", "BLOCKED", "SUCCESS", "FILTERED", "SKIPPED", "FAILED"]


@dataclass(frozen=True)
class Page:
    items: list[Item]
    next_before: int | None


@dataclass(frozen=True)
class Story:
    item: Item
    timeline: list[ItemEvent]
    next_step: str | None


@dataclass(frozen=True)
class Lineage:
    tracking_id: UUID
    items: list[Item]
    refused: list[ItemEvent]


@dataclass(frozen=True)
class Submitted:
    id: int


@dataclass(frozen=True)
class Done:
    """What became of one of several items."""

    id: int
    ok: bool
    message: str


@app.command()
def stats(as_json: AsJson = False) -> None:
    """Show phases, runs, processors, workers and standing alerts at one glance."""
    found = tables.stats(session.ask(overview.read_overview))
    if as_json:
        output.one(found, as_json=True)
    else:
        tables.put(tables.glance(found))


@app.command("list")
def list_items(
    status: Annotated[
        StatusName | None,
        typer.Option(case_sensitive=False, help="Only items that have this status."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only items of this kind.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only items with exactly this key.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    before: Annotated[
        int | None,
        typer.Option(metavar="ID", min=1, help="Only items older than this one: the next page."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List items, newest first."""
    sought = search.ItemFilter(status, kind, key)
    items, last = session.ask(
        lambda tx: search.search_items(tx, sought, before=before, limit=limit)
    )
    if as_json:
        output.one(Page(items, last), as_json=True)
        return
    if not items:
        narrow = any(one is not None for one in (status, kind, key, before))
        typer.echo("No items match." if narrow else "The queue has no items yet.")
        return
    tables.put(tables.items(items, dt.datetime.now(dt.UTC)))
    if last:
        typer.echo(f"There are more: add --before {last} to see the next page.", err=True)


@app.command("show")
def show_item(id: Id, as_json: AsJson = False) -> None:
    """Show all there is to know about an item: its state, its data and what happened to it."""

    async def read(tx: Tx) -> Story:
        item = await inspect.get_item(tx, cast("ItemId", id))
        return Story(item, await inspect.list_events(tx, cast("ItemId", id)), next_step(item))

    story = session.ask(read)
    if as_json:
        output.one(story, as_json=True)
        return
    tables.put(tables.facts(story.item), "", tables.data(story.item.data), "")
    tables.put(tables.timeline(story.timeline))
    if story.next_step:
        typer.echo(f"\n{output.plain(story.next_step)}")


@app.command()
def tree(
    id: Annotated[str, typer.Argument(metavar="ID", help="An item, or a lineage's tracking id.")],
    as_json: AsJson = False,
) -> None:
    """Draw the lineage of an item: who came from whom, how each fared, what was refused."""
    found = session.ask(lambda tx: _lineage(tx, id))
    if as_json:
        output.one(found, as_json=True)
        return
    tables.put(lineage_tree.draw(found.items, found.refused))
    if len(found.items) == MOST_DRAWN:
        typer.echo(f"Only the first {MOST_DRAWN:,} items are drawn.", err=True)


@app.command("watch")
def watch_queue(as_json: AsJson = False) -> None:
    """Watch the queue at work: a screen drawn anew every second; q or Ctrl-C leaves."""
    if sys.stdout.isatty() and not as_json:
        asyncio.run(watch.show(environment.load()))
        return
    if not as_json:
        typer.echo("The output is no terminal, so this is what the queue is like now.", err=True)
    stats(as_json=as_json)


@app.command()
def submit(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What sort of work it is.")],
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="The stage that it begins with.")],
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="What it is about: a URL or another name.")
    ],
    data: Annotated[
        str,
        typer.Option(metavar="JSON", help="A JSON object, @FILE to read one, or - for the input."),
    ] = "{}",
    priority: Annotated[
        int, typer.Option(metavar="N", min=-32768, max=32767, help="Lower is sooner.")
    ] = 100,
    delay: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, max=LONGEST_DELAY, help="Seconds before it may run."
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Put an item in and print its number. Refused (exit code 4) where that work is live already."""
    new = queue.NewItem(
        kind, stage, key, data=read_data(data), priority=priority, delay=_seconds(delay)
    )
    try:
        id = session.ask(lambda tx: queue.submit(tx, new), declared=True)
    except queue.NotAdmitted as error:
        live = error.refused.live
        who = f"; item {live} does this: `jobmill queue show {live}`" if live else ""
        raise Conflict(f"{error}{who}") from error
    if as_json:
        output.one(Submitted(id), as_json=True)
    else:
        typer.echo(id)


@app.command()
def retry(ids: Ids, as_json: AsJson = False) -> None:
    """Put items that did not succeed back, each to the stage where it ended."""
    _act_on_each(ids, operator_actions.retry_item, "put back", as_json=as_json)


@app.command()
def cancel(
    ids: Ids,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why, for whoever asks later.")
    ] = "by hand",
    as_json: AsJson = False,
) -> None:
    """End items that wait or are blocked. One that runs now cannot be cancelled."""
    _act_on_each(
        ids,
        lambda tx, id: operator_actions.cancel_item(tx, id, reason),
        "cancelled",
        as_json=as_json,
    )


@app.command()
def pause(
    phase: PhaseName,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why, for whoever asks later.")
    ] = "by hand",
) -> None:
    """Start nothing more of a phase, or of a whole kind; what runs goes on."""
    kind, stage = _phase(phase)
    session.ask(lambda tx: operator_actions.pause_phase(tx, kind, stage, reason), declared=True)
    typer.echo(f"{phase} is paused; `jobmill queue resume {phase}` lets it go on")


@app.command()
def resume(phase: PhaseName) -> None:
    """Let a paused phase or kind go on."""
    kind, stage = _phase(phase)

    async def lift(tx: Tx) -> None:
        try:
            await operator_actions.resume_phase(tx, kind, stage)
        except Conflict as error:
            paused = [_name(one.kind, one.stage) for one in await inspect.list_pauses(tx)]
            raise Conflict(f"{error}; paused now: {', '.join(paused) or 'nothing'}") from error

    session.ask(lift, declared=True)
    typer.echo(f"{phase} goes on")


@app.command()
def unblock(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What was missing: a budget, key or model.")
    ],
) -> None:
    """Say that something is there again: what was blocked on it goes on."""

    async def lift(tx: Tx) -> int:
        freed = await operator_actions.unblock_items(tx, name)
        if not freed:
            known = ", ".join(one.name for one in await inspect.count_blocked(tx))
            raise Conflict(f"nothing is blocked on {name}; blocked on now: {known or 'nothing'}")
        return freed

    freed = session.ask(lift)
    typer.echo(f"{tables.count(freed, 'item')} blocked on {name} may go on")


@app.command("alerts")
def list_alerts(
    everything: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List the alerts that stand, newest first."""
    found = session.ask(lambda tx: alerts.list_alerts(tx, standing=not everything, limit=limit))
    if as_json:
        output.many(found, as_json=True)
    elif found:
        tables.put(tables.alert_table(found, dt.datetime.now(dt.UTC)))
    else:
        typer.echo("There never was an alert." if everything else "No alert stands.")


@app.command("clear-alert")
def clear_alert(
    id: Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of the alert.")],
) -> None:
    """Say that you have seen to an alert. It comes back if its cause does."""
    if not session.ask(lambda tx: alerts.clear_alert(tx, id)):
        raise NotFound("standing alert", id)
    typer.echo(f"alert {id} is cleared")


@app.command()
def schedules(as_json: AsJson = False) -> None:
    """List what recurs, and when it is due."""
    found = session.ask(inspect.list_schedules)
    if as_json:
        output.many(found, as_json=True)
    elif found:
        tables.put(tables.schedule_table(found, dt.datetime.now(dt.UTC)))
    else:
        typer.echo("Nothing recurs yet: `jobmill up` or `jobmill worker` sets it up.")


@app.command()
def processors(as_json: AsJson = False) -> None:
    """List every processor and what it does."""
    found = session.ask(inspect.list_processors)
    if as_json:
        output.many(found, as_json=True)
    elif found:
        tables.put(tables.processor_table(found, dt.datetime.now(dt.UTC)))
    else:
        typer.echo("No processors: `jobmill up` or `jobmill worker` starts some.")


@app.command("import")
def import_items(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="One JSON object a line; - is the input.")
    ],
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Take kind OLD for our kind NEW; may be repeated."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the good lines and leave out the bad.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import items exported from an older queue, all or none; a second import changes nothing."""
    renames = dict(_rename(one) for one in rename or [])
    with import_file.opened(file) as lines:
        report = session.use(
            lambda db: import_file.run(db, lines, renames, skip_bad=skip_bad, dry_run=dry_run),
            declared=True,
        )
    if as_json:
        output.one(report, as_json=True)
    else:
        typer.echo(import_file.describe(report, dry_run=dry_run))


def next_step(item: Item) -> str | None:
    """What a person can do about an item that does not go on by itself."""
    match item.status:
        case "FAILED":
            return f"It will not run again by itself: `jobmill queue retry {item.id}` puts it back."
        case "SKIPPED" | "FILTERED":
            return f"`jobmill queue retry {item.id}` lets it run all the same."
        case "BLOCKED":
            return (
                f"It waits for {item.blocked_on}: `jobmill queue unblock {item.blocked_on}` lets "
                f"it go on; `jobmill queue cancel {item.id}` gives it up."
            )
        case _:
            return None


async def _lineage(tx: Tx, text: str) -> Lineage:
    if text.isascii() and text.isdigit() and len(text) < 20:
        tracking_id = await lineage.get_tracking_id(tx, ItemId(int(text)))
    else:
        try:
            tracking_id = UUID(text)
        except ValueError:
            raise Invalid(f"{text!r} is neither an item's number nor a tracking id") from None
    items = await lineage.read_lineage(tx, tracking_id, limit=MOST_DRAWN)
    if not items:
        raise NotFound("lineage", tracking_id)
    return Lineage(
        tracking_id, items, await lineage.list_refused_spawns(tx, [item.id for item in items])
    )


def _act_on_each(
    ids: list[int],
    act: Callable[[Tx, ItemId], Awaitable[None]],
    word: str,
    *,
    as_json: bool,
) -> None:
    """Each item in a transaction of its own: one that cannot does not stop the others."""

    async def act_on(database: Database, id: int) -> Done | AppError:
        try:
            async with database.transaction() as tx:
                await act(tx, cast("ItemId", id))
        except (Conflict, NotFound) as error:
            return error
        return Done(id, True, word)

    async def run(database: Database) -> list[Done | AppError]:
        return [await act_on(database, id) for id in dict.fromkeys(ids)]

    answers = session.use(run, declared=True)
    errors = [answer for answer in answers if isinstance(answer, AppError)]
    if len(answers) == 1 and errors:
        raise errors[0]
    done = [
        answer if isinstance(answer, Done) else Done(id, False, str(answer))
        for id, answer in zip(dict.fromkeys(ids), answers, strict=True)
    ]
    if as_json:
        output.many(done, as_json=True)
    else:
        for one in done:
            typer.echo(f"item {one.id}: {one.message}" if one.ok else one.message, err=not one.ok)
    if errors:
        raise Conflict(f"{len(errors)} of {len(done)} items were not {word}")


def read_data(text: str) -> dict[str, Any]:
    """The object that `--data` gives, outright, in a file or on standard input."""
    origin = "--data"
    if text == "-":
        origin, text = "the input", _decode("the input", sys.stdin.buffer.read())
    elif text.startswith("@"):
        origin = text[1:]
        try:
            text = _decode(origin, Path(origin).read_bytes())
        except OSError as error:
            raise Invalid(f"{origin} cannot be read: {error.strerror}") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{origin} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise Invalid(f'{origin} should be a JSON object: {{"name": value}}')
    return cast("dict[str, Any]", data)


def _decode(origin: str, given: bytes) -> str:
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{origin} is not UTF-8 text") from error


def _seconds(number: float) -> dt.timedelta:
    if not math.isfinite(number):
        raise Invalid("--delay should be a number of seconds")
    return dt.timedelta(seconds=number)


def _phase(text: str) -> tuple[str, str | None]:
    kind, slash, stage = text.partition("/")
    if not kind or (slash and not stage):
        raise Invalid(f"{text!r} should be KIND or KIND/STAGE")
    return kind, stage or None


def _name(kind: str, stage: str) -> str:
    return f"{kind}/{stage}" if stage else kind


def _rename(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not old or not new:
        raise Invalid(f"--rename {text!r} should be OLD=NEW")
    return old, new

"""The queue on a terminal: tables of phases and runs, tiles of processors, lines of alerts."""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from jobmill.cli.support.output import plain
from jobmill.queue import overview
from jobmill.queue.alerts import Alert
from jobmill.queue.inspect import (
    Item,
    ItemEvent,
    PhaseStatus,
    ProcessorStatus,
    ScheduleStatus,
    WorkerStatus,
)
from jobmill.queue.overview import Overview, ProcessorCounts, RunTotals

STYLES = {
    "PENDING": "cyan",
    "PROCESSING": "bold blue",
    "BLOCKED": "yellow",
    "SUCCESS": "green",
    "FILTERED": "bright_black",
    "SKIPPED": "bright_black",
    "FAILED": "bold red",
    "idle": "green",
    "busy": "bold blue",
    "error": "bold red",
}
TILES = {"idle": "▢", "busy": "▣", "error": "✖"}
LEGEND = f"{TILES['idle']} idle  {TILES['busy']} busy  {TILES['error']} error"


@dataclass(frozen=True)
class Stats:
    """What `jobmill queue stats --json` prints."""

    phases: list[PhaseStatus]
    processors: list[ProcessorCounts]
    workers: list[WorkerStatus]
    alerts: list[Alert]
    runs: list[RunTotals]
    retrying: int
    ticked_seconds: float | None


def stats(seen: Overview) -> Stats:
    return Stats(
        phases=seen.phases,
        processors=overview.count_processors(seen.phases, seen.processors),
        workers=seen.workers,
        alerts=seen.alerts,
        runs=overview.sum_runs(seen.tallies),
        retrying=seen.retrying,
        ticked_seconds=seen.ticked_seconds,
    )


def put(*parts: RenderableType) -> None:
    """Print; whoever reads a pipe gets whole lines, not lines cut for a narrow terminal."""
    Console(width=None if sys.stdout.isatty() else 10_000).print(*parts, sep="\n")


def glance(found: Stats) -> Group:
    """Everything, one part below the other."""
    gap = Text()
    return Group(phases(found.phases), gap, runs(found.runs, found.retrying), gap, *state(found))


def phases(found: Sequence[PhaseStatus]) -> RenderableType:
    if not found:
        return Text("No phases are known yet: `jobmill up` or `jobmill worker` makes them known.")
    columns = ("phase", "pending", "later", "processing", "blocked", "oldest", "capacity", "")
    lines = [
        [
            f"{one.kind}/{one.stage}",
            *(f"{n:,}" for n in (one.pending, one.later, one.processing, one.blocked)),
            age(one.oldest_seconds or 0) if one.pending else "-",
            f"{one.capacity:,}",
            f"paused: {one.paused}" if one.paused is not None else "",
        ]
        for one in found
    ]
    return table(columns, lines, numbers=range(1, 7))


def runs(found: Sequence[RunTotals], retrying: int) -> RenderableType:
    if not found:
        return Text("Nothing has run yet.")
    columns = ("phase", "runs", "success", "waited", "retried", "failed", "mean")
    lines = [
        [
            f"{one.kind}/{one.stage}",
            *(f"{n:,}" for n in (one.runs, one.success, one.waited, one.retried, one.failed)),
            span(one.seconds / one.runs),
        ]
        for one in found
    ]
    again = Text(f"{count(retrying, 'live item')} failed before and will be tried again.")
    return Group(table(columns, lines, numbers=range(1, 7)), *([again] if retrying else []))


def state(found: Stats) -> list[Text]:
    """Processors, workers, schedules and alerts, a line each."""
    totals = [sum(getattr(one, what) for one in found.processors) for what in TILES]
    hands = ", ".join(f"{n} {what}" for n, what in zip(totals, TILES, strict=True))
    crew = [
        f"{one.name} (beat {age(one.beat_seconds)} ago{'' if one.alive else ': not alive'})"
        for one in found.workers
    ]
    ticked = found.ticked_seconds
    return [
        _line("processors", hands if any(totals) else "none"),
        _line("workers", ", ".join(crew) or "none: `jobmill up` or `jobmill worker` starts one"),
        _line("schedules", "never looked at" if ticked is None else f"looked at {age(ticked)} ago"),
        *alerts(found.alerts),
    ]


def alerts(found: Sequence[Alert], *, most: int = 10) -> list[Text]:
    if not found:
        return [_line("alerts", "none")]
    lines = [
        _line("alert", f"{one.id} {one.rule}: {one.detail}", style="bold red")
        for one in found[:most]
    ]
    rest = len(found) - most
    more = [_line("", f"… and {rest} more: `jobmill queue alerts`")] if rest > 0 else []
    return lines + more


def tiles(processors: Sequence[ProcessorStatus]) -> RenderableType:
    """One tile a processor, a line a phase of a worker."""
    if not processors:
        return Text("No processors: no worker runs.")
    grid = Table.grid(padding=(0, 2))
    rows: dict[tuple[str, str, str], Text] = {}
    for one in processors:
        row = rows.setdefault((one.name, one.kind, one.stage), Text())
        row.append(f"{TILES.get(one.state, '?')} ", style=STYLES.get(one.state, ""))
    for (name, kind, stage), row in rows.items():
        grid.add_row(Text(f"{kind}/{stage}"), row, Text(plain(name), style="bright_black"))
    return Group(grid, Text(LEGEND, style="bright_black"))


def items(found: Sequence[Item], now: dt.datetime) -> Table:
    columns = ("id", "status", "phase", "key", "changed", "message")
    lines = [
        [
            str(one.id),
            one.status,
            f"{one.kind}/{one.stage}",
            _cut(one.key, 80),
            _ago(one.updated_at, now),
            _cut(one.message or "", 100),
        ]
        for one in found
    ]
    return table(columns, lines, numbers=(0,))


def timeline(found: Sequence[ItemEvent]) -> Table:
    lines = [
        [
            moment(one.at),
            one.what,
            one.became or "",
            one.stage or "",
            "" if one.worker is None else str(one.worker),
            one.note or "",
        ]
        for one in found
    ]
    return table(("when", "what", "became", "stage", "worker", "note"), lines)


def alert_table(found: Sequence[Alert], now: dt.datetime) -> Table:
    lines = [
        [
            str(one.id),
            one.rule,
            one.detail,
            _ago(one.raised_at, now),
            _ago(one.seen_at, now),
            _ago(one.cleared_at, now) if one.cleared_at else "stands",
        ]
        for one in found
    ]
    columns = ("id", "rule", "what", "first seen", "last seen", "cleared")
    return table(columns, lines, numbers=(0,))


def schedule_table(found: Sequence[ScheduleStatus], now: dt.datetime) -> Table:
    lines = [
        [
            one.name,
            f"every {_rhythm(one.every)}",
            f"in {age((one.next_at - now).total_seconds())}" if one.next_at > now else "now",
            _ago(one.last_at, now) if one.last_at else "never",
            one.note or "",
        ]
        for one in found
    ]
    return table(("name", "rhythm", "due", "last", "note"), lines)


def processor_table(found: Sequence[ProcessorStatus], now: dt.datetime) -> Table:
    lines = [
        [
            one.name,
            f"{one.kind}/{one.stage}",
            str(one.number),
            one.state,
            "-" if one.item is None else str(one.item),
            age((now - one.since).total_seconds()),
        ]
        for one in found
    ]
    columns = ("worker", "phase", "number", "state", "item", "for")
    return table(columns, lines, numbers=(2, 4, 5))


def facts(item: Item) -> Table:
    """An item, a line a field; fields that say nothing are left out."""
    lines = [
        ("item", str(item.id)),
        ("status", item.status),
        ("phase", f"{item.kind}/{item.stage}"),
        ("key", item.key),
        ("message", item.message),
        ("error", f"{item.error_class or 'error'}: {item.error_text}" if item.error_text else None),
        ("priority", str(item.priority)),
        ("retries", f"{item.retry_count} of {item.max_retries}"),
        ("attempts", str(item.attempts)),
        ("lineage", str(item.tracking_id)),
        ("parent", str(item.parent_id) if item.parent_id else None),
        ("ancestors", ", ".join(map(str, item.ancestry))),
        ("depth", f"{item.spawn_depth} of {item.max_spawn_depth}"),
        ("handed over", "it is the next stage of its parent" if item.handed_over else None),
        ("went on", "its next stage is an item of its own" if item.final is False else None),
        ("waits for", f"item {item.waits_for}" if item.waits_for else None),
        ("blocked on", item.blocked_on),
        ("due", moment(item.available_at) if item.available_at else None),
        ("worker", str(item.worker) if item.worker else None),
        ("started", moment(item.started_at) if item.started_at else None),
        ("leased until", moment(item.leased_until) if item.leased_until else None),
        ("created", moment(item.created_at)),
        ("changed", moment(item.updated_at)),
        ("finished", moment(item.finished_at) if item.finished_at else None),
    ]
    grid = Table.grid(padding=(0, 2))
    for name, text in lines:
        if text:
            grid.add_row(Text(name, style="bright_black"), cell(text))
    return grid


def data(given: dict[str, Any]) -> Text:
    """What an item carries, for reading; nothing in it moves the cursor."""
    lines = json.dumps(given, indent=2, ensure_ascii=False).splitlines()
    return Text("\n".join(map(_printable, lines)))


def table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()
) -> Table:
    """A plain table; the columns in `numbers` stand flush right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if place in numbers else "left")
    for line in lines:
        made.add_row(*map(cell, line))
    return made


def cell(text: str) -> Text:
    """The text as it stands: brackets in it are no markup, and nothing in it moves the cursor."""
    return Text(plain(text), style=STYLES.get(text, ""), overflow="fold")


def age(seconds: float) -> str:
    """A span in its largest unit: 5 s, 3 min, 2 h, 4 d."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def span(seconds: float) -> str:
    """How long a run took: 12 ms, 1.5 s."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def moment(at: dt.datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _ago(at: dt.datetime, now: dt.datetime) -> str:
    return f"{age((now - at).total_seconds())} ago"


def _rhythm(every: dt.timedelta) -> str:
    seconds = round(every.total_seconds())
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    return next(f"{seconds // length} {unit}" for unit, length in units if seconds % length == 0)


def _printable(text: str) -> str:
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def _line(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:<11}", "bright_black"), (plain(text), style))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

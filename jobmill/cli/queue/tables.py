"""Tables and lines about the queue, for the terminal."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jobmill.cli.support import hints
from jobmill.cli.support.output import escape_controls, format_count, printable
from jobmill.cli.support.times import format_age, format_interval, format_second
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
class QueueStats:
    """What `jobmill queue stats --json` prints."""

    phases: list[PhaseStatus]
    processors: list[ProcessorCounts]
    workers: list[WorkerStatus]
    alerts: list[Alert]
    runs: list[RunTotals]
    retrying: int
    ticked_seconds: float | None


def summarize(queue: Overview) -> QueueStats:
    return QueueStats(
        phases=queue.phases,
        processors=overview.count_processors(queue.phases, queue.processors),
        workers=queue.workers,
        alerts=queue.alerts,
        runs=overview.sum_runs(queue.run_counters),
        retrying=queue.retrying,
        ticked_seconds=queue.ticked_seconds,
    )


def stats_page(stats: QueueStats) -> Group:
    gap = Text()
    return Group(
        phase_table(stats.phases),
        gap,
        run_table(stats.runs, stats.retrying),
        gap,
        *status_lines(stats),
    )


def phase_table(phases: Sequence[PhaseStatus]) -> RenderableType:
    if not phases:
        return Text("No phases yet. Start `jobmill up` or `jobmill worker`.")
    columns = ("phase", "pending", "later", "processing", "blocked", "oldest", "capacity", "")
    rows = [
        [
            f"{phase.kind}/{phase.stage}",
            *(f"{n:,}" for n in (phase.pending, phase.later, phase.processing, phase.blocked)),
            format_age(phase.oldest_seconds or 0) if phase.pending else "-",
            f"{phase.capacity:,}",
            f"paused: {phase.paused}" if phase.paused is not None else "",
        ]
        for phase in phases
    ]
    return make_table(columns, rows, right_aligned=range(1, 7))


def run_table(totals: Sequence[RunTotals], retrying: int) -> RenderableType:
    if not totals:
        return Text("Nothing has run yet.")
    columns = ("phase", "runs", "success", "waited", "retried", "failed", "mean")
    rows = [
        [
            f"{phase.kind}/{phase.stage}",
            *(
                f"{n:,}"
                for n in (phase.runs, phase.success, phase.waited, phase.retried, phase.failed)
            ),
            _format_run_time(phase.seconds / phase.runs),
        ]
        for phase in totals
    ]
    table = make_table(columns, rows, right_aligned=range(1, 7))
    if not retrying:
        return table
    verb = "is" if retrying == 1 else "are"
    return Group(table, Text(f"{format_count(retrying, 'item')} {verb} waiting for a retry."))


def status_lines(stats: QueueStats) -> list[Text]:
    """Processors, workers, schedules and alerts, a line each."""
    totals = {state: sum(getattr(phase, state) for phase in stats.processors) for state in TILES}
    processors = ", ".join(f"{number} {state}" for state, number in totals.items())
    workers = [
        f"{worker.name} (heartbeat {format_age(worker.beat_seconds)} ago"
        f"{'' if worker.alive else ': dead'})"
        for worker in stats.workers
    ]
    checked = stats.ticked_seconds
    return [
        _line("processors", processors if any(totals.values()) else "none"),
        _line("workers", ", ".join(workers) or "none: start `jobmill up` or `jobmill worker`"),
        _line(
            "schedules",
            "never checked" if checked is None else f"checked {format_age(checked)} ago",
        ),
        *alert_lines(stats.alerts),
    ]


def alert_lines(alerts: Sequence[Alert], *, limit: int = 10) -> list[Text]:
    if not alerts:
        return [_line("alerts", "none")]
    lines = [
        _line("alert", f"{alert.id} {alert.rule}: {alert.detail}", style="bold red")
        for alert in alerts[:limit]
    ]
    rest = len(alerts) - limit
    more = [_line("", f"… and {rest} more: `jobmill queue alerts`")] if rest > 0 else []
    return lines + more


def processor_tiles(processors: Sequence[ProcessorStatus]) -> RenderableType:
    """One tile per processor, a line per phase of a worker."""
    if not processors:
        return Text("No processors: no worker is running.")
    rows: dict[tuple[str, str, str], Text] = {}
    for processor in processors:
        row = rows.setdefault((processor.name, processor.kind, processor.stage), Text())
        row.append(f"{TILES.get(processor.state, '?')} ", style=STYLES.get(processor.state, ""))
    grid = Table.grid(padding=(0, 2))
    for (name, kind, stage), row in rows.items():
        grid.add_row(Text(f"{kind}/{stage}"), row, Text(printable(name), style="bright_black"))
    return Group(grid, Text(LEGEND, style="bright_black"))


def item_table(items: Sequence[Item], now: dt.datetime) -> Table:
    columns = ("id", "status", "phase", "key", "changed", "message")
    rows = [
        [
            str(item.id),
            item.status,
            f"{item.kind}/{item.stage}",
            _truncate(item.key, 80),
            _ago(item.updated_at, now),
            _truncate(item.message or "", 100),
        ]
        for item in items
    ]
    return make_table(columns, rows, right_aligned=(0,))


def event_table(events: Sequence[ItemEvent]) -> Table:
    rows = [
        [
            format_second(event.at),
            event.what,
            event.became or "",
            event.stage or "",
            "" if event.seconds is None else _format_run_time(event.seconds),
            "" if event.worker is None else str(event.worker),
            event.note or "",
        ]
        for event in events
    ]
    return make_table(("when", "event", "status", "stage", "took", "worker", "note"), rows)


def alert_table(alerts: Sequence[Alert], now: dt.datetime) -> Table:
    rows = [
        [
            str(alert.id),
            alert.rule,
            alert.detail,
            _ago(alert.raised_at, now),
            _ago(alert.seen_at, now),
            _ago(alert.cleared_at, now) if alert.cleared_at else "active",
        ]
        for alert in alerts
    ]
    columns = ("id", "rule", "problem", "first seen", "last seen", "cleared")
    return make_table(columns, rows, right_aligned=(0,))


def schedule_table(schedules: Sequence[ScheduleStatus], now: dt.datetime) -> Table:
    rows = [
        [
            schedule.name,
            f"every {format_interval(schedule.every)}",
            f"in {format_age((schedule.next_at - now).total_seconds())}"
            if schedule.next_at > now
            else "now",
            _ago(schedule.last_at, now) if schedule.last_at else "never",
            schedule.note or "",
        ]
        for schedule in schedules
    ]
    return make_table(("name", "interval", "due", "last run", "note"), rows)


def processor_table(processors: Sequence[ProcessorStatus], now: dt.datetime) -> Table:
    rows = [
        [
            processor.name,
            f"{processor.kind}/{processor.stage}",
            str(processor.number),
            processor.state,
            "-" if processor.item is None else str(processor.item),
            format_age((now - processor.since).total_seconds()),
        ]
        for processor in processors
    ]
    columns = ("worker", "phase", "number", "state", "item", "for")
    return make_table(columns, rows, right_aligned=(2, 4, 5))


def item_facts(item: Item) -> Table:
    """The fields of an item that have a value, a line each."""
    error = f"{item.error_class or 'error'}: {item.error_text}" if item.error_text else None
    facts = {
        "item": str(item.id),
        "status": item.status,
        "phase": f"{item.kind}/{item.stage}",
        "key": item.key,
        "message": item.message and hints.add_next_command(item.message),
        "error": error,
        "priority": str(item.priority),
        "retries": f"{item.retry_count} of {item.max_retries}",
        "attempts": str(item.attempts),
        "lineage": str(item.tracking_id),
        "parent": str(item.parent_id) if item.parent_id else None,
        "ancestors": ", ".join(map(str, item.ancestry)),
        "depth": f"{item.spawn_depth} of {item.max_spawn_depth}",
        "handed over": "this is the next stage of its parent" if item.handed_over else None,
        "continues": "its next stage is a separate item" if item.final is False else None,
        "waits for": f"item {item.waits_for}" if item.waits_for else None,
        "blocked on": item.blocked_on,
        "due": format_second(item.available_at) if item.available_at else None,
        "worker": str(item.worker) if item.worker else None,
        "started": format_second(item.started_at) if item.started_at else None,
        "leased until": format_second(item.leased_until) if item.leased_until else None,
        "created": format_second(item.created_at),
        "changed": format_second(item.updated_at),
        "finished": format_second(item.finished_at) if item.finished_at else None,
    }
    grid = Table.grid(padding=(0, 2))
    for name, text in facts.items():
        if text:
            grid.add_row(Text(name, style="bright_black"), _cell(text))
    return grid


def format_data(data: dict[str, Any]) -> Text:
    """The data of an item as indented JSON."""
    lines = json.dumps(data, indent=2, ensure_ascii=False).splitlines()
    return Text("\n".join(map(escape_controls, lines)))


def make_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right_aligned: Sequence[int] = ()
) -> Table:
    """A table without a frame; `right_aligned` are column indexes."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, name in enumerate(columns):
        table.add_column(name, justify="right" if index in right_aligned else "left")
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(text: str) -> Text:
    # `Text`, because square brackets in a value are not markup.
    return Text(printable(text), style=STYLES.get(text, ""), overflow="fold")


def _format_run_time(seconds: float) -> str:
    """`12 ms`, `1.5 s`."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def _ago(at: dt.datetime, now: dt.datetime) -> str:
    return f"{format_age((now - at).total_seconds())} ago"


def _line(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:<11}", "bright_black"), (printable(text), style))


def _truncate(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"

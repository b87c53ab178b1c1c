"""jobmill rotate search: searches at sites that collect jobs of many employers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from jobmill.cli.support import output, session, times
from jobmill.cli.support.option_groups import expand_options
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.rotation import searches
from jobmill.rotation.searches import SavedSearch, SearchSettings, SettingChanges

app = typer.Typer(no_args_is_help=True, help="Manage searches: keywords and locations.")

USUAL = "usual"
"""Resets a setting."""

Interval = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION", help="Minimum time between two reads, such as 12h; `usual` resets it."
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="Time in which the same request is not repeated, such as 24h; `usual` resets it.",
    ),
]
SearchId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the search.")]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """When and what a search reads, and how the command prints it."""

    interval: Interval = None
    window: Window = None
    days_back: Annotated[
        int | None,
        typer.Option(min=0, max=365, help="Only jobs posted within this many days; 0: all jobs."),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only jobs posted since this date; `usual` resets it."),
    ] = None
    as_json: AsJson = False

    def to_changes(self) -> SettingChanges:
        """The settings that were given; `usual` or 0 resets one."""
        changes: SettingChanges = {}
        if self.interval is not None:
            changes["min_interval"] = parse_duration(self.interval)
        if self.window is not None:
            changes["call_window"] = parse_duration(self.window)
        if self.days_back is not None:
            changes["days_back"] = self.days_back or None
        if self.since is not None:
            changes["since"] = None if self.since == USUAL else _parse_date(self.since)
        return changes


def parse_duration(text: str) -> dt.timedelta | None:
    """The duration, or None if the option says `usual`."""
    return None if text.strip().lower() == USUAL else times.parse_duration(text)


@app.command()
@expand_options
def add(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help="jooble, reed, adzuna, …")],
    keywords: Annotated[
        list[str],
        typer.Argument(metavar="KEYWORDS", help="Keywords; each argument is a separate query."),
    ],
    location: Annotated[
        list[str] | None, typer.Option(help="Location; may be repeated; default: anywhere.")
    ] = None,
    priority: Annotated[int, typer.Option(min=0, max=100, help="Higher is read first.")] = 50,
    *,
    options: SearchOptions,
) -> None:
    """Add a search; each pair of keywords and location is read in turn."""
    settings = replace(SearchSettings(priority), **options.to_changes())
    _run_and_print(
        lambda tx: searches.add(tx, platform, keywords, location or [""], settings),
        options.as_json,
    )


def _parse_date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{text} is not a date: use a form such as 2026-11-15") from None


@app.command("set")
@expand_options
def change_settings(
    id: SearchId,
    priority: Annotated[
        int | None, typer.Option(min=0, max=100, help="Higher is read first.")
    ] = None,
    *,
    options: SearchOptions,
) -> None:
    """Change the settings of a search."""
    changes = options.to_changes()
    if priority is not None:
        changes["priority"] = priority
    if not changes:
        raise Invalid("set something: --priority, --interval, --window, --days-back or --since")
    _run_and_print(lambda tx: searches.update_search(tx, id, **changes), options.as_json)


@app.command("list")
def list_searches(as_json: AsJson = False) -> None:
    """List searches, highest priority first."""
    rows = session.in_transaction(searches.list_all)
    empty = 'No searches. Add one: jobmill rotate search add jooble "pump engineer"'
    output.print_list(rows, _entry, empty=empty, as_json=as_json)


def _entry(search: SavedSearch) -> output.Entry:
    keywords = ", ".join(search.keywords) or "everything"
    title = [keywords, search.platform, None if search.enabled else "disabled"]
    places = ", ".join(filter(None, search.locations)) or "anywhere"
    slices = output.format_count(search.slices, "slice")
    return search.id, title, [places, f"priority {search.priority}", *_timing(search), slices]


def _timing(search: SavedSearch) -> list[str]:
    texts: list[str] = []
    if search.min_interval:
        texts.append(f"every {times.format_duration(search.min_interval)} at most")
    if search.days_back:
        texts.append(f"jobs of {output.format_count(search.days_back, 'day')}")
    if search.since:
        texts.append(f"jobs since {search.since}")
    return texts


@app.command()
def enable(id: SearchId, as_json: AsJson = False) -> None:
    """Enable a search."""
    _run_and_print(lambda tx: searches.update_search(tx, id, enabled=True), as_json)


@app.command()
def disable(id: SearchId, as_json: AsJson = False) -> None:
    """Disable a search; its queries pause unless another search needs them."""
    _run_and_print(lambda tx: searches.update_search(tx, id, enabled=False), as_json)


@app.command()
def prioritise(
    id: SearchId,
    priority: Annotated[
        int, typer.Argument(metavar="PRIORITY", min=0, max=100, help="Higher is read first.")
    ],
    as_json: AsJson = False,
) -> None:
    """Change the priority of a search."""
    _run_and_print(lambda tx: searches.update_search(tx, id, priority=priority), as_json)


@app.command()
def remove(id: SearchId, as_json: AsJson = False) -> None:
    """Delete a search; the jobs it found stay."""
    _run_and_print(lambda tx: searches.remove(tx, id), as_json)


def _run_and_print(act: Callable[[Tx], Awaitable[SavedSearch]], as_json: bool) -> None:
    search = session.in_transaction(act)
    state = "enabled" if search.enabled else "disabled"
    slices = output.format_count(search.slices, "slice")
    output.print_result(search, f"Search {search.id} is {state}: {slices}.", as_json)

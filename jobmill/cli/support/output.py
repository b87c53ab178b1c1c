"""Print results: tables and text for people, JSON for programs."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeAlias, TypeVar

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DataclassT = TypeVar("DataclassT", bound="DataclassInstance")
Record: TypeAlias = "DataclassInstance | Mapping[str, object]"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NextPage = Annotated[
    str | None, typer.Option(metavar="PLACE", help="Next page, as printed by the previous one.")
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="Maximum number to list.")]

Entry: TypeAlias = tuple[object, Sequence[str | None], Sequence[str | None]]
"""An id, the parts of its title, and details."""
Formatters = Mapping[str, Callable[[Any], str]]
"""How to print a field for people, by its name."""

RESULT_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
MAX_WIDTH = 100


def print_result(value: object, text: object, as_json: bool) -> None:
    """Print a value as JSON, or else the text that tells people the same."""
    if as_json:
        print_json(value)
    else:
        typer.echo(text)


def pick(record: object, *names: str) -> dict[str, object]:
    """Some attributes of a record, to print only these."""
    return {name: getattr(record, name) for name in names}


def print_record(record: Record, *, as_json: bool, formatters: Formatters | None = None) -> None:
    """Print one record, a line per field; a table leaves out fields that are None."""
    if as_json:
        print_json(record)
        return
    fields = [(name, value) for name, value in _fields(record) if value is not None]
    rows = [[name.replace("_", " "), _format(value, name, formatters)] for name, value in fields]
    _print_table([], rows)


def print_table(
    records: Sequence[Record],
    *,
    as_json: bool,
    formatters: Formatters | None = None,
    empty: str | None = None,
) -> None:
    """Print a table, or `empty` if there are no records; or one JSON array."""
    if as_json:
        print_json(records)
        return
    if empty and not records:
        typer.echo(empty)
        return
    names = [name for name, _ in _fields(records[0])] if records else []
    rows = [
        [_format(value, name, formatters) for name, value in _fields(record)] for record in records
    ]
    _print_table([name.replace("_", " ") for name in names], rows)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, a line each."""
    _print_table(
        [], [[name.replace("_", " "), _format(value, name, None)] for name, value in facts.items()]
    )


def print_json_lines(records: Iterable[Record]) -> None:
    """Print one JSON object per line."""
    for record in records:
        print_json(record)


def print_rows(records: Sequence[Record], *, as_json: bool, empty: str | None = None) -> None:
    """Print a table, or `empty` if there are no records; or one JSON object per line."""
    if as_json:
        print_json_lines(records)
    else:
        print_table(records, as_json=False, empty=empty)


def print_page(
    rows: Sequence[DataclassT],
    to_entry: Callable[[DataclassT], Entry],
    *,
    limit: int,
    option: str,
    empty: str,
    as_json: bool,
    to_json: Callable[[DataclassT], Record] | None = None,
) -> None:
    """Print at most `limit` rows; if there are more, `option` continues after the last one."""
    print_list(rows[:limit], to_entry, empty=empty, as_json=as_json, to_json=to_json)
    if len(rows) > limit:
        print_more_hint(option, to_entry(rows[limit - 1])[0])


def print_list(
    rows: Sequence[DataclassT],
    to_entry: Callable[[DataclassT], Entry],
    *,
    empty: str,
    as_json: bool,
    to_json: Callable[[DataclassT], Record] | None = None,
) -> None:
    """Print the rows as entries, or `empty` if there are none; or one JSON object per line."""
    if as_json:
        print_json_lines(map(to_json, rows) if to_json else rows)
    elif rows:
        print_entries(map(to_entry, rows))
    else:
        typer.echo(empty)


def print_entries(entries: Iterable[Entry]) -> None:
    """Print a list that fits any width: an id with its title, and the details below."""
    for id, title, details in entries:
        typer.echo(f"{id!s:>5}  {typer.style(join_printable(title), bold=True)}")
        if line := join_printable(details):
            typer.echo(f"{'':5}  {line}")


def print_wrapped(text: str, lead: str = "", *, bold: bool = False) -> None:
    """Print `lead` and the text; on a terminal, wrap the text and indent it below itself."""
    lines = [printable(text)]
    if sys.stdout.isatty():
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        lines = textwrap.wrap(lines[0], max(width - len(lead), 30), break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        start = lead if number == 0 else " " * len(lead)
        typer.echo(f"{start}{typer.style(line, bold=True) if bold else line}".rstrip())


def print_heading(text: str) -> None:
    typer.echo()
    print_wrapped(text, bold=True)


def print_more_hint(option: str, value: object) -> None:
    """Tell how to get the next page, on stderr so that stdout holds only results."""
    typer.echo(f"There are more: {option} {value}", err=True)


def format_title(title: str | None, company: str | None) -> str:
    return join([title or "(no title)", company])


def join(parts: Iterable[str | None]) -> str:
    return " · ".join(part for part in parts if part)


def join_printable(parts: Iterable[str | None]) -> str:
    return join(printable(part) for part in parts if part)


def format_count(number: int, noun: str) -> str:
    """`1 posting`, `2 postings`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextlib.contextmanager
def show_progress(task: str, *, quiet: bool) -> Generator[Callable[[str], None]]:
    """Show a spinner on a terminal; the block calls the yielded function to update its text."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status(task) as status:
        yield lambda text: status.update(printable(f"{task}: {text}"))


def format_size(number: int) -> str:
    """A number of bytes in its largest unit: `8.2 MB`."""
    amount, units = float(number), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:.{0 if amount >= 99.5 or units[0] == 'B' else 1}f} {units[0]}"


def printable(text: str) -> str:
    """The text on one line, with control characters escaped: it cannot change the terminal."""
    return escape_controls(" ".join(text.split()))


def escape_controls(text: str) -> str:
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def print_json(value: object, file: TextIO | None = None) -> None:
    """Print a value as JSON on one line."""
    try:
        typer.echo(json.dumps(value, default=_to_json, ensure_ascii=False), file)
    except UnicodeEncodeError:
        # A lone surrogate, or an output that is not UTF-8.
        typer.echo(json.dumps(value, default=_to_json), file)


def print_rich(*parts: RenderableType) -> None:
    """Print tables and text; a pipe gets whole lines instead of lines cut to a terminal's width."""
    Console(width=None if sys.stdout.isatty() else 10_000).print(*parts, sep="\n")


def _fields(record: Record) -> list[tuple[str, Any]]:
    if isinstance(record, Mapping):
        return list(record.items())
    return [(field.name, getattr(record, field.name)) for field in dataclasses.fields(record)]


def _format(value: object, name: str, formatters: Formatters | None) -> str:
    if formatters and name in formatters:
        return printable(formatters[name](value))
    if value is None or value == "" or value == [] or value == {}:
        return "-"
    match value:
        case bool():
            return "yes" if value else "no"
        case dt.datetime():
            return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        case list() | tuple():
            return printable(", ".join(map(str, value)))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case dict():
            return printable(", ".join(f"{key}={part}" for key, part in value.items()))  # pyright: ignore[reportUnknownVariableType]
        case _:
            return printable(str(value))


def _to_json(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(_fields(value))
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return str(value)


def _print_table(names: list[str], rows: list[list[str]]) -> None:
    table = Table(
        *names, box=box.SIMPLE_HEAD if names else None, show_header=bool(names), pad_edge=False
    )
    for row in rows:
        # `Text`, because square brackets in a value are not markup.
        table.add_row(*(Text(cell, RESULT_STYLES.get(cell, ""), overflow="fold") for cell in row))
    print_rich(table)

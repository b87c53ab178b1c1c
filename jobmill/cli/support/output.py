"""One answer, two faces: a table for people, JSON for programs."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

Words = Mapping[str, Callable[[Any], str]]
"""How people want to read a field, by its name."""

COLOURS = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def one(answer: DataclassInstance, *, as_json: bool, words: Words | None = None) -> None:
    """Print one thing, a line a field; people are spared the fields that are None."""
    if as_json:
        print_json(dataclasses.asdict(answer))
        return
    known = [(name, value) for name, value in _fields(answer) if value is not None]
    rows = [[name.replace("_", " "), _text(value, name, words)] for name, value in known]
    _print_table([], rows)


def many(
    answers: Sequence[DataclassInstance], *, as_json: bool, words: Words | None = None
) -> None:
    """Print a list, a line a thing."""
    if as_json:
        print_json([dataclasses.asdict(answer) for answer in answers])
        return
    names = [name for name, _ in _fields(answers[0])] if answers else []
    rows = [[_text(value, name, words) for name, value in _fields(one)] for one in answers]
    _print_table([name.replace("_", " ") for name in names], rows)


def facts(named: Mapping[str, object]) -> None:
    """Print names and values, a line each."""
    _print_table(
        [], [[name.replace("_", " "), _text(one, name, None)] for name, one in named.items()]
    )


def lines(answers: Iterable[DataclassInstance]) -> None:
    """Print one JSON object a line, for those who read a list as it comes."""
    for answer in answers:
        print_json(dataclasses.asdict(answer))


def rows(answers: Sequence[DataclassInstance], *, as_json: bool) -> None:
    """A list for people, or one JSON object a line for programs."""
    if as_json:
        lines(answers)
    else:
        many(answers, as_json=False)


def entries(found: Iterable[tuple[object, Sequence[str | None], Sequence[str | None]]]) -> None:
    """A list that reads well at any width: number, what it is, and below it what else is to say."""
    for id, first, second in found:
        typer.echo(f"{id!s:>5}  {typer.style(_joined(first), bold=True)}")
        if rest := _joined(second):
            typer.echo(f"{'':5}  {rest}")


def _joined(parts: Sequence[str | None]) -> str:
    return " · ".join(plain(part) for part in parts if part)


def count(number: int, word: str) -> str:
    """`1 posting`, `2 postings`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


@contextlib.contextmanager
def progress(what: str, *, quiet: bool) -> Generator[Callable[[str], None]]:
    """Say how far something has come, on a terminal only; the words are handed to what is given."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return

    with Console(stderr=True).status(what) as status:
        yield lambda words: status.update(plain(f"{what}: {words}"))


def _fields(answer: DataclassInstance) -> list[tuple[str, Any]]:
    return [(field.name, getattr(answer, field.name)) for field in dataclasses.fields(answer)]


def size(number: int) -> str:
    """A number of bytes, short enough to read."""
    amount, units = float(number), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:.{0 if amount >= 99.5 or units[0] == 'B' else 1}f} {units[0]}"


def plain(text: str) -> str:
    """The text on one line, with nothing in it that could move the cursor or colour the screen."""
    one_line = " ".join(text.split())
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in one_line)


def _text(value: object, name: str, words: Words | None) -> str:
    if words and name in words:
        return plain(words[name](value))
    if value is None or value == "" or value == [] or value == {}:
        return "-"
    match value:
        case bool():
            return "yes" if value else "no"
        case dt.datetime():
            return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        case list() | tuple():
            return plain(", ".join(map(str, value)))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case dict():
            return plain(", ".join(f"{key}={part}" for key, part in value.items()))  # pyright: ignore[reportUnknownVariableType]
        case _:
            return plain(str(value))


def print_json(answer: object, file: TextIO | None = None) -> None:
    """Print something as JSON on one line."""
    try:
        typer.echo(json.dumps(answer, default=_jsonable, ensure_ascii=False), file)
    except UnicodeEncodeError:
        # Half a character, or an output that is not UTF-8.
        typer.echo(json.dumps(answer, default=_jsonable), file)


def _jsonable(value: object) -> object:
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
        table.add_row(*map(_cell, row))
    # Whoever reads a pipe wants whole lines, not lines cut for a narrow terminal.
    Console(width=None if sys.stdout.isatty() else 10_000).print(table)


def _cell(text: str) -> Text:

    # As it stands: square brackets in a value are no markup.
    return Text(text, style=COLOURS.get(text, ""), overflow="fold")

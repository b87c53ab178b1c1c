"""Commands that work through many things: a line in, a line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import typer

from jobmill.cli.support import output
from jobmill.errors import AppError, Invalid


def each(
    arguments: Iterable[str], name: str, act: Callable[[dict[str, Any]], None], *, as_json: bool
) -> None:
    """Do it for each of `given`; one that is wrong is complained of and does not stop the others,
    but the command fails."""
    failed = False
    for text, number in _texts(arguments):
        one: dict[str, Any] = {}
        try:
            one = _read(text, number, name)
            act(one)
        except AppError as error:
            failed = True
            which = {part: one[part] for part in (name, "url") if part in one}
            complain(which, number, error, as_json=as_json)
    if failed:
        raise typer.Exit(1)


def given(arguments: Iterable[str], name: str) -> Iterator[dict[str, Any]]:
    """Each argument as `{name: argument}`; `-` stands for the lines of stdin, each a plain text or
    a JSON object."""
    for text, number in _texts(arguments):
        yield _read(text, number, name)


def _texts(arguments: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """The texts, and for those of stdin the number of their line."""
    for argument in arguments:
        if argument != "-":
            yield argument, None
            continue
        for number, line in enumerate(sys.stdin.buffer, 1):
            text = _decode(line).strip()
            if text:
                yield text, number


def _read(text: str, number: int | None, name: str) -> dict[str, Any]:
    is_object = number is not None and text.startswith("{")
    return parse(text, f"line {number}") if is_object else {name: text}


def _decode(data: bytes) -> str:
    # Whatever the terminal's language is: what programs hand on is UTF-8.
    return data.decode("utf-8-sig", "replace")


def parse(text: str, where: str) -> dict[str, Any]:
    """One JSON object; Invalid says where it stands if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{where}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Invalid(f"{where}: not an object: {{…}}")
    return cast(dict[str, Any], found)


def text_of(one: Mapping[str, Any], name: str) -> str | None:
    """A field of what was given, if it is there; Invalid if it is no text."""
    found = one.get(name)
    if found is not None and not isinstance(found, str):
        raise Invalid(f'"{name}" is not a text')
    return found


def file_of(one: Mapping[str, Any], instead: str) -> bytes:
    """The bytes of the file that was given; `instead` is what might have been given as well."""
    name = text_of(one, "file")
    if name is None:
        raise Invalid(f'each line is a file, or an object with a "file" or "{instead}"')
    return read_file(name)


def read_file(name: str) -> bytes:
    """A file's bytes; Invalid says why it cannot be read."""
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Invalid(f"{name} cannot be read: {why}") from error


def read_text(name: str) -> str:
    """The text of a file, or of stdin for `-`."""
    return _decode(sys.stdin.buffer.read() if name == "-" else read_file(name))


def put(record: Mapping[str, Any], file: TextIO | None = None) -> None:
    """Print one JSON object on a line of its own."""
    output.print_json(record, file)


def complain(which: Mapping[str, Any], line: int | None, error: AppError, *, as_json: bool) -> None:
    """Say what was wrong with one of many, where the others are said."""
    words = " ".join(str(error).split())
    if as_json:
        put({**which, **({"line": line} if line else {}), "error": words})
    else:
        place = next(iter(which.values()), f"line {line}")
        typer.echo(output.plain(f"{place}: {words}"), err=True)

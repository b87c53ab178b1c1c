"""Commands that work through many things: a line in, a line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import typer

from jobmill.errors import AppError, Invalid


def given(arguments: Iterable[str], name: str) -> Iterator[dict[str, Any]]:
    """Each argument as `{name: argument}`; `-` stands for the lines of stdin, each a plain text or
    a JSON object."""
    for argument in arguments:
        if argument == "-":
            yield from _from_stdin(name)
        else:
            yield {name: argument}


def _from_stdin(name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(sys.stdin, 1):
        text = line.strip()
        if text.startswith("{"):
            yield parse(text, f"line {number}")
        elif text:
            yield {name: text}


def parse(text: str, where: str) -> dict[str, Any]:
    """One JSON object; Invalid says where it stands if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{where}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Invalid(f"{where}: not an object: {{…}}")
    return cast(dict[str, Any], found)


def read_file(name: str) -> bytes:
    """A file's bytes; Invalid says why it cannot be read."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Invalid(f"{name} cannot be read: {error.strerror}") from error


def put(record: Mapping[str, Any], file: TextIO | None = None) -> None:
    """Print one JSON object on a line of its own."""
    typer.echo(json.dumps(record, ensure_ascii=False, default=str), file)


def complain(file: str | None, error: AppError, as_json: bool) -> None:
    """Say what was wrong with one of many, where the others are said."""
    words = " ".join(str(error).split())
    if as_json:
        put({"file": file, "error": words})
    else:
        typer.echo(f"{file or 'stdin'}: {words}", err=True)

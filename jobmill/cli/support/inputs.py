"""Commands that take many inputs, as arguments or as lines of stdin."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import typer

from jobmill.cli.support import files, output
from jobmill.errors import AppError, Invalid


def for_each(
    arguments: Iterable[str], name: str, act: Callable[[dict[str, Any]], None], *, as_json: bool
) -> None:
    """Call `act` with every input. Report the failing ones, go on, and exit with code 1."""
    failed = False
    for text, line_number in _iter_texts(arguments):
        fields: dict[str, Any] = {}
        try:
            fields = _parse(text, line_number, name)
            act(fields)
        except AppError as error:
            failed = True
            subject = {part: fields[part] for part in (name, "url") if part in fields}
            report_error(subject, line_number, error, as_json=as_json)
    if failed:
        raise typer.Exit(1)


def read_inputs(arguments: Iterable[str], name: str) -> Iterator[dict[str, Any]]:
    """Yield each argument as `{name: argument}`.

    `-` stands for the lines of stdin: each is a plain text or a JSON object.
    """
    for text, line_number in _iter_texts(arguments):
        yield _parse(text, line_number, name)


def _iter_texts(arguments: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """Yield the texts, with their line number if they come from stdin."""
    for argument in arguments:
        if argument != "-":
            yield argument, None
            continue
        for line_number, line in enumerate(sys.stdin.buffer, 1):
            text = files.decode(line).strip()
            if text:
                yield text, line_number


def _parse(text: str, line_number: int | None, name: str) -> dict[str, Any]:
    is_object = line_number is not None and text.startswith("{")
    return parse_object(text, f"line {line_number}") if is_object else {name: text}


def parse_object(text: str, origin: str) -> dict[str, Any]:
    """Parse a JSON object; `origin` names it in an error."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{origin}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Invalid(f"{origin}: not a JSON object: {{…}}")
    return cast(dict[str, Any], value)


def get_text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f'"{name}" must be a string')
    return value


def read_named_file(fields: Mapping[str, Any], alternative: str) -> bytes:
    """Read the file of an input; `alternative` is the field that could have held its content."""
    name = get_text(fields, "file")
    if name is None:
        raise Invalid(f'each line must be a file name, or an object with "file" or "{alternative}"')
    return files.read_bytes(name)


def report_error(
    subject: Mapping[str, Any], line_number: int | None, error: AppError, *, as_json: bool
) -> None:
    """Print the error of one input: as a JSON line among the results, or on stderr."""
    message = " ".join(str(error).split())
    if as_json:
        line = {"line": line_number} if line_number else {}
        output.print_json({**subject, **line, "error": message})
    else:
        origin = next(iter(subject.values()), f"line {line_number}")
        typer.echo(output.printable(f"{origin}: {message}"), err=True)

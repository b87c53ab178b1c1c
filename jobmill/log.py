"""Log lines with fields, as text for people or as JSON for programs."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

_fields: ContextVar[dict[str, object]] = ContextVar("fields", default={})  # noqa: B039

_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


@contextmanager
def bound(**fields: object) -> Generator[None]:
    """Add fields (`item`, `request`, `worker`) to every line logged within, tasks included."""
    token = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


def setup(level: str = "info", format: Literal["text", "json"] = "text") -> None:
    """Log to standard error in the given format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormat() if format == "json" else TextFormat())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)


class TextFormat(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        parts = [
            _time(record),
            record.levelname.ljust(7),
            record.name,
            _printable(record.getMessage()),
            *(f"{name}={_value(value)}" for name, value in _all_fields(record).items()),
        ]
        # Indented, so that foreign text in a trace cannot pass for a log line.
        trace = [f"    {_printable(line)}" for line in _trace(self, record).splitlines()]
        return "\n".join([" ".join(parts), *trace])


class JsonFormat(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            **_all_fields(record),
            "at": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if trace := _trace(self, record):
            line["trace"] = trace
        return json.dumps(line, default=str)


def _all_fields(record: logging.LogRecord) -> dict[str, object]:
    extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    return {**_fields.get(), **extra}


def _time(record: logging.LogRecord) -> str:
    at = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    trace = formatter.formatException(record.exc_info) if record.exc_info else ""
    return "\n".join(part for part in (trace, record.stack_info) if part)


def _printable(text: str) -> str:
    """Escape characters that would break the line or move the cursor."""
    return text if text.isprintable() else json.dumps(text)[1:-1]


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    plain = text.isprintable() and text and not any(mark in text for mark in ' "=\\')
    return text if plain or not isinstance(value, str) else json.dumps(text)

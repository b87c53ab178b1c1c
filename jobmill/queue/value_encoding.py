"""Checks and encodes values from stages and submitters before they reach the database."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jobmill.errors import Invalid
from jobmill.queue.items import NewItem

MAX_DATA_BYTES = 8 * 1024 * 1024
MAX_KEY_LENGTH = 4_000
MAX_LIMIT = 1_000
MAX_DELAY = dt.timedelta(days=3_650)
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
INVALID_CHARACTERS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Control characters and lone surrogates."""


# Created once: json.dumps would create an encoder for every row.
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


def encode_row(values: Mapping[str, Any]) -> str:
    """Encode a row as JSON; Invalid if PostgreSQL could not store it."""
    try:
        text = _encode(values)
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid(
            "the data contains a lone surrogate, which is not a valid character"
        ) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"the data cannot be stored as JSON: {error}") from error
    if size > MAX_DATA_BYTES:
        raise Invalid(f"the data has {size:,} bytes; an item can carry at most {MAX_DATA_BYTES:,}")
    if "\\u0000" in text and NUL.search(text):
        raise Invalid("the data contains a NUL character, which PostgreSQL cannot store")
    return text


def join_rows(rows: Iterable[str]) -> str:
    return f"[{','.join(rows)}]"


def check_new_item(new: NewItem) -> None:
    """Invalid, naming the field, if a field other than the data is wrong."""
    _check_names(new.kind, new.stage)
    if not new.key or len(new.key) > MAX_KEY_LENGTH or INVALID_CHARACTERS.search(new.key):
        raise Invalid(
            f"the key must have 1 to {MAX_KEY_LENGTH} characters, none of them control characters"
        )
    check_priority(new.priority)
    if new.delay > MAX_DELAY:
        raise Invalid(f"delay {new.delay}: use at most {MAX_DELAY.days} days")
    for name, value in (("retries", new.max_retries), ("spawn depth", new.max_spawn_depth)):
        if value is not None and not 0 <= value <= MAX_LIMIT:
            raise Invalid(f"max {name} {value}: use 0 to {MAX_LIMIT}")


def check_priority(priority: int) -> None:
    if not -32768 <= priority <= 32767:
        raise Invalid(f"priority {priority}: use -32768 to 32767; lower numbers run first")


def encode_new_item(new: NewItem, **more: Any) -> str:
    """Check and encode a new item as one row."""
    check_new_item(new)
    return encode_row(
        {
            "kind": new.kind,
            "stage": new.stage,
            "key": new.key,
            "data": new.data,
            "priority": new.priority,
            "delay": max(0.0, new.delay.total_seconds()),
            "max_retries": new.max_retries,
            "max_spawn_depth": new.max_spawn_depth,
            **more,
        }
    )


@lru_cache(maxsize=1_000)
def _check_names(kind: str, stage: str) -> None:
    for name, value in (("kind", kind), ("stage", stage)):
        if not NAME.fullmatch(value):
            raise Invalid(f"{name} {value!r}: use up to 63 of a-z, 0-9, '_', '.', '-'")

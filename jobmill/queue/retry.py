"""What an error means for an item: try again, park it, or give up (pure)."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import random
import re
from typing import Literal

from jobmill.db import CONNECTION_ERRORS, is_schema_mismatch
from jobmill.errors import AppError, Conflict, Invalid, NotFound, OutsideError, Unavailable
from jobmill.queue.items import Work
from jobmill.queue.stages import Block, BlockedOn, Fail, Outcome, Retry

ErrorClass = Literal["transient", "permanent", "blocked"]

MAX_ERROR_LENGTH = 4_000

BLOCKED_ON_SCHEMA = "database schema"
"""What an item is blocked on when the tables are not those that the worker knows."""

# What differs from one occurrence of an error to the next: addresses, ids, times, counts.
VARYING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d+")


def classify_error(error: BaseException) -> ErrorClass:
    """A bug and a hiccup look alike from here, so what we cannot name is worth another try."""
    match error:
        case BlockedOn():
            return "blocked"
        case _ if is_schema_mismatch(error):
            return "blocked"
        case OutsideError(permanent=True) | Invalid() | NotFound() | Conflict():
            return "permanent"
        case _:
            return "transient"


def backoff(retry_count: int, jitter: float) -> dt.timedelta:
    """1, 2, 4, 8 s … after the first, second … failure, and up to a quarter more (`jitter` 0 to 1)."""
    seconds: float = 2 ** min(retry_count, 16)
    return dt.timedelta(seconds=seconds * (1 + jitter / 4))


def fingerprint_error(error: BaseException) -> str:
    """The same for two errors that differ only in numbers, ids and addresses."""
    text = f"{type(error).__qualname__}: {VARYING.sub('#', str(error))}"
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


def outcome_of_error(work: Work, error: BaseException, *, failed_before: bool = False) -> Outcome:
    """What becomes of `work` after `error`; `failed_before`: its lineage already failed of the same."""
    kind = classify_error(error)
    text = describe_error(error)
    if isinstance(error, BlockedOn):
        return Block(error.on, str(error))
    if is_schema_mismatch(error):
        # The worker and the database are of different versions, which no item can help.
        return Block(
            BLOCKED_ON_SCHEMA,
            f"The database schema does not fit this version of Jobmill ({text}). "
            "Upgrade Jobmill and restart the worker, or run `jobmill db migrate`.",
        )
    if kind == "permanent":
        return _fail(work, error, kind, f"Failed, and trying again cannot help: {text}")
    if failed_before:
        return _fail(work, error, kind, "Ancestor item failed with same error, not retrying")
    if work.retry_count >= work.max_retries:
        return _fail(work, error, kind, f"Failed after {work.retry_count} retries: {text}")
    return Retry(
        f"Processing failed. Will retry ({work.retry_count + 1}/{work.max_retries})",
        kind,
        text,
        fingerprint_error(error),
        backoff(work.retry_count, random.random()),
    )


def describe_error(error: BaseException) -> str:
    """The error for people: our own errors speak for themselves, others name their type."""
    text = str(error).replace("\x00", "�")
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MAX_ERROR_LENGTH:
        text = f"{text[:MAX_ERROR_LENGTH]} … ({len(text):,} characters)"
    if isinstance(error, AppError) and text:
        return text
    return f"{type(error).__qualname__}: {text}" if text else type(error).__qualname__


def _fail(work: Work, error: BaseException, kind: ErrorClass, what: str) -> Fail:
    return Fail(
        f"{what}. {suggest_next_step(work, error)}",
        kind,
        describe_error(error),
        fingerprint_error(error),
    )


def suggest_next_step(work: Work, error: BaseException) -> str:
    """What a person can do next."""
    look = f"See `jobmill queue show {work.id}`"
    again = f"`jobmill queue retry {work.id}` puts it back"
    match error:
        case OutsideError(permanent=True) | NotFound():
            return f"{look}; check what it names, then {again}"
        case Invalid() | Conflict():
            return f"{look}; mend the data it names, then {again}"
        case asyncio.TimeoutError():
            return f"{look}; the stage ran longer than it may; {again}"
        case Unavailable() | OSError():
            return f"{look}; check the connection it names, then {again}"
        case _ if isinstance(error, CONNECTION_ERRORS):
            return f"{look}; check the database with `jobmill doctor`, then {again}"
        case _:
            return f"{look} and the log of its worker for the cause; {again}"

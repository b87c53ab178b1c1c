"""Decides what an error of a stage means for its item: retry, wait, block or fail. Pure functions."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import random
import re
from typing import Literal

from jobmill.db import CONNECTION_ERRORS, is_schema_mismatch
from jobmill.errors import (
    AppError,
    Conflict,
    Invalid,
    NotFound,
    OutsideError,
    RetryLater,
    Unavailable,
)
from jobmill.queue.items import ItemId, Work
from jobmill.queue.stages import Block, BlockedOn, Fail, Outcome, Postpone, Retry

ErrorClass = Literal["transient", "permanent", "blocked", "waiting"]

MAX_ERROR_LENGTH = 4_000

BLOCKED_ON_SCHEMA = "database schema"
"""The resource an item is blocked on when the schema does not fit the code of the worker."""

VARYING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
"""Parts of an error text that differ between occurrences: addresses, ids, times, counts."""


def classify_error(error: BaseException) -> ErrorClass:
    """Classify an error; one of an unknown type counts as transient, because a retry may help."""
    match error:
        case BlockedOn():
            return "blocked"
        case RetryLater():
            return "waiting"
        case _ if is_schema_mismatch(error):
            return "blocked"
        case OutsideError(permanent=True) | Invalid() | NotFound() | Conflict():
            return "permanent"
        case _:
            return "transient"


def backoff(retry_count: int, jitter: float) -> dt.timedelta:
    """1, 2, 4, 8 … seconds after the first, second … failure, plus up to a quarter (`jitter` is 0 to 1)."""
    seconds: float = 2 ** min(retry_count, 16)
    return dt.timedelta(seconds=seconds * (1 + jitter / 4))


def fingerprint_error(error: BaseException) -> str:
    """A hash that is equal for errors that differ only in numbers, ids and addresses."""
    return fingerprint_text(describe_error(error))


def fingerprint_text(description: str) -> str:
    """The fingerprint of an error that is known by its description only."""
    text = VARYING.sub("#", description)
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


def outcome_of_error(
    work: Work, error: BaseException, *, failed_before: ItemId | None = None
) -> Outcome:
    """Decide what happens to `work` after `error`.

    `failed_before`: the item that already failed with the same error for the same work in this lineage.
    """
    kind = classify_error(error)
    text = describe_error(error)
    if isinstance(error, BlockedOn):
        return Block(error.on, str(error))
    if isinstance(error, RetryLater):
        return Postpone(error.delay, str(error))
    if is_schema_mismatch(error):
        # The worker and the database have different versions, so no item is at fault.
        return Block(
            BLOCKED_ON_SCHEMA,
            f"The database schema does not fit this version of Jobmill ({text}). "
            "Upgrade Jobmill and restart the worker, or apply the database migrations.",
        )
    if kind == "permanent":
        return _fail(work, error, kind, f"Failed, and a retry cannot help: {text}")
    if failed_before == work.id:
        return _fail(work, error, kind, f"Failed again with same error, not retrying: {text}")
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
    """The text of an error; other errors than AppError start with their type."""
    text = str(error).replace("\x00", "�")
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MAX_ERROR_LENGTH:
        text = f"{text[:MAX_ERROR_LENGTH]} … ({len(text):,} characters)"
    if isinstance(error, AppError) and text:
        return text
    return f"{type(error).__qualname__}: {text}" if text else type(error).__qualname__


def _fail(work: Work, error: BaseException, kind: ErrorClass, message: str) -> Fail:
    return Fail(
        f"{message}. {suggest_next_step(error)}.",
        kind,
        describe_error(error),
        fingerprint_error(error),
    )


def suggest_next_step(error: BaseException) -> str:
    """What an operator can do next; the command line adds its commands."""
    match error:
        case OutsideError(permanent=True) | NotFound():
            return "Check what the error names, then retry the task"
        case Invalid() | Conflict():
            return "Correct the data that the error names, then retry the task"
        case asyncio.TimeoutError():
            return "The step exceeded its time limit. Retry the task"
        case Unavailable() | OSError():
            return "Check the connection that the error names, then retry the task"
        case _ if isinstance(error, CONNECTION_ERRORS):
            return "Check the database, then retry the task"
        case _:
            return "Look for the cause in the log of its worker, then retry the task"

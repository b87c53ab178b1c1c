"""Errors about missing things tell which command lists the existing ones."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator

from jobmill.errors import AppError, NotFound

LIST_COMMANDS = {
    "Opening with id": "jobmill opening list",
    "opening": "jobmill opening list",
    "Application with id": "jobmill opening show OPENING",
    "Applicant with id": "jobmill opening show OPENING",
    "webhook": "jobmill webhook list",
    "delivery": "jobmill webhook deliveries WEBHOOK",
    "person": "jobmill person list",
    "key": "jobmill key list --all",
    "Blocked address": "jobmill opening blocked",
    "match": "jobmill match list",
    "document": "jobmill document list",
}
"""The command that lists things of a kind, by the beginning of the `NotFound` text."""

KIND = re.compile("|".join(f"{kind} " for kind in LIST_COMMANDS))
MISSING_EVENT = re.compile(r"Opening (\d+) has no event ")
API_JOB = re.compile(r"(?:^(J)|\bj)ob (?=(?:with id )?\d)")
"""The HTTP API calls an opening a job. Elsewhere in a text `Job 7` may be the name of a saved view."""


class NotFoundWithHint(NotFound):
    """A `NotFound` with a text that already tells what to do."""

    def __init__(self, message: str) -> None:
        AppError.__init__(self, message)


@contextlib.contextmanager
def add_hints() -> Generator[None]:
    """Add the command that lists the existing things to a `NotFound`."""
    try:
        yield
    except NotFoundWithHint:
        raise
    except NotFound as error:
        text = call_job_opening(str(error))
        command = _list_command(text)
        hint = f"; `{command}` lists the existing ones" if command else ""
        raise NotFoundWithHint(f"{text}{hint}") from error
    except AppError as error:
        error.args = (call_job_opening(str(error)),)
        raise


def call_job_opening(text: str) -> str:
    """Replace `Job 7` by `Opening 7`: the same texts are part of the HTTP API."""
    return API_JOB.sub(lambda match: "Opening " if match[1] else "opening ", text)


def _list_command(text: str) -> str | None:
    if match := MISSING_EVENT.match(text):
        return f"jobmill hiring replay {match[1]}"
    match = KIND.match(text)
    return LIST_COMMANDS[match[0].rstrip()] if match else None

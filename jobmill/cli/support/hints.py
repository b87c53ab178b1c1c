"""Adds commands to texts that pages show as well: which command lists the existing things, or helps next."""

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
NEXT_COMMANDS = (
    (
        re.compile(r"says too little to score the job"),
        r"To score it anyway: `jobmill listing add URL --force`",
    ),
    (
        re.compile(r"^source (\d+) .*was rejected\."),
        r"`jobmill approval approve source:\1` approves it",
    ),
    (
        re.compile(r"^source (\d+) .*(?:needs your approval|its test failed)\."),
        r"Next: `jobmill approval approve source:\1`, or `reject`",
    ),
    (
        re.compile(r"its website is unknown\."),
        r"To add it: `jobmill company add NAME --website URL`",
    ),
    (
        re.compile(r"its pages are no longer kept\."),
        r"`jobmill company add NAME --force` analyzes it again",
    ),
    (
        re.compile(r"^report (\d+) is .* waiting for the step ([a-z-]+)\."),
        r"`jobmill report rerun \1 \2` runs it again",
    ),
    (
        re.compile(r"there is no platform [^\s:]+$"),
        r"`jobmill source platforms` lists them",
    ),
    (re.compile(r"does not fit this version of Jobmill"), r"`jobmill db migrate` applies them"),
    (re.compile(r"Check the database, then retry"), r"`jobmill doctor` checks it"),
    (
        re.compile(r"no worker has run yet", re.IGNORECASE),
        r"`jobmill up` or `jobmill worker` starts one",
    ),
    (
        re.compile(r"^You can add at most [\d,]+ lines in one step"),
        r"For more: `jobmill rotate import`",
    ),
    (re.compile(r"^Apply the migrations"), r"`jobmill db migrate` applies them"),
    (
        re.compile(r"^Start Jobmill or a worker"),
        r"`jobmill up` starts both, `jobmill worker` only a worker",
    ),
)
"""The command for what a text asks its reader to do, with groups of the pattern in it."""

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


def add_next_command(text: str) -> str:
    """Add the command that does what the text asks for, if there is one and the text does not name it."""
    for pattern, command in NEXT_COMMANDS:
        if (match := pattern.search(text)) and "`jobmill " not in text:
            return f"{text.removesuffix('.')}. {match.expand(command)}"
    return text


def call_job_opening(text: str) -> str:
    """Replace `Job 7` by `Opening 7`: the same texts are part of the HTTP API."""
    return API_JOB.sub(lambda match: "Opening " if match[1] else "opening ", text)


def _list_command(text: str) -> str | None:
    if match := MISSING_EVENT.match(text):
        return f"jobmill hiring replay {match[1]}"
    match = KIND.match(text)
    return LIST_COMMANDS[match[0].rstrip()] if match else None

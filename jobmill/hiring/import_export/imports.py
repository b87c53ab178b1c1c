"""People and openings that come in a file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications import submissions
from jobmill.hiring.applications.submissions import Placed
from jobmill.hiring.import_export import exports
from jobmill.hiring.import_export.spreadsheets import BadSheet, Entry, Problem, Row
from jobmill.hiring.import_export.spreadsheets import rows as sheet_rows
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.applications import Duplicate
from jobmill.hiring.records.openings import Opening, Terms
from jobmill.hiring.transitions import Status

CHUNK = 500
"""So many people apply in one transaction, and the opening is locked for as long."""

LONGEST_WINDOW = 365 * 86_400

Outcome = Literal["applied", "known", "repeated", "refused"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a line."""

    line: int
    email: str
    outcome: Outcome
    status: Status | None = None
    position: int | None = None
    application_id: int | None = None
    detail: str | None = None


async def admit(tx: Tx, opening_id: int, entries: Sequence[Entry], by: Actor) -> list[Admitted]:
    """Have people apply in their order; who is in it already stays where they are, so that the same
    can be done again. Who is refused is said so, and nothing is kept of them."""
    wanted = [one for one in entries if one.repeats is None]
    asks = [submissions.Ask(one.person, by) for one in wanted]
    answers = await submissions.apply_all(tx, opening_id, asks)
    known = {one.line: answer for one, answer in zip(wanted, answers, strict=True)}
    return [_admitted(one, known.get(one.line)) for one in entries]


def _admitted(one: Entry, answer: Placed | AppError | None) -> Admitted:
    line, email = one.line, one.person.email
    match answer:
        case Placed(application, position):
            status, id = application.status, application.id
            return Admitted(line, email, "applied", status, position, id)
        case Duplicate():
            return Admitted(line, email, "known")
        case None:
            detail = f"line {one.repeats} has the same address"
            return Admitted(line, email, "repeated", detail=detail)
        case refusal:
            return Admitted(line, email, "refused", detail=str(refusal))


def _key(name: str) -> str:
    return name.replace("_", "")


class _Line(BaseModel):
    """An opening as a file has it; what is left out or empty has its default."""

    model_config = ConfigDict(alias_generator=_key, extra="ignore")

    title: str
    capacity: int = Field(ge=1, le=lifecycle.MOST)
    description: str | None = None
    employer: str | None = None
    location: str | None = None
    remote: bool | None = None
    require_acknowledgement: bool | None = None
    acknowledge_window_seconds: int | None = Field(None, ge=1, le=LONGEST_WINDOW)
    max_missed: int | None = None
    waitlist_limit: int | None = None
    apply_until: AwareDatetime | None = None
    keep_days: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """An opening that is to be."""

    line: int
    terms: Terms
    capacity: int


def plans(data: bytes) -> list[Plan]:
    """Openings from CSV or JSON lines, by the names that an export has; BadSheet where any cannot be."""
    problems: list[Problem] = []
    found: list[Plan] = []
    for row in sheet_rows(data, needed=("title", "capacity")):
        _check_names(row)
        try:
            found.append(_plan(row))
        except Invalid as error:
            problems.append(Problem(row.line, str(error)))
    if problems:
        raise BadSheet(problems)
    return found


KNOWN = frozenset(name.casefold() for name in exports.OPENING)


def _check_names(row: Row) -> None:
    """BadSheet at once: in a table all lines have the same."""
    unknown = [name for name in row.cells if name and name not in KNOWN]
    if unknown:
        known = ", ".join(exports.OPENING)
        raise BadSheet([Problem(row.line, f"`{unknown[0]}` is not known; there are {known}")])


def _plan(row: Row) -> Plan:
    try:
        line = _Line.model_validate(
            {name: one for name, one in row.cells.items() if one not in ("", None)}
        )
    except ValidationError as error:
        raise Invalid(_explain(error)) from None
    given = line.model_dump(exclude_none=True, exclude={"capacity", "acknowledge_window_seconds"})
    return Plan(row.line, lifecycle.checked(Terms(**given, **_window(line))), line.capacity)


def _window(line: _Line) -> dict[str, Any]:
    seconds = line.acknowledge_window_seconds
    return {} if seconds is None else {"acknowledge_window": dt.timedelta(seconds=seconds)}


def _explain(error: ValidationError) -> str:
    names = {name.casefold(): name for name in exports.OPENING}
    said = [(str(one["loc"][0]), one["msg"]) for one in error.errors(include_url=False)]
    return "; ".join(f"{names.get(where, where)}: {what}" for where, what in said)


async def create_all(tx: Tx, wanted: Sequence[Plan], by: Actor) -> list[Opening]:
    """All of them, as ever in one transaction."""
    return [await lifecycle.create(tx, one.terms, one.capacity, by) for one in wanted]

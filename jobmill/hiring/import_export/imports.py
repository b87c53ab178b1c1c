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
from jobmill.hiring.applications.submissions import Placement
from jobmill.hiring.import_export import exports
from jobmill.hiring.import_export.spreadsheets import (
    ApplicantEntry,
    InvalidSpreadsheet,
    LineProblem,
    SpreadsheetRow,
)
from jobmill.hiring.import_export.spreadsheets import parse_rows as sheet_rows
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.openings import Opening, OpeningTerms
from jobmill.hiring.transitions import Status

BATCH_SIZE = 500
"""So many people apply in one transaction, and the opening is locked for as long."""

MAX_WINDOW_SECONDS = 365 * 86_400

ImportOutcome = Literal["applied", "known", "repeated", "refused"]


@dataclass(frozen=True, slots=True)
class ImportedApplicant:
    """What became of a line."""

    line: int
    email: str
    outcome: ImportOutcome
    status: Status | None = None
    position: int | None = None
    application_id: int | None = None
    detail: str | None = None


async def import_applicants(
    tx: Tx, opening_id: int, entries: Sequence[ApplicantEntry], by: Actor
) -> list[ImportedApplicant]:
    """Have people apply in their order; who is in it already stays where they are, so that the same
    can be done again. Who is refused is said so, and nothing is kept of them."""
    wanted = [one for one in entries if one.repeats is None]
    asks = [submissions.ApplyRequest(one.person, by) for one in wanted]
    answers = await submissions.apply_all(tx, opening_id, asks)
    known = {one.line: answer for one, answer in zip(wanted, answers, strict=True)}
    return [_admitted(one, known.get(one.line)) for one in entries]


def _admitted(one: ApplicantEntry, answer: Placement | AppError | None) -> ImportedApplicant:
    line, email = one.line, one.person.email
    match answer:
        case Placement(application, position):
            status, id = application.status, application.id
            return ImportedApplicant(line, email, "applied", status, position, id)
        case DuplicateApplication():
            return ImportedApplicant(line, email, "known")
        case None:
            detail = f"line {one.repeats} has the same address"
            return ImportedApplicant(line, email, "repeated", detail=detail)
        case refusal:
            return ImportedApplicant(line, email, "refused", detail=str(refusal))


def _key(name: str) -> str:
    return name.replace("_", "")


class _Line(BaseModel):
    """An opening as a file has it; what is left out or empty has its default."""

    model_config = ConfigDict(alias_generator=_key, extra="ignore")

    title: str
    capacity: int = Field(ge=1, le=lifecycle.MAX_NUMBER)
    description: str | None = None
    employer: str | None = None
    location: str | None = None
    remote: bool | None = None
    require_acknowledgement: bool | None = None
    acknowledge_window_seconds: int | None = Field(None, ge=1, le=MAX_WINDOW_SECONDS)
    max_missed: int | None = None
    waitlist_limit: int | None = None
    apply_until: AwareDatetime | None = None
    keep_days: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedOpening:
    """An opening that is to be."""

    line: int
    terms: OpeningTerms
    capacity: int


def parse_openings(data: bytes) -> list[PlannedOpening]:
    """Openings from CSV or JSON lines, by the names that an export has; BadSheet where any cannot be."""
    problems: list[LineProblem] = []
    found: list[PlannedOpening] = []
    for row in sheet_rows(data, needed=("title", "capacity")):
        _check_names(row)
        try:
            found.append(_plan(row))
        except Invalid as error:
            problems.append(LineProblem(row.line, str(error)))
    if problems:
        raise InvalidSpreadsheet(problems)
    return found


KNOWN = frozenset(name.casefold() for name in exports.OPENING_FIELDS)


def _check_names(row: SpreadsheetRow) -> None:
    """BadSheet at once: in a table all lines have the same."""
    unknown = [name for name in row.cells if name and name not in KNOWN]
    if unknown:
        known = ", ".join(exports.OPENING_FIELDS)
        raise InvalidSpreadsheet(
            [LineProblem(row.line, f"`{unknown[0]}` is not known; there are {known}")]
        )


def _plan(row: SpreadsheetRow) -> PlannedOpening:
    try:
        line = _Line.model_validate(
            {name: one for name, one in row.cells.items() if one not in ("", None)}
        )
    except ValidationError as error:
        raise Invalid(_explain(error)) from None
    given = line.model_dump(exclude_none=True, exclude={"capacity", "acknowledge_window_seconds"})
    return PlannedOpening(
        row.line, lifecycle.validate_terms(OpeningTerms(**given, **_window(line))), line.capacity
    )


def _window(line: _Line) -> dict[str, Any]:
    seconds = line.acknowledge_window_seconds
    return {} if seconds is None else {"acknowledge_window": dt.timedelta(seconds=seconds)}


def _explain(error: ValidationError) -> str:
    names = {name.casefold(): name for name in exports.OPENING_FIELDS}
    said = [(str(one["loc"][0]), one["msg"]) for one in error.errors(include_url=False)]
    return "; ".join(f"{names.get(where, where)}: {what}" for where, what in said)


async def create_openings(tx: Tx, wanted: Sequence[PlannedOpening], by: Actor) -> list[Opening]:
    """All of them, as ever in one transaction."""
    return [await lifecycle.create(tx, one.terms, one.capacity, by) for one in wanted]

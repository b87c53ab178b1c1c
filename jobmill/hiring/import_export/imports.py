"""Imports of applicants and openings from files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from jobmill.db import Tx
from jobmill.errors import AppError, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.applications.submissions import ApplyRequest, apply_all
from jobmill.hiring.import_export import exports
from jobmill.hiring.import_export.spreadsheets import (
    ApplicantEntry,
    InvalidSpreadsheet,
    LineProblem,
    SpreadsheetRow,
    parse_rows,
)
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records.applications import DuplicateApplication
from jobmill.hiring.records.openings import Admission, Opening, OpeningTerms, ReviewOrder
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.sandbox import read_untrusted

BATCH_SIZE = 500
"""Applicants imported in one transaction, which holds the opening's lock."""

MAX_WINDOW_SECONDS = 365 * 86_400

ImportOutcome = Literal["applied", "known", "repeated", "refused"]


@dataclass(frozen=True, slots=True)
class ImportedApplicant:
    """The outcome of one line."""

    line: int
    email: str
    outcome: ImportOutcome
    status: ApplicationStatus | None = None
    position: int | None = None
    application_id: int | None = None
    detail: str | None = None


async def import_applicants(
    tx: Tx, opening_id: int, entries: Sequence[ApplicantEntry], by: Actor
) -> list[ImportedApplicant]:
    """Apply for these people in order.

    Applicants with a live application keep it, so that an import can be repeated. Nothing is stored of
    refused entries.
    """
    unique = [entry for entry in entries if entry.repeats is None]
    requests = [ApplyRequest(entry.contact, by) for entry in unique]
    results = await apply_all(tx, opening_id, requests)
    by_line = {entry.line: result for entry, result in zip(unique, results, strict=True)}
    return [_import_result(entry, by_line.get(entry.line)) for entry in entries]


def _import_result(entry: ApplicantEntry, result: Placement | AppError | None) -> ImportedApplicant:
    line, email = entry.line, entry.contact.email
    match result:
        case Placement(application, position):
            status, id = application.status, application.id
            return ImportedApplicant(line, email, "applied", status, position, id)
        case DuplicateApplication():
            return ImportedApplicant(line, email, "known")
        case None:
            detail = f"row {entry.repeats} has the same address"
            return ImportedApplicant(line, email, "repeated", detail=detail)
        case refusal:
            return ImportedApplicant(line, email, "refused", detail=str(refusal))


class _OpeningLine(BaseModel):
    """An opening in a file; missing or empty columns have their defaults."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", ""), extra="ignore")

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
    fairness_proof: bool | None = None
    admission: Admission | None = None
    review_order: ReviewOrder | None = None
    time_zone: str | None = None
    quiet_from: dt.time | None = None
    quiet_until: dt.time | None = None


@dataclass(frozen=True, slots=True)
class PlannedOpening:
    """A valid line of an openings file."""

    line: int
    terms: OpeningTerms
    capacity: int


def parse_openings(data: bytes) -> list[PlannedOpening]:
    """Openings from CSV or JSON lines with the columns of an export; raises InvalidSpreadsheet."""
    problems: list[LineProblem] = []
    planned: list[PlannedOpening] = []
    for row in parse_rows(data, needed=("title", "capacity")):
        _check_columns(row)
        try:
            planned.append(_plan(row))
        except Invalid as error:
            problems.append(LineProblem(row.line, str(error)))
    if problems:
        raise InvalidSpreadsheet(problems)
    return planned


async def parse_uploaded_openings(data: bytes) -> list[PlannedOpening]:
    """Like `parse_openings`, in a child process."""
    planned, problems = await read_untrusted(_parse_upload, data)
    if problems:
        raise InvalidSpreadsheet(problems)
    return planned


def _parse_upload(data: bytes) -> tuple[list[PlannedOpening], list[LineProblem]]:
    try:
        return parse_openings(data), []
    except InvalidSpreadsheet as error:
        return [], list(error.problems)


COLUMNS = frozenset(name.casefold() for name in exports.OPENING_FIELDS)


def _check_columns(row: SpreadsheetRow) -> None:
    """Raise InvalidSpreadsheet at the first line: all lines of a CSV file have the same columns."""
    unknown = [name for name in row.cells if name and name not in COLUMNS]
    if unknown:
        columns = ", ".join(exports.OPENING_FIELDS)
        raise InvalidSpreadsheet(
            [LineProblem(row.line, f"unknown column `{unknown[0]}`; columns are {columns}")]
        )


def _plan(row: SpreadsheetRow) -> PlannedOpening:
    try:
        line = _OpeningLine.model_validate(
            {name: cell for name, cell in row.cells.items() if cell not in ("", None)}
        )
    except ValidationError as error:
        raise Invalid(_explain(error)) from None
    terms = line.model_dump(exclude_none=True, exclude={"capacity", "acknowledge_window_seconds"})
    return PlannedOpening(
        row.line, lifecycle.validate_terms(OpeningTerms(**terms, **_window(line))), line.capacity
    )


def _window(line: _OpeningLine) -> dict[str, Any]:
    seconds = line.acknowledge_window_seconds
    return {} if seconds is None else {"acknowledge_window": dt.timedelta(seconds=seconds)}


def _explain(error: ValidationError) -> str:
    names = {name.casefold(): name for name in exports.OPENING_FIELDS}
    problems = [(str(item["loc"][0]), item["msg"]) for item in error.errors(include_url=False)]
    return "; ".join(f"{names.get(name, name)}: {message}" for name, message in problems)


async def create_openings(tx: Tx, planned: Sequence[PlannedOpening], by: Actor) -> list[Opening]:
    return [await lifecycle.create(tx, plan.terms, plan.capacity, by) for plan in planned]

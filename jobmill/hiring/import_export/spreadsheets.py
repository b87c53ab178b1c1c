"""CSV and JSON lines from spreadsheets: checked on import, and safe from formulas on export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jobmill.catalog.csv_files import (
    InvalidSpreadsheet,
    LineProblem,
    SpreadsheetRow,
    check_count,
    decode,
    parse_csv,
)
from jobmill.errors import Invalid
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Contact
from jobmill.sandbox import read_untrusted

ORDER = "order"


@dataclass(frozen=True, slots=True)
class ApplicantEntry:
    """An applicant to be imported."""

    line: int
    contact: Contact
    repeats: int | None = None
    """The earlier line with the same address, which counts instead."""


def parse_applicants(data: bytes, *, fold: bool = False) -> list[ApplicantEntry]:
    """Applicants from CSV with the columns `name` and `email`, sorted by the optional column `order`.

    Raises InvalidSpreadsheet if any line is wrong; marks repeated addresses.
    """
    problems: list[LineProblem] = []
    numbered: list[tuple[int, ApplicantEntry]] = []
    for row in parse_csv(data, needed=("name", "email")):
        try:
            contact = applicants.parse_contact(row.cells["name"], row.cells["email"], fold=fold)
            numbered.append((_order(row), ApplicantEntry(row.line, contact)))
        except Invalid as error:
            problems.append(LineProblem(row.line, str(error)))
    if problems:
        raise InvalidSpreadsheet(problems)
    numbered.sort(key=lambda pair: pair[0])
    return _mark_repeated(entry for _, entry in numbered)


async def parse_uploaded_applicants(data: bytes, *, fold: bool) -> list[ApplicantEntry]:
    """Like `parse_applicants`, in a child process."""
    entries, problems = await read_untrusted(_parse_upload, data, fold)
    if problems:
        raise InvalidSpreadsheet(problems)
    return entries


def _parse_upload(data: bytes, fold: bool) -> tuple[list[ApplicantEntry], list[LineProblem]]:
    try:
        return parse_applicants(data, fold=fold), []
    except InvalidSpreadsheet as error:
        return [], list(error.problems)


def _order(row: SpreadsheetRow) -> int:
    text = row.cells.get(ORDER, "")
    if not text:
        # Without a number, or without that column, the line number counts.
        return row.line
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Invalid(f"`{ORDER}` should be a number, not {text[:40]}")
    return int(text)


def _mark_repeated(entries: Iterable[ApplicantEntry]) -> list[ApplicantEntry]:
    first: dict[str, int] = {}
    return [
        ApplicantEntry(entry.line, entry.contact, repeats=None if line == entry.line else line)
        for entry in entries
        for line in [first.setdefault(entry.contact.email_key, entry.line)]
    ]


def parse_rows(data: bytes, *, needed: Sequence[str]) -> list[SpreadsheetRow]:
    """The lines of CSV, or of a file with one JSON object per line."""
    text = decode(data)
    is_json = text.lstrip().startswith("{")
    return _objects(text) if is_json else parse_csv(data, needed=needed)


def _objects(text: str) -> list[SpreadsheetRow]:
    problems: list[LineProblem] = []
    rows: list[SpreadsheetRow] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.append(LineProblem(number, f"not JSON: {error}"))
            continue
        if not isinstance(value, dict):
            problems.append(LineProblem(number, "not an object: {…}"))
            continue
        cells = cast("dict[str, Any]", value)
        rows.append(SpreadsheetRow(number, {name.casefold(): cell for name, cell in cells.items()}))
        check_count(rows)
    if problems:
        raise InvalidSpreadsheet(problems)
    return rows

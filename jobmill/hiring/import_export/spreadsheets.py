"""CSV and JSON lines from spreadsheets: checked on import, and safe from formulas on export."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from jobmill.errors import Invalid
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Contact
from jobmill.sandbox import read_untrusted

MAX_BYTES = 32 * 1024 * 1024
MAX_LINES = 100_000
MAX_LISTED_PROBLEMS = 20
"""How many wrong lines an error lists."""
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - also full-width signs
_SIGNS = "[=+@\uff1d\uff0b\uff0d\uff20-]"
_FORMULA_AFTER_SEPARATOR = re.compile(rf"([;,|\t\r\n][\s\"]*)(?={_SIGNS})")
_ESCAPED_AFTER_SEPARATOR = re.compile(rf"([;,|\t\r\n][\s\"]*)'(?={_SIGNS})")
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
ORDER = "order"


@dataclass(frozen=True, slots=True)
class LineProblem:
    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


class InvalidSpreadsheet(Invalid):
    """All problems of a file, by line; nothing of it was imported."""

    def __init__(self, problems: Sequence[LineProblem]) -> None:
        more = (
            f"; and {len(problems) - MAX_LISTED_PROBLEMS:,} more"
            if len(problems) > MAX_LISTED_PROBLEMS
            else ""
        )
        super().__init__("; ".join(map(str, problems[:MAX_LISTED_PROBLEMS])) + more)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class SpreadsheetRow:
    """A line that is not empty, by column name."""

    line: int
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApplicantEntry:
    """An applicant to be imported."""

    line: int
    contact: Contact
    repeats: int | None = None
    """The earlier line with the same address, which counts instead."""


def start_csv(out: TextIO, names: Sequence[str]) -> Callable[[Mapping[str, object]], object]:
    """Write a CSV header (RFC 4180); returns a function that writes a row."""
    table = csv.writer(out)
    table.writerow(names)
    return lambda record: table.writerow([escape_cell(record[name]) for name in names])


def escape_cell(value: object) -> object:
    """A value that spreadsheets do not run as a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    # Some languages separate cells by semicolons or tabs, whatever the file does.
    value = _FORMULA_AFTER_SEPARATOR.sub(r"\1'", value)
    return f"'{value}" if value.startswith(FORMULA_PREFIXES) else value


def _unescape_cell(text: str) -> str:
    """Undo `escape_cell` and strip spaces."""
    text = _ESCAPED_AFTER_SEPARATOR.sub(r"\1", text.strip())
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_PREFIXES) else text


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


def parse_csv(data: bytes, *, needed: Sequence[str]) -> list[SpreadsheetRow]:
    """The lines of a CSV file by lower-case column name.

    Raises InvalidSpreadsheet if a needed column is missing or a line has more cells than the header.
    """
    text = decode(data)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    lines = _read(reader)
    first, header = next(lines, (1, list[str]()))
    names = [name.strip().casefold() for name in header]
    _check_header(first, names, needed)
    problems: list[LineProblem] = []
    rows: list[SpreadsheetRow] = []
    for line, cells in lines:
        if len(cells) > len(names):
            problems.append(LineProblem(line, f"{len(cells)} cells, but only {len(names)} columns"))
        padded = [*map(_unescape_cell, cells), *[""] * (len(names) - len(cells))]
        rows.append(SpreadsheetRow(line, dict(zip(names, padded, strict=False))))
        _check_count(rows)
    if problems:
        raise InvalidSpreadsheet(problems)
    return rows


def _read(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not empty, with the line where it begins."""
    line = 1
    try:
        for cells in reader:
            if any(text.strip() for text in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidSpreadsheet([LineProblem(line, f"not CSV: {error}")]) from None


def _check_header(line: int, names: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        raise InvalidSpreadsheet(
            [LineProblem(line, f"the header needs these columns: {', '.join(needed)}")]
        )
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise InvalidSpreadsheet([LineProblem(line, f"the header has the column `{twice}` twice")])


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
        _check_count(rows)
    if problems:
        raise InvalidSpreadsheet(problems)
    return rows


def _check_count(rows: Sequence[SpreadsheetRow]) -> None:
    if len(rows) > MAX_LINES:
        raise Invalid(f"The file has more than {MAX_LINES:,} lines. Split it.")


def _delimiter(text: str) -> str:
    """The delimiter of the header: some spreadsheets write semicolons or tabs."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=header.count)


def decode(data: bytes) -> str:
    """The text of a file; raises Invalid with the line that is not UTF-8."""
    if len(data) > MAX_BYTES:
        raise Invalid(f"The file has more than {MAX_BYTES // 1024**2} MB. Split it.")
    if data.startswith(OTHER_ENCODINGS):
        raise Invalid("The file is UTF-16. Save it as `CSV UTF-8`.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 (probably Latin-1). Save the file as `CSV UTF-8`"
        raise InvalidSpreadsheet([LineProblem(line, problem)]) from None
    if "\0" in text:
        raise InvalidSpreadsheet(
            [
                LineProblem(
                    text.count("\n", 0, text.index("\0")) + 1,
                    "contains a zero byte: this is not a text file",
                )
            ]
        )
    return text

"""Tables that people keep in spreadsheets: read with care, written so that none runs a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from jobmill.errors import Invalid
from jobmill.hiring.records import applicants
from jobmill.hiring.records.applicants import Contact

MAX_BYTES = 32 * 1024 * 1024
MAX_LINES = 100_000
MAX_LISTED_PROBLEMS = 20
"""So many lines are named that are wrong."""
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide ones, too
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
ORDER = "order"


@dataclass(frozen=True, slots=True)
class LineProblem:
    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


class InvalidSpreadsheet(Invalid):
    """All that is wrong with a table, by line; nothing of it was taken."""

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
    """A line that says something, by the names of its columns."""

    line: int
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ApplicantEntry:
    """Somebody who is to apply."""

    line: int
    person: Contact
    repeats: int | None = None
    """The line with the same address, which counts instead."""


def start_csv(out: TextIO, names: Sequence[str]) -> Callable[[Mapping[str, object]], object]:
    """Write a header, as RFC 4180 has it; what is returned writes a row."""
    table = csv.writer(out)
    table.writerow(names)
    return lambda record: table.writerow([escape_cell(record[name]) for name in names])


def escape_cell(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    risky = isinstance(value, str) and value.startswith(FORMULA_PREFIXES)
    return f"'{value}" if risky else value


def _uncell(text: str) -> str:
    """What `cell` was given, without the spaces around it."""
    text = text.strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_PREFIXES) else text


def parse_applicants(data: bytes, *, fold: bool = False) -> list[ApplicantEntry]:
    """Who is to apply, in their order: columns `name` and `email`, and `order` if it is not that of
    the lines. BadSheet where a line cannot be right; whoever stands there twice is marked."""
    problems: list[LineProblem] = []
    found: list[tuple[int, ApplicantEntry]] = []
    for row in parse_csv(data, needed=("name", "email")):
        try:
            who = applicants.parse_contact(row.cells["name"], row.cells["email"], fold=fold)
            found.append((_order(row), ApplicantEntry(row.line, who)))
        except Invalid as error:
            problems.append(LineProblem(row.line, str(error)))
    if problems:
        raise InvalidSpreadsheet(problems)
    found.sort(key=lambda pair: pair[0])
    return _mark_repeated(entry for _, entry in found)


def _order(row: SpreadsheetRow) -> int:
    text = row.cells.get(ORDER, "")
    if not text:
        # Who has no number comes as the line stands; all of them do where there is no such column.
        return row.line
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Invalid(f"`{ORDER}` should be a number, not {text[:40]}")
    return int(text)


def _mark_repeated(entries: Iterable[ApplicantEntry]) -> list[ApplicantEntry]:
    first: dict[str, int] = {}
    return [
        ApplicantEntry(one.line, one.person, repeats=None if line == one.line else line)
        for one in entries
        for line in [first.setdefault(one.person.key, one.line)]
    ]


def parse_rows(data: bytes, *, needed: Sequence[str]) -> list[SpreadsheetRow]:
    """The lines of a table, or of a file with a JSON object on each."""
    text = decode(data)
    is_json = text.lstrip().startswith("{")
    return _objects(text) if is_json else parse_csv(data, needed=needed)


def parse_csv(data: bytes, *, needed: Sequence[str]) -> list[SpreadsheetRow]:
    """The lines of a CSV file by the names in its header, whatever their case and order; BadSheet
    where a column is missing or a line has more cells than there are columns."""
    text = decode(data)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    lines = _read(reader)
    first, header = next(lines, (1, list[str]()))
    names = [name.strip().casefold() for name in header]
    _check_header(first, names, needed)
    problems: list[LineProblem] = []
    found: list[SpreadsheetRow] = []
    for line, cells in lines:
        if len(cells) > len(names):
            problems.append(LineProblem(line, f"{len(cells)} cells, and {len(names)} columns"))
        padded = [*map(_uncell, cells), *[""] * (len(names) - len(cells))]
        found.append(SpreadsheetRow(line, dict(zip(names, padded, strict=False))))
        _check_count(found)
    if problems:
        raise InvalidSpreadsheet(problems)
    return found


def _read(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not empty, and the line where it begins."""
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
            [LineProblem(line, f"the header should name the columns: {', '.join(needed)}")]
        )
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise InvalidSpreadsheet([LineProblem(line, f"the header names `{twice}` twice")])


def _objects(text: str) -> list[SpreadsheetRow]:
    problems: list[LineProblem] = []
    found: list[SpreadsheetRow] = []
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
        found.append(SpreadsheetRow(number, {name.casefold(): one for name, one in cells.items()}))
        _check_count(found)
    if problems:
        raise InvalidSpreadsheet(problems)
    return found


def _check_count(found: Sequence[SpreadsheetRow]) -> None:
    if len(found) > MAX_LINES:
        raise Invalid(f"The file has more than {MAX_LINES:,} lines: divide it.")


def _delimiter(text: str) -> str:
    """What parts the header: some spreadsheets write semicolons or tabs."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=header.count)


def decode(data: bytes) -> str:
    """The text of a file; Invalid says where it is not UTF-8."""
    if len(data) > MAX_BYTES:
        raise Invalid(f"The file has more than {MAX_BYTES // 1024**2} MB: divide it.")
    if data.startswith(OTHER_ENCODINGS):
        raise Invalid("The file is UTF-16: save it as `CSV UTF-8`.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 (Latin-1, it seems): save the file as `CSV UTF-8`"
        raise InvalidSpreadsheet([LineProblem(line, problem)]) from None
    if "\0" in text:
        raise InvalidSpreadsheet(
            [LineProblem(text.count("\n", 0, text.index("\0")) + 1, "a zero byte: no text")]
        )
    return text

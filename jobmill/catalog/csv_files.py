"""Read CSV that people edit in spreadsheets, and write cells that spreadsheets do not run as formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from jobmill.errors import Invalid

MAX_BYTES = 32 * 1024 * 1024
MAX_LINES = 100_000
MAX_LISTED_PROBLEMS = 20
"""How many wrong lines an error lists."""
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - also full-width signs
_SIGNS = "[=+@\uff1d\uff0b\uff0d\uff20-]"
_FORMULA_AFTER_SEPARATOR = re.compile(rf"([;,|\t\r\n][\s\"]*)(?={_SIGNS})")
_ESCAPED_AFTER_SEPARATOR = re.compile(rf"([;,|\t\r\n][\s\"]*)'(?={_SIGNS})")
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class LineProblem:
    line: int
    what: str

    def __str__(self) -> str:
        return f"row {self.line}: {self.what}"


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
    """A row that is not empty, by column name."""

    line: int
    cells: Mapping[str, Any]


def start_csv(out: TextIO, names: Sequence[str]) -> Callable[[Mapping[str, object]], object]:
    """Write a CSV header (RFC 4180); returns a function that writes a row."""
    table = csv.writer(out)
    table.writerow([escape_cell(name) for name in names])
    return lambda record: table.writerow([escape_cell(record[name]) for name in names])


def escape_cell(value: object) -> object:
    """A value that spreadsheets do not run as a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    # Some languages separate cells by semicolons or tabs, whatever the file does.
    return escape_formula(_FORMULA_AFTER_SEPARATOR.sub(r"\1'", value))


def escape_formula(value: object) -> object:
    """A value that does not begin like a formula; lists become one text. For files that are not read
    again, and whose long texts should keep their bullet points."""
    if isinstance(value, list):
        value = "; ".join(cast(list[str], value))
    risky = isinstance(value, str) and value.startswith(FORMULA_PREFIXES)
    return f"'{value}" if risky else value


def unescape_cell(text: str) -> str:
    """Undo `escape_cell` and strip spaces."""
    text = _ESCAPED_AFTER_SEPARATOR.sub(r"\1", text.strip())
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_PREFIXES) else text


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
        padded = [*map(unescape_cell, cells), *[""] * (len(names) - len(cells))]
        rows.append(SpreadsheetRow(line, dict(zip(names, padded, strict=False))))
        check_count(rows)
    if problems:
        raise InvalidSpreadsheet(problems)
    return rows


def _read(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not empty, with the number that spreadsheets show for its row."""
    row = 1
    try:
        for cells in reader:
            if any(text.strip() for text in cells):
                yield row, cells
            row += 1
    except csv.Error as error:
        raise InvalidSpreadsheet([LineProblem(row, f"not CSV: {error}")]) from None


def _check_header(line: int, names: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        raise InvalidSpreadsheet(
            [LineProblem(line, f"the header needs these columns: {', '.join(needed)}")]
        )
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise InvalidSpreadsheet([LineProblem(line, f"the header has the column `{twice}` twice")])


def check_count(rows: Sequence[SpreadsheetRow]) -> None:
    if len(rows) > MAX_LINES:
        raise Invalid(f"The file has more than {MAX_LINES:,} rows. Split it into smaller files.")


def _delimiter(text: str) -> str:
    """The delimiter of the header: some spreadsheets write semicolons or tabs."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t", key=header.count)


def decode(data: bytes) -> str:
    """The text of a file; raises Invalid with the line that is not UTF-8."""
    if len(data) > MAX_BYTES:
        raise Invalid(
            f"The file has more than {MAX_BYTES // 1024**2} MB. Split it into smaller files."
        )
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

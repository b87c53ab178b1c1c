"""Measure how exactly responses of boards and aggregators are read."""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation import truth
from evaluation.goal import Goal, Report
from evaluation.record_values import Truth
from jobmill.boards import readable_board
from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.posting import Posting
from jobmill.errors import AppError

EXACT, COVERED = 0.99, 0.98
AHEAD = 60  # How many words a word may have moved within a text.
NOT_FIELDS = {"sections", "escaped"}


def report(data: Path) -> Report:
    """The accuracy of each field of each platform, and the share of each text that was kept."""
    tally: dict[tuple[str, str], list[float]] = defaultdict(list)
    notes: list[str] = []
    for platform, file in files(data):
        _measure(platform, file, tally, notes)
    rows = [
        (platform, field, str(len(marks)), f"{sum(marks) / len(marks):.4f}")
        for (platform, field), marks in sorted(tally.items())
    ]
    return Report(
        "Board answers", ("platform", "field", "values", "share"), rows, _goals(tally), notes
    )


def files(data: Path) -> Iterator[tuple[str, Path]]:
    """The platform is named by the folder or by the beginning of the file name."""
    for folder in sorted(data.glob("ats_*")):
        for file in sorted(folder.iterdir()):
            named = folder.name.removeprefix("ats_")
            yield (re.split(r"_", file.name)[0] if named == "other" else named), file
    for file in sorted((data / "aggregators").glob("*.json")):
        yield file.name.split("__")[0], file


def read(file: Path) -> bytes:
    """The saved response."""
    body = file.read_bytes()
    if file.suffix != ".json":
        return body
    answer = json.loads(body)
    if isinstance(answer, dict) and "jobsResponse" in answer:
        # The file contains two responses.
        return json.dumps(answer["jobsResponse"]).encode()
    return body


def _measure(
    platform: str, file: Path, tally: dict[tuple[str, str], list[float]], notes: list[str]
) -> None:
    if platform not in truth.RULES or platform not in BY_NAME or not BY_NAME[platform].read:
        notes.append(f"{file.name}: not compared")
        return
    body = read(file)
    expected = truth.take(platform, json.loads(body))
    try:
        postings = readable_board.read_saved_response(BY_NAME[platform], body)
    except AppError as error:
        notes.append(f"{file.name}: {error}")
        postings = ()
    if len(postings) != len(expected):
        notes.append(f"{file.name}: {len(postings)} postings of {len(expected)}")
    for true_fields, posting in _pairs(expected, postings):
        for field, value in true_fields.items():
            if field not in NOT_FIELDS:
                right = posting is not None and _same(value, _value(posting, field))
                tally[platform, field].append(right)
                if not right:
                    actual = _value(posting, field) if posting else "no posting"
                    notes.append(f"{file.name}: {field} {value!r}: {actual!r}")
        if true_fields.get("sections"):
            tally[platform, "description"].append(_coverage(true_fields, posting))


def _pairs(
    expected: list[Truth], postings: tuple[Posting, ...]
) -> Iterator[tuple[Truth, Posting | None]]:
    if len(expected) == len(postings):
        yield from zip(expected, postings, strict=True)
        return
    by_id = {true_fields.vendor_id: true_fields for true_fields in postings}
    for true_fields in expected:
        yield true_fields, by_id.get(str(true_fields.get("vendor_id")))


def _value(posting: Posting, field: str) -> Any:
    if field.startswith("salary_"):
        return getattr(posting.salary, field.removeprefix("salary_"), None)
    if field == "cities":
        return [location.partition(",")[0] for location in posting.locations]
    return getattr(posting, field)


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, dt.datetime | float):
        return expected == actual
    if isinstance(expected, list):
        return {_plain(name) for name in expected} == {_plain(name) for name in actual or ()}
    return _plain(expected) == _plain(actual)


def _plain(value: Any) -> str:
    return " ".join(html.unescape(str(value)).split()).casefold()


def _coverage(true_fields: Truth, posting: Posting | None) -> float:
    """The share of the words of all sections that our text contains in the same order."""
    expected = [
        word for part in true_fields["sections"] if part for word in _words(part, true_fields)
    ]
    ours = re.findall(r"\w+", (posting.description or "") if posting else "")
    at = matched = 0
    for word in expected:
        for step in range(at, min(at + AHEAD, len(ours))):
            if ours[step] == word:
                at, matched = step + 1, matched + 1
                break
    return matched / len(expected) if expected else 1.0


def _words(part: str, true_fields: Truth) -> list[str]:
    text = html.unescape(part) if true_fields.get("escaped") else part
    text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", " ", text)
    block = r"</?(?:p|div|br|li|ul|ol|h\d|t[rdh]|table|section|hr|blockquote)\b[^>]*>"
    text = re.sub(r"<[^>]*(?:>|$)", "", re.sub(f"(?i){block}", " ", text))
    return re.findall(r"\w+", html.unescape(text))


def _goals(tally: dict[tuple[str, str], list[float]]) -> list[Goal]:
    """One goal per field over all platforms; the goal of texts is lower."""
    by_field: dict[str, list[float]] = defaultdict(list)
    for (_, field), marks in tally.items():
        by_field[field] += marks
    return [
        Goal(
            f"boards: {field}",
            sum(marks) / len(marks),
            COVERED if field == "description" else EXACT,
        )
        for field, marks in sorted(by_field.items())
    ]

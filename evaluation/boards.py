"""How exactly the answers of boards and aggregators are read."""

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
from evaluation.said import Truth
from jobmill.boards import readable_board
from jobmill.boards.adapters import BY_NAME
from jobmill.catalog.posting import Posting
from jobmill.errors import AppError

EXACT, COVERED = 0.99, 0.98
AHEAD = 60  # How far a word may have moved in the order of a text.
NOT_FIELDS = {"sections", "escaped"}


def report(data: Path) -> Report:
    """Each field of each platform, and how much of the texts is there."""
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
    """A folder is a platform's, or the file's name begins with it."""
    for folder in sorted(data.glob("ats_*")):
        for file in sorted(folder.iterdir()):
            named = folder.name.removeprefix("ats_")
            yield (re.split(r"_", file.name)[0] if named == "other" else named), file
    for file in sorted((data / "aggregators").glob("*.json")):
        yield file.name.split("__")[0], file


def read(file: Path) -> bytes:
    """The answer that was saved."""
    body = file.read_bytes()
    if file.suffix != ".json":
        return body
    answer = json.loads(body)
    if isinstance(answer, dict) and "jobsResponse" in answer:
        # Whoever saved it put two answers into one file.
        return json.dumps(answer["jobsResponse"]).encode()
    return body


def _measure(
    platform: str, file: Path, tally: dict[tuple[str, str], list[float]], notes: list[str]
) -> None:
    if platform not in truth.RULES or platform not in BY_NAME or not BY_NAME[platform].read:
        notes.append(f"{file.name}: not compared")
        return
    body = read(file)
    wanted = truth.take(platform, json.loads(body))
    try:
        found = readable_board.read_saved_response(BY_NAME[platform], body)
    except AppError as error:
        notes.append(f"{file.name}: {error}")
        found = ()
    if len(found) != len(wanted):
        notes.append(f"{file.name}: {len(found)} postings of {len(wanted)}")
    for one, posting in _pairs(wanted, found):
        for field, value in one.items():
            if field not in NOT_FIELDS:
                right = posting is not None and _same(value, _value(posting, field))
                tally[platform, field].append(right)
                if not right:
                    said = _value(posting, field) if posting else "no posting"
                    notes.append(f"{file.name}: {field} {value!r}: {said!r}")
        if one.get("sections"):
            tally[platform, "description"].append(_coverage(one, posting))


def _pairs(
    wanted: list[Truth], found: tuple[Posting, ...]
) -> Iterator[tuple[Truth, Posting | None]]:
    if len(wanted) == len(found):
        yield from zip(wanted, found, strict=True)
        return
    by_id = {one.vendor_id: one for one in found}
    for one in wanted:
        yield one, by_id.get(str(one.get("vendor_id")))


def _value(posting: Posting, field: str) -> Any:
    if field.startswith("salary_"):
        return getattr(posting.salary, field.removeprefix("salary_"), None)
    if field == "cities":
        return [one.partition(",")[0] for one in posting.locations]
    return getattr(posting, field)


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dt.datetime | float):
        return wanted == found
    if isinstance(wanted, list):
        return {_plain(one) for one in wanted} == {_plain(one) for one in found or ()}
    return _plain(wanted) == _plain(found)


def _plain(value: Any) -> str:
    return " ".join(html.unescape(str(value)).split()).casefold()


def _coverage(one: Truth, posting: Posting | None) -> float:
    """The share of the words of all sections that our text has, in their order."""
    wanted = [word for part in one["sections"] if part for word in _words(part, one)]
    ours = re.findall(r"\w+", (posting.description or "") if posting else "")
    at = found = 0
    for word in wanted:
        for step in range(at, min(at + AHEAD, len(ours))):
            if ours[step] == word:
                at, found = step + 1, found + 1
                break
    return found / len(wanted) if wanted else 1.0


def _words(part: str, one: Truth) -> list[str]:
    text = html.unescape(part) if one.get("escaped") else part
    text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", " ", text)
    block = r"</?(?:p|div|br|li|ul|ol|h\d|t[rdh]|table|section|hr|blockquote)\b[^>]*>"
    text = re.sub(r"<[^>]*(?:>|$)", "", re.sub(f"(?i){block}", " ", text))
    return re.findall(r"\w+", html.unescape(text))


def _goals(tally: dict[tuple[str, str], list[float]]) -> list[Goal]:
    """One for each field over all platforms; texts have a goal of their own."""
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

"""How well single facts are read from words, against other people's labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from evaluation.goal import Report
from jobmill.catalog.posting import Salary
from jobmill.extract.fields import html_text, salary, seniority, work_arrangement
from jobmill.places import location_text

Case: TypeAlias = tuple[object, object]
"""What was wanted and what was read; None is "not said"."""
Row: TypeAlias = tuple[str, ...]

COLUMNS = ("field", "corpus", "cases", "wanted", "said", "precision", "recall", "accuracy")
LANGUAGES = ("salary_corpus", "de_salary_corpus", "fr_salary_corpus", "es_salary_corpus")


NOTES = [
    "The rules were written with these corpora at hand: the figures are what they can do at best.",
    "A single amount may be labelled as minimum only or as both ends: both count as right.",
    "gold500 and jobfinder are labelled by models; jobfinder calls most that says nothing remote.",
    "A plain project manager is mid in level_corpus and unknown in gold500; we say nothing.",
]


def report(data: Path) -> Report:
    """Precision of what is said, recall of what is wanted, accuracy of words and silence."""
    labels = data / "labels"
    gold = lines(labels / "posting_fields_gold500.jsonl")
    silver = lines(labels / "jobfinder_extraction100.jsonl")
    indeed = table(data / "listings" / "indeed_usa_la.csv")
    rows = [
        *(_salaries(name, lines(labels / f"{name}.jsonl")) for name in LANGUAGES),
        _row("salary", "gold500, text only", _gold_salaries(gold)),
        _row("salary", "jobfinder", [_silver_salary(one) for one in silver]),
        _row("salary", "indeed: string", [_string(one) for one in indeed]),
        _row("salary", "indeed: text as string", [_text_and_string(one) for one in indeed]),
        _row("seniority", "level_corpus", _levels(lines(labels / "level_corpus.jsonl"))),
        _row("seniority", "gold500", [(level(one["gold"]["level"]), _senior(one)) for one in gold]),
        _row("arrangement", "jobfinder", [(_arranged(one), _arrangement(one)) for one in silver]),
        _row("remote or hybrid", "gold500", [_remote(one) for one in gold]),
    ]
    present = [row for row in rows if row[2] != "0"]
    return Report("Fields read from words", COLUMNS, present, notes=NOTES)


def lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def table(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _row(field: str, corpus: str, cases: Sequence[Case]) -> Row:
    wanted = sum(want is not None for want, _ in cases)
    said = sum(got is not None for _, got in cases)
    right = sum(want == got is not None for want, got in cases)
    same = sum(want == got for want, got in cases)
    counts = (str(len(cases)), str(wanted), str(said))
    return (
        field,
        corpus,
        *counts,
        _share(right, said),
        _share(right, wanted),
        _share(same, len(cases)),
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _salaries(name: str, labelled: Iterable[dict[str, Any]]) -> Row:
    cases = [
        (wanted(one["expect"]), pay(salary.from_text(one["text"]), one["expect"]))
        for one in labelled
    ]
    return _row("salary", name, cases)


def _gold_salaries(gold: Iterable[dict[str, Any]]) -> list[Case]:
    """Only postings whose label came from the text."""
    return [
        (wanted(want), pay(salary.from_text(one["description_text"]), want))
        for one in gold
        if not one["structured_salary"]
        for want in [one["gold"]["salary"]]
    ]


def wanted(label: dict[str, Any] | None) -> object:
    if label is None:
        return None
    return (*ends(label["min"], label["max"]), label["interval"], label.get("currency"))


def pay(found: Salary | None, label: dict[str, Any] | None) -> object:
    """As `_wanted` has it; a currency that is not labelled is not compared."""
    if found is None:
        return None
    currency = found.currency if label and "currency" in label else None
    return (*ends(found.min, found.max), found.period, currency)


def ends(low: float | None, high: float | None) -> tuple[float, ...]:
    return tuple(sorted({float(end) for end in (low, high) if end is not None}))


def _silver_salary(one: dict[str, Any]) -> Case:
    """Amounts only: the labels have no more."""
    found = salary.from_text(html_text.from_html(one["description"])) or salary.from_text(
        one["salary_range"]
    )
    want = ends(one["silver"]["salaryMin"], one["silver"]["salaryMax"])
    return want or None, ends(found.min, found.max) if found else None


def _string(row: dict[str, str]) -> Case:
    """Whether something is read wherever there is a digit, and nothing where there is none."""
    found = salary.from_text(row["salary"]) is not None
    return any(map(str.isdigit, row["salary"])) or None, found or None


def _text_and_string(row: dict[str, str]) -> Case:
    """Whether the description says what the site shows as the salary."""
    shown = salary.from_text(row["salary"])
    found = salary.from_text(row["job_description"])
    return (
        (ends(shown.min, shown.max), shown.period) if shown else None,
        (ends(found.min, found.max), found.period) if found else None,
    )


def _levels(labelled: Iterable[dict[str, Any]]) -> list[Case]:
    return [(level(one["level"]), _senior(one)) for one in labelled]


def level(label: str) -> str | None:
    return None if label == "unknown" else label


def _senior(one: dict[str, Any]) -> str | None:
    return seniority.from_title(one["title"])


def _arranged(one: dict[str, Any]) -> str | None:
    return level(one["silver"]["workArrangement"])


def _arrangement(one: dict[str, Any]) -> str | None:
    description = html_text.from_html(one["description"])
    return work_arrangement.infer_arrangement(
        one["title"], location_text.split_locations(one["location"]), description
    )


def _remote(one: dict[str, Any]) -> Case:
    found = work_arrangement.infer_arrangement(
        one["title"], location_text.split_locations(one["location_raw"]), one["description_text"]
    )
    return one["gold"]["remote"] or None, found in ("remote", "hybrid") or None

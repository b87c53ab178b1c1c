"""Measure how well single facts are read from text, compared with labels from public data sets."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from evaluation import score
from evaluation.goal import Report
from evaluation.score import Case
from jobmill.catalog.posting import Salary
from jobmill.extract.fields import html_text, salary, seniority, work_arrangement
from jobmill.places import location_text

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
    """Precision, recall and accuracy of each field."""
    labels = data / "labels"
    gold = lines(labels / "posting_fields_gold500.jsonl")
    silver = lines(labels / "jobfinder_extraction100.jsonl")
    indeed = table(data / "listings" / "indeed_usa_la.csv")
    rows = [
        *(_salaries(name, lines(labels / f"{name}.jsonl")) for name in LANGUAGES),
        _row("salary", "gold500, text only", _gold_salaries(gold)),
        _row("salary", "jobfinder", [_silver_salary(label) for label in silver]),
        _row("salary", "indeed: string", [_string(label) for label in indeed]),
        _row("salary", "indeed: text as string", [_text_and_string(label) for label in indeed]),
        _row("seniority", "level_corpus", _levels(lines(labels / "level_corpus.jsonl"))),
        _row(
            "seniority",
            "gold500",
            [(level(label["gold"]["level"]), _senior(label)) for label in gold],
        ),
        _row(
            "arrangement",
            "jobfinder",
            [(_arranged(label), _arrangement(label)) for label in silver],
        ),
        _row("remote or hybrid", "gold500", [_remote(label) for label in gold]),
    ]
    present = [row for row in rows if row[2] != "0"]
    return Report("Fields read from words", COLUMNS, present, notes=NOTES)


def lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def table(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _row(field: str, corpus: str, cases: Sequence[Case]) -> Row:
    return (field, corpus, *score.of_values(cases).row())


def _salaries(name: str, labelled: Iterable[dict[str, Any]]) -> Row:
    cases = [_salary_case(label["text"], label["expect"]) for label in labelled]
    return _row("salary", name, cases)


def _salary_case(text: str, want: dict[str, Any] | None) -> Case:
    return expected_salary(want), comparable_salary(salary.from_text(text), want)


def _gold_salaries(gold: Iterable[dict[str, Any]]) -> list[Case]:
    """Only postings with a label that came from the text."""
    return [
        _salary_case(label["description_text"], label["gold"]["salary"])
        for label in gold
        if not label["structured_salary"]
    ]


def expected_salary(label: dict[str, Any] | None) -> object:
    if label is None:
        return None
    return (*ends(label["min"], label["max"]), label["interval"], label.get("currency"))


def comparable_salary(parsed: Salary | None, label: dict[str, Any] | None) -> object:
    """In the form of `expected_salary`; a currency that is not labelled is not compared."""
    if parsed is None:
        return None
    currency = parsed.currency if label and "currency" in label else None
    return (*ends(parsed.min, parsed.max), parsed.period, currency)


def ends(low: float | None, high: float | None) -> tuple[float, ...]:
    return tuple(sorted({float(end) for end in (low, high) if end is not None}))


def _silver_salary(label: dict[str, Any]) -> Case:
    """Amounts only, as the labels have nothing else."""
    parsed = salary.from_text(html_text.from_html(label["description"])) or salary.from_text(
        label["salary_range"]
    )
    want = ends(label["silver"]["salaryMin"], label["silver"]["salaryMax"])
    return want or None, ends(parsed.min, parsed.max) if parsed else None


def _string(row: dict[str, str]) -> Case:
    """Whether a value is read from every text with a digit, and none from others."""
    parsed = salary.from_text(row["salary"]) is not None
    return any(map(str.isdigit, row["salary"])) or None, parsed or None


def _text_and_string(row: dict[str, str]) -> Case:
    """Whether the description states the salary that the site shows."""
    shown = salary.from_text(row["salary"])
    parsed = salary.from_text(row["job_description"])
    return (
        (ends(shown.min, shown.max), shown.period) if shown else None,
        (ends(parsed.min, parsed.max), parsed.period) if parsed else None,
    )


def _levels(labelled: Iterable[dict[str, Any]]) -> list[Case]:
    return [(level(label["level"]), _senior(label)) for label in labelled]


def level(label: str) -> str | None:
    return None if label == "unknown" else label


def _senior(label: dict[str, Any]) -> str | None:
    return seniority.from_title(label["title"])


def _arranged(label: dict[str, Any]) -> str | None:
    return level(label["silver"]["workArrangement"])


def _arrangement(label: dict[str, Any]) -> str | None:
    description = html_text.from_html(label["description"])
    return work_arrangement.infer_arrangement(
        label["title"], location_text.split_locations(label["location"]), description
    )


def _remote(label: dict[str, Any]) -> Case:
    arrangement = work_arrangement.infer_arrangement(
        label["title"],
        location_text.split_locations(label["location_raw"]),
        label["description_text"],
    )
    return label["gold"]["remote"] or None, arrangement in ("remote", "hybrid") or None

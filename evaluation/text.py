"""Measure how well the facts of a posting are read from its text, against labels of people and of
models separately."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evaluation import fields, score, spans
from evaluation.goal import Goal, Report
from evaluation.score import Case, Score
from jobmill.catalog.posting import Posting
from jobmill.extract.fields import html_text as texts
from jobmill.extract.fields import missing_fields
from jobmill.matching import posting_facts
from jobmill.matching.posting_facts import PostingFacts, skills
from jobmill.places import location_text

Line: TypeAlias = dict[str, Any]
Maker: TypeAlias = Literal["annotators", "a project's tests", "not said", "models (silver)"]

COLUMNS = (
    "field", "corpus", "labels by", "cases", "wanted", "said", "precision", "recall", "accuracy",
)  # fmt: skip
NOTES = [
    "The rules were written with these labels at hand: the figures are what they can do at best.",
    "Silver labels are what models said of a text; they are no truth, and have no people behind them.",
    "A project's tests are labels that its authors keep for their own reader: checked, but theirs.",
    "Skills count where the corpus has the name at all. skillspan counts places: a skill in a title or"
    + " a list of tags is none to its annotators, and a school subject is none to us.",
    "Years: French words without a number (confirmée, significative) are numbers to their labels only.",
    "jobfinder calls most that says nothing remote.",
]
YEARS = ("yoe_corpus", "de_yoe_corpus", "fr_yoe_corpus", "es_yoe_corpus")


@dataclass(frozen=True)
class FieldScore:
    field: str
    corpus: str
    maker: Maker
    score: Score
    goals: Mapping[Literal["precision", "recall", "accuracy"], float]

    def row(self) -> tuple[str, ...]:
        return (self.field, self.corpus, self.maker, *self.score.row())


def report(data: Path) -> Report:
    """Precision, recall and accuracy of each field."""
    measured = [result for result in _measure(data / "labels") if result.score.cases]
    return Report(
        "Facts read from texts",
        COLUMNS,
        [result.row() for result in measured],
        [goal for result in measured for goal in _goals(result)],
        NOTES,
    )


def _goals(result: FieldScore) -> Iterator[Goal]:
    for figure, target in result.goals.items():
        name = f"{result.field} {result.corpus} {figure}".replace(",", "")
        yield Goal(name, getattr(result.score, figure), target)


def _measure(labels: Path) -> Iterator[FieldScore]:
    for name in YEARS:
        cases = [_years_case(label) for label in fields.lines(labels / f"{name}.jsonl")]
        yield FieldScore(
            "years", name, "a project's tests", score.of_values(cases), {"accuracy": 0.9}
        )
    for name in fields.LANGUAGES:
        cases = [_salary_case(label) for label in fields.lines(labels / f"{name}.jsonl")]
        yield FieldScore(
            "salary", name, "a project's tests", score.of_values(cases), {"accuracy": 0.95}
        )
    cases = [
        (fields.level(label["level"]), _read(label["title"]).seniority)
        for label in fields.lines(labels / "level_corpus.jsonl")
    ]
    yield FieldScore(
        "seniority", "level_corpus", "a project's tests", score.of_values(cases), {"accuracy": 0.9}
    )
    yield from _skills(labels)
    yield from _gold(fields.lines(labels / "posting_fields_gold500.jsonl"))
    yield from _jobfinder(fields.lines(labels / "jobfinder_extraction100.jsonl"))


def _posting(title: str, location: str | None = None, description: str | None = None) -> Posting:
    """Read a text as a response of a site would be read."""
    locations = location_text.split_locations(location)
    return missing_fields.fill_missing_fields(
        Posting(title, location=location, locations=locations, description=description)
    )


def _read(title: str, location: str | None = None, description: str | None = None) -> PostingFacts:
    return posting_facts.read_facts(_posting(title, location, description))


def _years(facts: PostingFacts) -> tuple[int, int | None] | None:
    """In whole years, as the labels are."""
    if facts.years is None:
        return None
    most = facts.years.most
    return int(facts.years.least), None if most is None else int(most)


def _wanted_years(least: int | None, most: int | None) -> tuple[int, int | None] | None:
    """A missing minimum is 0: "up to two years"."""
    return None if least is None and most is None else (least or 0, most)


def _years_case(line: Line) -> Case:
    want = line["expect"]
    return want and _wanted_years(want["min"], want["max"]), _years(_read("", None, line["text"]))


def _salary_case(line: Line) -> Case:
    want = line["expect"]
    return fields.expected_salary(want), fields.comparable_salary(
        _posting("", None, line["text"]).salary, want
    )


def _skills(labels: Path) -> Iterator[FieldScore]:
    corpus = fields.lines(labels / "skills_corpus.jsonl")
    cases = [(_names(line["skills"]), set(skills.skill_names(line["text"]))) for line in corpus]
    yield FieldScore(
        "skills",
        "skills_corpus",
        "a project's tests",
        score.of_sets(cases),
        {"precision": 0.9, "recall": 0.9},
    )
    midat = fields.lines(labels / "skills_eval_midat.jsonl")
    cases = [
        (_names(line["expected"]), _asked(_read(line["title"], None, line["text"])))
        for line in midat
    ]
    yield FieldScore("skills", "midat", "not said", score.of_sets(cases), {})
    for source in ("tech", "house"):
        measured = spans.measure(fields.lines(labels / "skillspan_dev.jsonl"), source)
        yield FieldScore("skills", f"skillspan {source}", "annotators", measured, {})
    for source in ("tech", "house"):
        rows = fields.table(labels / f"esco_{source}_validation_annotations.csv")
        yield FieldScore("skills", f"esco {source}", "annotators", _esco(rows), {"recall": 0.9})


def _names(labels: Iterable[str]) -> set[str]:
    return {skills.canonical_name(label) for label in labels}


def _asked(facts: PostingFacts) -> set[str]:
    return {skill.name for skill in facts.skills}


def _esco(rows: Iterable[dict[str, str]]) -> Score:
    """The share of labels with a known skill that is found in their sentences."""
    spellings = {spelling.text.casefold() for spelling in skills.all_spellings()}
    expected: dict[str, set[str]] = {}
    for row in rows:
        name = row["label"].partition(" (")[0]
        sentence = expected.setdefault(row["sentence"], set())
        if name.casefold() in spellings:
            sentence.add(skills.canonical_name(name))
    result = score.of_sets((want, set(skills.skill_names(text))) for text, want in expected.items())
    # A sentence names more skills than are labelled, so precision would mislead.
    return Score(result.cases, result.expected, 0, result.right)


def _gold(gold: list[Line]) -> Iterator[FieldScore]:
    read = [
        _posting(entry["title"], entry["location_raw"], entry["description_text"]) for entry in gold
    ]
    pairs = list(
        zip((entry["gold"] for entry in gold), map(posting_facts.read_facts, read), strict=True)
    )
    years = [
        (label["yoe"] and _wanted_years(label["yoe"]["min"], label["yoe"]["max"]), _years(facts))
        for label, facts in pairs
    ]
    yield _silver("years", "gold500", years, accuracy=0.9)
    pay = [
        (fields.expected_salary(want), fields.comparable_salary(posting.salary, want))
        for entry, posting in zip(gold, read, strict=True)
        if not entry["structured_salary"]
        for want in [entry["gold"]["salary"]]
    ]
    yield _silver("salary", "gold500, text only", pay, accuracy=0.9)
    levels = [(fields.level(label["level"]), facts.seniority) for label, facts in pairs]
    yield _silver("seniority", "gold500", levels, accuracy=0.9)
    remote = [
        (label["remote"] or None, facts.arrangement in ("remote", "hybrid") or None)
        for label, facts in pairs
    ]
    yield _silver("remote or hybrid", "gold500", remote, accuracy=0.95)


def _jobfinder(lines: list[Line]) -> Iterator[FieldScore]:
    read = [
        _posting(line["title"], line["location"], texts.from_html(line["description"]))
        for line in lines
    ]
    pairs = list(
        zip((line["silver"] for line in lines), map(posting_facts.read_facts, read), strict=True)
    )
    years = [
        (_wanted_years(label["experienceMin"], label["experienceMax"]), _years(facts))
        for label, facts in pairs
    ]
    yield _silver("years", "jobfinder", years, accuracy=0.85)
    arranged = [
        (fields.level(label["workArrangement"]), facts.arrangement) for label, facts in pairs
    ]
    yield _silver("arrangement", "jobfinder", arranged, precision=0.9)
    named = score.of_sets(
        (_names(label["technologies"] or ()), _asked(facts)) for label, facts in pairs
    )
    yield FieldScore(
        "skills", "jobfinder", "models (silver)", named, {"precision": 0.85, "recall": 0.85}
    )


def _silver(field: str, corpus: str, cases: list[Case], **goals: float) -> FieldScore:
    return FieldScore(field, corpus, "models (silver)", score.of_values(cases), goals)

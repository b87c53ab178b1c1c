"""How well the facts of a posting are read from its text, against labels that people and models
made, apart."""

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
from jobmill.matching.posting_facts import Facts, skills
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
class Measured:
    field: str
    corpus: str
    maker: Maker
    score: Score
    goals: Mapping[Literal["precision", "recall", "accuracy"], float]

    def row(self) -> tuple[str, ...]:
        return (self.field, self.corpus, self.maker, *self.score.row())


def report(data: Path) -> Report:
    """Precision of what is said, recall of what is wanted, accuracy of words and silence."""
    measured = [one for one in _measure(data / "labels") if one.score.cases]
    return Report(
        "Facts read from texts",
        COLUMNS,
        [one.row() for one in measured],
        [goal for one in measured for goal in _goals(one)],
        NOTES,
    )


def _goals(one: Measured) -> Iterator[Goal]:
    for figure, wanted in one.goals.items():
        name = f"{one.field} {one.corpus} {figure}".replace(",", "")
        yield Goal(name, getattr(one.score, figure), wanted)


def _measure(labels: Path) -> Iterator[Measured]:
    for name in YEARS:
        cases = [_years_case(one) for one in fields.lines(labels / f"{name}.jsonl")]
        yield Measured(
            "years", name, "a project's tests", score.of_values(cases), {"accuracy": 0.9}
        )
    for name in fields.LANGUAGES:
        cases = [_salary_case(one) for one in fields.lines(labels / f"{name}.jsonl")]
        yield Measured(
            "salary", name, "a project's tests", score.of_values(cases), {"accuracy": 0.95}
        )
    cases = [
        (fields.level(one["level"]), _read(one["title"]).seniority)
        for one in fields.lines(labels / "level_corpus.jsonl")
    ]
    yield Measured(
        "seniority", "level_corpus", "a project's tests", score.of_values(cases), {"accuracy": 0.9}
    )
    yield from _skills(labels)
    yield from _gold(fields.lines(labels / "posting_fields_gold500.jsonl"))
    yield from _jobfinder(fields.lines(labels / "jobfinder_extraction100.jsonl"))


def _posting(title: str, location: str | None = None, description: str | None = None) -> Posting:
    """As a site's answer would be read."""
    locations = location_text.split_locations(location)
    return missing_fields.fill_missing_fields(
        Posting(title, location=location, locations=locations, description=description)
    )


def _read(title: str, location: str | None = None, description: str | None = None) -> Facts:
    return posting_facts.read(_posting(title, location, description))


def _years(found: Facts) -> tuple[int, int | None] | None:
    """In whole years, as they are labelled."""
    if found.years is None:
        return None
    most = found.years.most
    return int(found.years.least), None if most is None else int(most)


def _wanted_years(least: int | None, most: int | None) -> tuple[int, int | None] | None:
    """No least is 0: "up to two years"."""
    return None if least is None and most is None else (least or 0, most)


def _years_case(one: Line) -> Case:
    want = one["expect"]
    return want and _wanted_years(want["min"], want["max"]), _years(_read("", None, one["text"]))


def _salary_case(one: Line) -> Case:
    want = one["expect"]
    return fields.wanted(want), fields.pay(_posting("", None, one["text"]).salary, want)


def _skills(labels: Path) -> Iterator[Measured]:
    corpus = fields.lines(labels / "skills_corpus.jsonl")
    cases = [(_names(one["skills"]), set(skills.named(one["text"]))) for one in corpus]
    yield Measured(
        "skills",
        "skills_corpus",
        "a project's tests",
        score.of_sets(cases),
        {"precision": 0.9, "recall": 0.9},
    )
    midat = fields.lines(labels / "skills_eval_midat.jsonl")
    cases = [
        (_names(one["expected"]), _asked(_read(one["title"], None, one["text"]))) for one in midat
    ]
    yield Measured("skills", "midat", "not said", score.of_sets(cases), {})
    for source in ("tech", "house"):
        found = spans.measure(fields.lines(labels / "skillspan_dev.jsonl"), source)
        yield Measured("skills", f"skillspan {source}", "annotators", found, {})
    for source in ("tech", "house"):
        rows = fields.table(labels / f"esco_{source}_validation_annotations.csv")
        yield Measured("skills", f"esco {source}", "annotators", _esco(rows), {"recall": 0.9})


def _names(labels: Iterable[str]) -> set[str]:
    return {skills.canonical(label) for label in labels}


def _asked(found: Facts) -> set[str]:
    return {one.name for one in found.skills}


def _esco(rows: Iterable[dict[str, str]]) -> Score:
    """Of the labels that name a skill we know, the share found in their sentences."""
    known = {one.text.casefold() for one in skills.spellings()}
    wanted: dict[str, set[str]] = {}
    for row in rows:
        name = row["label"].partition(" (")[0]
        sentence = wanted.setdefault(row["sentence"], set())
        if name.casefold() in known:
            sentence.add(skills.canonical(name))
    found = score.of_sets((want, set(skills.named(text))) for text, want in wanted.items())
    # A sentence names more skills than its spans are labelled with, so precision would mislead.
    return Score(found.cases, found.wanted, 0, found.right)


def _gold(gold: list[Line]) -> Iterator[Measured]:
    read = [_posting(one["title"], one["location_raw"], one["description_text"]) for one in gold]
    pairs = list(zip((one["gold"] for one in gold), map(posting_facts.read, read), strict=True))
    years = [
        (label["yoe"] and _wanted_years(label["yoe"]["min"], label["yoe"]["max"]), _years(found))
        for label, found in pairs
    ]
    yield _silver("years", "gold500", years, accuracy=0.9)
    pay = [
        (fields.wanted(want), fields.pay(posting.salary, want))
        for one, posting in zip(gold, read, strict=True)
        if not one["structured_salary"]
        for want in [one["gold"]["salary"]]
    ]
    yield _silver("salary", "gold500, text only", pay, accuracy=0.9)
    levels = [(fields.level(label["level"]), found.seniority) for label, found in pairs]
    yield _silver("seniority", "gold500", levels, accuracy=0.9)
    remote = [
        (label["remote"] or None, found.arrangement in ("remote", "hybrid") or None)
        for label, found in pairs
    ]
    yield _silver("remote or hybrid", "gold500", remote, accuracy=0.95)


def _jobfinder(lines: list[Line]) -> Iterator[Measured]:
    read = [
        _posting(one["title"], one["location"], texts.from_html(one["description"]))
        for one in lines
    ]
    pairs = list(zip((one["silver"] for one in lines), map(posting_facts.read, read), strict=True))
    years = [
        (_wanted_years(label["experienceMin"], label["experienceMax"]), _years(found))
        for label, found in pairs
    ]
    yield _silver("years", "jobfinder", years, accuracy=0.85)
    arranged = [
        (fields.level(label["workArrangement"]), found.arrangement) for label, found in pairs
    ]
    yield _silver("arrangement", "jobfinder", arranged, precision=0.9)
    named = score.of_sets(
        (_names(label["technologies"] or ()), _asked(found)) for label, found in pairs
    )
    yield Measured(
        "skills", "jobfinder", "models (silver)", named, {"precision": 0.85, "recall": 0.85}
    )


def _silver(field: str, corpus: str, cases: list[Case], **goals: float) -> Measured:
    return Measured(field, corpus, "models (silver)", score.of_values(cases), goals)

"""Measure what the website report reads from companies' own words, against what a directory of
employers says about the same companies."""

from __future__ import annotations

import csv
import datetime as dt
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from evaluation.goal import Goal, Report
from evaluation.pages import part_of
from jobmill.reports.findings import CrawledPage, Evidence, SiteFindings
from jobmill.reports.site_analysis import analyze_site

QUOTED = 1.0
READ_AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
NOTES = [
    "One site per company: its postings in the directory's sample. Only stated facts are compared.",
    "founded, places: facts, and how many agree with the directory: the year within one year, a place in",
    "the headquarters city. They are no goals, because the directory contradicts what companies say of",
    "themselves: one that says it was founded in 2019 and is headquartered in Oakland is listed with 2000",
    "and Santa Ana. quoted: facts and answers whose quote stands on the page.",
    "Whether an answer answers its question is for a reader to judge; nothing here measures it.",
    "unseen: half of the companies, by a hash of their names. Patterns of questions were written on dev;",
    "later, errors in a sample of the unseen answers were corrected, too.",
]
_COLUMNS = ("sites", "answers", "founded", "right", "places", "right", "quoted")


def report(data: Path) -> Report:
    """Facts and answers by part of the companies."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, postings in _companies(data).items():
        counts[part_of(name.lower())] += _judge(name, postings)
    rows = [(part, *_row(counts[part])) for part in ("dev", "unseen")]
    goals = [goal for part in ("dev", "unseen") for goal in _goals(part, counts[part])]
    return Report("Website report", ("part", *_COLUMNS), rows, goals, NOTES)


def _companies(data: Path) -> dict[str, list[dict[str, str]]]:
    companies: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (data / "listings" / "glassdoor_jobs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            companies[row["Company Name"].split("\n")[0]].append(row)
    return companies


def _judge(name: str, postings: list[dict[str, str]]) -> Counter[str]:
    texts = [posting["Job Description"] for posting in postings]
    findings = _analyze(name, texts)
    answers = [answer.answer for answer in findings.questions if answer.answer]
    count = Counter(sites=1, answers=len(answers))
    for fact in findings.facts:
        if fact.name == "founded" and (year := postings[0]["Founded"]).isdigit() and int(year) > 1:
            count["founded"] += 1
            count["founded right"] += abs(int(fact.value) - int(year)) <= 1
    places = [fact.value for fact in findings.facts if fact.name == "places"]
    city = postings[0]["Headquarters"].split(",")[0]
    if places and city != "-1":
        count["places"] += 1
        count["places right"] += any(city.casefold() in place.casefold() for place in places)
    page = _squeeze(" ".join(texts))
    for evidence in [*answers, *(fact.evidence for fact in findings.facts)]:
        count["quotes"] += 1
        count["quoted"] += all(_squeeze(part) in page for part in _parts(evidence))
    return count


def _analyze(name: str, texts: list[str]) -> SiteFindings:
    pages = [
        CrawledPage(
            f"https://site.example/{number}",
            200,
            "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n")),
        )
        for number, text in enumerate(texts)
    ]
    return analyze_site(pages, None, [], site="https://site.example", company=name, read_at=READ_AT)


def _parts(evidence: Evidence) -> Iterator[str]:
    """The quoted words: a heading and its items are quoted together, and long texts are cut."""
    yield from re.split(r": |; ", evidence.quote.removesuffix(" …"))


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _row(count: Counter[str]) -> tuple[str, ...]:
    figures = [count["sites"], count["answers"]]
    for name in ("founded", "places"):
        figures += [count[name], count[f"{name} right"]]
    return (*map(str, figures), f"{_share(count['quoted'], count['quotes']):.3f}")


def _goals(part: str, count: Counter[str]) -> list[Goal]:
    quoted = _share(count["quoted"], count["quotes"])
    return [Goal(f"{part} quotes on the page", quoted, QUOTED)]


def _share(right: int, of: int) -> float:
    return right / of if of else 0.0

"""Ranks real postings by the similarity of their text to invented profiles, where the title of a
posting says which profile it belongs to."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation import replay
from evaluation.goal import Goal, Report
from jobmill.catalog.posting import Posting
from jobmill.matching import embeddings
from jobmill.matching.embeddings import neutral_text
from jobmill.matching.profile import Profile

Similarities: TypeAlias = npt.NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Similarities]

FITTED_ON: Final = "stripe"
"""The range of similarities was fitted on this board; the others are unseen for it."""
COLUMNS = ("profile", "postings", "precision", "without titles", "unseen", "unseen, without titles")


@dataclass(frozen=True, slots=True)
class Occupation:
    name: str
    titles: re.Pattern[str]
    profile: Profile


def _occupation(name: str, titles: str, wanted: str, summary: str) -> Occupation:
    profile = Profile(titles=tuple(wanted.split(", ")), summary=summary)
    return Occupation(name, re.compile(titles, re.IGNORECASE), profile)


# Every profile and summary is invented.
OCCUPATIONS: Final = (
    _occupation(
        "backend",
        r"^(?!.*(manager|front|data|machine|security|support|sales)).*(backend|software|api|infrastructure).*engineer",
        "Backend Engineer, Software Engineer",
        "Builds services and APIs in Java, Go and Python and runs them on AWS and Kubernetes.",
    ),
    _occupation(
        "data scientist",
        r"data scien|machine learning|\bml\b",
        "Data Scientist, Machine Learning Engineer",
        "Seven years of experiments, forecasting and predictive models in Python and SQL.",
    ),
    _occupation(
        "data analyst",
        r"(data|business intelligence|bi|business|analytics|reporting) analyst",
        "Data Analyst, Business Analyst",
        "Answers questions of the business with SQL, dashboards and spreadsheets.",
    ),
    _occupation(
        "account executive",
        r"account executive|sales (development|manager|rep)|account manager",
        "Account Executive, Account Manager",
        "Sells software to enterprise customers from the first call to the signature, above quota.",
    ),
    _occupation(
        "product manager",
        r"product (manager|lead)",
        "Product Manager",
        "Finds out what users need, writes the roadmap and ships with engineers and designers.",
    ),
    _occupation(
        "designer",
        r"design(er)?\b(?!.*(verification|engineer|asic))",
        "Product Designer, UX Designer",
        "Designs interfaces, prototypes and brands in Figma and tests them with people.",
    ),
    _occupation(
        "recruiter",
        r"recruit|talent",
        "Recruiter, Talent Partner",
        "Fills technical roles: sources candidates, leads interviews, closes offers.",
    ),
    _occupation(
        "accountant",
        r"account(ant|ing)|controller|tax\b|audit|treasury|financ",
        "Accountant, Financial Analyst",
        "Closes the books, prepares statements and budgets, and answers auditors.",
    ),
    _occupation(
        "lawyer",
        r"counsel|legal|attorney|lawyer",
        "Counsel, Attorney",
        "Negotiates commercial contracts and advises on privacy and regulation.",
    ),
    _occupation(
        "marketing",
        r"marketing|content|social media|brand",
        "Marketing Manager",
        "Plans campaigns, writes content, measures channels and launches products.",
    ),
    _occupation(
        "support",
        r"support|customer success",
        "Customer Support Specialist, Customer Success Manager",
        "Helps customers adopt a product, answers their tickets and keeps them.",
    ),
    _occupation(
        "laboratory scientist",
        r"(research|lab|senior|associate|medical|assay|cell).*scientist(?!.*data)|laborator",
        "Research Scientist, Laboratory Technician",
        "Runs assays and cell cultures in a laboratory and documents the results.",
    ),
    _occupation(
        "security",
        r"security|fraud|detection",
        "Security Engineer",
        "Finds vulnerabilities, responds to incidents and hardens systems.",
    ),
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The average precision of one profile, over all postings and over the unseen ones."""

    relevant: int
    precision: float
    unseen: float


def report(data: Path) -> Report:
    postings, unseen = read_postings(data)
    with_titles = rank(postings, unseen, embed)
    without = rank([replace(posting, title="") for posting in postings], unseen, embed, postings)
    rows = [
        (
            occupation.name,
            str(first.relevant),
            *(f"{number:.3f}" for number in _numbers(first, second)),
        )
        for occupation, first, second in zip(OCCUPATIONS, with_titles, without, strict=True)
    ]
    means = np.mean([_numbers(*pair) for pair in zip(with_titles, without, strict=True)], axis=0)
    rows.append(("mean", "", *(f"{number:.3f}" for number in means)))
    return Report(
        title="Meaning: postings ranked by their similarity to a profile",
        columns=COLUMNS,
        rows=rows,
        goals=[
            Goal("mean precision", float(means[0]), 0.55),
            Goal("mean precision without titles", float(means[1]), 0.3),
        ],
        notes=[
            f"{len(postings)} postings, {int(unseen.sum())} of them unseen.",
            "The title decides which profile a posting belongs to.",
            "It is part of the compared text unless left out.",
        ],
    )


def _numbers(first: Ranking, second: Ranking) -> tuple[float, float, float, float]:
    return first.precision, second.precision, first.unseen, second.unseen


def embed(texts: Sequence[str]) -> Similarities:
    """The vectors of texts, as the product computes them."""
    return np.array([embeddings.embed(text) for text in texts])


def read_postings(data: Path) -> tuple[list[Posting], npt.NDArray[np.bool_]]:
    """Postings with a text, and which of them are not from the board that was fitted on."""
    by_board, _ = replay.read_boards(data)
    postings = [
        (posting, token != FITTED_ON)
        for (_, token), by_identity in by_board.items()
        for posting in by_identity.values()
    ]
    others = [*_read_tables(data / "listings"), *_read_labelled(data / "labels")]
    postings += [(posting, True) for posting in others]
    return [posting for posting, _ in postings], np.array([unseen for _, unseen in postings])


def _read_tables(folder: Path) -> list[Posting]:
    columns = {
        "glassdoor_jobs.csv": ("Job Title", "Company Name", "Job Description"),
        "indeed_usa_la.csv": ("job_title", "company_name", "job_description"),
        "newgrad_active_jobs.csv": ("title", "company", "description"),
    }
    return [
        Posting(row[title], company=row[company].partition("\n")[0], description=row[text])
        for name, (title, company, text) in columns.items()
        for row in csv.DictReader((folder / name).read_text("utf-8", "replace").splitlines(True))
        if row[title] and row[text]
    ]


def _read_labelled(folder: Path) -> list[Posting]:
    lines = (folder / "posting_fields_gold500.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Posting(row["title"], company=row["company_key"], description=row["description_text"])
        for row in rows
        if row["description_text"]
    ]


def rank(
    postings: Sequence[Posting],
    unseen: npt.NDArray[np.bool_],
    embed: Embed,
    titled: Sequence[Posting] | None = None,
) -> list[Ranking]:
    """Rank the postings for each occupation; `titled` are the same postings with their titles."""
    similarities = compare(postings, embed)
    rankings: list[Ranking] = []
    for occupation, row in zip(OCCUPATIONS, similarities, strict=True):
        relevant = np.array(
            [bool(occupation.titles.search(posting.title)) for posting in titled or postings]
        )
        rankings.append(
            Ranking(
                int(relevant.sum()),
                average_precision(row, relevant),
                average_precision(row[unseen], relevant[unseen]),
            )
        )
    return rankings


def compare(postings: Sequence[Posting], embed: Embed) -> Similarities:
    """The similarity of each occupation's profile (rows) to each posting (columns)."""
    texts = [neutral_text.posting_text(posting) for posting in postings]
    profiles = [neutral_text.profile_text(occupation.profile) for occupation in OCCUPATIONS]
    return embed(profiles) @ embed(texts).T


def average_precision(scores: Similarities, relevant: npt.NDArray[np.bool_]) -> float:
    """The mean of the precision at every relevant posting, best score first."""
    ordered = relevant[np.argsort(-scores, kind="stable")]
    hits = np.cumsum(ordered)[ordered]
    places = np.flatnonzero(ordered) + 1
    return float((hits / places).mean()) if len(hits) else 0.0

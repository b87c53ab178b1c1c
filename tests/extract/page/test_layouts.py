"""How often facts are found across layouts."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable

import pytest

from jobmill.catalog.posting import Posting
from jobmill.extract.page import page_reader

from .layouts import BARE, FACTS, Sheet, bare_sheets, sheets

ASKED = {"title": 0.85, "company": 0.70, "location": 0.70, "date": 0.60}
"""The minimum rate for every layout."""


def plain(words: str | None) -> str:
    return re.sub(r"[\W_]+", " ", html.unescape(words or "").casefold()).strip()


def judge(sheet: Sheet, posting: Posting | None) -> dict[str, bool]:
    read, truth = posting or Posting(""), sheet.truth
    places = {plain(truth.place)}
    if sheet.made_of.get("split place") == "yes":
        places.add(plain(re.sub(r" \d+$", "", truth.place)))
    return {
        "title": plain(read.title) == plain(truth.title),
        "company": plain(read.company) == plain(truth.company),
        "location": plain(read.location) in places,
        "date": read.posted_at is not None and read.posted_at.date() == truth.day,
        "text": "own week" in (read.description or "")
        and ("Good references" in (read.description or "") or sheet.made_of["text"] == "table"),
        "nothing else": not re.search("Boise|Reno|rights|Earn", read.description or ""),
    }


Judgement = tuple[Sheet, dict[str, bool]]


def judge_all(some: Iterable[Sheet], *, expected: bool) -> list[Judgement]:
    """Read each page, and compare what was read with what it says."""
    return [
        (
            sheet,
            judge(
                sheet,
                page_reader.read_posting(sheet.html, sheet.url, expected=expected).posting,
            ),
        )
        for sheet in some
    ]


def rates(judgements: Iterable[Judgement], *, by: str) -> dict[str, dict[str, float]]:
    """The rate of correct values for each field: overall, and for each variant of one part."""
    hits: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for sheet, correct in judgements:
        for name, hit in correct.items():
            hits["all"][name].append(hit)
            hits[sheet.made_of[by]][name].append(hit)
    return {
        way: {name: sum(some) / len(some) for name, some in fields.items()}
        for way, fields in hits.items()
    }


@pytest.mark.parametrize("expected", [True, False])
def test_facts_with_labels_are_found_in_nearly_every_layout(expected: bool) -> None:
    hit_rates = rates(judge_all(sheets(20 * len(FACTS)), expected=expected), by="facts")

    assert hit_rates.keys() == {"all", *FACTS}
    over_all = hit_rates["all"]
    assert over_all["title"] >= 0.96
    assert over_all["company"] >= 0.96
    assert min(over_all["location"], over_all["date"]) >= 0.98
    assert min(over_all["text"], over_all["nothing else"]) >= 0.99
    for way, fields in hit_rates.items():
        assert all(fields[name] >= least for name, least in ASKED.items()), (way, fields)


def test_facts_without_labels_are_found_below_the_title() -> None:
    hit_rates = rates(judge_all(bare_sheets(40 * len(BARE)), expected=True), by="bare")

    over_all = hit_rates["all"]
    assert over_all["title"] >= 0.96
    assert over_all["company"] >= 0.90
    assert min(over_all["location"], over_all["date"]) >= 0.98
    assert min(over_all["text"], over_all["nothing else"]) >= 0.98


@pytest.fixture(scope="module")
def varied() -> list[Judgement]:
    return judge_all(sheets(30 * len(FACTS), seed=2), expected=True)


@pytest.mark.parametrize("part", ["head", "title", "place label", "date label", "date", "end"])
def test_no_variant_of_a_page_part_spoils_the_reading(varied: list[Judgement], part: str) -> None:
    hit_rates = rates(varied, by=part)

    for way, fields in hit_rates.items():
        assert all(fields[name] >= least for name, least in ASKED.items()), (way, fields)

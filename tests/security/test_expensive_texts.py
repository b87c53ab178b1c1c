"""Texts that are expensive to read are read in child processes, or only up to a limit."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import SupportsIndex, overload

import pytest

from jobmill.boards.adapters import BY_NAME
from jobmill.boards.platform import BoardConfig
from jobmill.catalog import job_titles, listings
from jobmill.catalog.company_names import company_key
from jobmill.catalog.posting import MAX_FACTS, MAX_SHORT_FACT_LENGTH, MAX_TEXT_LENGTH, Posting
from jobmill.db import Database
from jobmill.extract.page import page_reader
from jobmill.matching import posting_facts
from jobmill.matching.local_verdict import MAX_LENGTH_IN_PLACE, run_bounded
from jobmill.matching.posting_facts import experience_years, required_skills
from jobmill.outside.request import Request
from tests.people.helpers import bearer
from tests.recorded_calls import recorded_calls
from tests.web.helpers import site_with

URL = "https://acme.example/jobs/1"


def posting(description: str) -> Posting:
    return Posting(title="Cook", url=URL, company="Acme", description=description)


@pytest.mark.parametrize(("length", "here"), [(MAX_LENGTH_IN_PLACE, True), (40_000, False)])
async def test_long_postings_are_read_in_another_process(length: int, here: bool) -> None:
    assert (await run_bounded(posting("x" * length), os.getpid) == os.getpid()) is here


async def test_a_child_process_reads_the_same_facts() -> None:
    text = "5+ years of Python, Rust or Go. Remote within UTC-3 to UTC+1.\n" * 300
    facts = await run_bounded(posting(text), posting_facts.read_facts, posting(text))
    assert facts == posting_facts.read_facts(posting(text))
    assert facts.skills


def test_only_the_first_mentions_of_a_text_are_looked_at() -> None:
    skills = posting_facts.read_facts(posting("C++ " * required_skills.MAX_HITS + "Rust")).skills
    assert [skill.name for skill in skills] == ["C++"]
    years = "1 year of experience. " * experience_years.MAX_MENTIONS + "9 years of experience."
    required = posting_facts.read_facts(posting(years)).years
    assert required
    assert required.least == 1


def test_short_facts_are_cut() -> None:
    """Rules read them on the event loop, with patterns that grow with the square of a length."""
    long = " " * 100_000
    cut = listings.make_storable(
        Posting(title=long, url=URL, company=long, location=long, locations=(long,) * 9_999, tags=(long,) * 9_999)
    )  # fmt: skip
    for text in (cut.title, cut.company, cut.location, *cut.locations, *cut.tags):
        assert len(text or "") <= MAX_SHORT_FACT_LENGTH
    assert len(cut.locations) == len(cut.tags) == MAX_FACTS


LONG = "Cook inc ag " * 20_000
STRUCTURED = {
    "@context": "https://schema.org",
    "@type": "JobPosting",
    "title": LONG,
    "description": LONG,
    "hiringOrganization": {"@type": "Organization", "name": LONG},
}
PAGE = f'<script type="application/ld+json">{json.dumps(STRUCTURED)}</script>'.encode()


def read_board() -> Posting:
    job = {"id": 1, "title": LONG, "absolute_url": URL, "content": LONG, "company_name": LONG}
    board = json.dumps({"jobs": [job]}).encode()
    config = BoardConfig(board_token="acme")
    return BY_NAME["greenhouse"].read_response(board, Request(URL), config).postings[0]


def read_detail() -> Posting:
    stub = Posting("", URL, partial=True)
    return BY_NAME["icims"].read_detail_response(PAGE, stub, BoardConfig(board_token="acme"))


def read_page() -> Posting:
    posting = page_reader.read_posting(PAGE, URL).posting
    assert posting
    return posting


@pytest.mark.parametrize("read", [read_board, read_detail, read_page])
def test_a_reader_returns_no_long_facts_and_texts(read: Callable[[], Posting]) -> None:
    """Everything after the reader runs on the event loop."""
    posting = read()
    assert len(posting.title) == len(posting.company or "") == MAX_SHORT_FACT_LENGTH
    assert len(posting.description or "") == MAX_TEXT_LENGTH


def test_a_company_of_many_legal_forms_takes_one_step_for_each_word() -> None:
    with recorded_calls() as calls:
        assert company_key("Acme " + "inc ag " * 1_000) == "acme"
    assert calls["fold_case"] <= 2_002


def test_a_title_of_many_arrangements_is_copied_once() -> None:
    copied: list[int] = []

    class Words(list[str]):
        @overload
        def __getitem__(self, index: SupportsIndex) -> str: ...
        @overload
        def __getitem__(self, index: slice) -> Words: ...
        def __getitem__(self, index: SupportsIndex | slice) -> str | Words:
            if not isinstance(index, slice):
                return super().__getitem__(index)
            words = Words(super().__getitem__(index))
            copied.append(len(words))
            return words

    words = Words(["remote"] * 1_000 + ["cook"] + ["hybrid"] * 1_000)
    assert job_titles._strip_arrangement(words) == ["cook"]
    assert sum(copied) == 1


async def test_a_profile_that_is_expensive_to_read_is_refused(database: Database) -> None:
    fields = {
        "name": "main",
        "how": "yaml",
        "yaml": f"skills: [{'a,' * 250_000}]",
        "action": "preview",
    }
    headers = {"Accept": "text/html", **await bearer(database, "admin")}
    async with site_with(database) as site:
        answer = await site.post("/profile/edit", data=fields, headers=headers)
    assert answer.status_code == 422
    assert "could not be read: Reading took more than 2 s of CPU time" in answer.text

"""Texts that are expensive to read are read in child processes, or only up to a limit."""

from __future__ import annotations

import os

import pytest

from jobmill.catalog import listings
from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.matching import posting_facts
from jobmill.matching.local_verdict import MAX_LENGTH_IN_PLACE, run_bounded
from jobmill.matching.posting_facts import experience_years, required_skills
from tests.people.helpers import bearer
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
        assert len(text or "") <= listings.MAX_SHORT_FACT_LENGTH
    assert len(cut.locations) == len(cut.tags) == listings.MAX_FACTS


async def test_a_profile_that_is_expensive_to_read_is_refused(database: Database) -> None:
    fields = {"name": "main", "how": "yaml", "yaml": f"skills: [{'a,' * 250_000}]", "act": "look"}
    headers = {"Accept": "text/html", **await bearer(database, "admin")}
    async with site_with(database) as site:
        answer = await site.post("/profile/edit", data=fields, headers=headers)
    assert answer.status_code == 422
    assert "could not be read: Reading took more than 2 s of CPU time" in answer.text

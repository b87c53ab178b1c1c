"""Facts that are read from a posting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobmill.catalog.posting import Posting
from jobmill.matching import posting_facts
from jobmill.matching.posting_facts import PostingFacts, PostingSkill, RequiredYears
from jobmill.matching.rules import skill_fit

POSTING = Posting(
    title="Senior Platform Engineer",
    location="Remote - Portugal",
    locations=("Remote - Portugal",),
    remote_from=("Portugal", "Spain"),
    arrangement="remote",
    seniority="senior",
    description="""\
Brine has dug wells for over 40 years.

Requirements
- 5+ years of experience
- Django

Nice to have
- Kafka
""",
)


def test_a_posting_is_read_into_facts() -> None:
    assert posting_facts.read_facts(POSTING) == PostingFacts(
        skills=(
            PostingSkill("Django", "required", "Django"),
            PostingSkill("Kafka", "preferred", "Kafka"),
        ),
        years=RequiredYears(5, None, "5+ years of experience"),
        seniority="senior",
        seniority_words="Senior Platform Engineer",
        role="ic",
        role_words="Senior Platform Engineer",
        arrangement="remote",
        arrangement_words="Remote - Portugal",
        places=("Remote - Portugal", "Portugal", "Spain"),
        utc_offsets=(0, 1),
        zone_words="Remote - Portugal; Portugal; Spain",
    )


def test_facts_that_a_posting_does_not_state_are_unknown() -> None:
    assert posting_facts.read_facts(Posting(title="")) == PostingFacts()


def test_stated_hours_count_before_places() -> None:
    facts_read = posting_facts.read_facts(replace(POSTING, description="Working hours are in CET."))
    assert (facts_read.utc_offsets, facts_read.zone_words) == ((1,), "Working hours are in CET.")


def test_requirements_alone_are_read() -> None:
    facts_read = posting_facts.read_facts(
        Posting(title="", requirements="Python\n3 years of experience")
    )
    assert facts_read.skills == (PostingSkill("Python", "required", "Python"),)
    assert facts_read.years == RequiredYears(3, None, "3 years of experience")


@pytest.mark.parametrize(
    ("posting", "words"),
    [
        (Posting("Pump Engineer (Hybrid)", arrangement="hybrid"), "Pump Engineer (Hybrid)"),
        (Posting("", location="Oslo (on-site)", arrangement="onsite"), "Oslo (on-site)"),
        (Posting("", description="Pumps.\nFully remote.", arrangement="remote"), "Fully remote."),
        (Posting("", locations=("Oslo",), arrangement="onsite"), "Oslo"),
        (Posting("Remote sensing engineer"), ""),
    ],
)
def test_the_arrangement_is_quoted_from_where_it_is_stated(posting: Posting, words: str) -> None:
    assert posting_facts.read_facts(posting).arrangement_words == words


@pytest.mark.parametrize(
    "endless",
    [
        {"description": f"{'dig ' * 10_000}Terraform"},
        {"tags": (f"{'dig ' * 50}Terraform",)},
        {"tags": (*["dig"] * 200, "Terraform")},
    ],
)
def test_a_very_long_text_is_read_up_to_a_limit(endless: dict[str, Any]) -> None:
    posting = replace(POSTING, **endless)
    assert "Terraform" not in {skill.name for skill in posting_facts.read_facts(posting).skills}


def test_no_more_of_a_text_is_searched_for_skills_than_is_read() -> None:
    assert "Terraform" in skill_fit.spellings_in_posting(
        replace(POSTING, description="dig Terraform")
    )
    endless = replace(POSTING, description=f"{'dig ' * 10_000}Terraform")
    assert "Terraform" not in skill_fit.spellings_in_posting(endless)

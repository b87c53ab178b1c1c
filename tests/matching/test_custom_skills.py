"""Custom skills of a profile that are not in our list."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.matching import posting_facts
from jobmill.matching.posting_facts import personal_skills
from jobmill.matching.rules import application_hints, filter, local_score
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdict import MatchResult
from tests.matching.cases import posting, profile

WARD = """\
Duties
Telemetry and patient education.

Requirements
- BLS and ACLS certificates
- IV therapies, medication administration

Preferred
- Wound care
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ACLS", "BLS and ACLS required", "ACLS"),
        ("Month-end close", "the month end close", "month end close"),
        ("month end close", "Month-end close", "Month-end close"),
        ("IV therapy", "Gives IV therapies", "IV therapies"),
        ("VAT returns", "one VAT return", "VAT return"),
        ("Basic Life Support (BLS)", "BLS certificate", "BLS"),
        ("Basic Life Support (BLS)", "basic life support", "basic life support"),
        ("Research & development", "research and development", "research and development"),
        ("Care", "healthcare and careful people", None),
        ("IT", "it is fun", None),
        ("IT", "an IT role", "IT"),
        ("Sage", "a message", None),
        ("Wells", "wells.example", None),
    ],
)
def test_a_name_is_found_as_whole_words(name: str, text: str, expected: str | None) -> None:
    hits = [text[hit.start : hit.end] for hit in personal_skills.find_custom_skills([name], text)]
    assert hits == ([expected] if expected else [])


def judge(*names: str, **changed: Any) -> MatchResult:
    skills = [{"name": name, "rank": "strong"} for name in names] or [{"name": "Sailing"}]
    nurse = profile(skills=skills, titles=["Registered Nurse"], **changed)
    offer = posting("Registered Nurse", description=WARD)
    return local_score.score_posting(
        nurse, offer, posting_facts.read_facts(offer), Employer(), None
    )


def points(*names: str) -> int:
    return judge(*names).items[0].points


def test_a_custom_skill_counts_if_the_posting_names_it() -> None:
    assert judge("ACLS", "Sailing").matched_skills == ("ACLS",)
    assert points() < points("Wound care") < points("ACLS") < points("ACLS", "BLS")


def test_a_custom_skill_among_the_duties_counts() -> None:
    assert points() < points("Telemetry") < points("ACLS")


def test_a_profile_with_all_custom_skills_gets_most_points() -> None:
    names = ("ACLS", "BLS", "IV therapy", "Medication administration", "Telemetry")
    assert points(*names) >= 38


def test_generic_skills_hardly_count() -> None:
    offer = posting(description="Requirements\n- Strong teamwork and communication skills")
    facts_read = posting_facts.read_facts(offer)
    soft = profile(skills=["Teamwork", "Communication"], titles=["Baker"])
    hard = profile(skills=["Sailing"], titles=["Baker"])
    with_it, without = (
        local_score.score_posting(skills, offer, facts_read, Employer(), None).items[0].points
        for skills in (soft, hard)
    )
    assert 0 <= with_it - without <= 4


def test_a_skill_name_that_contains_other_skills_counts_for_them() -> None:
    offer = posting(description="Requirements\n- Python, Django and Flask")
    able = profile(skills=["Python programming (Django, Flask)"])
    assert not filter.apply_rules(
        able, offer, posting_facts.read_facts(offer), PLATFORM_RULES
    ).strikes


def test_a_resume_uses_the_posting_s_spelling_and_the_lines_that_name_it() -> None:
    offer = posting("Registered Nurse", description=WARD)
    lines = ["Sailed the seas", "Gave IV therapy to many"]
    nurse = profile(skills=["IV therapy", "ACLS", "Sailing"], highlights=lines)
    written = application_hints.suggest_resume_content(
        nurse, offer, posting_facts.read_facts(offer)
    )
    assert sorted(written.ats_keywords) == ["ACLS", "IV therapies"]
    assert written.experience_highlights[0] == lines[1]

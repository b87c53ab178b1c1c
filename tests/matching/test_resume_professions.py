"""Resumes of several professions, read and scored without our list of skills."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.posting import Posting
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.matching import posting_facts
from jobmill.matching import resumes as resume
from jobmill.matching.profile import Profile
from jobmill.matching.resumes import home_address, skill_sections
from jobmill.matching.rules import filter, local_score
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdict import MatchResult
from tests.matching import profession_resumes as examples
from tests.matching import resumes
from tests.matching.profession_resumes import ProfessionExample


def read(example: ProfessionExample) -> Profile:
    profile = resume.read_resume(example.resume.encode(), "x", today=resumes.TODAY).profile
    return profile.model_copy(update={"arrangements": ("onsite", "hybrid", "remote")})


def judge(profile: Profile, example: ProfessionExample) -> MatchResult:
    offer = fill_missing_fields(
        Posting(
            example.posting_title,
            location=profile.person.home_city,
            arrangement="onsite",
            description=example.posting,
        )
    )
    facts = posting_facts.read_facts(offer)
    assert filter.apply_rules(profile, offer, facts, PLATFORM_RULES).passed
    return local_score.score_posting(profile, offer, facts, Employer(), None)


@pytest.mark.parametrize("profession", examples.ALL)
def test_skills_licences_address_and_years_are_read_in_the_resumes_words(profession: str) -> None:
    example = examples.ALL[profession]
    profile = read(example)
    names = tuple(skill.name for skill in profile.skills)
    assert names[: len(example.skills)] == example.skills
    assert profile.person.home_city == example.home_city
    assert "timezone" in profile.person.model_fields_set
    assert profile.person.timezone == example.timezone
    assert profile.experience_years == example.years
    assert example.title in profile.titles


@pytest.mark.parametrize("profession", examples.ALL)
def test_a_fitting_job_of_the_profession_is_a_match_with_all_skill_points(profession: str) -> None:
    example = examples.ALL[profession]
    result = judge(read(example), example)
    skills = result.items[0]
    assert (skills.name, skills.lost) == ("skills", 0), skills.why
    assert result.match_score >= 85
    assert result.application_priority == "High"


@pytest.mark.parametrize("profession", [name for name in examples.ALL if name != "engineer"])
def test_a_job_of_another_profession_scores_low(profession: str) -> None:
    profile = read(examples.ALL[profession])
    others = [example for name, example in examples.ALL.items() if name != profession]
    for other in others:
        offer = fill_missing_fields(
            Posting(
                other.posting_title,
                location=profile.person.home_city,
                arrangement="onsite",
                description=other.posting,
            )
        )
        facts = posting_facts.read_facts(offer)
        score = local_score.score_posting(profile, offer, facts, Employer(), None).match_score
        assert score < 65, other.posting_title


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Triage, wound", "care, BLS"], ["Triage", "wound care", "BLS"]),
        (["Kitchen: knife skills, sauces"], ["knife skills", "sauces"]),
        (["Python (Django, Flask), and Go"], ["Python (Django, Flask)", "Go"]),
        (["Forklift - 5 years"], ["Forklift"]),
        (["I am a very reliable person who works well in a team."], []),
        (["Sewing", "PROFESSIONAL MEMBERSHIPS", "Guild of Tailors"], ["Sewing"]),
        (["c, r", "12", "dana@example.net"], ["C", "R"]),
    ],
)
def test_the_entries_of_a_skill_section_are_taken_verbatim(
    lines: list[str], names: list[str]
) -> None:
    assert [skill.name for skill in skill_sections.read_skill_section(lines)] == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("- Class B CDL, Ohio BMV, 2019", ["Class B CDL"]),
        ("BLS, ACLS, PALS", ["BLS", "ACLS", "PALS"]),
        ("Food Handler Card (expires 05/2027)", ["Food Handler Card"]),
        ("RN License #123456", ["RN License"]),
    ],
)
def test_licences_are_read_without_issuer_number_and_date(line: str, names: list[str]) -> None:
    assert [skill.name for skill in skill_sections.read_licence_section([line])] == names


@pytest.mark.parametrize(
    ("line", "city"),
    [
        ("412 Alder Street, Boise, ID 83702", "Boise, ID"),
        ("Address: 12 Mill Lane, Cork", "Cork"),
        ("80331 M\u00fcnchen", "M\u00fcnchen"),
        ("Lyon, France | lyon@example.net", "Lyon, France"),
        ("Springfield, Illinois, USA", "Springfield, Illinois, USA"),
        ("Dana Pell, MD", None),
        ("Registered Nurse, CA", None),
        ("Mill Hollow", None),
        ("https://dana.example/Lyon", None),
    ],
)
def test_a_home_city_is_read_from_an_address(line: str, city: str | None) -> None:
    assert home_address.find_home_city([line], "Dana Pell") == city


@pytest.mark.parametrize(
    ("city", "zone"),
    [
        ("Springfield, Illinois, USA", "America/Chicago"),
        ("München", "Europe/Berlin"),
        ("Lyon, France", "Europe/Paris"),
        ("Mill Hollow", None),
    ],
)
def test_the_time_zone_follows_from_the_home_city(city: str, zone: str | None) -> None:
    assert home_address.find_time_zone(city) == zone


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("8 years of experience", 8),
        ("Chef with 8 years of experience in hotels.", 8),
        ("Nurse, 8+ years' nursing experience", 8),
        ("eight years of experience", 8),
        ("8 years as a teacher", 8),
        ("8 years of experience in Python", None),
        ("8 years of Python experience", None),
        ("8 years ago", None),
    ],
)
def test_the_years_at_the_top_are_those_of_the_career(text: str, years: float | None) -> None:
    resume_text = f"Summary\n{text}\nSkills\nSewing"
    assert resume.read_resume(resume_text.encode(), "x").profile.experience_years == years

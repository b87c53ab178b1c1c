"""Complete scores in several professions: good fits, partial fits and misfits."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.posting import Posting
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.matching import posting_facts
from jobmill.matching.profile import Profile
from jobmill.matching.rules import filter, local_score, title_fit
from jobmill.matching.rules.company_facts import Employer
from tests.matching.cases import posting, profile


def seeker(
    city: str, zone: str, years: float, names: str, preferences: list[str], **more: Any
) -> Profile:
    values: dict[str, Any] = {
        "person": {"home_city": city, "timezone": zone},
        "experience_years": years,
        "skills": [{"name": name, "rank": "strong"} for name in names.split(", ")],
        "titles": preferences,
        "arrangements": ["onsite", "hybrid", "remote"],
    }
    return Profile.model_validate(values | more)


NURSE = seeker(
    "Portland, OR", "America/Los_Angeles", 6,
    "Critical care, Patient assessment, ACLS, BLS, IV therapy, Ventilator management",
    ["Registered Nurse", "ICU Nurse"],
)  # fmt: skip
ACCOUNTANT = seeker(
    "Manchester, UK", "Europe/London", 5,
    "Management accounts, Month-end close, ACCA, Xero, VAT returns, Forecasting, Microsoft Excel",
    ["Management Accountant", "Finance Analyst", "Accountant"], seniority=["mid", "senior"],
)  # fmt: skip
MARKETER = seeker(
    "New York, NY", "America/New_York", 7,
    "Demand generation, Content marketing, SEO, HubSpot, Paid social, Email marketing",
    ["Marketing Manager"], role_types=["management"], seniority=["manager", "senior"],
)  # fmt: skip
ENGINEER = seeker(
    "Portland, OR", "America/Los_Angeles", 8, "Python, PostgreSQL, AWS, Docker, Kubernetes, Django",
    ["Senior Software Engineer", "Backend Engineer"], role_types=["ic"], seniority=["senior"],
)  # fmt: skip

WARD = """\
Qualifications
- BLS and ACLS certification
- 2+ years of critical care experience
- Patient assessment, IV therapy, ventilator management
"""
BOOKS = """\
Requirements
- ACCA qualified, 3+ years of experience
- Monthly management accounts, month-end close
- VAT returns and forecasting, Xero
"""
CAMPAIGNS = """\
What you'll bring
- 5+ years of marketing experience
- Demand generation, paid social and SEO
- HubSpot, email marketing
"""
BACKEND = """\
Requirements
- 6+ years of experience
- Python and Django, PostgreSQL
- AWS, Docker and Kubernetes
"""


@pytest.mark.parametrize(
    ("who", "title", "place", "text", "least", "most"),
    [
        (NURSE, "Registered Nurse - ICU", "Portland, OR", WARD, 85, 100),
        (NURSE, "ICU RN", "Portland, OR", WARD, 85, 100),
        (NURSE, "Software Engineer", "Portland, OR", BACKEND, 0, 49),
        (NURSE, "Accountant", "Portland, OR", BOOKS, 0, 49),
        (ACCOUNTANT, "Management Accountant", "Manchester", BOOKS, 85, 100),
        (ACCOUNTANT, "Senior Accountant", "Remote (UK)", BOOKS, 85, 100),
        (ACCOUNTANT, "Account Executive", "Manchester", "2+ years in sales. Salesforce.", 0, 49),
        (ACCOUNTANT, "Registered Nurse", "Manchester", WARD, 0, 49),
        (MARKETER, "Marketing Manager", "Remote - US", CAMPAIGNS, 85, 100),
        (MARKETER, "Senior Marketing Manager", "Remote - US", "5+ years in marketing.", 60, 84),
        (MARKETER, "HR Manager", "Remote - US", "7+ years of experience. Hiring.", 0, 55),
        (MARKETER, "Finance Manager", "Remote - US", BOOKS, 0, 55),
        (ENGINEER, "Senior Backend Engineer", "Remote - US", BACKEND, 85, 100),
        (ENGINEER, "Senior Data Engineer", "Remote - US", "5+ years with Python, Airflow.", 60, 84),
        (ENGINEER, "Program Manager", "Remote - US", "7+ years. Familiarity with AWS.", 0, 49),
        (ENGINEER, "Registered Nurse - ICU", "Portland, OR", WARD, 0, 49),
    ],
)  # fmt: skip
def test_what_fits_scores_high_and_what_does_not_scores_low(
    who: Profile, title: str, place: str, text: str, least: int, most: int
) -> None:
    offer = fill_missing_fields(Posting(title, location=place, description=text))
    facts_read = posting_facts.read_facts(offer)
    result = local_score.score_posting(who, offer, facts_read, Employer(), None)
    assert least <= result.match_score <= most
    assert least < 60 or filter.apply_rules(who, offer, facts_read, PLATFORM_RULES).passed


@pytest.mark.parametrize(
    ("preference", "nearer", "farther"),
    [
        ("Marketing Manager", "Brand Manager", "Payroll Manager"),
        ("HR Manager", "People Manager", "Finance Manager"),
        ("Accountant", "Senior Accountant", "Account Executive"),
        ("Registered Nurse", "RN, Emergency", "Nurse Practitioner"),
        ("Sales Manager", "Sales Manager, EMEA", "Customer Support Manager"),
        ("Executive Assistant", "Assistant to the Board", "Account Executive"),
    ],
)
def test_a_title_of_the_same_profession_is_more_similar(
    preference: str, nearer: str, farther: str
) -> None:
    assert (
        title_fit.find_closest(nearer, [preference])[0]
        > title_fit.find_closest(farther, [preference])[0]
    )


def test_an_exactly_wanted_title_has_the_highest_similarity() -> None:
    assert title_fit.find_closest("Analyst", ["Marketing Manager", "Analyst"]) == (1.0, "Analyst")
    assert title_fit.find_closest("Accountant", ["Finance Analyst", "Accountant"]) == (
        1.0,
        "Accountant",
    )


def test_one_shared_skill_does_not_make_unrelated_work_a_match() -> None:
    offer = fill_missing_fields(posting("Program Manager", description="Familiarity with AWS."))
    near = fill_missing_fields(posting("Backend Engineer", description="Familiarity with AWS."))
    far_points, near_points = (
        local_score.score_posting(
            ENGINEER, candidate, posting_facts.read_facts(candidate), Employer(), None
        )
        .items[0]
        .points
        for candidate in (offer, near)
    )
    assert far_points <= 15
    assert near_points >= 30


def test_years_spent_on_other_work_count_less() -> None:
    offer = fill_missing_fields(posting("Project Manager", description="5+ years of experience"))
    item = local_score.score_posting(
        profile(), offer, posting_facts.read_facts(offer), Employer(), None
    ).items[3]
    assert item.points < 5
    assert item.why == "Asks for 5 years, the profile has 8 in a different kind of work"


def test_a_title_that_is_wanted_is_not_rejected_for_what_it_says_of_the_role() -> None:
    lead = profile(titles=["Team Lead"], role_types=["ic"])
    named = fill_missing_fields(posting("Team Lead", description="Keep pumps running."))
    lead_posting = fill_missing_fields(
        posting("Team Lead", description="You have five direct reports.")
    )
    assert not filter.apply_rules(
        lead, named, posting_facts.read_facts(named), PLATFORM_RULES
    ).hard_rejections
    other = profile(titles=["Software Engineer"], role_types=["ic"])
    assert filter.apply_rules(
        other, lead_posting, posting_facts.read_facts(lead_posting), PLATFORM_RULES
    ).hard_rejections

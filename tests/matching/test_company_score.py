from __future__ import annotations

from typing import Any

import pytest

from jobmill.matching.profile import Profile, Tiers
from jobmill.matching.rules import company_score
from jobmill.matching.rules.tech_stack import TechStack
from tests.catalog.test_companies import company

SKILLS = [
    {"name": "Python", "rank": "primary"},
    {"name": "Postgres", "rank": "strong"},
    {"name": "React", "rank": "familiar"},
    {"name": "Agile", "rank": "primary"},
]


def score(
    *, skills: list[dict[str, Any]] | None = None, ai: tuple[str, ...] = (), **facts: object
) -> company_score.CompanyScore:
    profile = Profile.model_validate({"skills": SKILLS if skills is None else skills})
    return company_score.score_company(company(**facts), TechStack(ai_ml=ai), profile)


def points(result: company_score.CompanyScore) -> list[int]:
    return [item.points for item in result.items]


def test_unknown_facts_add_no_points() -> None:
    result = score()
    assert (result.points, result.tier, points(result)) == (0, "D", [0, 0, 0, 0])
    assert [item.most for item in result.items] == [50, 100, 15, 10]


def test_a_company_with_everything_gets_the_best_tier() -> None:
    stack = ["python", "postgresql", "react", "rust"]
    result = score(
        offices=["Lisbon", "Portland, Oregon"], tech_stack=stack, remote_first=True, ai=("AI",)
    )
    assert (result.points, result.tier) == (175, "S")
    assert points(result) == [50, 100, 15, 10]
    assert result.items[0].words == ("Portland, Oregon",)
    assert result.items[1].words == ("python", "postgresql", "react")
    assert result.items[3].words == ("AI",)
    assert sum(points(result)) == result.points


@pytest.mark.parametrize(
    ("offices", "expected"),
    [(["Portland, OR"], 50), (["Portland, Maine"], 0), (["Lisbon"], 0), (None, 0)],
)
def test_an_office_in_the_home_city(offices: list[str] | None, expected: int) -> None:
    assert points(score(offices=offices))[0] == expected


def test_the_headquarters_is_an_office() -> None:
    assert points(score(headquarters_location="Portland, OR"))[0] == 50


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ([], 0),
        (["rust"], 0),
        (["react"], 16),
        (["postgresql"], 33),
        (["python"], 50),
        (["python", "react"], 66),
    ],
)
def test_shared_skills_count_by_rank(stack: list[str], expected: int) -> None:
    assert points(score(tech_stack=stack))[1] == expected


def test_five_shared_skills_are_enough() -> None:
    names = ["python", "react", "docker", "aws", "redis", "mysql", "php", "ruby"]
    many = [{"name": name, "rank": "primary"} for name in names]
    assert points(score(skills=many, tech_stack=names[:5]))[1] == 100
    assert points(score(skills=many, tech_stack=names[:4]))[1] == 80
    assert points(score(skills=many, tech_stack=names))[1] == 100
    assert points(score(skills=[], tech_stack=names))[1] == 0


@pytest.mark.parametrize(
    ("reached", "tier"),
    [
        (0, "D"),
        (49, "D"),
        (50, "C"),
        (69, "C"),
        (70, "B"),
        (99, "B"),
        (100, "A"),
        (149, "A"),
        (150, "S"),
    ],
)
def test_default_tiers_have_the_required_thresholds(reached: int, tier: str) -> None:
    assert company_score.tier_for_points(reached, Tiers()) == tier

"""Hard rejections and strikes."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.matching.posting_facts import PostingSkill, skills
from jobmill.matching.posting_facts.experience_years import RequiredYears
from jobmill.matching.rules import filter, skill_fit
from jobmill.matching.verdict import parse_filter_result
from tests.matching.cases import asked, facts, posting, profile, with_skill


def strikes(
    rule: str, *skills: PostingSkill | str, title: str = "Engineer", **fact_values: Any
) -> list[int]:
    wants = fact_values.pop("wants", {})
    text = fact_values.pop("text", "")
    offer = posting(title, description=text)
    result = filter.apply_rules(
        profile(**wants), offer, facts(*skills, **fact_values), PLATFORM_RULES
    )
    return [strike.strikes for strike in result.strikes if strike.rule == rule]


def test_a_fitting_posting_passes_without_strikes() -> None:
    result = filter.apply_rules(profile(), posting(), facts("Python", "PostgreSQL"), PLATFORM_RULES)
    assert (result.passed, result.total_strikes) == (True, 0)
    assert result.rejection_summary == "0 strikes (threshold: 5)"


def test_the_result_has_the_agreed_structure() -> None:
    facts_read = facts(
        "React", seniority="mid", seniority_words="Mid-level React Engineer", arrangement=None
    )
    offer = posting("Mid-level React Engineer", arrangement=None, location=None)
    result = filter.apply_rules(profile(), offer, facts_read, PLATFORM_RULES)
    assert result.to_dict() == {
        "passed": False,
        "total_strikes": 7,
        "hard_rejections": (),
        "strikes": (
            {
                "rule": "location",
                "reason": "The posting mentions neither remote work nor a location",
                "strikes": 2,
                "words": "",
            },
            {
                "rule": "seniority",
                "reason": "Seniority mismatch (too junior): mid",
                "strikes": 2,
                "words": "Mid-level React Engineer",
            },
            {
                "rule": "missing_skill",
                "reason": "Missing primary skill: React",
                "strikes": 3,
                "words": "Experience with React",
            },
        ),
        "rejection_summary": "7 strikes (threshold: 5)",
    }
    assert parse_filter_result(result.to_dict()) == result


@pytest.mark.parametrize(("threshold", "passed"), [(2, False), (3, True)])
def test_with_as_many_strikes_as_the_threshold_it_is_filtered_out(
    threshold: int, passed: bool
) -> None:
    wants = profile(rules={"strikes": {"threshold": threshold}})
    result = filter.apply_rules(
        wants, posting(), facts("Python", "PostgreSQL", "React"), PLATFORM_RULES
    )
    assert (result.total_strikes, result.passed) == (2, passed)


def test_every_rejection_is_reported_with_its_evidence() -> None:
    wants = profile(
        stop_lists={"companies": ["Wells"], "domains": ["wells.example"], "keywords": ["lead"]}
    )
    offer = posting("Team Lead", arrangement="onsite", location="Austin, TX")
    facts_read = facts(arrangement="onsite", role="management", role_words="You lead six people")
    result = filter.apply_rules(wants, offer, facts_read, PLATFORM_RULES)
    assert [rejection.rule for rejection in result.hard_rejections] == [
        "excluded_company", "excluded_domain", "excluded_keyword", "not_remote", "role_type",
    ]  # fmt: skip
    assert not result.passed
    assert [rejection.words for rejection in result.hard_rejections][2:] == [
        "Team Lead", "Austin, TX", "You lead six people",
    ]  # fmt: skip
    assert result.rejection_summary.startswith("Excluded company: Wells; Excluded domain")
    assert result.rejection_summary.endswith("0 strikes (threshold: 5)")


@pytest.mark.parametrize(
    ("role", "preferences", "rejected"),
    [
        ("management", ["ic"], True),
        ("ic", ["management"], True),
        ("ic", ["ic", "management"], False),
        ("management", [], False),
        (None, ["ic"], False),
    ],
)
def test_a_role_of_another_type_is_rejected(
    role: str | None, preferences: list[str], rejected: bool
) -> None:
    result = filter.apply_rules(
        profile(role_types=preferences), posting(), facts(role=role), PLATFORM_RULES
    )
    assert [rejection.rule for rejection in result.hard_rejections] == (
        ["role_type"] if rejected else []
    )


@pytest.mark.parametrize(
    ("level", "preferences", "expected"),
    [
        ("senior", ["senior"], []),
        ("lead", ["staff"], []),
        ("mid", ["senior"], [2]),
        ("staff", ["senior"], [2]),
        ("junior", ["senior"], [3]),
        ("intern", ["senior"], [3]),
        ("director", ["senior", "staff"], [3]),
        ("junior", ["mid", "senior"], [2]),
        ("junior", [], []),
        (None, ["senior"], []),
    ],
)
def test_seniority_strikes_by_distance(
    level: str | None, preferences: list[str], expected: list[int]
) -> None:
    assert strikes("seniority", seniority=level, wants={"seniority": preferences}) == expected


@pytest.mark.parametrize(
    ("least", "most", "years_held", "expected"),
    [
        (5, None, 8, []),
        (8, None, 8, []),
        (9, None, 8, []),  # One missing year is tolerated,
        (10, None, 8, []),  # and a fifth of the required years.
        (5, None, 3, [2]),
        (6, None, 2, [3]),
        (10, None, 2, [3]),
        (1, 3, 8, [2]),  # Far above the maximum: the job is too junior.
        (0, 1, 12, [3]),
        (3, 5, 8, []),
        (5, None, None, []),
    ],
)
def test_experience_strikes_grow_with_the_difference_in_years(
    least: float, most: float | None, years_held: float | None, expected: list[int]
) -> None:
    years = RequiredYears(least, most, "years of experience")
    assert strikes("experience", years=years, wants={"experience_years": years_held}) == expected


def test_a_posting_without_required_years_gives_no_strike() -> None:
    assert strikes("experience") == []


@pytest.mark.parametrize(
    ("title", "text", "skill", "expected"),
    [
        ("React Engineer", "", asked("React"), [3]),
        ("React Engineer", "", asked("React", "mentioned"), [3]),
        ("Engineer", "", asked("React"), [2]),
        ("Engineer", "React\nReact\nReact", asked("React"), [3]),
        ("Engineer", "React, React and React", asked("React"), [2]),
        ("Engineer", "React\nReact\nReact", asked("React", "preferred"), [1]),
        ("Engineer", "", asked("React", "preferred"), [1]),
        ("Engineer", "", asked("React", "mentioned"), []),
        ("Engineer", "", asked("Python"), []),
        ("JavaScript Engineer", "", asked("Java"), [2]),  # The title names another skill.
        ("Engineer", "", asked("Scrum"), []),  # A practice never gives a strike.
    ],
)
def test_strikes_for_a_missing_skill_depend_on_its_importance(
    title: str, text: str, skill: PostingSkill, expected: list[int]
) -> None:
    assert strikes("missing_skill", skill, title=title, text=text) == expected


@pytest.mark.parametrize(
    ("profile_skill", "required_skill"),
    [
        ("Postgres", "PostgreSQL"),
        ("golang", "Go"),
        ("K8s", "Kubernetes"),
        ("Django", "Python"),
    ],
)
def test_a_skill_by_another_name_or_implied_is_not_missing(
    profile_skill: str, required_skill: str
) -> None:
    assert strikes("missing_skill", required_skill, wants={"skills": [profile_skill]}) == []
    assert strikes("missing_skill", required_skill, wants={"skills": ["Haskell"]}) == [2]


def test_java_is_not_javascript() -> None:
    assert strikes("missing_skill", "JavaScript", wants={"skills": ["Java"]}) == [2]
    assert strikes("missing_skill", "Java", wants={"skills": ["JavaScript"]}) == [2]


@pytest.mark.parametrize(
    ("line", "names", "expected"),
    [
        ("Python, Go or Java", ("Python", "Go", "Java"), []),
        ("Go, Java, or Rust", ("Go", "Java", "Rust"), [2]),
        ("Go, Java and Rust", ("Go", "Java", "Rust"), [2, 2, 2]),
        ("Python and Rust", ("Python", "Rust"), [2]),
        ("Languages such as Python, Go, Java", ("Python", "Go", "Java"), []),
        ("Python, Go, Java or similar", ("Python", "Go", "Java"), []),
        ("Cloud (AWS/Azure/GCP)", ("AWS", "Azure", "Google Cloud"), [2]),
        ("Python with Vue or Angular", ("Python", "Vue", "Angular"), [2]),
        ("Vue or Angular, and we use Python", ("Python", "Vue", "Angular"), [2]),
    ],
)
def test_one_of_several_alternative_skills_is_enough(
    line: str, names: tuple[str, ...], expected: list[int]
) -> None:
    requirements = [asked(name, words=line) for name in names]
    assert strikes("missing_skill", *requirements) == expected


def test_a_skill_in_the_title_is_required_despite_alternatives() -> None:
    requirements = [asked(name, words="Python or Rust") for name in ("Python", "Rust")]
    assert strikes("missing_skill", *requirements, title="Rust Engineer") == [3]


LAUNDRY = ("Kafka", "React", "Terraform", "GraphQL", "Redis", "Elasticsearch")


def test_a_long_skill_list_alone_does_not_reject_a_good_share() -> None:
    wants = {"skills": ["Python", "PostgreSQL", "Docker", "Kubernetes"]}
    required = ("Python", "PostgreSQL", "Docker", "Kubernetes", *LAUNDRY)
    assert sum(strikes("missing_skill", *required, wants=wants)) == 4
    nice = [asked(name, "preferred") for name in LAUNDRY]
    assert sum(strikes("missing_skill", "Python", *nice)) == 4


def test_a_small_share_of_required_skills_gets_every_strike() -> None:
    assert strikes("missing_skill", "Python", *LAUNDRY) == [2] * 6


def test_the_cap_is_a_rule_of_the_profile() -> None:
    wants = {"rules": {"strikes": {"missing_skills_cap": 1}}}
    assert strikes("missing_skill", "Python", "PostgreSQL", "React", wants=wants) == [1]


def test_a_profile_without_skills_is_not_struck_for_them() -> None:
    assert strikes("missing_skill", "React", wants={"skills": []}) == []


def test_other_numbers_in_the_rules_count() -> None:
    rules = {
        "strikes": {"missing_skill": {"least": 0, "most": 10}, "seniority": {"least": 1, "most": 9}}
    }
    assert strikes("missing_skill", "React", wants={"rules": rules, "skills": ["Go"]}) == [5]
    assert strikes("missing_skill", asked("React", "preferred"), wants={"rules": rules}) == []
    assert strikes("seniority", seniority="junior", wants={"rules": rules}) == [9]


def test_one_more_skill_never_adds_a_strike() -> None:
    facts_read = facts(
        "React", "Kafka", asked("Go", words="Go or Rust"), asked("Rust", words="Go or Rust")
    )
    before = filter.apply_rules(profile(), posting(), facts_read, PLATFORM_RULES).total_strikes
    for name in ("React", "Kafka", "Go", "Rust", "COBOL"):
        after = filter.apply_rules(
            with_skill(profile(), name), posting(), facts_read, PLATFORM_RULES
        ).total_strikes
        assert after <= before


def test_practices_are_skills_that_we_know() -> None:
    assert [
        name for name in skill_fit.PRACTICES if skills.skill_names(f"{name}, Python")[0] != name
    ] == []

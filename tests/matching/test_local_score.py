"""The local score, item by item."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.catalog.posting import Salary
from jobmill.matching import match_reasons
from jobmill.matching.posting_facts import PostingSkill
from jobmill.matching.posting_facts.experience_years import RequiredYears
from jobmill.matching.profile import Span
from jobmill.matching.rules import local_score, title_fit, working_hours
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdict import MatchResult, ScoreItem, parse_match_result
from tests.matching.cases import asked, facts, posting, profile


def judge(*skills: PostingSkill | str, **values: Any) -> MatchResult:
    wants, offer = values.pop("wants", {}), values.pop("offer", {})
    employer = values.pop("employer", Employer())
    likeness = values.pop("likeness", None)
    return local_score.score_posting(
        profile(**wants), posting(**offer), facts(*skills, **values), employer, likeness
    )


def item(name: str, *skills: PostingSkill | str, **values: Any) -> ScoreItem:
    (rejection,) = [item for item in judge(*skills, **values).items if item.name == name]
    return rejection


def points(name: str, *skills: PostingSkill | str, **values: Any) -> int:
    return item(name, *skills, **values).points


def weighed_points(name: str, *skills: PostingSkill | str, **values: Any) -> int:
    """Points if neither time zone nor size has any, so that the weights are the maximums."""
    rules = {"timezone": {"least": -15, "most": 0}}
    return points(name, *skills, **values | {"wants": {"rules": rules} | values.get("wants", {})})


def test_the_sum_of_the_items_is_the_score() -> None:
    result = judge("Python", "React", utc_offsets=(-5.0,), likeness=0.4)
    assert result.match_score == sum(item.points for item in result.items)
    assert [item.name for item in result.items] == [
        "skills", "title", "seniority", "experience", "salary", "arrangement", "meaning",
        "timezone", "size",
    ]  # fmt: skip
    assert parse_match_result(result.to_dict()) == result


@pytest.mark.parametrize(
    ("wants", "expected"),
    [
        ({}, (43, 14, 10, 9, 5, 5, 9, 5, 0)),
        ({"company_size": "large"}, (38, 13, 9, 9, 4, 4, 8, 5, 10)),
        ({"rules": {"timezone": {"least": -15, "most": 0}}}, (45, 15, 10, 10, 5, 5, 10, 0, 0)),
        ({"rules": {"weights": {"skills": 60, "title": 0}}}, (57, 0, 10, 9, 5, 5, 9, 5, 0)),
    ],
)
def test_the_maximums_of_all_parts_add_up_to_100(
    wants: dict[str, Any], expected: tuple[int, ...]
) -> None:
    most = tuple(item.most for item in judge(wants=wants).items)
    assert most == expected
    assert sum(most) == 100


def test_points_for_time_zone_and_size_leave_none_of_the_100_or_are_refused() -> None:
    rules = {"timezone": {"least": 0, "most": 60}, "size": {"preferred": 41}}
    with pytest.raises(ValueError, match="at most 100 for timezone and size together, not 101"):
        profile(rules=rules)


@pytest.mark.parametrize("rank", ["primary", "familiar"])
def test_a_perfect_fit_has_100_points_and_no_reason_against_it(rank: str) -> None:
    wants = {
        "company_size": "large",
        "skills": [{"name": name, "rank": rank} for name in MANY],
    }
    years = RequiredYears(5, None, "5 years")
    result = judge(*MANY, wants=wants, employer=Employer(size="large"), utc_offsets=(-8.0,), years=years, likeness=1)  # fmt: skip
    assert (result.match_score, result.application_priority) == (100, "High")
    assert match_reasons.find_reasons(result.items, ()).reason_against is None


@pytest.mark.parametrize(
    "names", [("Python",), ("Python", "PostgreSQL"), ("Python", "PostgreSQL", "Docker")]
)
def test_a_full_skill_match_gets_all_skill_points(names: tuple[str, ...]) -> None:
    assert item("skills", *names).lost == 0
    assert item("skills", *names, "Kafka").lost > 0


def test_a_skill_that_is_only_implied_is_no_full_match() -> None:
    assert item("skills", "Python", wants={"skills": ["Django"]}).lost > 0


def test_a_full_skill_match_in_other_work_is_explained() -> None:
    score_item = item("skills", "Python", offer={"title": "Head of Brand"})
    assert score_item.lost > 0
    assert score_item.why.endswith("the title describes other work, which may need other skills")


MANY = ("Python", "PostgreSQL", "Kafka", "Kubernetes", "AWS", "Redis", "Terraform", "Docker")


def test_penalties_take_at_most_the_points_that_the_other_parts_give() -> None:
    rules = {"timezone": {"least": -200, "most": 0}}
    result = judge(wants={"rules": rules}, utc_offsets=(4.0,))
    others = sum(item.points for item in result.items if item.name != "timezone")
    assert (result.match_score, result.items[-2].points) == (0, -others)


def test_more_requested_skills_give_more_points() -> None:
    all_of_it = points("skills", "Python", "PostgreSQL", "Docker")
    most_of_it = points("skills", "Python", "PostgreSQL", "React")
    some_of_it = points("skills", "Python", "Kafka", "React")
    nothing = points("skills", "Scala", "Kafka", "React")
    assert 43 == all_of_it > most_of_it > some_of_it > nothing >= 0


def test_required_skills_count_more_than_preferred_ones() -> None:
    nice = asked("React", "preferred")
    assert points("skills", "Python", nice) > points("skills", "Python", "React")
    assert points("skills", "Python", asked("React", "mentioned")) == points("skills", "Python")


def test_mentioned_skills_do_not_make_up_for_missing_ones() -> None:
    mentioned = [asked(name, "mentioned") for name in MANY]
    wants = {"skills": [{"name": name, "rank": "primary"} for name in MANY]}
    none, some, many = (
        points("skills", "Scala", "React", "Haskell", *mentioned[:count], wants=wants)
        for count in (0, 4, 8)
    )
    assert none < some == many < 45 / 2


def test_a_higher_rank_makes_up_for_more_missing_skills() -> None:
    by_rank = [
        points(
            "skills", *MANY, "Scala", "React", "Haskell",
            wants={"skills": [{"name": name, "rank": rank} for name in MANY]},
        )
        for rank in ("familiar", "strong", "primary")
    ]  # fmt: skip
    assert by_rank == sorted(by_rank)
    assert by_rank[0] < by_rank[-1]


def test_synonyms_and_implied_skills_count_and_are_explained() -> None:
    score_item = item("skills", "Go", "Python", "React", wants={"skills": ["golang", "Django"]})
    assert score_item.why == (
        "2 of 3 requested skills: Go (golang), Python (implied by Django); missing: React"
    )
    assert item("skills", "React").why == (
        "0 of 1 requested skill; missing: React; "
        "the posting names few skills, so the title counts more"
    )
    assert "Experience with Go" in score_item.words


def test_a_matched_skill_is_in_both_texts_and_a_gap_only_in_the_posting() -> None:
    result = judge(
        asked("React", "preferred"), "Terraform", "Python", "PostgreSQL", asked("Scala", "mentioned"),
        wants={"skills": ["Django", "Postgres"]},
    )  # fmt: skip
    # Python is only implied: the profile does not list it.
    assert result.matched_skills == ("PostgreSQL",)
    assert result.skill_gaps == ("Terraform", "React")


def test_of_alternative_skills_the_best_counts_once() -> None:
    line = "Python, Go or Rust"
    choice = [asked(name, words=line) for name in ("Python", "Go", "Rust")]
    assert points("skills", *choice) == points("skills", "Python")
    assert judge(*choice).skill_gaps == ()


def test_a_posting_that_names_no_skill_is_judged_by_its_title() -> None:
    near = points("skills", offer={"title": "Software Engineer"})
    far = points("skills", offer={"title": "Head of Brand"})
    assert 45 / 2 <= near <= 45 * 0.7
    assert far < near / 2


def test_a_profile_without_skills_gets_no_skill_points_with_an_explanation() -> None:
    score_item = item("skills", "Python", wants={"skills": []})
    assert (score_item.points, score_item.why) == (0, "The profile lists no skills")


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        ("Senior Software Engineer", "Senior Backend Engineer"),
        ("Backend Engineer (Python)", "Frontend Engineer"),
        ("Software Engineer, Growth", "Growth Manager"),
        ("Full Stack Developer", "QA Engineer"),
        ("Member of Technical Staff", "Sales Engineer"),
        ("Software Developer (m/w/d)", "Mechanical Engineer"),
        ("Staff Engineer", "Product Manager, Developer Tools"),
        ("Data Engineer", "Account Executive"),
        ("Software Engineer, Growth", "Software Engineer, iOS"),
        ("Backend Engineer", "Data Engineer"),
    ],
)
def test_titles_are_compared_by_role_and_field(nearer: str, farther: str) -> None:
    preferences = ["Senior Software Engineer", "Staff Engineer"]
    assert (
        title_fit.find_closest(nearer, preferences)[0]
        > title_fit.find_closest(farther, preferences)[0]
    )


@pytest.mark.parametrize(
    ("title", "preference"),
    [
        ("Software Engineer II", "Senior Software Engineer"),
        ("Senior Software Engineer - Remote (US)", "Software Developer"),
        ("Frontend-Entwickler (m/w/d)", "Front-End Developer"),
        ("Engineering Manager, Payments", "Senior Engineering Manager"),
        ("Registered Nurse - ICU", "Registered Nurse"),
        ("SRE", "Site Reliability Engineer"),
    ],
)
def test_the_same_title_in_other_words_is_the_same(title: str, preference: str) -> None:
    assert title_fit.find_closest(title, [preference]) == (1.0, preference)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Softwareentwickler (m/w/d)", "Softwareentwicklerin"),
        ("Frontend-Entwickler:in", "Frontend-Entwickler"),
        ("Développeur backend", "Développeuse backend"),
    ],
)
def test_the_gender_of_a_title_does_not_count(first: str, other: str) -> None:
    preferences = ["Software Developer"]
    assert title_fit.find_closest(first, preferences) == title_fit.find_closest(other, preferences)
    assert title_fit.find_closest(first, preferences)[0] > 0.5


def test_a_title_without_a_field_takes_the_field_of_the_others() -> None:
    alone = title_fit.find_closest("Data Engineer", ["Staff Engineer"])
    among = title_fit.find_closest("Data Engineer", ["Senior Software Engineer", "Staff Engineer"])
    assert among < alone


def test_any_title_fits_a_profile_without_titles() -> None:
    title = item("title", wants={"titles": []}, offer={"title": "Head of Brand"})
    assert (title.lost, title.state) == (0, "open")


@pytest.mark.parametrize(
    ("level", "preferences", "expected"),
    [("senior", ["senior"], 10), ("mid", ["senior"], 6), ("junior", ["senior"], 2),
     ("intern", ["senior"], 0), (None, ["senior"], 7), ("intern", [], 10)],
)  # fmt: skip
def test_seniority_gives_points_by_distance(
    level: str | None, preferences: list[str], expected: int
) -> None:
    assert (
        weighed_points("seniority", seniority=level, wants={"seniority": preferences}) == expected
    )


@pytest.mark.parametrize(
    ("years", "years_held", "expected"),
    [((5, None), 8, 10), ((8, None), 8, 10), ((9, None), 8, 8), ((11, None), 8, 4),
     ((20, None), 8, 0), ((1, 2), 8, 9), (None, 8, 7), ((5, None), None, 7)],
)  # fmt: skip
def test_experience_points_shrink_with_missing_years(
    years: tuple[float, float | None] | None, years_held: float | None, expected: int
) -> None:
    required = RequiredYears(*years, words="years of experience") if years else None
    assert (
        weighed_points("experience", years=required, wants={"experience_years": years_held})
        == expected
    )


@pytest.mark.parametrize(
    ("salary", "expected", "state"),
    [
        (None, 4, "unknown"),
        (Salary(140_000, 180_000, "USD", "year", "text"), 5, "judged"),
        (Salary(100_000, 149_000, "USD", "year", "text"), 0, "excluded"),
        (Salary(70, 80, "USD", "hour", "structured"), 5, "judged"),
        (Salary(10_000, None, "USD", "month", "structured"), 0, "excluded"),
        (Salary(140_000, 180_000, "EUR", "year", "text"), 4, "unknown"),
        (Salary(140_000, 180_000, None, "year", "text"), 4, "unknown"),
        (Salary(140, 180, "USD", None, "text"), 4, "unknown"),
        (Salary(None, None, "USD", "year", "text"), 4, "unknown"),
        (Salary(60_000, 80_000, "USD", "year", "predicted"), 4, "unknown"),
        (Salary(160_000, 180_000, "USD", "year", "predicted"), 5, "judged"),
    ],
)
def test_a_salary_is_compared_with_the_floor(
    salary: Salary | None, expected: int, state: str
) -> None:
    score_item = item(
        "salary", wants={"salary_floor": {"amount": 150_000}}, offer={"salary": salary}
    )
    assert (score_item.points, score_item.state) == (expected, state)
    assert item("salary", offer={"salary": salary}).state == "open"


@pytest.mark.parametrize(
    ("top", "words"),
    [
        (150_000, "Pay at or above the profile's target of USD 150,000 per year"),
        (149_000, "Pay below the profile's target of USD 150,000 per year"),
        (None, "Pay not stated"),
    ],
)
def test_a_salary_is_explained(top: int | None, words: str) -> None:
    offer = {"salary": Salary(None, top, "USD", "year", "text")}
    assert item("salary", wants={"salary_floor": {"amount": 150_000}}, offer=offer).why == words


@pytest.mark.parametrize(
    ("wants", "offer", "more", "reason"),
    [
        ({"salary_floor": {"amount": 150_000}}, {"salary": Salary(90_000, 149_000, "USD", "year", "text")}, {},
         "Pay below the profile's target of USD 150,000 per year"),
        ({"arrangements": ["remote"]}, {"location": "Portland, OR"}, {"arrangement": "onsite", "places": ("Portland, OR",)},
         "Onsite, but the profile wants only remote"),
        ({}, {"location": "Remote (Brazil)"}, {"places": ("Remote (Brazil)",)},
         "Remote, but in another country"),
        ({}, {"location": "Berlin"}, {"arrangement": "hybrid", "places": ("Berlin",)},
         "Hybrid, but not in Portland, OR"),
    ],
)  # fmt: skip
def test_a_dealbreaker_is_named_and_never_a_high_priority(
    wants: dict[str, Any], offer: dict[str, Any], more: dict[str, Any], reason: str
) -> None:
    skills = [{"name": name, "rank": "primary"} for name in MANY]
    years = RequiredYears(5, None, "5 years")
    result = judge(
        *MANY, wants={"skills": skills} | wants, offer=offer, utc_offsets=(-8.0,), years=years,
        likeness=1, **more,
    )  # fmt: skip
    reasons = match_reasons.find_reasons(result.items, result.skill_gaps)
    assert reasons.dealbreakers == (reason,)
    assert reason in (reasons.reason_against or "")
    assert (result.match_score, result.application_priority) == (95, "Low")


def test_a_posting_that_does_not_say_has_unknown_parts_and_no_dealbreaker() -> None:
    result = judge(
        wants={"salary_floor": {"amount": 150_000}, "company_size": "large"},
        offer={"location": None, "arrangement": None},
        arrangement=None,
        seniority=None,
    )
    unknown = {item.name: item.why for item in result.items if item.state == "unknown"}
    assert unknown == {
        "skills": "Skills not stated; the posting names few skills, so the title counts more",
        "seniority": "Seniority not stated",
        "experience": "Years of experience not stated",
        "salary": "Pay not stated",
        "arrangement": "The posting mentions neither remote work nor a location",
        "meaning": "The posting and the profile were not compared",
        "timezone": "The team's time zone is not stated",
        "size": "The company's size is not known",
    }
    assert not match_reasons.find_reasons(result.items, ()).dealbreakers


@pytest.mark.parametrize(
    ("likeness", "expected"), [(None, 7), (0.0, 0), (0.44, 4), (0.46, 5), (1.0, 10)]
)
def test_meaning_gives_points_by_similarity(likeness: float | None, expected: int) -> None:
    assert weighed_points("meaning", likeness=likeness) == expected


@pytest.mark.parametrize(
    ("zones", "expected"),
    [((-8.0,), 5), ((-7.0,), 5), ((-6.0,), 2), ((-5.0,), 0), ((-8.0, 1.0), 5), ((0.0,), -13),
     ((1.0,), -15), ((5.5,), -15), ((9.0,), -10), ((), 4)],
)  # fmt: skip
def test_the_time_zone_changes_a_score_by_hours_apart(
    zones: tuple[float, ...], expected: int
) -> None:
    assert points("timezone", utc_offsets=zones) == expected


def test_hours_do_not_change_with_the_season_and_are_counted_around_the_globe() -> None:
    assert (
        working_hours.standard_offset("America/Los_Angeles"),
        working_hours.standard_offset("Australia/Sydney"),
    ) == (-8, 10)
    assert working_hours.hours_apart("Pacific/Auckland", [-10.0]) == 2


def test_larger_time_differences_never_give_more_points() -> None:
    for span in (Span(least=-15, most=5), Span(least=-3, most=0), Span(least=2, most=4)):
        values = [working_hours.points_for_hours(at / 2, span) for at in range(25)]
        assert values == sorted(values, reverse=True)
        assert (values[0], values[-1]) == (span.most, span.least)


@pytest.mark.parametrize(
    ("size", "preference", "expected"),
    [("large", "large", 10), ("small", "large", -5), ("medium", "large", 0), ("small", "small", 10),
     (None, "large", 7), ("large", None, 0), ("small", None, 0)],
)  # fmt: skip
def test_the_company_size_changes_a_score(size: Any, preference: str | None, expected: int) -> None:
    assert (
        points("size", wants={"company_size": preference}, employer=Employer(size=size)) == expected
    )


def test_points_for_a_small_company_stay_within_the_maximum_for_its_size() -> None:
    wants = {"company_size": "large", "rules": {"size": {"preferred": 5, "small": 20}}}
    assert points("size", wants=wants, employer=Employer(size="small")) == 5


def test_an_office_in_the_home_city_lowers_the_threshold() -> None:
    assert judge().threshold == 80
    office = judge(employer=Employer(offices=("Austin, TX", "Portland, Oregon")))
    assert (office.threshold, office.threshold_why) == (
        65,
        "the company has an office in Portland, OR",
    )
    assert judge(employer=Employer(offices=("Portland, ME",))).threshold == 80
    here = judge(offer={"location": "Portland, OR"})
    assert (here.threshold, here.threshold_why) == (65, "the job is in Portland, OR")
    assert judge(places=("Portland, OR",)).threshold == 65


@pytest.mark.parametrize(
    ("points", "expected"),
    [(100, "High"), (85, "High"), (84, "Medium"), (70, "Medium"), (69, "Low")],
)
def test_the_priority_follows_the_score(points: int, expected: str) -> None:
    assert local_score.priority_of(profile(), [ScoreItem("all", points, 100, "so")]) == expected


def test_a_score_includes_resume_suggestions() -> None:
    assert judge("Docker").resume_intake.prioritized_skills[0] == "Docker"

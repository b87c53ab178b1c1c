"""Properties of filter and score that hold when a generated profile or posting changes."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.posting import Posting
from jobmill.matching import posting_facts as fact
from jobmill.matching.posting_facts import PostingFacts
from jobmill.matching.posting_facts.experience_years import RequiredYears
from jobmill.matching.posting_facts.required_skills import PostingSkill
from jobmill.matching.profile import Profile, Skill
from jobmill.matching.rules import filter, local_score
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdict import FilterResult, MatchResult
from tests.matching.cases import facts, posting, profile, with_skill, without_skill

NAMES = (
    "Python", "Django", "Go", "Rust", "Java", "JavaScript", "TypeScript", "React", "PostgreSQL",
    "MySQL", "Redis", "Kafka", "AWS", "Google Cloud", "Docker", "Kubernetes", "Terraform", "C++",
    ".NET", "Scrum", "CI/CD", "SQL", "System design",
)  # fmt: skip
TITLES = (
    "Senior Software Engineer", "Backend Engineer, Python", "Rust or Go Developer",
    "Staff Engineer (Kubernetes)", "Data Analyst", "Engineering Manager", "Java/JavaScript Engineer",
)  # fmt: skip
LINES = ("Experience with {}", "{} or similar", "Any of: {}", "Must know {}")
RANKS = ("primary", "strong", "familiar")
MANY = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@dataclass(frozen=True)
class ProfileAndPosting:
    profile: Profile
    posting: Posting
    facts: PostingFacts
    employer: Employer
    likeness: float | None

    def score(self, **changed: Any) -> MatchResult:
        case = replace(self, **changed)
        return local_score.score_posting(
            case.profile, case.posting, case.facts, case.employer, case.likeness
        )

    def filter(self, **changed: Any) -> FilterResult:
        case = replace(self, **changed)
        return filter.apply_rules(case.profile, case.posting, case.facts, PLATFORM_RULES)


@st.composite
def cases(draw: st.DrawFn) -> ProfileAndPosting:
    own_skills = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=8))
    requested_names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=10))
    lines = [
        draw(st.sampled_from(LINES)).format(draw(st.sampled_from([", ", " or ", "/"])).join(part))
        for part in (requested_names[:4], requested_names[4:7], requested_names[7:])
    ]
    importance = st.sampled_from(["required", "required", "preferred", "mentioned"])
    requirements = [
        PostingSkill(name, draw(importance), next(line for line in lines if name in line))  # type: ignore[arg-type]
        for name in requested_names
    ]
    return ProfileAndPosting(
        profile(
            skills=[{"name": name, "rank": draw(st.sampled_from(RANKS))} for name in own_skills],
            company_size=draw(st.sampled_from([None, "large"])),
            stop_lists={"keywords": ["crypto", "java"], "companies": ["Brine"]},
        ),
        posting(draw(st.sampled_from(TITLES)), description="\n".join(lines * 2)),
        facts(
            *requirements,
            years=draw(st.sampled_from([None, RequiredYears(5, None, "5 years"), RequiredYears(12, None, "12")])),
            seniority=draw(st.sampled_from([None, "junior", "senior", "staff"])),
            utc_offsets=draw(st.sampled_from([(), (-8.0,), (-5.0, 0.0), (5.5,)])),
            arrangement=draw(st.sampled_from([None, "remote", "hybrid"])),
        ),
        Employer(size=draw(st.sampled_from([None, "large", "small"]))),
        draw(st.sampled_from([None, 0.1, 0.37, 0.9])),
    )  # fmt: skip


@MANY
@given(cases(), st.sampled_from(NAMES), st.sampled_from(RANKS))
def test_adding_a_skill_never_lowers_a_score_or_adds_a_strike(
    case: ProfileAndPosting, name: str, rank: str
) -> None:
    if name not in {skill.name for skill in case.profile.skills}:
        more = with_skill(case.profile, name, rank)
        assert case.score(profile=more).match_score >= case.score().match_score
        assert case.filter(profile=more).total_strikes <= case.filter().total_strikes


@pytest.mark.parametrize("rank", RANKS)
def test_naming_a_skill_that_was_only_implied_never_lowers_a_score(rank: str) -> None:
    facts_read = facts("Python", "PostgreSQL")
    case = ProfileAndPosting(
        profile(skills=[{"name": "Django", "rank": rank}]), posting(), facts_read, Employer(), None
    )
    assert (
        case.score(profile=with_skill(case.profile, "Python")).match_score
        >= case.score().match_score
    )


@MANY
@given(cases())
def test_removing_a_skill_never_raises_a_score_or_removes_a_strike(case: ProfileAndPosting) -> None:
    for skill in case.profile.skills:
        fewer = without_skill(case.profile, skill.name)
        assert case.score(profile=fewer).match_score <= case.score().match_score
        if fewer.skills:
            assert case.filter(profile=fewer).total_strikes >= case.filter().total_strikes


@MANY
@given(cases())
def test_a_better_rank_never_lowers_a_score(case: ProfileAndPosting) -> None:
    first, *rest = case.profile.skills
    scores = [
        case.score(
            profile=case.profile.model_copy(
                update={"skills": (Skill.model_validate({"name": first.name, "rank": rank}), *rest)}
            )
        ).match_score
        for rank in ("familiar", "strong", "primary")
    ]
    assert scores == sorted(scores)


@MANY
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_lists_changes_no_number(case: ProfileAndPosting, dice: random.Random) -> None:
    def mixed(of: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(dice.sample(of, len(of)))

    lists = case.profile.stop_lists
    other = case.profile.model_copy(
        update={
            "skills": mixed(case.profile.skills),
            "titles": mixed(case.profile.titles),
            "seniority": mixed(case.profile.seniority),
            "arrangements": mixed(case.profile.arrangements),
            "stop_lists": lists.model_copy(update={"keywords": mixed(lists.keywords)}),
        }
    )
    answer = replace(
        case.facts, skills=mixed(case.facts.skills), utc_offsets=mixed(case.facts.utc_offsets)
    )
    assert case.score(profile=other, facts=answer).match_score == case.score().match_score
    before, after = case.filter(), case.filter(profile=other, facts=answer)
    assert (after.total_strikes, after.passed) == (before.total_strikes, before.passed)


@MANY
@given(cases())
def test_the_same_input_gives_the_same_result_and_the_sum_is_the_score(
    case: ProfileAndPosting,
) -> None:
    result = case.score()
    assert result == case.score()
    assert case.filter() == case.filter()
    assert 0 <= result.match_score <= 100
    assert result.match_score == sum(item.points for item in result.items)
    strikes = case.filter()
    assert strikes.total_strikes == sum(strike.strikes for strike in strikes.strikes)
    assert strikes.passed == (not strikes.hard_rejections and strikes.total_strikes < 5)


PEOPLE = (
    "Dana Pell",
    "Mohammed Al-Farsi",
    "Nguyen Thi Lan",
    "Sir John Smith III",
    "O'Brien, Siobhan",
)
COMPANIES = (
    "Wells & Co",
    "Google",
    "Kubernetes Kitchen",
    "Java House",
    "Portland Pumps",
    "Senior Care Ltd",
)


@MANY
@given(cases(), st.sampled_from(PEOPLE), st.sampled_from(COMPANIES))
def test_names_of_people_and_companies_do_not_change_a_score(
    case: ProfileAndPosting, name: str, company: str
) -> None:
    person = case.profile.person.model_copy(update={"name": name})
    other = case.profile.model_copy(update={"person": person})
    offer = replace(case.posting, company=company)
    employer = replace(case.employer, name=company)
    score = case.score(profile=other, posting=offer, employer=employer)
    assert score.items == case.score().items
    assert case.filter(profile=other, posting=offer) == case.filter()


def test_words_for_gender_and_nationality_do_not_change_a_score() -> None:
    text = "You know Python and Kafka.\nFive years of experience.\nRemote."
    own_skills = profile(summary="Backend engineer.", highlights=["Cut downtime by 40%"])
    plain = posting("Senior Software Engineer", description=text)

    def judge(person: Profile, offer: Posting) -> tuple[int, int]:
        facts_read = fact.read_facts(offer)
        result = local_score.score_posting(person, offer, facts_read, Employer(), 0.4)
        return result.match_score, filter.apply_rules(
            person, offer, facts_read, PLATFORM_RULES
        ).total_strikes

    before = judge(own_skills, plain)
    for words in ("She is a Nigerian woman.", "He is a French man.", "Mother of two, they/them."):
        person = own_skills.model_copy(update={"summary": f"{own_skills.summary} {words}"})
        assert judge(person, plain) == before
    for title in ("Senior Software Engineer (m/f/d)", "Senior Software Engineer (all genders)"):
        assert judge(own_skills, replace(plain, title=title)) == before
    for words in ("We are a German company.", "Women are encouraged to apply.", "He or she codes."):
        assert judge(own_skills, replace(plain, description=f"{text}\n{words}")) == before

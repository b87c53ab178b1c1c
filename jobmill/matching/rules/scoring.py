"""The local score: what fits a profile, item by item; the sum is the score."""

from __future__ import annotations

from typing import Final

from jobmill.catalog.posting import Period, Posting, Salary
from jobmill.matching.profile import Profile, Rank, SalaryFloor
from jobmill.matching.rules.filter import format_years
from jobmill.matching.verdict import SCORE_CAP, MatchResult, Priority, ScoreItem
from jobmill.places import parsed_place

from ..posting_facts import PostingFacts
from . import (
    application_hints,
    location_fit,
    seniority_distance,
    skill_fit,
    title_fit,
    working_hours,
)
from .company_facts import Employer
from .skill_fit import SkillComparison

CREDIT: Final[dict[Rank, float]] = {"primary": 1.0, "strong": 0.95, "familiar": 0.75}
"""What a skill of each rank is worth where it is asked for."""
IMPLIED_CREDIT: Final = 0.7
"""Of it, where another skill only implies it."""
UNNAMED_WEIGHT: Final = 3.0
"""Skills of so much weight stand for what a posting asks and does not name. How much of it is there
is a guess: the title tells."""
UNNAMED_SHARE: Final = (0.1, 0.6)
FEW_SKILLS: Final = 4
"""Below so many skills the guess weighs enough to be told."""
RELATED_TITLE: Final = 0.5
"""Titles that are this near are about the same kind of work. The farther another one is, the more it
asks that is not named, and the less do years count: they were spent on other things."""
PRACTICE_WEIGHT: Final = 0.5
MENTIONED_WEIGHT: Final = 0.5
MENTIONED_CAP: Final = 2.0
UNKNOWN_SHARE: Final = 0.7
"""Of an item's points where one of the two does not say: not knowing is no fault."""
PERIODS_PER_YEAR: Final[dict[Period, float]] = {
    "hour": 2_080,
    "day": 260,
    "week": 52,
    "month": 12,
    "year": 1,
}


def score_posting(
    profile: Profile,
    posting: Posting,
    facts: PostingFacts,
    employer: Employer,
    likeness: float | None,
) -> MatchResult:
    """The same for the same input; who offers, and who asks, moves nothing."""
    compared = skill_fit.compare_skills(profile, posting, facts)
    near = title_fit.find_closest(posting.title, profile.titles)[0] if profile.titles else 1.0
    items = cap_items(
        _skills(profile, compared, near),
        _title(profile, posting),
        _seniority(profile, posting, facts),
        _experience(profile, facts, near),
        _salary(profile, posting.salary),
        _arrangement(profile, posting, facts),
        _meaning(profile, likeness),
        _timezone(profile, facts),
        _size(profile, employer),
    )
    score = sum(item.points for item in items)
    threshold, why = _threshold(profile, posting, facts, employer)
    return MatchResult(
        match_score=score,
        application_priority=priority_of(profile, score),
        matched_skills=tuple(
            one.name for one in compared if one.profile_skill and not one.is_implied
        ),
        skill_gaps=tuple(one.name for one in compared if one.is_missing and one.weight),
        items=items,
        threshold=threshold,
        threshold_why=why,
        resume_intake=application_hints.suggest_resume_content(profile, posting, facts),
    )


def priority_of(profile: Profile, score: int) -> Priority:
    rules = profile.rules.priorities
    return "High" if score >= rules.high else "Medium" if score >= rules.medium else "Low"


def cap_items(*items: ScoreItem) -> tuple[ScoreItem, ...]:
    """The items, and one more where their sum would leave 0 to 100."""
    total = sum(item.points for item in items)
    over = min(max(total, 0), 100) - total
    if not over:
        return items
    end = "ends at 100" if over < 0 else "begins at 0"
    return (*items, ScoreItem(SCORE_CAP, over, max(over, 0), f"A score {end}"))


def _item(name: str, most: int, share: float, why: str, *words: str) -> ScoreItem:
    points = int(most * min(max(share, 0.0), 1.0) + 0.5)
    return ScoreItem(name, points, most, why, tuple(word for word in words if word))


def _skills(profile: Profile, compared: tuple[SkillComparison, ...], near: float) -> ScoreItem:
    most = profile.rules.weights.skills
    if not profile.skills:
        return _item("skills", most, 0, "The profile names no skills")
    asked = [one for one in compared if one.weight and not one.is_covered]
    words = tuple(dict.fromkeys(one.requirement.words for one in asked if one.profile_skill))[:5]
    share = _skill_share(compared, near)
    also = [one for one in compared if one.profile_skill and not one.weight]
    return _item("skills", most, share, _skills_why(asked, also), *words)


def _skill_share(compared: tuple[SkillComparison, ...], near: float) -> float:
    """How much of the weight is there. Of a choice the best counts, once. What is only mentioned, or
    known only because the person has it, can help and not harm."""
    weights: dict[str, float] = {}
    had: dict[str, float] = {}
    extra = known = 0.0
    for one in compared:
        if one.is_custom and one.weight:
            known += one.weight * _credit(one)
        elif one.weight:
            weight = PRACTICE_WEIGHT if one.is_practice else one.weight
            weights[one.choice] = max(weights.get(one.choice, 0), weight)
            had[one.choice] = max(had.get(one.choice, 0), _credit(one))
        else:
            extra += MENTIONED_WEIGHT * _credit(one)
    extra = min(extra, MENTIONED_CAP) + known
    own = sum(had[choice] * weight for choice, weight in weights.items())
    guess = UNNAMED_SHARE[0] + (UNNAMED_SHARE[1] - UNNAMED_SHARE[0]) * near
    unsure = UNNAMED_WEIGHT * (2 - min(near / RELATED_TITLE, 1))
    return (own + extra + unsure * guess) / (sum(weights.values()) + extra + unsure)


def _credit(one: SkillComparison) -> float:
    if one.profile_skill is None:
        return 0.0
    return CREDIT[one.profile_skill.rank] * (IMPLIED_CREDIT if one.is_implied else 1)


def _skills_why(asked: list[SkillComparison], also: list[SkillComparison]) -> str:
    had = [_format_skill(one) for one in asked if one.profile_skill]
    missing = [one.name for one in asked if not one.profile_skill]
    parts = [
        f"{len(had)} of {len(asked)} that are asked for"
        if asked
        else "No skill is asked for by name"
    ]
    if had:
        parts[0] += f": {', '.join(had)}"
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if also:
        parts.append(f"mentioned: {', '.join(map(_format_skill, also))}")
    if len(asked) < FEW_SKILLS:
        parts.append("so few are named that the title tells the rest")
    return "; ".join(parts)


def _format_skill(one: SkillComparison) -> str:
    """With the profile's own name for it, where that is another."""
    own = one.profile_skill.name if one.profile_skill else one.name
    if one.is_implied:
        return f"{one.name} (implied by {own})"
    return one.name if own.casefold() == one.name.casefold() else f"{one.name} ({own})"


def _title(profile: Profile, posting: Posting) -> ScoreItem:
    most = profile.rules.weights.title
    if not profile.titles:
        return _item("title", most, 1, "Any title is wanted")
    share, wanted = title_fit.find_closest(posting.title, profile.titles)
    said = "Like" if share >= 0.8 else "Near" if share >= 0.4 else "Far from"
    return _item("title", most, share, f"{said} {wanted}", posting.title)


def _seniority(profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    most = profile.rules.weights.seniority
    level = facts.seniority or posting.seniority
    if not profile.seniority:
        return _item("seniority", most, 1, "Any seniority is wanted")
    if not level:
        return _item("seniority", most, UNKNOWN_SHARE, "The posting does not say")
    steps = seniority_distance.steps_from(level, profile.seniority)
    share = {0: 1.0, 1: 0.6, 2: 0.2}.get(abs(steps), 0.0)
    away = f", {abs(steps)} {'above' if steps > 0 else 'below'} what is wanted" if steps else ""
    return _item("seniority", most, share, f"{level}{away}", facts.seniority_words)


def _experience(profile: Profile, facts: PostingFacts, near: float) -> ScoreItem:
    most, own, asked = profile.rules.weights.experience, profile.experience_years, facts.years
    if asked is None:
        return _item("experience", most, UNKNOWN_SHARE, "The posting does not say how many years")
    if own is None:
        return _item(
            "experience",
            most,
            UNKNOWN_SHARE,
            "The profile does not say how many years",
            asked.words,
        )
    lacking = max(0.0, asked.least - own)
    beyond = max(0.0, own - asked.most - 4) if asked.most is not None else 0.0
    why = f"{format_years(asked)} asked for, {own:g} there{'' if near >= RELATED_TITLE else ', of other work'}"
    share = (1 - lacking / 5 - beyond / 20) * min(near / RELATED_TITLE, 1)
    return _item("experience", most, share, why, asked.words)


def _salary(profile: Profile, salary: Salary | None) -> ScoreItem:
    most, floor = profile.rules.weights.salary, profile.salary_floor
    if floor is None:
        return _item("salary", most, 1, "Any salary is wanted")
    top = (salary.max or salary.min) if salary else None
    if salary is None or not top:
        return _item("salary", most, UNKNOWN_SHARE, "The posting does not say")
    words = _format_salary(salary)
    if not salary.period or salary.currency != floor.currency:
        return _item(
            "salary", most, UNKNOWN_SHARE, f"Cannot be compared with {_format_floor(floor)}", words
        )
    share = top * PERIODS_PER_YEAR[salary.period] / (floor.amount * PERIODS_PER_YEAR[floor.period])
    said = f"reaches {_format_floor(floor)}"
    if share < 1:
        said = f"is below {_format_floor(floor)}, which costs points and filters nothing"
    if salary.known == "predicted":
        return _item(
            "salary", most, max(UNKNOWN_SHARE, min(share, 1)), f"An estimate {said}", words
        )
    return _item("salary", most, 1 if share >= 1 else 1 - (1 - share) * 4, f"It {said}", words)


def _format_salary(salary: Salary) -> str:
    ends = dict.fromkeys(f"{end:,.0f}" for end in (salary.min, salary.max) if end is not None)
    period = f"a {salary.period}" if salary.period else ""
    return " ".join(word for word in (salary.currency, " to ".join(ends), period) if word)


def _format_floor(floor: SalaryFloor) -> str:
    return f"the {floor.currency} {floor.amount:,.0f} a {floor.period} hoped for"


def _arrangement(profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    place = location_fit.judge_location(profile, posting, facts)
    share = {"suits": 1.0, "doubtful": 0.5}.get(place.fit, 0.0)
    return _item("arrangement", profile.rules.weights.arrangement, share, place.reason, place.words)


def _meaning(profile: Profile, likeness: float | None) -> ScoreItem:
    most = profile.rules.weights.meaning
    if likeness is None:
        return _item("meaning", most, UNKNOWN_SHARE, "The texts were not compared")
    return _item("meaning", most, likeness, f"The texts are alike by {likeness:.2f} of 1")


def _timezone(profile: Profile, facts: PostingFacts) -> ScoreItem:
    span = profile.rules.timezone
    if not facts.utc_offsets:
        return ScoreItem("timezone", 0, span.most, "The team's hours are not known")
    apart = working_hours.hours_apart(profile.person.timezone, facts.utc_offsets)
    why = f"The team's hours are {apart:g} h from {profile.person.timezone}"
    if apart == 0:
        why = f"The team's hours are those of {profile.person.timezone}"
    words = (facts.zone_words,) if facts.zone_words else ()
    return ScoreItem("timezone", working_hours.points_for_hours(apart, span), span.most, why, words)


def _size(profile: Profile, employer: Employer) -> ScoreItem:
    rules, wanted = profile.rules.size, profile.company_size
    most = max(rules.preferred, 0)
    if wanted is None:
        return ScoreItem("size", 0, most, "Any size is wanted")
    if employer.size is None:
        return ScoreItem("size", 0, most, "The company's size is not known")
    points = rules.preferred if employer.size == wanted else 0
    if employer.size == "small" != wanted:
        points = rules.small
    return ScoreItem("size", points, most, f"A {employer.size} company, {wanted} is preferred")


def _threshold(
    profile: Profile, posting: Posting, facts: PostingFacts, employer: Employer
) -> tuple[int, str]:
    rules, city = profile.rules.match, profile.person.home_city
    if parsed_place.is_any_in(employer.offices, [city]):
        return rules.with_home_city, f"The company has an office in {city}"
    if parsed_place.is_any_in((*facts.places, *posting.locations, posting.location), [city]):
        return rules.with_home_city, f"It is in {city}"
    return rules.score, "The least score of a match"

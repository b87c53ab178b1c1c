"""Compute the local score of a posting: the sum of explained items whose maximums add up to 100."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from jobmill.catalog.posting import Period, Posting, Salary
from jobmill.matching.profile import Profile, Rank, SalaryFloor
from jobmill.matching.rules.filter import format_years
from jobmill.matching.verdict import ItemState, MatchResult, Priority, ScoreItem
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

RANK_WEIGHT: Final[dict[Rank, float]] = {"primary": 1.0, "strong": 0.95, "familiar": 0.75}
"""How much a skill of the profile makes up for missing ones, by its rank."""
IMPLIED_CREDIT: Final = 0.7
"""Factor for a skill that another skill only implies."""
UNNAMED_WEIGHT: Final = 3.0
"""Weight that stands for required skills that the posting does not name. The similarity of the
titles decides how many of them the profile is assumed to have."""
UNNAMED_SHARE: Final = (0.1, 0.6)
FEW_SKILLS: Final = 3
"""Fewer custom skills than this do not tell what else the posting requires."""
RELATED_TITLE: Final = 0.5
"""From this similarity on, titles describe the same kind of work. Below it, more skills are assumed
to be unnamed, and years of experience count less."""
PRACTICE_WEIGHT: Final = 0.5
MENTIONED_WEIGHT: Final = 0.5
MENTIONED_CAP: Final = 2.0
UNKNOWN_SHARE: Final = 0.7
"""Share of an item's points if the posting or the profile does not say."""
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
    similarity: float | None,
) -> MatchResult:
    """Score a posting. The result is deterministic and does not depend on the names of the company
    or the person."""
    comparisons = skill_fit.compare_skills(profile, posting, facts)
    title_similarity = (
        title_fit.find_closest(posting.title, profile.titles)[0] if profile.titles else 1.0
    )
    most = max_points(profile)
    items = keep_above_zero(
        (
            _skills(most["skills"], profile, comparisons, title_similarity),
            _title(most["title"], profile, posting),
            _seniority(most["seniority"], profile, posting, facts),
            _experience(most["experience"], profile, facts, title_similarity),
            _salary(most["salary"], profile.salary_floor, posting.salary),
            _arrangement(most["arrangement"], profile, posting, facts),
            _meaning(most["meaning"], similarity),
            _timezone(most["timezone"], profile, facts),
            _size(most["size"], profile, employer),
        )
    )
    score = sum(item.points for item in items)
    threshold, why = _threshold(profile, posting, facts, employer)
    return MatchResult(
        match_score=score,
        application_priority=priority_of(profile, items),
        matched_skills=tuple(
            skill.name for skill in comparisons if skill.profile_skill and not skill.is_implied
        ),
        skill_gaps=tuple(skill.name for skill in comparisons if skill.is_missing and skill.weight),
        items=items,
        threshold=threshold,
        threshold_why=why,
        resume_intake=application_hints.suggest_resume_content(profile, posting, facts),
    )


def max_points(profile: Profile) -> dict[str, int]:
    """The maximum points of each part. Time zone and size keep their own; the weights share the
    rest, so that all maximums add up to 100."""
    rules = profile.rules
    extra = {
        "timezone": max(rules.timezone.most, 0),
        "size": max(rules.size.preferred, 0) if profile.company_size else 0,
    }
    left = 100 - sum(extra.values())
    weights: dict[str, int] = dict(rules.weights)
    shares = {name: weight * left // 100 for name, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda name: -(weights[name] * left % 100))
    for name in by_remainder[: left - sum(shares.values())]:
        shares[name] += 1
    return shares | extra


def priority_of(profile: Profile, items: Iterable[ScoreItem]) -> Priority:
    """The priority by the score; Low with a dealbreaker, whatever the score."""
    items, rules = tuple(items), profile.rules.priorities
    score = sum(item.points for item in items)
    if score < rules.medium or any(item.state == "excluded" for item in items):
        return "Low"
    return "High" if score >= rules.high else "Medium"


def keep_above_zero(items: Iterable[ScoreItem]) -> tuple[ScoreItem, ...]:
    """Limit penalties to the points of the other items."""
    items = tuple(items)
    left = sum(max(item.points, 0) for item in items)
    limited: list[ScoreItem] = []
    for item in items:
        points = max(item.points, -left)
        left += min(points, 0)
        limited.append(replace(item, points=points))
    return tuple(limited)


def _item(
    name: str, most: int, share: float, why: str, *words: str, state: ItemState = "judged"
) -> ScoreItem:
    points = int(most * min(max(share, 0.0), 1.0) + 0.5)
    return ScoreItem(name, points, most, why, tuple(word for word in words if word), state)


def _open(name: str, most: int, why: str) -> ScoreItem:
    """All points, because the profile accepts anything."""
    return _item(name, most, 1, why, state="open")


def _unknown(name: str, most: int, why: str, *words: str) -> ScoreItem:
    return _item(name, most, UNKNOWN_SHARE, why, *words, state="unknown")


def _count(number: float, noun: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def _skills(
    most: int,
    profile: Profile,
    comparisons: tuple[SkillComparison, ...],
    title_similarity: float,
) -> ScoreItem:
    if not profile.skills:
        return _item("skills", most, 0, "The profile lists no skills")
    requested = [skill for skill in comparisons if skill.weight and not skill.is_covered]
    words = tuple(
        dict.fromkeys(skill.requirement.words for skill in requested if skill.profile_skill)
    )[:5]
    share = _skill_share(comparisons, title_similarity)
    mentioned = [skill for skill in comparisons if skill.profile_skill and not skill.weight]
    state: ItemState = "judged" if requested else "unknown"
    why = _skills_why(requested, mentioned, share, title_similarity)
    return _item("skills", most, share, why, *words, state=state)


def _skill_share(comparisons: tuple[SkillComparison, ...], title_similarity: float) -> float:
    """The share of skill weight that the profile covers: 1 if it lists every requested skill. Of
    alternatives only the best counts. Skills that are only mentioned can raise the share but not
    lower it."""
    weights = _weigh_choices(comparisons)
    credits: dict[str, float] = {}
    for skill in comparisons:
        if skill.weight:
            credit = weights[skill.choice] * _credit(skill)
            credits[skill.choice] = max(credits.get(skill.choice, 0), credit)
    listed = {skill.choice for skill in comparisons if skill.profile_skill and not skill.is_implied}
    mentioned = sum(_credit(skill) for skill in comparisons if not skill.weight)
    extra = min(MENTIONED_WEIGHT * mentioned, MENTIONED_CAP)
    unnamed = UNNAMED_WEIGHT * (
        _missing_share(comparisons, weights) + 2 * (1 - min(title_similarity / RELATED_TITLE, 1))
    )
    unnamed_share = UNNAMED_SHARE[0] + (UNNAMED_SHARE[1] - UNNAMED_SHARE[0]) * title_similarity
    covered = sum(credits.values()) + extra + unnamed * unnamed_share
    # A listed skill weighs as much as its rank: it never lowers the share.
    total = sum(credits[choice] if choice in listed else weights[choice] for choice in weights)
    return covered / (total + extra + unnamed)


def _weigh_choices(comparisons: Iterable[SkillComparison]) -> dict[str, float]:
    """The weight of each requested skill; alternatives count as one."""
    weights: dict[str, float] = {}
    for skill in comparisons:
        if skill.weight:
            weight = PRACTICE_WEIGHT if skill.is_practice else skill.weight
            weights[skill.choice] = max(weights.get(skill.choice, 0), weight)
    return weights


def _missing_share(comparisons: tuple[SkillComparison, ...], weights: Mapping[str, float]) -> float:
    """The share of the requested weight that is missing; without skills of our list, how little the
    custom skills tell about what else is requested."""
    requested = [skill for skill in comparisons if skill.weight]
    if all(skill.is_custom for skill in requested):
        return max(0.0, 1 - len(requested) / FEW_SKILLS)
    choices = {skill.choice for skill in requested if skill.profile_skill}
    missing = sum(weight for choice, weight in weights.items() if choice not in choices)
    return missing / sum(weights.values())


def _credit(skill: SkillComparison) -> float:
    if skill.profile_skill is None:
        return 0.0
    return RANK_WEIGHT[skill.profile_skill.rank] * (IMPLIED_CREDIT if skill.is_implied else 1)


def _skills_why(
    requested: list[SkillComparison],
    mentioned: list[SkillComparison],
    share: float,
    title_similarity: float,
) -> str:
    had = [_format_skill(skill) for skill in requested if skill.profile_skill]
    missing = [skill.name for skill in requested if not skill.profile_skill]
    parts = [
        f"{len(had)} of {_count(len(requested), 'requested skill')}"
        if requested
        else "Skills not stated"
    ]
    if had:
        parts[0] += f": {', '.join(had)}"
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if mentioned:
        parts.append(f"mentioned: {', '.join(map(_format_skill, mentioned))}")
    if title_similarity < RELATED_TITLE:
        parts.append("the title describes other work, which may need other skills")
    elif share < 1 and len(requested) < FEW_SKILLS:
        parts.append("the posting names few skills, so the title counts more")
    return "; ".join(parts)


def _format_skill(skill: SkillComparison) -> str:
    """Format a skill with the profile's name for it, if that differs."""
    profile_name = skill.profile_skill.name if skill.profile_skill else skill.name
    if skill.is_implied:
        return f"{skill.name} (implied by {profile_name})"
    return (
        skill.name
        if profile_name.casefold() == skill.name.casefold()
        else f"{skill.name} ({profile_name})"
    )


def _title(most: int, profile: Profile, posting: Posting) -> ScoreItem:
    if not profile.titles:
        return _open("title", most, "The profile accepts any title")
    share, closest = title_fit.find_closest(posting.title, profile.titles)
    relation = "Similar to" if share >= 0.8 else "Related to" if share >= 0.4 else "Unlike"
    return _item("title", most, share, f"{relation} {closest}", posting.title)


def _seniority(most: int, profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    level = facts.seniority or posting.seniority
    if not profile.seniority:
        return _open("seniority", most, "The profile accepts any seniority")
    if not level:
        return _unknown("seniority", most, "Seniority not stated")
    steps = seniority_distance.steps_from(level, profile.seniority)
    share = {0: 1.0, 1: 0.6, 2: 0.2}.get(abs(steps), 0.0)
    why = level.capitalize()
    if steps:
        relation = "above" if steps > 0 else "below"
        why += f", {_count(abs(steps), 'level')} {relation} the wanted seniority"
    return _item("seniority", most, share, why, facts.seniority_words)


def _experience(
    most: int, profile: Profile, facts: PostingFacts, title_similarity: float
) -> ScoreItem:
    years, required = profile.experience_years, facts.years
    if required is None:
        return _unknown("experience", most, "Years of experience not stated")
    if years is None:
        why = "The profile states no years of experience"
        return _unknown("experience", most, why, required.words)
    lacking = max(0.0, required.least - years)
    beyond = max(0.0, years - required.most - 4) if required.most is not None else 0.0
    why = f"Asks for {format_years(required)}, the profile has {years:g}"
    if title_similarity < RELATED_TITLE:
        why += " in a different kind of work"
    share = (1 - lacking / 5 - beyond / 20) * min(title_similarity / RELATED_TITLE, 1)
    return _item("experience", most, share, why, required.words)


def _salary(most: int, floor: SalaryFloor | None, salary: Salary | None) -> ScoreItem:
    if floor is None:
        return _open("salary", most, "The profile accepts any salary")
    top = (salary.max or salary.min) if salary else None
    if salary is None or not top:
        return _unknown("salary", most, "Pay not stated")
    words = _format_salary(salary)
    if not salary.period or salary.currency != floor.currency:
        return _unknown("salary", most, f"Cannot be compared with {_format_floor(floor)}", words)
    share = top * PERIODS_PER_YEAR[salary.period] / (floor.amount * PERIODS_PER_YEAR[floor.period])
    is_estimate = salary.known == "predicted"
    pay = "Estimated pay" if is_estimate else "Pay"
    if share >= 1:
        return _item("salary", most, 1, f"{pay} at or above {_format_floor(floor)}", words)
    why = f"{pay} below {_format_floor(floor)}"
    if is_estimate:
        return _unknown("salary", most, why, words)
    return _item("salary", most, 0, why, words, state="excluded")


def _format_salary(salary: Salary) -> str:
    ends = dict.fromkeys(f"{end:,.0f}" for end in (salary.min, salary.max) if end is not None)
    period = f"per {salary.period}" if salary.period else ""
    return " ".join(word for word in (salary.currency, " to ".join(ends), period) if word)


def _format_floor(floor: SalaryFloor) -> str:
    return f"the profile's target of {floor.currency} {floor.amount:,.0f} per {floor.period}"


def _arrangement(most: int, profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    place = location_fit.judge_location(profile, posting, facts)
    if place.is_unknown:
        return _unknown("arrangement", most, place.reason, place.words)
    if place.fit == "suits":
        return _item("arrangement", most, 1, place.reason, place.words)
    return _item("arrangement", most, 0, place.reason, place.words, state="excluded")


def _meaning(most: int, similarity: float | None) -> ScoreItem:
    if similarity is None:
        return _unknown("meaning", most, "The posting and the profile were not compared")
    return _item("meaning", most, similarity, f"Text similarity: {similarity:.0%}")


def _timezone(most: int, profile: Profile, facts: PostingFacts) -> ScoreItem:
    if not facts.utc_offsets:
        return _unknown("timezone", most, "The team's time zone is not stated")
    apart = working_hours.hours_apart(profile.person.timezone, facts.utc_offsets)
    why = f"The team's time zone is {_count(apart, 'hour')} from {profile.person.timezone}"
    if apart == 0:
        why = f"The team's time zone is the same as {profile.person.timezone}"
    words = (facts.zone_words,) if facts.zone_words else ()
    points = working_hours.points_for_hours(apart, profile.rules.timezone)
    return ScoreItem("timezone", points, most, why, words)


def _size(most: int, profile: Profile, employer: Employer) -> ScoreItem:
    rules, preferred = profile.rules.size, profile.company_size
    if preferred is None:
        return _open("size", most, "The profile accepts any company size")
    if employer.size is None:
        return _unknown("size", most, "The company's size is not known")
    points = rules.preferred if employer.size == preferred else 0
    if employer.size == "small" != preferred:
        points = rules.small
    points = min(points, most)
    relation = "as" if employer.size == preferred else f"but {preferred} is"
    return ScoreItem("size", points, most, f"{employer.size.capitalize()}, {relation} preferred")


def _threshold(
    profile: Profile, posting: Posting, facts: PostingFacts, employer: Employer
) -> tuple[int, str]:
    rules, city = profile.rules.match, profile.person.home_city
    if parsed_place.is_any_in(employer.offices, [city]):
        return rules.with_home_city, f"the company has an office in {city}"
    if parsed_place.is_any_in((*facts.places, *posting.locations, posting.location), [city]):
        return rules.with_home_city, f"the job is in {city}"
    return rules.score, "the minimum score of a match"

"""Compute the local score of a posting: the sum of explained items."""

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
"""Credit for a required skill by its rank in the profile."""
IMPLIED_CREDIT: Final = 0.7
"""Factor for a skill that another skill only implies."""
UNNAMED_WEIGHT: Final = 3.0
"""Weight that stands for required skills that the posting does not name. The similarity of the
titles decides how many of them the profile is assumed to have."""
UNNAMED_SHARE: Final = (0.1, 0.6)
FEW_SKILLS: Final = 4
"""With fewer skills than this, the explanation mentions the assumption."""
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
    items = cap_items(
        _skills(profile, comparisons, title_similarity),
        _title(profile, posting),
        _seniority(profile, posting, facts),
        _experience(profile, facts, title_similarity),
        _salary(profile, posting.salary),
        _arrangement(profile, posting, facts),
        _meaning(profile, similarity),
        _timezone(profile, facts),
        _size(profile, employer),
    )
    score = sum(item.points for item in items)
    threshold, why = _threshold(profile, posting, facts, employer)
    return MatchResult(
        match_score=score,
        application_priority=priority_of(profile, score),
        matched_skills=tuple(
            skill.name for skill in comparisons if skill.profile_skill and not skill.is_implied
        ),
        skill_gaps=tuple(skill.name for skill in comparisons if skill.is_missing and skill.weight),
        items=items,
        threshold=threshold,
        threshold_why=why,
        resume_intake=application_hints.suggest_resume_content(profile, posting, facts),
    )


def priority_of(profile: Profile, score: int) -> Priority:
    rules = profile.rules.priorities
    return "High" if score >= rules.high else "Medium" if score >= rules.medium else "Low"


def cap_items(*items: ScoreItem) -> tuple[ScoreItem, ...]:
    """Append an item that keeps the sum between 0 and 100, if needed."""
    total = sum(item.points for item in items)
    over = min(max(total, 0), 100) - total
    if not over:
        return items
    why = "Capped at 100" if over < 0 else "Raised to 0"
    return (*items, ScoreItem(SCORE_CAP, over, max(over, 0), why))


def _item(name: str, most: int, share: float, why: str, *words: str) -> ScoreItem:
    points = int(most * min(max(share, 0.0), 1.0) + 0.5)
    return ScoreItem(name, points, most, why, tuple(word for word in words if word))


def _count(number: float, noun: str) -> str:
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def _skills(
    profile: Profile, comparisons: tuple[SkillComparison, ...], title_similarity: float
) -> ScoreItem:
    most = profile.rules.weights.skills
    if not profile.skills:
        return _item("skills", most, 0, "The profile lists no skills")
    requested = [skill for skill in comparisons if skill.weight and not skill.is_covered]
    words = tuple(
        dict.fromkeys(skill.requirement.words for skill in requested if skill.profile_skill)
    )[:5]
    share = _skill_share(comparisons, title_similarity)
    mentioned = [skill for skill in comparisons if skill.profile_skill and not skill.weight]
    return _item("skills", most, share, _skills_why(requested, mentioned), *words)


def _skill_share(comparisons: tuple[SkillComparison, ...], title_similarity: float) -> float:
    """The share of skill weight that the profile covers. Of alternatives only the best counts.
    Skills that are only mentioned, and custom skills, can raise the share but not lower it."""
    weights: dict[str, float] = {}
    credits: dict[str, float] = {}
    extra = custom = 0.0
    for skill in comparisons:
        if skill.is_custom and skill.weight:
            custom += skill.weight * _credit(skill)
        elif skill.weight:
            weight = PRACTICE_WEIGHT if skill.is_practice else skill.weight
            weights[skill.choice] = max(weights.get(skill.choice, 0), weight)
            credits[skill.choice] = max(credits.get(skill.choice, 0), _credit(skill))
        else:
            extra += MENTIONED_WEIGHT * _credit(skill)
    extra = min(extra, MENTIONED_CAP) + custom
    covered = sum(credits[choice] * weight for choice, weight in weights.items())
    unnamed_share = UNNAMED_SHARE[0] + (UNNAMED_SHARE[1] - UNNAMED_SHARE[0]) * title_similarity
    unnamed_weight = UNNAMED_WEIGHT * (2 - min(title_similarity / RELATED_TITLE, 1))
    return (covered + extra + unnamed_weight * unnamed_share) / (
        sum(weights.values()) + extra + unnamed_weight
    )


def _credit(skill: SkillComparison) -> float:
    if skill.profile_skill is None:
        return 0.0
    return CREDIT[skill.profile_skill.rank] * (IMPLIED_CREDIT if skill.is_implied else 1)


def _skills_why(requested: list[SkillComparison], mentioned: list[SkillComparison]) -> str:
    had = [_format_skill(skill) for skill in requested if skill.profile_skill]
    missing = [skill.name for skill in requested if not skill.profile_skill]
    parts = [
        f"{len(had)} of {_count(len(requested), 'requested skill')}"
        if requested
        else "The posting requests no specific skills"
    ]
    if had:
        parts[0] += f": {', '.join(had)}"
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    if mentioned:
        parts.append(f"mentioned: {', '.join(map(_format_skill, mentioned))}")
    if len(requested) < FEW_SKILLS:
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


def _title(profile: Profile, posting: Posting) -> ScoreItem:
    most = profile.rules.weights.title
    if not profile.titles:
        return _item("title", most, 1, "The profile accepts any title")
    share, closest = title_fit.find_closest(posting.title, profile.titles)
    relation = "Similar to" if share >= 0.8 else "Related to" if share >= 0.4 else "Unlike"
    return _item("title", most, share, f"{relation} {closest}", posting.title)


def _seniority(profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    most = profile.rules.weights.seniority
    level = facts.seniority or posting.seniority
    if not profile.seniority:
        return _item("seniority", most, 1, "The profile accepts any seniority")
    if not level:
        return _item("seniority", most, UNKNOWN_SHARE, "The posting states no seniority")
    steps = seniority_distance.steps_from(level, profile.seniority)
    share = {0: 1.0, 1: 0.6, 2: 0.2}.get(abs(steps), 0.0)
    why = level.capitalize()
    if steps:
        relation = "above" if steps > 0 else "below"
        why += f", {_count(abs(steps), 'level')} {relation} the wanted seniority"
    return _item("seniority", most, share, why, facts.seniority_words)


def _experience(profile: Profile, facts: PostingFacts, title_similarity: float) -> ScoreItem:
    most, years, required = profile.rules.weights.experience, profile.experience_years, facts.years
    if required is None:
        return _item("experience", most, UNKNOWN_SHARE, "The posting states no years of experience")
    if years is None:
        return _item(
            "experience",
            most,
            UNKNOWN_SHARE,
            "The profile states no years of experience",
            required.words,
        )
    lacking = max(0.0, required.least - years)
    beyond = max(0.0, years - required.most - 4) if required.most is not None else 0.0
    why = f"Asks for {format_years(required)}, the profile has {years:g}"
    if title_similarity < RELATED_TITLE:
        why += " in a different kind of work"
    share = (1 - lacking / 5 - beyond / 20) * min(title_similarity / RELATED_TITLE, 1)
    return _item("experience", most, share, why, required.words)


def _salary(profile: Profile, salary: Salary | None) -> ScoreItem:
    most, floor = profile.rules.weights.salary, profile.salary_floor
    if floor is None:
        return _item("salary", most, 1, "The profile accepts any salary")
    top = (salary.max or salary.min) if salary else None
    if salary is None or not top:
        return _item("salary", most, UNKNOWN_SHARE, "The posting states no salary")
    words = _format_salary(salary)
    if not salary.period or salary.currency != floor.currency:
        return _item(
            "salary", most, UNKNOWN_SHARE, f"Cannot be compared with {_format_floor(floor)}", words
        )
    share = top * PERIODS_PER_YEAR[salary.period] / (floor.amount * PERIODS_PER_YEAR[floor.period])
    comparison = f"at or above {_format_floor(floor)}"
    if share < 1:
        comparison = f"below {_format_floor(floor)}, which costs points but never rejects a job"
    if salary.known == "predicted":
        return _item(
            "salary",
            most,
            max(UNKNOWN_SHARE, min(share, 1)),
            f"Estimated salary {comparison}",
            words,
        )
    return _item(
        "salary", most, 1 if share >= 1 else 1 - (1 - share) * 4, f"Salary {comparison}", words
    )


def _format_salary(salary: Salary) -> str:
    ends = dict.fromkeys(f"{end:,.0f}" for end in (salary.min, salary.max) if end is not None)
    period = f"per {salary.period}" if salary.period else ""
    return " ".join(word for word in (salary.currency, " to ".join(ends), period) if word)


def _format_floor(floor: SalaryFloor) -> str:
    return f"the profile's minimum of {floor.currency} {floor.amount:,.0f} per {floor.period}"


def _arrangement(profile: Profile, posting: Posting, facts: PostingFacts) -> ScoreItem:
    place = location_fit.judge_location(profile, posting, facts)
    share = {"suits": 1.0, "doubtful": 0.5}.get(place.fit, 0.0)
    return _item("arrangement", profile.rules.weights.arrangement, share, place.reason, place.words)


def _meaning(profile: Profile, similarity: float | None) -> ScoreItem:
    most = profile.rules.weights.meaning
    if similarity is None:
        return _item(
            "meaning", most, UNKNOWN_SHARE, "The posting and the profile were not compared"
        )
    return _item("meaning", most, similarity, f"Text similarity: {similarity:.0%}")


def _timezone(profile: Profile, facts: PostingFacts) -> ScoreItem:
    span = profile.rules.timezone
    if not facts.utc_offsets:
        return ScoreItem("timezone", 0, span.most, "The team's time zone is unknown")
    apart = working_hours.hours_apart(profile.person.timezone, facts.utc_offsets)
    why = f"The team's time zone is {_count(apart, 'hour')} from {profile.person.timezone}"
    if apart == 0:
        why = f"The team's time zone is the same as {profile.person.timezone}"
    words = (facts.zone_words,) if facts.zone_words else ()
    return ScoreItem("timezone", working_hours.points_for_hours(apart, span), span.most, why, words)


def _size(profile: Profile, employer: Employer) -> ScoreItem:
    rules, preferred = profile.rules.size, profile.company_size
    most = max(rules.preferred, 0)
    if preferred is None:
        return ScoreItem("size", 0, most, "The profile accepts any company size")
    if employer.size is None:
        return ScoreItem("size", 0, most, "The company's size is unknown")
    points = rules.preferred if employer.size == preferred else 0
    if employer.size == "small" != preferred:
        points = rules.small
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

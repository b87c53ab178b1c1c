"""Filter out listings that do not fit, by hard rejections and strikes."""

from __future__ import annotations

from collections.abc import Iterable

from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.matching.posting_facts import PostingFacts, RequiredYears
from jobmill.matching.profile import Profile, Span
from jobmill.matching.rules import (
    location_fit,
    seniority_distance,
    skill_fit,
    stop_lists,
    title_fit,
)
from jobmill.matching.rules.location_fit import LocationFit
from jobmill.matching.rules.skill_fit import SkillComparison
from jobmill.matching.verdict import FilterResult, Rejection, Strike

CAPPED_FROM_SHARE = 0.4
"""Strikes for missing skills are capped if the profile has at least this share of the required
ones."""
YEARS_LACKING, YEARS_TOLERANCE = (2, 4), 0.2
"""Missing years of experience for the fewest and the most strikes. Missing up to a fifth of the
required years costs nothing."""
SAME_TITLE = 0.95
"""A title at least this similar counts as a wanted title."""
YEARS_BEYOND = (5, 10)
"""Years of experience above the maximum for the fewest and the most strikes: the job is too junior.
"""
ROLES = {"ic": "individual contributor", "management": "management"}


def apply_rules(
    profile: Profile, posting: Posting, facts: PostingFacts, platforms: PlatformRules
) -> FilterResult:
    """Find all rejections and strikes. The posting passes without rejections and with fewer strikes
    than the threshold."""
    place = location_fit.judge_location(profile, posting, facts)
    rejections = (
        *_stop_list_rejections(profile, posting, platforms),
        *_location_rejection(place),
        *_role_rejection(profile, posting, facts),
    )
    strikes = (
        *_location_strike(profile, place),
        *_seniority_strike(profile, posting, facts),
        *_experience_strike(profile, facts),
        *_skill_strikes(profile, skill_fit.compare_skills(profile, posting, facts)),
    )
    total = sum(strike.strikes for strike in strikes)
    threshold = profile.rules.strikes.threshold
    return FilterResult(
        passed=not rejections and total < threshold,
        total_strikes=total,
        hard_rejections=rejections,
        strikes=strikes,
        rejection_summary=_summary(rejections, total, threshold),
    )


def _summary(rejections: tuple[Rejection, ...], total: int, threshold: int) -> str:
    counted = f"{total} {'strike' if total == 1 else 'strikes'} (threshold: {threshold})"
    return "; ".join([*(rejection.reason for rejection in rejections), counted])


def _stop_list_rejections(
    profile: Profile, posting: Posting, platforms: PlatformRules
) -> tuple[Rejection, ...]:
    links = (posting.url, posting.apply_url or "")
    return stop_lists.find_rejections(
        profile, platforms, urls=links, title=posting.title, company=posting.company
    )


def _location_rejection(place: LocationFit) -> Iterable[Rejection]:
    if place.fit == "impossible":
        yield Rejection(place.rule, place.reason, place.words)


def _role_rejection(profile: Profile, posting: Posting, facts: PostingFacts) -> Iterable[Rejection]:
    """Reject a role type that the profile excludes. A wanted title outweighs a role read from the
    title alone."""
    if facts.role_words == posting.title and _is_wanted_title(profile, posting.title):
        return
    if facts.role and profile.role_types and facts.role not in profile.role_types:
        wanted_roles = " or ".join(ROLES[role] for role in profile.role_types)
        role = ROLES[facts.role].capitalize()
        reason = f"{role} role, but the profile wants {wanted_roles} roles"
        yield Rejection("role_type", reason, facts.role_words)


def _is_wanted_title(profile: Profile, title: str) -> bool:
    return bool(profile.titles) and title_fit.find_closest(title, profile.titles)[0] >= SAME_TITLE


def _location_strike(profile: Profile, place: LocationFit) -> Iterable[Strike]:
    span = profile.rules.strikes.location
    if place.fit in ("doubtful", "unlikely"):
        strikes = span.least if place.fit == "doubtful" else span.most
        yield from _strike("location", place.reason, strikes, place.words)


def _seniority_strike(profile: Profile, posting: Posting, facts: PostingFacts) -> Iterable[Strike]:
    level = facts.seniority or posting.seniority
    if not level or not profile.seniority:
        return
    steps = seniority_distance.steps_from(level, profile.seniority)
    if steps:
        strikes = _between(profile.rules.strikes.seniority, abs(steps), 1, 2)
        reason = f"Seniority mismatch (too {'senior' if steps > 0 else 'junior'}): {level}"
        yield from _strike("seniority", reason, strikes, facts.seniority_words or posting.title)


def _experience_strike(profile: Profile, facts: PostingFacts) -> Iterable[Strike]:
    years, required = profile.experience_years, facts.years
    if years is None or required is None:
        return
    span = profile.rules.strikes.experience
    lacking = required.least - years
    beyond = years - required.most if required.most is not None else 0
    strikes = 0
    if lacking > max(1, YEARS_TOLERANCE * required.least):
        strikes = _between(span, lacking, *YEARS_LACKING)
    elif beyond >= YEARS_BEYOND[0]:
        strikes = _between(span, beyond, *YEARS_BEYOND)
    reason = f"Asks for {format_years(required)} of experience, but the profile has {years:g}"
    yield from _strike("experience", reason, strikes, required.words)


def format_years(required: RequiredYears) -> str:
    """Format as "5 to 8 years"."""
    most = (
        f" to {required.most:g}"
        if required.most is not None and required.most != required.least
        else ""
    )
    return f"{required.least:g}{most} {'year' if required.least == 1 and not most else 'years'}"


def _skill_strikes(profile: Profile, comparisons: tuple[SkillComparison, ...]) -> Iterable[Strike]:
    """One strike reason per missing skill, the most important first, up to the cap."""
    if not profile.skills:
        return
    rules = profile.rules.strikes
    left = rules.missing_skills_cap if _required_share(comparisons) >= CAPPED_FROM_SHARE else None
    for skill in comparisons:
        if not skill.is_missing or not skill.weight or skill.is_practice:
            continue
        strikes = _between(rules.missing_skill, skill.weight, 1, 3)
        if left is not None:
            strikes = min(strikes, left)
            left -= strikes
        yield from _strike(
            "missing_skill", _missing_reason(skill), strikes, skill.requirement.words
        )


def _missing_reason(skill: SkillComparison) -> str:
    kind = {3: "primary", 2: "required", 1: "preferred"}[skill.weight or 1]
    return f"Missing {kind} skill: {skill.name}"


def _required_share(comparisons: tuple[SkillComparison, ...]) -> float:
    """The share of required skills that the profile has, by weight."""
    required = [skill for skill in comparisons if skill.weight > 1]
    had = sum(skill.weight for skill in required if not skill.is_missing)
    return had / sum(skill.weight for skill in required) if required else 1.0


def _strike(rule: str, reason: str, strikes: int, words: str) -> Iterable[Strike]:
    if strikes:
        yield Strike(rule, reason, strikes, words)


def _between(span: Span, value: float, mildest: float, worst: float) -> int:
    """Interpolate from the fewest strikes in the mildest case to the most in the worst."""
    share = min(1.0, max(0.0, (value - mildest) / (worst - mildest)))
    return span.least + int((span.most - span.least) * share + 0.5)

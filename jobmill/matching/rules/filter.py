"""Sorts out what does not fit, for nothing: reasons that are enough by themselves, and strikes."""

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
"""Who has so much of what is required is not turned down for missing skills alone."""
YEARS_LACKING, YEARS_TOLERANCE = (2, 4), 0.2
"""So many years that lack are the mildest and the worst case; a fifth of what is asked is none."""
SAME_TITLE = 0.95
"""A title that is so near is the one that is wanted."""
YEARS_BEYOND = (5, 10)
"""So many years more than are wanted are, too: such work bores."""
ROLES = {"ic": "a role that leads nobody", "management": "a role that leads people"}


def apply_rules(
    profile: Profile, posting: Posting, facts: PostingFacts, platforms: PlatformRules
) -> FilterResult:
    """Every rejection and strike; it passes with no rejection and fewer strikes than the threshold."""
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
    """What its title alone says of a role counts less than that the title is one that is wanted."""
    if facts.role_words == posting.title and _is_wanted_title(profile, posting.title):
        return
    if facts.role and profile.role_types and facts.role not in profile.role_types:
        wanted = " or ".join(ROLES[role] for role in profile.role_types)
        reason = f"It is {ROLES[facts.role]}, and {wanted} is wanted"
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
    own, asked = profile.experience_years, facts.years
    if own is None or asked is None:
        return
    span = profile.rules.strikes.experience
    lacking = asked.least - own
    beyond = own - asked.most if asked.most is not None else 0
    strikes = 0
    if lacking > max(1, YEARS_TOLERANCE * asked.least):
        strikes = _between(span, lacking, *YEARS_LACKING)
    elif beyond >= YEARS_BEYOND[0]:
        strikes = _between(span, beyond, *YEARS_BEYOND)
    reason = f"Asks for {format_years(asked)} of experience, the profile has {own:g}"
    yield from _strike("experience", reason, strikes, asked.words)


def format_years(asked: RequiredYears) -> str:
    """ "5 to 8 years", as a person would say it."""
    most = f" to {asked.most:g}" if asked.most is not None and asked.most != asked.least else ""
    return f"{asked.least:g}{most} {'year' if asked.least == 1 and not most else 'years'}"


def _skill_strikes(profile: Profile, compared: tuple[SkillComparison, ...]) -> Iterable[Strike]:
    """One for each missing skill, the most important first; long lists of wishes end at the cap."""
    if not profile.skills:
        return
    rules = profile.rules.strikes
    left = rules.missing_skills_cap if _required_share(compared) >= CAPPED_FROM_SHARE else None
    for one in compared:
        if not one.is_missing or not one.weight or one.is_practice:
            continue
        strikes = _between(rules.missing_skill, one.weight, 1, 3)
        if left is not None:
            strikes = min(strikes, left)
            left -= strikes
        yield from _strike("missing_skill", _missing_reason(one), strikes, one.requirement.words)


def _missing_reason(ability: SkillComparison) -> str:
    kind = {3: "primary", 2: "required", 1: "preferred"}[ability.weight or 1]
    return f"Missing {kind} skill: {ability.name}"


def _required_share(compared: tuple[SkillComparison, ...]) -> float:
    """How much of what is required the profile has, by weight."""
    required = [one for one in compared if one.weight > 1]
    had = sum(one.weight for one in required if not one.is_missing)
    return had / sum(one.weight for one in required) if required else 1.0


def _strike(rule: str, reason: str, strikes: int, words: str) -> Iterable[Strike]:
    if strikes:
        yield Strike(rule, reason, strikes, words)


def _between(span: Span, value: float, mildest: float, worst: float) -> int:
    """From the least at the mildest case to the most at the worst."""
    share = min(1.0, max(0.0, (value - mildest) / (worst - mildest)))
    return span.least + int((span.most - span.least) * share + 0.5)

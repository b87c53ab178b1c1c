"""Sorts out what does not fit, for nothing: reasons that are enough by themselves, and strikes."""

from __future__ import annotations

from collections.abc import Iterable

from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.matching.posting_facts import AskedYears, Facts
from jobmill.matching.profile import Profile, Span
from jobmill.matching.rules import (
    location_fit,
    seniority_distance,
    skill_fit,
    stop_lists,
    title_fit,
)
from jobmill.matching.rules.location_fit import Whereabouts
from jobmill.matching.rules.skill_fit import Ability
from jobmill.matching.verdict import FilterResult, Rejection, Strike

ENOUGH = 0.4
"""Who has so much of what is required is not turned down for missing skills alone."""
LACKING, FORGIVEN = (2, 4), 0.2
"""So many years that lack are the mildest and the worst case; a fifth of what is asked is none."""
ALIKE = 0.95
"""A title that is so near is the one that is wanted."""
BEYOND = (5, 10)
"""So many years more than are wanted are, too: such work bores."""
ROLES = {"ic": "a role that leads nobody", "management": "a role that leads people"}


def judge(
    profile: Profile, posting: Posting, facts: Facts, platforms: PlatformRules
) -> FilterResult:
    """Every rejection and strike; it passes with no rejection and fewer strikes than the threshold."""
    place = location_fit.judge(profile, posting, facts)
    rejections = (
        *_stops(profile, posting, platforms),
        *_place_rejection(place),
        *_role(profile, posting, facts),
    )
    strikes = (
        *_place_strikes(profile, place),
        *_seniority(profile, posting, facts),
        *_experience(profile, facts),
        *_skills(profile, skill_fit.compare(profile, posting, facts)),
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


def _stops(profile: Profile, posting: Posting, platforms: PlatformRules) -> tuple[Rejection, ...]:
    links = (posting.url, posting.apply_url or "")
    return stop_lists.check_all(
        profile, platforms, urls=links, title=posting.title, company=posting.company
    )


def _place_rejection(place: Whereabouts) -> Iterable[Rejection]:
    if place.fit == "impossible":
        yield Rejection(place.rule, place.reason, place.words)


def _role(profile: Profile, posting: Posting, facts: Facts) -> Iterable[Rejection]:
    """What its title alone says of a role counts less than that the title is one that is wanted."""
    if facts.role_words == posting.title and _is_wanted(profile, posting.title):
        return
    if facts.role and profile.role_types and facts.role not in profile.role_types:
        wanted = " or ".join(ROLES[role] for role in profile.role_types)
        reason = f"It is {ROLES[facts.role]}, and {wanted} is wanted"
        yield Rejection("role_type", reason, facts.role_words)


def _is_wanted(profile: Profile, title: str) -> bool:
    return bool(profile.titles) and title_fit.nearest(title, profile.titles)[0] >= ALIKE


def _place_strikes(profile: Profile, place: Whereabouts) -> Iterable[Strike]:
    span = profile.rules.strikes.location
    if place.fit in ("doubtful", "unlikely"):
        strikes = span.least if place.fit == "doubtful" else span.most
        yield from _strike("location", place.reason, strikes, place.words)


def _seniority(profile: Profile, posting: Posting, facts: Facts) -> Iterable[Strike]:
    level = facts.seniority or posting.seniority
    if not level or not profile.seniority:
        return
    steps = seniority_distance.distance(level, profile.seniority)
    if steps:
        strikes = _between(profile.rules.strikes.seniority, abs(steps), 1, 2)
        reason = f"Seniority mismatch (too {'senior' if steps > 0 else 'junior'}): {level}"
        yield from _strike("seniority", reason, strikes, facts.seniority_words or posting.title)


def _experience(profile: Profile, facts: Facts) -> Iterable[Strike]:
    own, asked = profile.experience_years, facts.years
    if own is None or asked is None:
        return
    span = profile.rules.strikes.experience
    lacking = asked.least - own
    beyond = own - asked.most if asked.most is not None else 0
    strikes = 0
    if lacking > max(1, FORGIVEN * asked.least):
        strikes = _between(span, lacking, *LACKING)
    elif beyond >= BEYOND[0]:
        strikes = _between(span, beyond, *BEYOND)
    reason = f"Asks for {told(asked)} of experience, the profile has {own:g}"
    yield from _strike("experience", reason, strikes, asked.words)


def told(asked: AskedYears) -> str:
    """ "5 to 8 years", as a person would say it."""
    most = f" to {asked.most:g}" if asked.most is not None and asked.most != asked.least else ""
    return f"{asked.least:g}{most} {'year' if asked.least == 1 and not most else 'years'}"


def _skills(profile: Profile, compared: tuple[Ability, ...]) -> Iterable[Strike]:
    """One for each missing skill, the most important first; long lists of wishes end at the cap."""
    if not profile.skills:
        return
    rules = profile.rules.strikes
    left = rules.missing_skills_cap if _share(compared) >= ENOUGH else None
    for one in compared:
        if not one.is_missing or not one.weight or one.is_practice:
            continue
        strikes = _between(rules.missing_skill, one.weight, 1, 3)
        if left is not None:
            strikes = min(strikes, left)
            left -= strikes
        yield from _strike("missing_skill", _missing(one), strikes, one.asked.words)


def _missing(ability: Ability) -> str:
    kind = {3: "primary", 2: "required", 1: "preferred"}[ability.weight or 1]
    return f"Missing {kind} skill: {ability.name}"


def _share(compared: tuple[Ability, ...]) -> float:
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

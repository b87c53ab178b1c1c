"""Score how interesting a company is for a profile, as a list of explained points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.catalog.companies import Company, Tier
from jobmill.matching.profile import RANKS, Profile, Tiers
from jobmill.matching.rules import company_facts, tech_stack
from jobmill.matching.rules.tech_stack import TechStack
from jobmill.matching.verdict import ScoreItem
from jobmill.places import parsed_place

FULL_STACK_SKILLS = 5
"""A tech stack with this many of the profile's best skills gets all points."""


@dataclass(frozen=True, slots=True)
class CompanyScore:
    points: int
    """The sum of the items' points."""
    tier: Tier
    items: tuple[ScoreItem, ...]


def score_company(company: Company, stack: TechStack, profile: Profile) -> CompanyScore:
    """Score a company for a profile; unknown facts add nothing."""
    items = (
        _home_city(company, profile),
        _tech(company.tech_stack or (), profile),
        _remote_first(company, profile),
        _ai_ml(stack, profile),
    )
    points = sum(item.points for item in items)
    return CompanyScore(points, tier_for_points(points, profile.rules.tiers), items)


def tier_for_points(points: int, tiers: Tiers) -> Tier:
    """The best tier that these points reach."""
    borders: dict[Tier, int] = {"S": tiers.S, "A": tiers.A, "B": tiers.B, "C": tiers.C}
    for name, least in borders.items():
        if points >= least:
            return name
    return "D"


def _home_city(company: Company, profile: Profile) -> ScoreItem:
    home, most = profile.person.home_city, profile.rules.company.home_city_office
    offices = company_facts.to_employer(company).offices
    near = tuple(office for office in offices if parsed_place.is_any_in([office], [home]))
    if near:
        return ScoreItem("home city office", most, most, f"it has an office in {home}", near)
    why = f"it has no known office in {home}" if offices else "its offices are unknown"
    return ScoreItem("home city office", 0, most, why, offices)


def _tech(stack: Iterable[str], profile: Profile) -> ScoreItem:
    most = profile.rules.company.tech_alignment
    stack_names = dict.fromkeys(stack)
    ranks: dict[str, int] = {}
    for skill in profile.skills:
        name = tech_stack.stack_name(skill.name)
        if name:
            ranks[name] = max(RANKS[skill.rank], ranks.get(name, 0))
    shared = tuple(name for name in stack_names if name in ranks)
    full = sum(sorted(ranks.values(), reverse=True)[:FULL_STACK_SKILLS])
    points = min(most, most * sum(ranks[name] for name in shared) // full) if full else 0
    return ScoreItem("tech alignment", points, most, _why_tech(stack_names, ranks, shared), shared)


def _why_tech(stack_names: dict[str, None], ranks: dict[str, int], shared: tuple[str, ...]) -> str:
    if not stack_names:
        return "its tech stack is unknown"
    if not ranks:
        return "the profile lists no technologies"
    return f"{len(shared)} of its {len(stack_names)} technologies are in the profile"


def _remote_first(company: Company, profile: Profile) -> ScoreItem:
    most = profile.rules.company.remote_first
    if company.remote_first:
        return ScoreItem("remote-first", most, most, "its pages say that it is remote-first")
    why = "unknown" if company.remote_first is None else "its pages say that it is not"
    return ScoreItem("remote-first", 0, most, why)


def _ai_ml(stack: TechStack, profile: Profile) -> ScoreItem:
    most = profile.rules.company.ai_ml
    words = tuple(dict.fromkeys(stack.ai_ml))[:5]
    if words:
        return ScoreItem("AI/ML", most, most, "its pages focus on machine learning", words)
    return ScoreItem("AI/ML", 0, most, "its pages hardly mention machine learning")

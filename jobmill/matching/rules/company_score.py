"""How much a company is worth looking at, in points that each name what they are for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jobmill.catalog.companies import Company, Tier
from jobmill.matching.profile import RANKS, Profile, Tiers
from jobmill.matching.rules import company_facts, tech_stack
from jobmill.matching.rules.tech_stack import Stack
from jobmill.matching.verdict import Item
from jobmill.places import parsed_place

ENOUGH = 5
"""A stack that shares a person's five best skills is as near as can be."""


@dataclass(frozen=True, slots=True)
class Score:
    points: int
    """The sum of the items'."""
    tier: Tier
    items: tuple[Item, ...]


def score(company: Company, stack: Stack, profile: Profile) -> Score:
    """The points and the tier of a company for a profile; what is not known adds nothing."""
    items = (
        _home_city(company, profile),
        _tech(company.tech_stack or (), profile),
        _remote_first(company, profile),
        _ai_ml(stack, profile),
    )
    points = sum(item.points for item in items)
    return Score(points, tier_of(points, profile.rules.tiers), items)


def tier_of(points: int, tiers: Tiers) -> Tier:
    """The best tier that so many points reach."""
    borders: dict[Tier, int] = {"S": tiers.S, "A": tiers.A, "B": tiers.B, "C": tiers.C}
    for name, least in borders.items():
        if points >= least:
            return name
    return "D"


def _home_city(company: Company, profile: Profile) -> Item:
    home, most = profile.person.home_city, profile.rules.company.home_city_office
    offices = company_facts.read(company).offices
    near = tuple(office for office in offices if parsed_place.is_any_in([office], [home]))
    if near:
        return Item("home city office", most, most, f"it has an office in {home}", near)
    why = "none of its offices is there" if offices else "its offices are not known"
    return Item("home city office", 0, most, f"{home}: {why}", offices)


def _tech(stack: Iterable[str], profile: Profile) -> Item:
    most = profile.rules.company.tech_alignment
    known = dict.fromkeys(stack)
    ranks: dict[str, int] = {}
    for skill in profile.skills:
        name = tech_stack.of_skill(skill.name)
        if name:
            ranks[name] = max(RANKS[skill.rank], ranks.get(name, 0))
    shared = tuple(name for name in known if name in ranks)
    full = sum(sorted(ranks.values(), reverse=True)[:ENOUGH])
    points = min(most, most * sum(ranks[name] for name in shared) // full) if full else 0
    return Item("tech alignment", points, most, _why_tech(known, ranks, shared), shared)


def _why_tech(known: dict[str, None], ranks: dict[str, int], shared: tuple[str, ...]) -> str:
    if not known:
        return "its tech stack is not known"
    if not ranks:
        return "the profile names no technology"
    return f"{len(shared)} of its {len(known)} technologies are in the profile"


def _remote_first(company: Company, profile: Profile) -> Item:
    most = profile.rules.company.remote_first
    if company.remote_first:
        return Item("remote-first", most, most, "its pages say that it works remotely first")
    why = "not known" if company.remote_first is None else "its pages say that it does not"
    return Item("remote-first", 0, most, why)


def _ai_ml(stack: Stack, profile: Profile) -> Item:
    most = profile.rules.company.ai_ml
    words = tuple(dict.fromkeys(stack.ai_ml))[:5]
    if words:
        return Item("AI/ML", most, most, "its pages are about machine learning", words)
    return Item("AI/ML", 0, most, "its pages hardly speak of machine learning")

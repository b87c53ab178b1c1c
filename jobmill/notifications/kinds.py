"""Kinds of notifications, and which roles receive them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from jobmill.people.persons import Role

Kind: TypeAlias = Literal[
    "high_match",
    "saved_search",
    "follow_up",
    "job_update",
    "application",
    "offer",
    "review",
    "alert",
    "source",
    "budget",
    "backup",
]
Frequency: TypeAlias = Literal["instant", "daily", "weekly", "off"]
FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)
Audience: TypeAlias = Literal["seekers", "recruiters", "operators"]

UNPLANNED_MATCH = "match"
"""The kind of a new match until its person's saved searches were compared with it."""


@dataclass(frozen=True, slots=True)
class KindRule:
    audience: Audience
    default: Frequency


KINDS: Mapping[Kind, KindRule] = {
    "high_match": KindRule("seekers", "daily"),
    "saved_search": KindRule("seekers", "daily"),
    "follow_up": KindRule("seekers", "daily"),
    "job_update": KindRule("seekers", "instant"),
    "application": KindRule("recruiters", "daily"),
    "offer": KindRule("recruiters", "daily"),
    "review": KindRule("recruiters", "daily"),
    "alert": KindRule("operators", "instant"),
    "source": KindRule("operators", "daily"),
    "budget": KindRule("operators", "instant"),
    "backup": KindRule("operators", "instant"),
}
ROLES: Mapping[Audience, frozenset[Role]] = {
    "seekers": frozenset({"seeker", "admin"}),
    "recruiters": frozenset({"viewer", "recruiter", "admin"}),
    "operators": frozenset({"admin"}),
}
"""The same roles as in the triggers of migration 0049."""


def kinds_of_role(role: Role) -> list[Kind]:
    """The local user has the role of an admin."""
    return [kind for kind, rule in KINDS.items() if role in ROLES[rule.audience]]


def as_kind(text: str) -> Kind | None:
    return cast(Kind, text) if text in KINDS else None

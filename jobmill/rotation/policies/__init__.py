"""Which targets to call next: policies as pure objects that only plain values cross."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

from jobmill.errors import Invalid

from . import eligibility, interval_policy, yield_model, yield_policy
from .eligibility import Breaker

T = TypeVar("T")


class Policy(Protocol):
    """Chooses calls and learns from them; it has no clock, no network and no database."""

    def bind(
        self,
        targets: Sequence[Mapping[str, Any]],
        sources: Mapping[str, Mapping[str, Any]],
        now: float,
    ) -> None: ...

    def choose(self, now: float, budget: int, room: Mapping[str, Any] | None) -> list[Hashable]: ...

    def record(self, id: Hashable, now: float, outcome: Mapping[str, Any]) -> None: ...


POLICIES: Mapping[str, Callable[[Mapping[str, Any]], Policy]] = {
    "seed": lambda config: interval_policy.Seed(read_rules(interval_policy.Rules, config)),
    "yield": lambda config: yield_policy.Auction(read_rules(yield_model.Rules, config)),
}


def create_policy(name: str, config: Mapping[str, Any] | None = None) -> Policy:
    """A policy by name; Invalid for an unknown name or a number that cannot be right."""
    make = POLICIES.get(name)
    if make is None:
        raise Invalid(f"there is no policy {name!r}: choose one of {', '.join(POLICIES)}")
    return make(config or {})


def read_rules(rules: Callable[..., T], config: Mapping[str, Any]) -> T:
    """The numbers of a policy: its defaults, but for those that the config names.

    Other names are passed over, so that one config can serve both policies.
    """
    given = _given(rules, config)
    breaker = Breaker(**_given(Breaker, config))
    return rules(**given, breaker=breaker)


def _given(kind: Any, config: Mapping[str, Any]) -> dict[str, float]:
    names = [one.name for one in fields(kind) if one.name != "breaker"]
    return {name: _number(name, config[name]) for name in names if config.get(name) is not None}


def _number(name: str, value: object) -> float:
    found = eligibility.real(value)
    if found is None or found < 0:
        raise Invalid(f"{name} must be a number, 0 or more, not {value!r}")
    if name in POSITIVE and not 0 < found < math.inf:
        raise Invalid(f"{name} must be more than 0, not {value!r}")
    return found


POSITIVE = frozenset(
    {
        "closing",
        "half_life_days",
        "strength",
        "company_rate",
        "slice_rate",
        "platform_days",
        "haste",
    }
)
"""What is divided by, and what would never fade."""

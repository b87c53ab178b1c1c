"""Rotation policies: pure objects that choose the next calls from plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

from jobmill.errors import Invalid

from . import eligibility, interval_policy, yield_model, yield_policy
from .eligibility import BreakerRules

_RulesT = TypeVar("_RulesT")


class Policy(Protocol):
    """Chooses calls and learns from them, without a clock, network or database."""

    def bind(
        self,
        targets: Sequence[Mapping[str, Any]],
        sources: Mapping[str, Mapping[str, Any]],
        now: float,
    ) -> None: ...

    def choose(self, now: float, budget: int, room: Mapping[str, Any] | None) -> list[Hashable]: ...

    def record(self, id: Hashable, now: float, outcome: Mapping[str, Any]) -> None: ...


_POLICIES: Mapping[str, Callable[[Mapping[str, Any]], Policy]] = {
    "seed": lambda config: interval_policy.IntervalPolicy(
        _read_rules(interval_policy.IntervalRules, config)
    ),
    "yield": lambda config: yield_policy.YieldPolicy(_read_rules(yield_model.YieldRules, config)),
}


def create_policy(name: str, config: Mapping[str, Any] | None = None) -> Policy:
    """Create a policy by name; Invalid for an unknown name or an impossible number."""
    make = _POLICIES.get(name)
    if make is None:
        raise Invalid(f"there is no policy {name!r}: choose one of {', '.join(_POLICIES)}")
    return make(config or {})


def _read_rules(rules: Callable[..., _RulesT], config: Mapping[str, Any]) -> _RulesT:
    """The parameters of a policy: defaults, overridden by the config.

    Unknown names are ignored, so that one config can serve both policies.
    """
    values = _configured_values(rules, config)
    breaker = BreakerRules(**_configured_values(BreakerRules, config))
    return rules(**values, breaker=breaker)


def _configured_values(kind: Any, config: Mapping[str, Any]) -> dict[str, float]:
    names = [rule.name for rule in fields(kind) if rule.name != "breaker"]
    return {
        name: _check_number(name, config[name]) for name in names if config.get(name) is not None
    }


def _check_number(name: str, value: object) -> float:
    number = eligibility.as_number(value)
    if number is None or number < 0:
        raise Invalid(f"{name} must be a number, 0 or more, not {value!r}")
    if name in _POSITIVE and not 0 < number < math.inf:
        raise Invalid(f"{name} must be more than 0, not {value!r}")
    return number


_POSITIVE = frozenset(
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
"""Divisors and half-lives must be positive."""

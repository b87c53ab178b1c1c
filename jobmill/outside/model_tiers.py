"""The model of each tier, and what is missing to use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.settings import Settings

from . import budget_ledger, model_endpoint
from .model_endpoint import Endpoint
from .model_question import ModelBlocked, Tier

TIERS: tuple[Tier, ...] = ("cheap", "strong")


@dataclass(frozen=True)
class TierStatus:
    tier: str
    model: str
    missing: str | None
    """Why the model is not used; None if it is."""


def find_tiers(settings: Settings, environ: Mapping[str, str]) -> list[TierStatus]:
    """Both tiers, with what is missing to use them."""
    return [
        TierStatus(
            tier, model_endpoint.tier_model(settings, tier), _missing(tier, settings, environ)
        )
        for tier in TIERS
    ]


def _missing(tier: Tier, settings: Settings, environ: Mapping[str, str]) -> str | None:
    match model_endpoint.find_endpoint(tier, settings, environ):
        case ModelBlocked(detail=detail):
            return detail
        case Endpoint(price=price) if price.output > 0:
            caps = budget_ledger.read_caps(settings)
            lowest = min(caps.call, caps.run, caps.day, caps.month)
            return None if lowest > 0 else "the budget is 0"
        case _:
            return None


def describe_mode(tiers: Sequence[TierStatus]) -> str:
    """The models in use, or "local only"."""
    active = [f"{tier.tier}: {tier.model}" for tier in tiers if tier.missing is None]
    return ", ".join(active) if active else "local only"

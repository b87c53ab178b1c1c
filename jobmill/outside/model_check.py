"""Checks that the configured models answer, with a minimal question within the budget."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from jobmill.db import Database
from jobmill.outside.model import ModelLimits, open_model
from jobmill.settings import Settings

from . import model_endpoint, model_tiers
from .model_question import Model, ModelAnswer, ModelFailed, ModelQuestion
from .model_tiers import TierStatus

LIMITS = ModelLimits(seconds=20, tries=1)
MAX_TOKENS = 200


class _Echo(BaseModel):
    word: Literal["ready"]


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """The result of asking one tier."""

    tier: str
    model: str
    ok: bool
    detail: str
    cost: Decimal | None = None
    """In US dollars; None if unknown."""


def key_variable(model: str) -> str | None:
    """The environment variable of the model's key; None if it needs none."""
    provider = model.partition(":")[0]
    return next(
        (name for owner, name in model_endpoint.KEY_VARIABLES.items() if owner == provider), None
    )


async def check_models(
    database: Database, settings: Settings, environ: Mapping[str, str]
) -> list[ModelTrial]:
    """Ask both tiers; the calls are reserved and counted as usual."""
    async with open_model(database, settings, environ, LIMITS) as model:
        return [await _try(model, tier) for tier in model_tiers.find_tiers(settings, environ)]


async def _try(model: Model, tier: TierStatus) -> ModelTrial:
    if tier.missing is not None:
        return ModelTrial(tier.tier, tier.model, False, tier.missing)
    # The time makes every question unique: a cached answer would prove nothing.
    question = ModelQuestion(
        tier="cheap" if tier.tier == "cheap" else "strong",
        purpose="trial",
        instructions='This is a connection test. Answer with the word "ready".',
        text=f"Asked at {dt.datetime.now(dt.UTC).isoformat()}.",
        answer_type=_Echo,
        prompt_version="1",
        max_tokens=MAX_TOKENS,
    )
    match await model(question):
        case ModelAnswer(cost=cost):
            return ModelTrial(tier.tier, tier.model, True, "it works", cost)
        case ModelFailed(cause="truncated" | "malformed"):
            # The answer has the wrong form, but the provider accepted the key.
            return ModelTrial(tier.tier, tier.model, True, "it works")
        case other:
            return ModelTrial(tier.tier, tier.model, False, other.detail)

"""The URL, key and price of the model of a tier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from jobmill.settings import Settings

from . import model_prices
from .model_prices import Price
from .model_question import ModelBlocked, Tier

Provider: TypeAlias = Literal["anthropic", "openai", "ollama"]

KEY_VARIABLES: dict[Provider, str] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The environment variables of the keys; keys saved on the Settings page stand in for unset ones."""

OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    """provider:model"""
    provider: Provider
    model: str
    base_url: str
    price: Price
    priced: bool
    """Whether the price is known; an unknown price is zero."""
    key: str = field(default="", repr=False)


def tier_model(settings: Settings, tier: Tier) -> str:
    return settings.model_cheap if tier == "cheap" else settings.model_strong


def find_endpoint(
    tier: Tier, settings: Settings, environ: Mapping[str, str]
) -> Endpoint | ModelBlocked:
    """The endpoint of a tier, or what is missing."""
    name = tier_model(settings, tier)
    if name == "none":
        return ModelBlocked("no_model", f"no model: model_{tier} is set to none")
    return find_named_endpoint(name, settings, environ)


def find_named_endpoint(
    name: str, settings: Settings, environ: Mapping[str, str]
) -> Endpoint | ModelBlocked:
    """The endpoint of provider:model, or what is missing."""
    provider, model = cast("tuple[Provider, str]", tuple(name.split(":", 1)))
    base_url = _base_url(provider, settings)
    key = environ.get(KEY_VARIABLES.get(provider, ""), "").strip()
    if trouble := _key_trouble(provider, base_url, key):
        return ModelBlocked("no_key", trouble)
    price = model_prices.find_price(name, settings.model_prices)
    if price is None and provider != "ollama":
        return ModelBlocked("no_price", f"the price of {name} is unknown: set model_prices")
    return Endpoint(
        name, provider, model, base_url, price or model_prices.FREE, price is not None, key
    )


def _base_url(provider: Provider, settings: Settings) -> str:
    urls: dict[Provider, str] = {
        "anthropic": settings.anthropic_base_url,
        "openai": settings.openai_base_url,
        "ollama": settings.ollama_base_url,
    }
    return urls[provider].rstrip("/")


def _key_trouble(provider: Provider, base_url: str, key: str) -> str:
    # Other servers with the API of OpenAI often need no key.
    needed = provider == "anthropic" or (provider == "openai" and base_url == OPENAI_BASE_URL)
    if needed and not key:
        return f"no key: paste it in Settings, or set the environment variable {KEY_VARIABLES[provider]}"
    if not (key.isascii() and key.isprintable()):
        return f"{KEY_VARIABLES[provider]} has invalid characters"
    return ""

"""Prices of models in dollars per million tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

AS_OF = "2026-11-15"
"""When the table was last compared with the providers' price lists."""

LONG_PROMPT_TOKENS = 100_000
"""Longer prompts cost the long price, if the model has one."""

TOKENS_PER_PRICE = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    input: Decimal
    output: Decimal
    long_input: Decimal | None = None
    long_output: Decimal | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        """In dollars."""
        long = tokens_in > LONG_PROMPT_TOKENS
        per_in = self.long_input if long and self.long_input is not None else self.input
        per_out = self.long_output if long and self.long_output is not None else self.output
        return (per_in * tokens_in + per_out * tokens_out) / TOKENS_PER_PRICE


FREE = Price(Decimal(0), Decimal(0))

PRICES = {
    "anthropic:claude-haiku-5-5": Price(
        Decimal("0.10"), Decimal("0.50"), Decimal("0.50"), Decimal("2.50")
    ),
    "anthropic:claude-sonnet-5-5": Price(Decimal(2), Decimal(10)),
    "anthropic:claude-opus-5-5": Price(Decimal(4), Decimal(20)),
    "anthropic:claude-sonnet-5": Price(Decimal(2), Decimal(10)),
    "anthropic:claude-haiku-4-5": Price(Decimal(1), Decimal(5)),
}


def find_price(name: str, overrides: Mapping[str, str]) -> Price | None:
    """The price in the settings, otherwise in the table; None if unknown."""
    if name in overrides:
        per_in, _, per_out = overrides[name].partition("/")
        return Price(Decimal(per_in), Decimal(per_out))
    return PRICES.get(name)


def max_cost(price: Price, body: bytes, max_tokens: int) -> Decimal:
    """The maximum cost of a request: no token is shorter than a byte, and the provider adds a few
    tokens."""
    return price.cost(len(body) + 1_000, max_tokens)

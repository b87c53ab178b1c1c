"""Pay in words."""

from __future__ import annotations


def format_salary(
    low: float | None, high: float | None, currency: str | None, period: str | None
) -> str | None:
    """`EUR 60,000-75,000 a year`; None where no amount is known."""
    amounts = list(dict.fromkeys(_amount(one) for one in (low, high) if one is not None))
    if not amounts:
        return None
    words = [
        currency,
        "-".join(amounts),
        f"a{'n' if period == 'hour' else ''} {period}" if period else None,
    ]
    return " ".join(word for word in words if word)


def _amount(number: float) -> str:
    return f"{number:,.2f}".removesuffix(".00")

"""Pay, from fields and from text."""

from __future__ import annotations

from jobmill.catalog.posting import Salary


def structured(
    low: object, high: object, currency: object, period: object, *, predicted: bool = False
) -> Salary | None:
    """From a site's own fields: numbers or texts, codes or signs, 'per-year-salary' or 'HOUR'.
    Zero and nothing mean unknown; None where no amount is left."""
    raise NotImplementedError


def from_text(text: str | None) -> Salary | None:
    """The pay that a text states outright ("$120k-150k", "120 000 - 150 000 EUR", "£45k DOE")."""
    raise NotImplementedError

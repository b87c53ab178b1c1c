"""Escapes values for CSV files that people open in a spreadsheet."""

from __future__ import annotations

from typing import cast

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide ones, too


def escape_formula(value: object) -> object:
    """A value that a spreadsheet does not run as a formula; lists become one text."""
    if isinstance(value, list):
        value = "; ".join(cast(list[str], value))
    risky = isinstance(value, str) and value.startswith(FORMULA_STARTS)
    return f"'{value}" if risky else value

"""Values for tables that a spreadsheet reads."""

from __future__ import annotations

from typing import cast

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide ones, too


def escape_formula(value: object) -> object:
    """A value that no spreadsheet runs; a list is one text."""
    if isinstance(value, list):
        value = "; ".join(cast(list[str], value))
    risky = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if risky else value

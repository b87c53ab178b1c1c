"""Reads the values of saved records: dates, salaries, work arrangements and employment types."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
Truth: TypeAlias = dict[str, Any]
"""Expected values by field of a posting, with `salary_min` and so on; `sections` are the texts as
HTML."""

REMOTE = {"remote": "remote", "hybrid": "hybrid", "onsite": "onsite"}
EMPLOYMENT = {
    "fulltime": "full_time", "parttime": "part_time", "contract": "contract",
    "contractor": "contract", "temporary": "temporary", "intern": "internship",
    "internship": "internship", "fulltimepermanent": "full_time", "parttimepermanent": "part_time",
}  # fmt: skip


def parse_time(value: Any) -> dt.datetime | None:
    if isinstance(value, int):
        return dt.datetime.fromtimestamp(value / 1000 if value > 10**11 else value, dt.UTC)
    if not value:
        return None
    at = dt.datetime.fromisoformat(value.replace(" UTC", "+00:00").replace(".0000", ""))
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


def parse_arrangement(label: str | None) -> str | None:
    return REMOTE.get(re.sub(r"[^a-z]", "", (label or "").lower()))


def parse_employment_type(label: str | None) -> str | None:
    return EMPLOYMENT.get(re.sub(r"[^a-z]", "", (label or "").lower()))


def join_parts(*parts: str | None) -> str:
    return ", ".join(dict.fromkeys(part.strip() for part in parts if part and part.strip()))


def salary_fields(low: Any, high: Any, currency: str | None, period: str | None = None) -> Truth:
    number = {"salary_min": low, "salary_max": high}
    amounts = {name: float(value) for name, value in number.items() if value and float(value)}
    # A salary below 1,000 a year is a contradiction, so the period is not compared.
    sound = period if max(amounts.values(), default=0) >= 1000 or period != "year" else None
    terms = {"salary_currency": currency, "salary_period": sound} if amounts else {}
    return {**amounts, **terms}

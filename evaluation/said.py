"""How saved answers say things: dates, pay, kinds of work."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
Truth: TypeAlias = dict[str, Any]
"""By field of a posting; `salary_min` and so on for pay; `sections` holds the texts, as HTML."""

REMOTE = {"remote": "remote", "hybrid": "hybrid", "onsite": "onsite"}
EMPLOYMENT = {
    "fulltime": "full_time", "parttime": "part_time", "contract": "contract",
    "contractor": "contract", "temporary": "temporary", "intern": "internship",
    "internship": "internship", "fulltimepermanent": "full_time", "parttimepermanent": "part_time",
}  # fmt: skip


def at(value: Any) -> dt.datetime | None:
    if isinstance(value, int):
        return dt.datetime.fromtimestamp(value / 1000 if value > 10**11 else value, dt.UTC)
    if not value:
        return None
    at = dt.datetime.fromisoformat(value.replace(" UTC", "+00:00").replace(".0000", ""))
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


def where(label: str | None) -> str | None:
    return REMOTE.get(re.sub(r"[^a-z]", "", (label or "").lower()))


def kind(label: str | None) -> str | None:
    return EMPLOYMENT.get(re.sub(r"[^a-z]", "", (label or "").lower()))


def line(*parts: str | None) -> str:
    return ", ".join(dict.fromkeys(part.strip() for part in parts if part and part.strip()))


def pay(low: Any, high: Any, currency: str | None, period: str | None = None) -> Truth:
    number = {"salary_min": low, "salary_max": high}
    amounts = {name: float(value) for name, value in number.items() if value and float(value)}
    # Nobody is paid less than a thousand a year: then the answer contradicts itself.
    sound = period if max(amounts.values(), default=0) >= 1000 or period != "year" else None
    said = {"salary_currency": currency, "salary_period": sound} if amounts else {}
    return {**amounts, **said}

"""A posting as a site shows it, in the same form for all sites."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

Arrangement: TypeAlias = Literal["remote", "hybrid", "onsite"]
Period: TypeAlias = Literal["hour", "day", "week", "month", "year"]
Seniority: TypeAlias = Literal[
    "intern", "entry", "junior", "mid", "senior", "lead", "staff", "principal",
    "manager", "director", "executive",
]  # fmt: skip

MAX_SHORT_FACT_LENGTH, MAX_FACTS = 500, 500
"""Characters of a place, company, department or tag, and how many of them a listing keeps: rules
read them on the event loop."""
SHORT_FACTS = ("title", "company", "location", "department", "locations", "remote_from", "tags")
MAX_TEXT_LENGTH = 200_000
"""Characters of a description: its words are compared with those of other listings."""
TEXTS = ("description", "requirements")


@dataclass(frozen=True, slots=True)
class Salary:
    """Salary as offered, without conversion."""

    min: float | None
    max: float | None
    currency: str | None
    """ISO 4217; None if the posting does not say."""
    period: Period | None
    known: Literal["structured", "text", "predicted"]
    """The origin: a field, the text, or an estimate."""


@dataclass(frozen=True, slots=True)
class Posting:
    """The content of one posting. None and () mean that it does not say; nothing is guessed."""

    title: str
    url: str = ""
    """The page for people."""
    company: str | None = None
    location: str | None = None
    """The location in the posting's own words."""
    locations: tuple[str, ...] = ()
    """All locations, one per element."""
    arrangement: Arrangement | None = None
    remote_from: tuple[str, ...] = ()
    """Where applicants must live to work remotely."""
    department: str | None = None
    employment_type: str | None = None
    """One of the values of `extract.fields.employment`, or the posting's own word."""
    seniority: Seniority | None = None
    posted_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None
    valid_through: dt.datetime | None = None
    salary: Salary | None = None
    description: str | None = None
    """The full plain text of all sections."""
    requirements: str | None = None
    """The part of the text that lists the requirements."""
    apply_url: str | None = None
    platform: str | None = None
    board: str | None = None
    vendor_id: str | None = None
    requisition_id: str | None = None
    """The same for several posts of one vacancy."""
    language: str | None = None
    tags: tuple[str, ...] = ()
    via: str | None = None
    """The site that must be credited and linked when the posting is shown (aggregators)."""
    company_url: str | None = None
    """The company's own site, if the posting links it."""
    partial: bool = False
    """The text is cut or missing; the detail page has more."""


def limit_lengths(posting: Posting) -> Posting:
    """The posting with its short facts and texts cut to a length. Readers of foreign content return
    only such postings, because everything after them runs on the event loop."""
    cuts: dict[str, Any] = {name: _cut(getattr(posting, name)) for name in SHORT_FACTS}
    for name in TEXTS:
        text: str | None = getattr(posting, name)
        cuts[name] = text and text[:MAX_TEXT_LENGTH]
    return replace(posting, **cuts)


def _cut(fact: Any) -> Any:
    if isinstance(fact, tuple):
        return tuple(
            text[:MAX_SHORT_FACT_LENGTH] for text in cast(tuple[str, ...], fact)[:MAX_FACTS]
        )
    return fact and fact[:MAX_SHORT_FACT_LENGTH]


def format_salary(
    low: float | None, high: float | None, currency: str | None, period: str | None
) -> str | None:
    """`EUR 60,000-75,000 a year`; None without an amount."""
    amounts = list(dict.fromkeys(_format_amount(n) for n in (low, high) if n is not None))
    if not amounts:
        return None
    parts = [
        currency,
        "-".join(amounts),
        f"a{'n' if period == 'hour' else ''} {period}" if period else None,
    ]
    return " ".join(part for part in parts if part)


def _format_amount(amount: float) -> str:
    return f"{amount:,.2f}".removesuffix(".00")

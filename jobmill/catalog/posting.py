"""A posting as a site shows it, in one shape whatever the site."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal, TypeAlias

Arrangement: TypeAlias = Literal["remote", "hybrid", "onsite"]
Period: TypeAlias = Literal["hour", "day", "week", "month", "year"]
Seniority: TypeAlias = Literal[
    "intern", "entry", "junior", "mid", "senior", "lead", "staff", "principal",
    "manager", "director", "executive",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Salary:
    """Pay as offered: nothing is converted."""

    min: float | None
    max: float | None
    currency: str | None
    """ISO 4217; None where the posting does not say which."""
    period: Period | None
    known: Literal["structured", "text", "predicted"]
    """How we know: a field, the text, or somebody's estimate."""


@dataclass(frozen=True, slots=True)
class Posting:
    """What one posting says. None and () mean that it does not say; nothing is guessed."""

    title: str
    url: str = ""
    """The page for people."""
    company: str | None = None
    location: str | None = None
    """The place in the posting's own words."""
    locations: tuple[str, ...] = ()
    """All places, one each."""
    arrangement: Arrangement | None = None
    remote_from: tuple[str, ...] = ()
    """Where one must live to work remotely."""
    department: str | None = None
    employment_type: str | None = None
    """One of `fields.employment`'s words, or the posting's own where none fits."""
    seniority: Seniority | None = None
    posted_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None
    valid_through: dt.datetime | None = None
    salary: Salary | None = None
    description: str | None = None
    """The whole text, all sections, plain."""
    requirements: str | None = None
    """The part of the text that says what is asked for."""
    apply_url: str | None = None
    platform: str | None = None
    board: str | None = None
    vendor_id: str | None = None
    requisition_id: str | None = None
    """What several posts of one vacancy share."""
    language: str | None = None
    tags: tuple[str, ...] = ()
    via: str | None = None
    """Who must be named and linked when it is shown (aggregators)."""
    company_url: str | None = None
    """The company's own site, where the posting names it."""
    partial: bool = False
    """The text is only a beginning or missing; its detail page has more."""

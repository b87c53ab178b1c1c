"""How complete the record of a company is, and what is missing."""

from __future__ import annotations

from typing import NamedTuple

from jobmill.catalog import companies
from jobmill.catalog.companies import (
    GOOD_ABOUT_LENGTH,
    GOOD_CULTURE_LENGTH,
    MINIMAL_ABOUT_LENGTH,
    MINIMAL_CULTURE_LENGTH,
    Company,
    Completeness,
)
from jobmill.web.translations import say


class RecordPart(NamedTuple):
    name: str
    complete: bool
    detail: str


def level_names() -> dict[Completeness, str]:
    return {"good": say("complete"), "minimal": say("partial"), "sparse": say("insufficient")}


def level_name(company: Company) -> str:
    return level_names()[companies.completeness(company)]


def record_parts(company: Company) -> list[RecordPart]:
    """The four parts of a complete record."""
    about, culture = len(company.about or ""), len(company.culture or "")
    has_website = bool(company.website)
    return [
        RecordPart(say("Name"), True, say("known")),
        RecordPart(say("Website"), has_website, say("known") if has_website else say("missing")),
        RecordPart(
            say("Description"),
            about > GOOD_ABOUT_LENGTH,
            _describe_length(about, MINIMAL_ABOUT_LENGTH, GOOD_ABOUT_LENGTH),
        ),
        RecordPart(
            say("Culture"),
            culture > GOOD_CULTURE_LENGTH,
            _describe_length(culture, MINIMAL_CULTURE_LENGTH, GOOD_CULTURE_LENGTH),
        ),
    ]


def percent_complete(company: Company) -> int:
    parts = record_parts(company)
    return round(100 * sum(part.complete for part in parts) / len(parts))


def _describe_length(length: int, little: int, good: int) -> str:
    if length == 0:
        return say("missing")
    if length > good:
        return say("known")
    numbers = {"n": f"{length:,}", "min": f"{good:,}"}
    if length > little:
        return say("partial: %(n)s characters (needs more than %(min)s)", **numbers)
    return say("insufficient: %(n)s characters (needs more than %(min)s)", **numbers)

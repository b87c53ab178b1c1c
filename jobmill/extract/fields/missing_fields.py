"""Fill missing fields of a posting from its title, locations and description."""

from __future__ import annotations

from dataclasses import replace

from jobmill.catalog.posting import Posting, Salary
from jobmill.places import location_text

from . import requirements, salary, seniority, work_arrangement


def fill_missing_fields(posting: Posting) -> Posting:
    """Infer locations, arrangement, seniority, salary and requirements where the site gave no
    value."""
    locations = posting.locations or location_text.split_locations(posting.location)
    location_texts = (*locations, posting.location) if posting.location else locations
    return replace(
        posting,
        locations=locations,
        arrangement=posting.arrangement
        or work_arrangement.infer_arrangement(posting.title, location_texts, posting.description),
        seniority=posting.seniority or seniority.from_title(posting.title),
        salary=posting.salary or _find_salary(posting),
        requirements=posting.requirements or requirements.find_requirements(posting.description),
    )


def _find_salary(posting: Posting) -> Salary | None:
    """The salary in the description, else in the title."""
    if stated := salary.from_text(posting.description):
        return stated
    return (
        salary.from_text(posting.title) if any(sign in posting.title for sign in "$€£₹") else None
    )

"""The facts about a company that the rules use. Unknown facts do not affect a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jobmill.catalog.companies import Company


@dataclass(frozen=True, slots=True)
class Employer:
    name: str = ""
    size: Literal["large", "medium", "small"] | None = None
    offices: tuple[str, ...] = ()
    """Locations, headquarters first."""
    remote_first: bool | None = None


def to_employer(company: Company | None) -> Employer:
    """Convert a company of the catalog."""
    if company is None:
        return Employer()
    head = [company.headquarters_location] if company.headquarters_location else []
    return Employer(
        name=company.name,
        size=company.company_size_category,
        offices=tuple(dict.fromkeys([*head, *(company.offices or ())])),
        remote_first=company.remote_first,
    )

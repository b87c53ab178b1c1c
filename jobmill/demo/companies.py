"""The fictional companies of the demo, one per line of `companies.csv`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast

DemoPlatform: TypeAlias = Literal["greenhouse", "lever", "ashby", "workday", "rss", "html", "none"]
Language: TypeAlias = Literal["en", "de", "fr", "es"]


@dataclass(frozen=True, slots=True)
class DemoCompany:
    name: str
    platform: DemoPlatform
    activity: str
    """What it does, as a phrase that follows its name."""
    employees: int
    town: str
    founded: int
    stack: tuple[str, ...]
    max_listings: int
    """The most listings it has at a time."""
    remote_first: bool
    language: Language
    role_mix: str
    """Which roles it hires for: a key of `roles.ROLE_MIXES`."""

    @property
    def slug(self) -> str:
        """Its token on job boards."""
        return "".join(letter for letter in self.name.lower() if letter.isalnum())

    @property
    def host(self) -> str:
        return f"{self.slug}.example"

    @property
    def website(self) -> str:
        return f"https://{self.host}"

    @property
    def workday_host(self) -> str:
        """The URL of its Workday site."""
        return f"{self.slug}.wd5.myworkdayjobs.com"


def _parse(row: Mapping[str, str]) -> DemoCompany:
    return DemoCompany(
        name=row["name"],
        platform=cast(DemoPlatform, row["platform"]),
        activity=row["activity"],
        employees=int(row["employees"]),
        town=row["town"],
        founded=int(row["founded"]),
        stack=tuple(row["stack"].split("; ")),
        max_listings=int(row["max_listings"]),
        remote_first=row["remote_first"] == "yes",
        language=cast(Language, row["language"]),
        role_mix=row["role_mix"],
    )


def _read_companies() -> tuple[DemoCompany, ...]:
    with Path(__file__).with_name("companies.csv").open(encoding="utf-8", newline="") as file:
        return tuple(map(_parse, csv.DictReader(file)))


COMPANIES = _read_companies()
BY_HOST = {company.host: company for company in COMPANIES} | {
    company.workday_host: company for company in COMPANIES
}
BY_SLUG = {company.slug: company for company in COMPANIES}


def companies_on(platform: DemoPlatform) -> list[DemoCompany]:
    """The companies that use a platform."""
    return [company for company in COMPANIES if company.platform == platform]

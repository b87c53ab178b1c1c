"""The bundled list of employers with public job boards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jobmill.catalog import company_names
from jobmill.catalog.sources import NewSource
from jobmill.errors import Invalid

from . import board_import

_FILE = Path(__file__).with_suffix(".tsv")


@dataclass(frozen=True, slots=True)
class BundledCompany:
    platform: str
    slug: str
    name: str
    about: str
    website: str
    """Unverified: written from general knowledge, to be tried and never taken as fact."""

    @property
    def key(self) -> str:
        """The key a company is chosen by, such as greenhouse/acme."""
        return f"{self.platform}/{self.slug}"

    @property
    def field(self) -> str:
        """The industry: the part of the description before the colon."""
        return self.about.partition(":")[0]


@cache
def all_companies() -> tuple[BundledCompany, ...]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(
        BundledCompany(*line.split("\t")) for line in lines if line and not line.startswith("#")
    )


def all_names() -> list[str]:
    return [company.name for company in all_companies()]


def all_fields() -> list[str]:
    """The industries of the list."""
    return sorted({company.field for company in all_companies()})


def search_companies(words: str = "", field: str = "") -> list[BundledCompany]:
    """Companies whose name, platform or description contains all of the words."""
    search_words = words.casefold().split()
    return [
        company
        for company in all_companies()
        if field in ("", company.field)
        and all(
            word in f"{company.name} {company.about} {company.key}".casefold()
            for word in search_words
        )
    ]


def companies_by_keys(keys: Iterable[str]) -> list[BundledCompany]:
    """Companies with these keys, each once; unknown keys are left out."""
    by_key = {company.key: company for company in all_companies()}
    return [by_key[key] for key in dict.fromkeys(keys) if key in by_key]


def find_by_name(name: str) -> BundledCompany | None:
    """The company with this name, in any spelling and with or without its legal form."""
    return _companies_by_name().get(company_names.compact_key(name))


@cache
def _companies_by_name() -> dict[str, BundledCompany]:
    return {company_names.compact_key(company.name): company for company in all_companies()}


def source_for_key(key: str) -> NewSource:
    """The source for PLATFORM/SLUG, which need not be in the list; Invalid if there is no such
    board."""
    platform, mark, slug = key.strip().partition("/")
    if not mark:
        raise Invalid(f"{key[:80]!r} is no PLATFORM/SLUG")
    new = replace(board_import.board_source(platform, slug), discovered_via="user_submission")
    matches = companies_by_keys([f"{new.source_type}/{slug}"])
    return _with_company_name(new, matches)


def _with_company_name(new: NewSource, matches: Sequence[BundledCompany]) -> NewSource:
    if not matches:
        return replace(new, evidence="named by hand")
    name = matches[0].name
    return replace(new, name=name, company_name=name, evidence="chosen from the bundled list")

"""Employers with public boards, to begin with: bundled, searched by name and by what they do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jobmill.catalog.sources import NewSource
from jobmill.errors import Invalid

from .. import board_import

FILE = Path(__file__).parent / "companies.tsv"


@dataclass(frozen=True, slots=True)
class Company:
    platform: str
    slug: str
    name: str
    about: str

    @property
    def key(self) -> str:
        """What it is chosen by: greenhouse/acme."""
        return f"{self.platform}/{self.slug}"

    @property
    def field(self) -> str:
        """The first word of what it is about."""
        return self.about.partition(":")[0]


@cache
def companies() -> tuple[Company, ...]:
    """All of them, by name."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Company(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def fields() -> list[str]:
    """What they are about, in a word each."""
    return sorted({one.field for one in companies()})


def find(words: str = "", field: str = "") -> list[Company]:
    """Those that have all of the words in their name, platform or description."""
    wanted = words.casefold().split()
    return [
        one
        for one in companies()
        if field in ("", one.field)
        and all(word in f"{one.name} {one.about} {one.key}".casefold() for word in wanted)
    ]


def named(keys: Iterable[str]) -> list[Company]:
    """Those with these keys, each once; what nobody knows is left out."""
    by_key = {one.key: one for one in companies()}
    return [by_key[key] for key in dict.fromkeys(keys) if key in by_key]


def board(key: str) -> NewSource:
    """The source of PLATFORM/SLUG, which need not be bundled; Invalid where there is no such board."""
    platform, mark, slug = key.strip().partition("/")
    if not mark:
        raise Invalid(f"{key[:80]!r} is no PLATFORM/SLUG")
    new = replace(board_import.new_board(platform, slug), discovered_via="user_submission")
    known = named([f"{new.source_type}/{slug}"])
    return _told(new, known)


def _told(new: NewSource, known: Sequence[Company]) -> NewSource:
    if not known:
        return replace(new, evidence="named by hand")
    name = known[0].name
    return replace(new, name=name, company_name=name, evidence="chosen from the bundled list")

"""Companies and searches that fit a profile, each with what they match.

A company is judged by what it hires for: by the titles of its open jobs as far as we know them, otherwise by its
industry. The industry alone says little about work that is done by hand or with people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jobmill.boards import api_keys
from jobmill.boards.platform import Platform
from jobmill.matching.profile import Profile
from jobmill.matching.rules import title_fit
from jobmill.places import gazetteer, parsed_place
from jobmill.rotation import searches
from jobmill.rotation.bundled_companies import BundledCompany

_SECTORS = Path(__file__).with_name("sectors.tsv")
_HANDS_ON_JOBS = Path(__file__).with_name("hands_on_jobs.tsv")
_OFFICE_WORK = re.compile(
    r"\b(?:account|admin|analy|data|design|develop|engineer|informati|market|product|programm|recruit|research"
    r"|sales|scien|software|support|writ)",
    re.IGNORECASE,
)
"""A title with such a word is no hands-on job: a mechanical engineer is no mechanic."""
SHORT_WORD = 3
"""Words up to this length are matched whole: `ui` is not the beginning of `uistiti`."""
MAX_NAMED = 4
MAX_TITLES = 3
MAX_PLACES = 3
TITLE_POINTS, SECTOR_POINTS, DETAIL_POINTS, PLACE_POINTS, REMOTE_POINTS = 10, 2, 3, 2, 1
RELATED_TITLE = 0.25
"""Least similarity of an open job to a wanted title: the same role, perhaps in another field."""
ENOUGH_TITLES = 5
"""A company with this number of open jobs, none of them related, does not hire for what a person wants."""
MAX_SECTOR_PHRASES = 4
"""More skills of an industry do not make one of its companies fit better."""


@dataclass(frozen=True, slots=True)
class CompanySuggestion:
    company: BundledCompany
    matches: tuple[str, ...] = ()
    """What of the profile it fits, such as a skill, a place or `remote`; empty if nothing does."""
    points: int = 0
    """Higher fits better."""


@dataclass(frozen=True, slots=True)
class SearchSuggestion:
    platform: str
    title: str
    keywords: tuple[str, ...]
    locations: tuple[str, ...]
    missing_keys: tuple[str, ...]
    """The environment variables without which the platform cannot be searched."""


def rank_companies(
    profile: Profile | None,
    companies: Sequence[BundledCompany],
    open_titles: Mapping[str, Sequence[str]],
) -> list[CompanySuggestion]:
    """All companies, those that fit the profile best first; without a profile as they come.

    `open_titles`: the titles of open jobs by the name of a company, as far as we have read them.
    """
    if profile is None:
        return [CompanySuggestion(company) for company in companies]
    criteria = _ProfileCriteria.of(profile)
    ranked = [criteria.judge(company, open_titles.get(company.name, ())) for company in companies]
    return sorted(ranked, key=lambda suggestion: -suggestion.points)


@dataclass(frozen=True, slots=True)
class _ProfileCriteria:
    """What of a profile can be compared with the short description of a company."""

    titles: Sequence[str]
    hiring_sectors: frozenset[str]
    """The industries that hire for one of the titles."""
    phrases_by_sector: Mapping[str, Sequence[str]]
    words: Mapping[str, str]
    """A word in lower case, and the title or skill that it comes from."""
    places: Mapping[str, gazetteer.Area]
    is_remote: bool
    excluded: frozenset[str]

    @classmethod
    def of(cls, profile: Profile) -> _ProfileCriteria:
        ranks = {"primary": 0, "strong": 1, "familiar": 2}
        skills = sorted(profile.skills, key=lambda skill: ranks[skill.rank])
        phrases = [*(skill.name for skill in skills), *profile.titles]
        return cls(
            profile.titles,
            _find_hiring_sectors(profile.titles),
            {sector: _find_phrases(phrases, terms) for sector, terms in _sectors().items()},
            {word: phrase for phrase in reversed(phrases) for word in _long_words(phrase)},
            {name: area for name in _place_names(profile) if (area := _area(name))},
            not profile.arrangements or "remote" in profile.arrangements,
            frozenset(name.casefold() for name in profile.stop_lists.companies),
        )

    def judge(self, company: BundledCompany, open_titles: Sequence[str]) -> CompanySuggestion:
        related = self._find_related(open_titles)
        hires_others = bool(self.titles) and len(open_titles) >= ENOUGH_TITLES
        if company.name.casefold() in self.excluded or (
            not related and (hires_others or company.field not in self.hiring_sectors)
        ):
            return CompanySuggestion(company)
        details = company.about.partition(":")[2].casefold()
        sector = self.phrases_by_sector.get(company.field, ())[:MAX_SECTOR_PHRASES]
        words = [self.words[word] for word in _long_words(details) if word in self.words]
        places = [
            name.partition(",")[0]
            for name, area in self.places.items()
            if any(gazetteer.overlap(gazetteer.find_area(part), area) for part in _parts(details))
        ]
        if not (related or sector or words or places):
            return CompanySuggestion(company)
        remote = ["remote"] if self.is_remote and "remote" in details else []
        is_elsewhere = not places and any(gazetteer.find_area(part) for part in _parts(details))
        points = (
            TITLE_POINTS * len(related)
            + SECTOR_POINTS * len(sector)
            + DETAIL_POINTS * len(words)
            + PLACE_POINTS * (len(places) - is_elsewhere)
            + REMOTE_POINTS * len(remote)
        )
        names = dict.fromkeys([*related, *words, *sector])
        return CompanySuggestion(company, (*list(names)[:MAX_NAMED], *places, *remote), points)

    def _find_related(self, open_titles: Sequence[str]) -> list[str]:
        """The open job that is most like a wanted title, if one is related to it."""
        if not self.titles:
            return []
        fits = [(title_fit.find_closest(title, self.titles)[0], title) for title in open_titles]
        similarity, title = max(fits, default=(0.0, ""))
        return [title] if similarity >= RELATED_TITLE else []


@cache
def _sectors() -> Mapping[str, re.Pattern[str]]:
    return {sector: _pattern(terms.split(", ")) for sector, terms in _read_rows(_SECTORS)}


@cache
def _hands_on_jobs() -> Sequence[tuple[re.Pattern[str], frozenset[str]]]:
    """Words of titles, and the industries that hire for them."""
    return [
        (_pattern(terms.split(", ")), frozenset(sectors.split(", ")) - {"-"})
        for sectors, terms in _read_rows(_HANDS_ON_JOBS)
    ]


def _read_rows(file: Path) -> list[list[str]]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def _find_hiring_sectors(titles: Sequence[str]) -> frozenset[str]:
    """The industries that hire for one of the titles; all of them for office work, or without titles."""
    every_sector = frozenset(_sectors())
    if not titles:
        return every_sector
    return frozenset[str]().union(
        *(
            every_sector
            if _OFFICE_WORK.search(title)
            else next(
                (sectors for words, sectors in _hands_on_jobs() if words.search(title)),
                every_sector,
            )
            for title in titles
        )
    )


def _pattern(terms: Iterable[str]) -> re.Pattern[str]:
    ends = (re.escape(term) + (r"\b" if len(term) <= SHORT_WORD else "") for term in terms)
    return re.compile(rf"\b(?:{'|'.join(ends)})", re.IGNORECASE)


def _find_phrases(phrases: Iterable[str], terms: re.Pattern[str]) -> list[str]:
    return [phrase for phrase in phrases if terms.search(phrase)]


def _long_words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{5,}", text.casefold())


def _place_names(profile: Profile) -> list[str]:
    return list(dict.fromkeys([profile.person.home_city, *profile.locations]))


def _area(name: str) -> gazetteer.Area:
    """The countries of a place; empty if it is unknown."""
    return frozenset(
        code
        for place in parsed_place.parse_places(name)
        for area in place.lies_in
        for code in gazetteer.countries(area)
    )


def _parts(details: str) -> list[str]:
    return [part.strip() for part in details.split(",") if part.strip()]


def suggest_searches(profile: Profile, environ: Mapping[str, str]) -> list[SearchSuggestion]:
    """A search for the wanted titles at each site that can be searched: first those that need no key."""
    if not profile.titles:
        return []
    suggestions = [
        _suggest_search(profile, platform, environ)
        for platform in searches.searchable_platforms()
        if _offers_wanted_work(platform, profile)
    ]
    return sorted(suggestions, key=lambda suggestion: bool(suggestion.missing_keys))


def _offers_wanted_work(platform: Platform, profile: Profile) -> bool:
    """Sites without a location parameter list remote work only."""
    takes_place = "location" in platform.config.model_fields
    return takes_place or not profile.arrangements or "remote" in profile.arrangements


def _suggest_search(
    profile: Profile, platform: Platform, environ: Mapping[str, str]
) -> SearchSuggestion:
    places = [name.partition(",")[0] for name in _place_names(profile)]
    takes_place = "location" in platform.config.model_fields
    return SearchSuggestion(
        platform.name,
        platform.title,
        profile.titles[:MAX_TITLES],
        tuple(places[:MAX_PLACES]) if takes_place else (),
        api_keys.missing_keys(platform, None, environ),
    )

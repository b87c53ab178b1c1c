"""Check whether a person can work where a posting requires: remotely, or in one of their cities."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from jobmill.catalog.posting import Posting
from jobmill.matching.profile import Profile
from jobmill.places import gazetteer, parsed_place
from jobmill.places.parsed_place import ParsedPlace

from ..posting_facts import PostingFacts

MAX_WORDS_LENGTH: Final = 300
"""Maximum length of the quoted evidence."""
_ONLY: Final = re.compile(r"(?i)\b(?:only|residents?|nur|uniquement|exclusiv\w+)\b")
_REMOTE: Final = re.compile(r"(?i)(?:fully |100% )?remote\b(?!.*hybrid)|.{0,30}\bremote\)?$")

Fit: TypeAlias = Literal["suits", "doubtful", "unlikely", "impossible"]


@dataclass(frozen=True, slots=True)
class LocationFit:
    fit: Fit
    reason: str
    words: str
    rule: str = "location"
    is_unknown: bool = False
    """The posting does not say enough to tell that the profile excludes it."""


@dataclass(frozen=True, slots=True)
class _Case:
    """The locations of a profile and of a posting."""

    profile: Profile
    locations: tuple[ParsedPlace, ...]
    only_from: tuple[ParsedPlace, ...]
    """Where remote workers must live."""
    required_residence: tuple[ParsedPlace, ...]
    """Required residence read from the text, which is less reliable."""
    words: str
    may_be_remote: bool
    """The posting does not rule out remote work: its text is incomplete or ambiguous."""

    @property
    def homes(self) -> tuple[str, ...]:
        return (self.profile.person.home_city, *self.profile.locations)

    @property
    def cities(self) -> str:
        return " or ".join(self.homes)

    @property
    def is_at_home(self) -> bool:
        homes = parsed_place.parse_all(self.homes)
        return any(parsed_place.is_in(spot, home) for spot in self.locations for home in homes)

    @property
    def wanted_arrangements(self) -> str:
        return " or ".join(self.profile.arrangements) or "any arrangement"

    def wants(self, arrangement: str) -> bool:
        return not self.profile.arrangements or arrangement in self.profile.arrangements


def judge_location(profile: Profile, posting: Posting, facts: PostingFacts) -> LocationFit:
    """Judge how a posting's arrangement and locations fit a profile."""
    named = facts.places or posting.locations or (posting.location or "",)
    arrangement = facts.arrangement or posting.arrangement
    case = _Case(
        profile,
        parsed_place.parse_all(named),
        parsed_place.parse_all(
            (*posting.remote_from, *(name for name in named if _ONLY.search(name)))
        ),
        tuple(place for place in parsed_place.parse_all(facts.required_residence) if place.areas),
        _quote(facts, (*posting.remote_from, *named)),
        posting.partial or bool(not arrangement and facts.arrangement_words),
    )
    if arrangement == "remote":
        return _judge_remote(case)
    # Boards label "New York; Remote (US)" as hybrid, although candidates may choose either.
    also = [place for place in named if len(named) > 1 and _REMOTE.match(place)]
    if also and case.wants("remote"):
        remote_fit = _judge_remote(
            replace(case, only_from=parsed_place.parse_all(also), words=also[0])
        )
        if remote_fit.fit == "suits":
            return remote_fit
    return _judge_on_site(case, arrangement) if arrangement else _arrangement_unknown(case)


def _quote(facts: PostingFacts, named: tuple[str, ...]) -> str:
    listed = "; ".join(dict.fromkeys(place for place in named if place))
    arrangement_words = facts.arrangement_words
    both = (arrangement_words, "" if listed in arrangement_words else listed)
    text = "; ".join(part for part in both if part)
    return text if len(text) <= MAX_WORDS_LENGTH else f"{text[: MAX_WORDS_LENGTH - 1]}\u2026"


def _judge_remote(case: _Case) -> LocationFit:
    if not case.wants("remote"):
        return LocationFit(
            "impossible",
            f"Remote, but the profile wants only {case.wanted_arrangements}",
            case.words,
            "arrangement",
        )
    around = case.only_from or case.locations
    if case.is_at_home or not around or any(_includes_home(place, case) for place in around):
        result = LocationFit("suits", "Remote", case.words)
    else:
        result = _remote_elsewhere(case, around)
    if result.fit == "suits" and not case.is_at_home and _requires_other_residence(case):
        reason = "Remote, but the posting requires living in another country"
        return LocationFit("unlikely", reason, case.words)
    return result


def _requires_other_residence(case: _Case) -> bool:
    required = case.required_residence
    return bool(required) and not any(_is_in_country(place, case) for place in required)


def _remote_elsewhere(case: _Case, around: tuple[ParsedPlace, ...]) -> LocationFit:
    """Remote, but only from places where the person does not live."""
    if any(not place.lies_in for place in around):
        # The place is unknown to us.
        if not case.only_from:
            return LocationFit("suits", "Remote", case.words)
        reason = "Remote, possibly only from other places"
        return LocationFit("doubtful", reason, case.words, is_unknown=True)
    if any(_is_in_country(place, case) for place in around):
        return (
            LocationFit("unlikely", "Remote, but only from other states or cities", case.words)
            if case.only_from
            else LocationFit("suits", "Remote", case.words)
        )
    if case.only_from:
        return LocationFit(
            "impossible", "Remote, but only from other countries", case.words, "remote_elsewhere"
        )
    return LocationFit("unlikely", "Remote, but in another country", case.words)


def _judge_on_site(case: _Case, arrangement: str) -> LocationFit:
    if case.is_at_home:
        if case.wants(arrangement):
            return LocationFit("suits", f"{arrangement.capitalize()} in {case.cities}", case.words)
        reason = (
            f"{arrangement.capitalize()}, but the profile wants only {case.wanted_arrangements}"
        )
        return LocationFit("doubtful", reason, case.words)
    if not _is_elsewhere(case):
        reason = f"{arrangement.capitalize()}, but the posting does not name a city"
        is_unknown = case.wants(arrangement)
        return LocationFit("unlikely", reason, case.words, is_unknown=is_unknown)
    reason = f"{arrangement.capitalize()}, but not in {case.cities}"
    return LocationFit("impossible", reason, case.words, "not_remote")


def _arrangement_unknown(case: _Case) -> LocationFit:
    """A posting that names a city without mentioning remote work is for people in that city."""
    if case.is_at_home:
        suits = case.wants("hybrid") or case.wants("onsite")
        reason = f"In {case.cities}, with no mention of remote work"
        fit: Fit = "suits" if suits else "doubtful"
        return LocationFit(fit, reason, case.words, is_unknown=not suits)
    if not _is_elsewhere(case):
        reason = "The posting mentions neither remote work nor a location"
        return LocationFit("doubtful", reason, case.words, is_unknown=True)
    if case.may_be_remote:
        reason = f"Probably neither remote nor in {case.cities}"
        return LocationFit("unlikely", reason, case.words)
    reason = f"Neither remote nor in {case.cities}"
    return LocationFit("impossible", reason, case.words, "not_remote")


def _is_elsewhere(case: _Case) -> bool:
    """Whether the posting names only cities or other countries. The person's own country alone does
    not tell."""
    return bool(case.locations) and not any(_includes_home(place, case) for place in case.locations)


def _includes_home(place: ParsedPlace, case: _Case) -> bool:
    """Whether this area, unless it is a single city, includes the person's home."""
    if place.city:
        return False
    homes = parsed_place.parse_all(case.homes)
    states = [home for home in homes if any("-" in code for area in home.areas for code in area)]
    if any(parsed_place.agree(place.areas, home.areas) for home in states):
        return True
    return _is_in_country(place, case) and not _names_states(place)


def _names_states(place: ParsedPlace) -> bool:
    return any(all("-" in code for code in area) for area in place.areas)


def _is_in_country(place: ParsedPlace, case: _Case) -> bool:
    home_countries = _home_countries(case)
    return not home_countries or all(
        gazetteer.countries(area) & home_countries for area in place.lies_in
    )


def _home_countries(case: _Case) -> frozenset[str]:
    """The person's countries, from their time zone and their cities."""
    countries = gazetteer.country_of_time_zone(case.profile.person.timezone)
    for home in parsed_place.parse_all(case.homes):
        areas = [gazetteer.countries(area) for area in home.lies_in]
        countries |= frozenset[str].intersection(*areas) if areas else frozenset()
    return countries

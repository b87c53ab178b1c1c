"""The demo has jobs and matches for every profession of its people."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.posting import Posting, Salary
from jobmill.demo import demo_profile
from jobmill.demo.companies import COMPANIES
from jobmill.demo.platforms import text
from jobmill.demo.setup import SEED
from jobmill.demo.state import DemoListing, World
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.matching import posting_facts
from jobmill.matching.profile import Profile
from jobmill.matching.rules import filter, local_score
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdict import MatchResult

BEGAN = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
OTHER_PROFESSIONS = [name for name in demo_profile.PROFILES if name != demo_profile.NAME]


def open_listings(day: float) -> list[DemoListing]:
    moment = World(SEED, BEGAN, dt.timedelta(minutes=2)).at(BEGAN + day * dt.timedelta(minutes=2))
    return [listing for company in COMPANIES for listing in moment.open_listings(company)]


def _text(listing: DemoListing) -> str:
    parts = [(head, *(f"- {line}" for line in lines)) for head, lines in text.sections(listing)]
    return "\n".join([listing.intro, *(line for part in parts for line in part), *listing.closing])


def matches(profile: Profile, day: float = 0) -> list[MatchResult]:
    results: list[MatchResult] = []
    for listing in open_listings(day):
        low, high = listing.pay or (None, None)
        salary = Salary(low, high, listing.currency, "year", "structured") if listing.pay else None
        posting = fill_missing_fields(
            Posting(
                listing.title,
                url=listing.url,
                location=listing.place,
                arrangement=listing.arrangement,
                salary=salary,
                description=_text(listing),
            )
        )
        facts = posting_facts.read_facts(posting)
        if filter.apply_rules(profile, posting, facts, PLATFORM_RULES).passed:
            result = local_score.score_posting(profile, posting, facts, Employer(), 0.6)
            results += [result] if result.fits else []
    return results


@pytest.mark.parametrize("name", OTHER_PROFESSIONS)
def test_every_profession_has_matches_when_the_demo_starts(name: str) -> None:
    assert matches(demo_profile.PROFILES[name])


def test_few_matches_of_the_demo_have_the_highest_score() -> None:
    scores = [
        result.match_score
        for profile in demo_profile.PROFILES.values()
        for day in (0, 2)
        for result in matches(profile, day)
    ]
    assert len(scores) > 20
    assert scores.count(100) <= len(scores) / 20
    assert len(set(scores)) > 8

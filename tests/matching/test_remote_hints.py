"""Hints of remote work and required residence in the text of a posting."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.matching import posting_facts
from jobmill.matching.posting_facts import remote_hints, residence
from jobmill.matching.rules import filter
from tests.matching.cases import posting, profile

OFFICE = {"location": "San Francisco, CA", "arrangement": None}


@pytest.mark.parametrize(
    "text",
    [
        "Remote OK for the right person.",
        "We're open to remote for the right candidate.",
        "Based in San Francisco, or remote within the US.",
        "We are a remote-first company.",
        "Remote work is possible.",
        "You may work remotely.",
        "Home Office möglich.",
        "This role can be based in any US location.",
    ],
)
def test_a_posting_that_may_be_remote_is_not_rejected(text: str) -> None:
    assert remote_hints.find_remote_hint(f"Pumps.\n{text}\nWater.") == text
    offer = posting(description=text, **OFFICE)
    result = filter.apply_rules(profile(), offer, posting_facts.read_facts(offer), PLATFORM_RULES)
    assert not result.hard_rejections
    assert [(strike.rule, strike.strikes) for strike in result.strikes] == [("location", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "We do not offer remote work.",
        "Remote candidates will not be considered.",
        "A stipend for when you work from home.",
        "Experience in a remote-first company.",
        "Work from home up to two days a week.",
        "Our remote sensing team.",
        "While we are a remote-first company, this role is specifically in London.",
    ],
)
def test_unrelated_words_about_remote_work_do_not_count(text: str) -> None:
    assert not remote_hints.find_remote_hint(text)
    offer = posting(description=text, **OFFICE)
    result = filter.apply_rules(profile(), offer, posting_facts.read_facts(offer), PLATFORM_RULES)
    assert [rejection.rule for rejection in result.hard_rejections] == ["not_remote"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("You must be located in the United States.", ("United States",)),
        ("Must live in Canada or the US", ("Canada", "US")),
        ("We only hire people based in Germany.", ("Germany",)),
        ("US-based candidates only", ("US",)),
        ("You must be based in Germany, France or Spain.", ("Germany", "France", "Spain")),
        ("You must be authorized to work in the US", ()),
        ("Must be based in the US or willing to relocate.", ()),
        ("Our offices are located in Paris and must be seen", ()),
    ],
)
def test_required_residence_is_read_from_the_text(text: str, places: tuple[str, ...]) -> None:
    assert residence.find_required_residence(text) == places


@pytest.mark.parametrize(
    ("place", "text", "rejections", "strikes"),
    [
        ("Remote", "You must live in Germany.", [], [3]),
        ("Remote", "You must live in the US.", [], []),
        ("Remote (EU only)", "", ["remote_elsewhere"], []),
        ("Remote (US only)", "", [], []),
        ("Remote - Portland, OR", "Elsewhere you must live in Germany.", [], []),
    ],
)
def test_a_remote_role_for_other_countries_is_recognised(
    place: str, text: str, rejections: list[str], strikes: list[int]
) -> None:
    offer = posting(location=place, description=text)
    result = filter.apply_rules(profile(), offer, posting_facts.read_facts(offer), PLATFORM_RULES)
    assert [rejection.rule for rejection in result.hard_rejections] == rejections
    assert [rejection.strikes for rejection in result.strikes] == strikes

"""Whether a posting's location fits a profile."""

from __future__ import annotations

from typing import Any

import pytest

from jobmill.matching.rules import location_fit
from jobmill.places import gazetteer, parsed_place
from tests.matching.cases import facts, posting, profile


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("Portland, OR", True),
        ("Portland, Oregon", True),
        ("Portland, Oregon, USA", True),
        ("portland, or", True),
        ("Portland OR", True),
        ("Portland, OR 97201", True),
        ("US-OR-Portland", True),
        ("USA - Oregon - Portland", True),
        ("Portland", True),
        ("Greater Portland Area", True),
        ("Portland Metro", True),
        ("Hybrid - Portland, OR", True),
        ("Portland, Multnomah County, OR", True),
        ("Seattle, WA; Portland, OR", True),
        ("Seattle, WA, Portland, OR", True),
        ("Portland, OR or Remote", True),
        ("Portland, OR / Boise, ID", True),
        ("Portland, ME", False),
        ("Portland, Maine", False),
        ("Portland, ME 04101", False),
        ("South Portland, ME", False),
        ("Portland, Victoria, Australia", False),
        ("Oregon", False),
        ("United States", False),
        ("Remote", False),
        ("", False),
    ],
)
def test_the_home_city_is_known_however_it_is_written(text: str, home: bool) -> None:
    assert parsed_place.is_any_in([text], ["Portland, OR"]) is home
    assert (
        parsed_place.is_any_in([None, text], ["Salem, OR", "Portland, Oregon, United States"])
        is home
    )


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("NYC", "New York, NY"),
        ("New York City", "New York, New York, USA"),
        ("Bangalore", "Bengaluru, India"),
        ("Bengaluru, IN", "Bengaluru, Karnataka, India"),
        ("Berlin, DE", "Berlin, Germany"),
        ("Washington, DC", "Washington DC"),
        ("San Francisco Bay Area", "San Francisco, CA"),
        ("Singapore", "Singapore, Singapore"),
        ("San Francisco, New York, Seattle", "New York"),
    ],
)
def test_two_names_of_a_city_are_the_same_city(first: str, other: str) -> None:
    assert parsed_place.is_any_in([first], [other])
    assert parsed_place.is_any_in([other], [first])


@pytest.mark.parametrize(
    ("first", "other"), [("Berlin, CT", "Berlin, Germany"), ("London, ON", "London, UK")]
)
def test_two_cities_with_one_name_are_different(first: str, other: str) -> None:
    assert not parsed_place.is_any_in([first], [other])


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Salem, OR", True),
        ("Oregon", True),
        ("Salem", False),
        ("United States", False),
        ("", False),
    ],
)
def test_a_whole_state_may_be_home(text: str, there: bool) -> None:
    assert parsed_place.is_any_in([text], ["Oregon"]) is there


def test_a_time_zone_tells_the_country() -> None:
    zones = ("America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Etc/UTC")
    assert [sorted(gazetteer.country_of_time_zone(zone)) for zone in zones] == [
        ["US"],
        ["DE"],
        ["IN"],
        [],
    ]


HYBRID = {"arrangements": ["remote", "hybrid"]}
ANY = {"arrangements": ["remote", "hybrid", "onsite"]}
OFFICE = {"arrangements": ["onsite"]}
REMOTE = {"arrangements": ["remote"]}


@pytest.mark.parametrize(
    ("wants", "arrangement", "location", "remote_from", "fit", "rule"),
    [
        (HYBRID, "remote", "Remote", (), "suits", ""),
        (HYBRID, "remote", "San Francisco, CA", (), "suits", ""),
        (HYBRID, "remote", "Remote, US", ("United States",), "suits", ""),
        (HYBRID, "remote", "Remote", ("Oregon", "Washington"), "suits", ""),
        (HYBRID, "remote", "Remote", ("North America",), "suits", ""),
        (HYBRID, "remote", "Remote", ("US or Canada",), "suits", ""),
        (HYBRID, "remote", "Remote", ("Texas", "Ohio"), "unlikely", "location"),
        (HYBRID, "remote", "Remote", ("Lummerland",), "doubtful", "location"),
        (HYBRID, "remote", "Remote", ("Germany",), "impossible", "remote_elsewhere"),
        (HYBRID, "remote", "Remote", ("EMEA", "LATAM"), "impossible", "remote_elsewhere"),
        (HYBRID, "remote", "Berlin, Germany", (), "unlikely", "location"),
        (HYBRID, "hybrid", "Portland, OR", (), "suits", ""),
        (HYBRID, "hybrid", "Portland, ME", (), "impossible", "not_remote"),
        (HYBRID, "hybrid", "United States", (), "unlikely", "location"),
        (HYBRID, "onsite", "Portland, OR", (), "doubtful", "location"),
        (ANY, "onsite", "Portland, OR", (), "suits", ""),
        (HYBRID, "onsite", "Austin, TX", (), "impossible", "not_remote"),
        (HYBRID, "onsite", None, (), "unlikely", "location"),
        (HYBRID, None, "Portland, OR", (), "suits", ""),
        (REMOTE, None, "Portland, OR", (), "doubtful", "location"),
        (HYBRID, None, None, (), "doubtful", "location"),
        (HYBRID, None, "US, Canada", (), "doubtful", "location"),
        (HYBRID, None, "Austin, TX", (), "impossible", "not_remote"),
        (HYBRID, None, "Texas", (), "impossible", "not_remote"),
        (HYBRID, None, "Germany", (), "impossible", "not_remote"),
        (OFFICE, "remote", "Remote", (), "impossible", "arrangement"),
        ({"locations": ["Austin, TX"]}, "hybrid", "Austin, TX", (), "suits", ""),
    ],
)
def test_locations_and_arrangements_are_judged(
    wants: dict[str, Any],
    arrangement: str | None,
    location: str | None,
    remote_from: tuple[str, ...],
    fit: str,
    rule: str,
) -> None:
    offer = posting(arrangement=arrangement, location=location, remote_from=remote_from)
    location_result = location_fit.judge_location(
        profile(**wants), offer, facts(arrangement=arrangement)
    )
    assert location_result.fit == fit
    assert fit == "suits" or location_result.rule == rule


def test_office_or_remote_counts_as_remote_for_people_elsewhere() -> None:
    spots = ("New York, NY (HQ)", "Remote (US)")
    offer = posting(arrangement="hybrid", location=spots[0], locations=spots)
    facts_read = facts(arrangement="hybrid", places=spots)
    assert location_fit.judge_location(profile(), offer, facts_read).fit == "suits"
    berliner = profile(person={"home_city": "Berlin", "timezone": "Europe/Berlin"})
    assert location_fit.judge_location(berliner, offer, facts_read).fit == "impossible"


def test_an_incomplete_text_may_still_be_remote() -> None:
    offer = posting(arrangement=None, location="Austin, TX", partial=True)
    assert location_fit.judge_location(profile(), offer, facts(arrangement=None)).fit == "unlikely"


@pytest.mark.parametrize(
    ("answer", "home", "same"),
    [
        ("Berlin-Mitte", "Berlin, Germany", True),
        ("Raum Berlin", "Berlin, Germany", True),
        ("Manchester City Centre", "Manchester, UK", True),
        ("Manchester M1 2AB", "Manchester, UK", True),
        ("Downtown Portland", "Portland, OR", True),
        ("Portland-Vancouver-Hillsboro, OR-WA", "Portland, OR", True),
        ("Portland Oregon", "Portland, OR", True),
        ("Portland Maine", "Portland, OR", False),
        ("South Portland", "Portland, OR", False),
        ("Berlin Heights, OH", "Berlin, Germany", False),
        ("Portlandia", "Portland, OR", False),
    ],
)
def test_a_part_of_a_city_is_in_it(answer: str, home: str, same: bool) -> None:
    assert parsed_place.is_any_in([answer], [home]) is same

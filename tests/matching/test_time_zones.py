"""Time zones from words and places, as hours from UTC."""

from __future__ import annotations

import pytest

from jobmill.matching.posting_facts import time_zones

US = (-8.0, -7.0, -6.0, -5.0)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("overlap with UTC-3 to UTC+1", (-3, -2, -1, 0, 1)),
        ("time zones from UTC\u22128 to \u22125", US),
        ("working hours in GMT+5:30", (5.5,)),
        ("We work 9am-5pm EST hours", (-5,)),
        ("working hours are Pacific Time", (-8,)),
        ("Eastern or Central time zones", (-6, -5)),
        ("within \u00b13 hours of CET", (1,)),
        ("US business hours", US),
        ("European time zones", (0, 1, 2)),
        ("Apply by 5pm EST; working hours are flexible", ()),
        ("Our Central office has long hours", ()),
        ("Mountain biking after hours", ()),
        ("DAS IST gut", ()),
        ("", ()),
    ],
)
def test_time_zones_are_read_from_the_text(text: str, hours: tuple[float, ...]) -> None:
    assert time_zones.offsets_from_text(text)[0] == hours


@pytest.mark.parametrize(
    ("place", "hours"),
    [
        ("Portland, OR", (-8,)),
        ("Portland, ME", (-5,)),
        ("San Francisco, CA", (-8,)),
        ("Toronto, CA", (-5,)),
        ("Berlin, DE", (1,)),
        ("London, ON", (-5,)),
        ("London", (0,)),
        ("Zürich", (1,)),
        ("Remote - US", US),
        ("US-San Francisco", (-8,)),
        ("Austin, Texas, United States", (-6,)),
        ("Birmingham, Alabama, United States", (-6,)),
        ("SF, NYC", (-8, -5)),
        ("San Francisco, CA; New York, NY", (-8, -5)),
        ("Bengaluru, IN", (5.5,)),
        ("Remote (Europe)", (0, 1, 2)),
        ("Worldwide", ()),
        ("Wellsford", ()),
    ],
)
def test_time_zones_are_derived_from_places(place: str, hours: tuple[float, ...]) -> None:
    assert time_zones.offsets_from_places([place])[0] == hours


def test_only_known_places_are_quoted() -> None:
    assert time_zones.offsets_from_places(["Wellsford", "Porto", "Oslo"]) == ((0, 1), "Porto; Oslo")


def test_the_words_are_the_line() -> None:
    assert time_zones.offsets_from_text("Pumps.\nCore hours 10-4 CET.\n") == (
        (1,),
        "Core hours 10-4 CET.",
    )

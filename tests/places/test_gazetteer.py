from __future__ import annotations

import pytest

from jobmill.places import gazetteer


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("Germany", {"DE"}),
        ("Deutschland", {"DE"}),
        ("DE", {"DE", "US-DE"}),
        ("Oregon", {"US-OR"}),
        ("Österreich", {"AT"}),
        ("Washington", {"US-WA", "US-DC"}),
        ("Albania", {"ALB"}),
        ("AL", {"US-AL"}),
        ("Lummerland", set()),
    ],
)
def test_a_name_stands_for_all_areas_it_can_mean(name: str, codes: set[str]) -> None:
    assert gazetteer.find_area(name) == codes


def test_a_region_contains_its_countries() -> None:
    assert gazetteer.find_area("EU") < gazetteer.find_area("Europe") < gazetteer.find_area("EMEA")


@pytest.mark.parametrize(
    ("city", "codes"),
    [
        ("Salt Lake City", {"US"}),
        ("The Hague", {"NL"}),
        ("München", {"DE"}),
        ("Portland", {"US"}),
        ("Birmingham", set()),
        ("Cambridge", set()),
    ],
)
def test_a_city_tells_its_country_unless_other_countries_have_one(
    city: str, codes: set[str]
) -> None:
    assert gazetteer.country_of_city(city) == codes


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("The Hague", (1,)),
        ("District of Columbia", (-5,)),
        ("Bengaluru", (5.5,)),
        ("Indonesia", (7, 8, 9)),
        ("Georgia", ()),
        ("Washington", ()),
        ("Lummerland", ()),
    ],
)
def test_a_place_has_its_hours_unless_its_name_is_ambiguous(
    name: str, hours: tuple[float, ...]
) -> None:
    assert gazetteer.utc_offsets(gazetteer.canonical_name(name)) == hours


def test_states_have_codes_and_names() -> None:
    states = {state.code: state.name for state in gazetteer.states("US", "CA")}
    assert states["GA"] == "georgia"
    assert states["BC"] == "british columbia"
    assert len(states) == 61

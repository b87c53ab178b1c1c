import pytest

from jobmill.places import location_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Berlin; Paris", ("Berlin", "Paris")),
        ("Berlin | Paris", ("Berlin", "Paris")),
        ("Berlin • Paris\nRome", ("Berlin", "Paris", "Rome")),
        ("NYC or SF", ("NYC", "SF")),
        ("Dublin OR London", ("Dublin", "London")),
        ("Berlin/Munich", ("Berlin", "Munich")),
        ("New York / London", ("New York", "London")),
        ("Austin, TX and Boston, MA", ("Austin, TX", "Boston, MA")),
        ("Lyon & Nantes", ("Lyon", "Nantes")),
        ("Lyon, France; LYON, FRANCE", ("Lyon, France",)),
        ("Berlin; N/A; 2 Locations", ("Berlin",)),
    ],
)
def test_several_places_in_one_text_are_split(text: str, expected: tuple[str, ...]) -> None:
    assert location_text.split_locations(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Washington, D.C.",
        "Paris, France",
        "Portland, OR",
        "Portland, OR, USA",
        "Portland OR 97201",
        "CA",
        "IN",
        "Remote / US",
        "Remote (US or Canada)",
        "Dallas/Fort Worth, TX",
        "Trinidad and Tobago",
        "Brighton & Hove",
        "Rio de Janeiro",
        "Stratford-upon-Avon",
    ],
)
def test_one_place_stays_one(text: str) -> None:
    assert location_text.split_locations(text) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "N/A", "n/a", "UNAVAILABLE", "", "  ", "-", "TBD", "2 Locations", "3+ locations", "Multiple Locations",
        "+3 more",
        "Various", "Mehrere Standorte", "12345", "LOCATION",
    ],
)  # fmt: skip
def test_placeholders_are_not_places(text: str) -> None:
    assert location_text.split_locations(text) == ()
    assert not location_text.names_place(text)


def test_places_are_kept_once_in_order() -> None:
    assert location_text.unique_locations(["Lyon", "Rome"], "lyon", None, 3, ["N/A", " Oslo "]) == (
        "Lyon",
        "Rome",
        "Oslo",
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Berlin", "Berlin", "Germany"), "Berlin, Germany"),
        (("San Jose, CA", "CA", "US"), "San Jose, CA, US"),
        (("Lyon", None, ""), "Lyon"),
        (("N/A", None, "France"), "France"),
        ((None, None, None), None),
        ((7, [], {}), None),
    ],
)
def test_an_address_repeats_no_part(
    parts: tuple[object, object, object], expected: str | None
) -> None:
    assert location_text.format_address(*parts) == expected

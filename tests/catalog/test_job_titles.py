from __future__ import annotations

import pytest

from jobmill.catalog import job_titles
from jobmill.places import gazetteer

KNOWN = gazetteer.REGION_NAMES | {"oslo", "san marino"}


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Senior Welder", "SENIOR WELDER"),
        ("Senior Welder", "Sr. Welder"),
        ("Senior Welder", "Senior Welder (m/w/d)"),
        ("Senior Welder", "Senior Welder m/f/x"),
        ("Senior Welder", "Senior Welder [All Genders]"),
        ("Senior Welder", "Senior Welder - Remote"),
        ("Senior Welder", "Senior Welder | Remote | USA"),
        ("Senior Welder", "Remote Senior Welder"),
        ("Senior Welder", "Senior Welder (Oslo)"),
        ("Senior Welder", "Senior Welder - San Marino, Remote"),
        ("Senior Welder", "Senior Welder - JR20042"),
        ("Welder, Night Shift", "Welder - Night Shift"),
        ("Entwickler:in Backend", "Entwickler Back-End (w/m/d)"),
        ("Entwickler/-in Backend", "Entwickler*in Backend"),
        ("Welder II", "Welder 2"),
    ],
)
def test_noise_in_a_title_is_ignored(title: str, other: str) -> None:
    assert job_titles.parse_title(title, KNOWN).words == job_titles.parse_title(other, KNOWN).words


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Welder", "Senior Welder"),
        ("Welder I", "Welder II"),
        ("C++ Engineer", "C# Engineer"),
        ("C++ Engineer", "C Engineer"),
        ("Engineer (.NET)", "Engineer (Net)"),
        ("Account Manager, Mid-Market", "Account Manager, Enterprise"),
        ("Account Manager (French speaking)", "Account Manager (Spanish speaking)"),
        ("Manager, IT", "Manager"),
        ("New Grad 2026 Welder", "New Grad 2027 Welder"),
        ("Clerk (part time)", "Clerk"),
    ],
)
def test_different_titles_stay_different(title: str, other: str) -> None:
    assert job_titles.parse_title(title, KNOWN).words != job_titles.parse_title(other, KNOWN).words


def test_places_in_a_title_are_recognized() -> None:
    assert job_titles.parse_title("Welder - Oslo | Europe", KNOWN).places == {"oslo", "europe"}
    assert job_titles.parse_title("Oslo", KNOWN) == job_titles.ParsedTitle(("oslo",), frozenset())

from __future__ import annotations

import pytest

from jobmill.catalog.companies import SizeCategory
from jobmill.catalog.company_analyses import categorize_size


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (None, None),
        ("", None),
        ("a friendly bunch", None),
        ("50 employees", "small"),
        ("11-50 employees", "small"),
        ("50+", "medium"),
        ("over 50 people", "medium"),
        ("51-200 employees", "medium"),
        ("501-1,000 employees", "medium"),
        ("1000", "medium"),
        ("1,000+ employees", "large"),
        ("more than 1,000 employees", "large"),
        ("1,001-5,000 employees", "large"),
        ("5k+ people", "large"),
        ("rund 12.000 Mitarbeiter", "large"),
        ("a small team", "small"),
        ("startup", "small"),
        ("mid-sized", "medium"),
        ("a multinational", "large"),
    ],
)
def test_size_categories(size: str | None, expected: SizeCategory | None) -> None:
    assert categorize_size(size) == expected

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from jobmill.catalog import listings
from tests.catalog.helpers import posting

TEXT = "d" * 101
FACTS = {
    "description": TEXT,
    "location": "Graz",
    "posted_at": dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
    "requirements": "Patience",
}


@pytest.mark.parametrize(
    ("changes", "completeness"),
    [
        ({}, "good"),
        ({"location": None}, "minimal"),
        ({"posted_at": None}, "minimal"),
        ({"requirements": None}, "minimal"),
        ({"description": TEXT[1:]}, "sparse"),
        ({"company": None}, "sparse"),
        ({"url": None}, "sparse"),
        ({"title": ""}, "sparse"),
    ],
)
def test_completeness_depends_on_the_filled_fields(
    changes: dict[str, Any], completeness: str
) -> None:
    assert listings.completeness(posting(**(FACTS | changes))) == completeness

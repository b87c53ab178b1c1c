from __future__ import annotations

import pytest

from jobmill.places import posting_places


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ("Dublin", "Dublin, Ireland", "same"),
        ("NYC", "New York, NY (HQ)", "same"),
        ("München", "Munich, Germany", "same"),
        ("US-Boston", "Boston, MA", "same"),
        ("Remote", "remote", "same"),
        ("Hybrid work in Boston, MA 02108", "Boston, MA", "same"),
        ("Oslo; Bergen", "Bergen | Oslo", "same"),
        ("Boston, MA 02108", "Boston, MA 02110", "near"),
        ("Oslo; Bergen", "Oslo", "near"),
        ("Oslo, Bergen", "Bergen", "near"),
        ("United States", "Boston, MA, USA", "near"),
        ("Remote", "Boston", "unknown"),
        ("", "Boston", "unknown"),
        ("", "", "unknown"),
        ("Oslo", "Bergen", "other"),
        ("Portland, OR, USA", "Salem, OR, USA", "other"),
        ("Remote (Canada)", "Remote (US)", "other"),
    ],
)
def test_how_two_places_relate(here: str, there: str, expected: posting_places.Relation) -> None:
    first, second = posting_places.read_places((here,)), posting_places.read_places((there,))
    assert posting_places.compare(first, second) == expected
    assert posting_places.compare(second, first) == expected

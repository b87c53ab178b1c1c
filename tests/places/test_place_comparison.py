from __future__ import annotations

import pytest

from jobmill.places import place_comparison


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
def test_how_two_places_relate(here: str, there: str, expected: place_comparison.Relation) -> None:
    first, second = place_comparison.read_places((here,)), place_comparison.read_places((there,))
    assert place_comparison.compare(first, second) == expected
    assert place_comparison.compare(second, first) == expected

"""Jobicy: lists or single values, entities in titles."""

from __future__ import annotations

import pytest

from jobmill.catalog.posting import Posting, Salary

from . import answer, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("jobicy", answer("jobicy/answer.json"), {}).postings


def test_entities_are_resolved(postings: tuple[Posting, ...]) -> None:
    assert (postings[0].title, postings[0].company) == ("Kite Maker – R&D", "Wind & Co")  # noqa: RUF001
    assert postings[0].tags == ("Product & Operations",)


def test_a_list_and_a_single_value_are_read_alike(postings: tuple[Posting, ...]) -> None:
    assert [one.employment_type for one in postings] == ["full_time", "contract"]
    assert postings[1].tags == ("Crafts",)


def test_places_are_restrictions_unless_it_is_anywhere(postings: tuple[Posting, ...]) -> None:
    assert [one.remote_from for one in postings] == [("LATAM", "Brazil"), ()]


def test_any_level_is_none(postings: tuple[Posting, ...]) -> None:
    assert [one.seniority for one in postings] == ["senior", None]


def test_pay_by_the_year(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(50000, 60000, "USD", "year", "structured")


def test_an_excerpt_is_partial(postings: tuple[Posting, ...]) -> None:
    assert [one.partial for one in postings] == [False, True]
    assert postings[1].description == "Dye strings"

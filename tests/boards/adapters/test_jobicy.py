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
    assert [posting.employment_type for posting in postings] == ["full_time", "contract"]
    assert postings[1].tags == ("Crafts",)


def test_locations_are_restrictions_unless_anywhere(postings: tuple[Posting, ...]) -> None:
    assert [posting.remote_from for posting in postings] == [("LATAM", "Brazil"), ()]


def test_the_level_any_is_none(postings: tuple[Posting, ...]) -> None:
    assert [posting.seniority for posting in postings] == ["senior", None]


def test_an_annual_salary_is_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(50000, 60000, "USD", "year", "structured")


def test_an_excerpt_is_partial(postings: tuple[Posting, ...]) -> None:
    assert [posting.partial for posting in postings] == [False, True]
    assert postings[1].description == "Dye strings"

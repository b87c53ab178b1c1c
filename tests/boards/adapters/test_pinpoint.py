"""Pinpoint: one response, texts in four sections, salaries that may be hidden."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, lines, read


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("pinpoint", answer("pinpoint/postings.json")).postings


def test_all_sections_are_in_the_text_with_their_headings(postings: tuple[Posting, ...]) -> None:
    assert lines(postings[0].description) == [
        "Cast bells.", "What you do", "- Pour bronze", "What you bring", "- A good ear",
        "Benefits", "Ear plugs",
    ]  # fmt: skip
    assert postings[0].requirements == "- A good ear"


def test_an_empty_section_adds_no_heading(postings: tuple[Posting, ...]) -> None:
    assert postings[1].description == "Tune bells."


def test_a_salary_is_read_unless_it_is_hidden(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(30000, 35000, "GBP", "year", "structured")
    assert postings[1].salary is None


def test_all_fields_of_a_posting_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert (posting.department, posting.requisition_id, posting.vendor_id) == (
        "Foundry",
        "BF-12",
        "501",
    )
    assert (posting.arrangement, posting.employment_type) == ("onsite", "full_time")
    assert (posting.locations, postings[1].locations) == (("Loughborough",), ("Derby, Derbyshire",))
    assert posting.board == "ringwell"
    assert posting.valid_through == dt.datetime.fromisoformat("2024-09-30T23:59:59+01:00")


def test_a_malformed_record_does_not_lose_the_others() -> None:
    page = read("pinpoint", answer("pinpoint/postings.json"))
    assert (len(page.postings), page.stubs, page.total) == (2, 1, 3)


@pytest.mark.parametrize("body", [b"<html></html>", b'{"error": 1}', b'{"data": {}}'])
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("pinpoint", body)


def test_a_department_outside_the_position_is_read() -> None:
    record = {"id": 7, "title": "Tuner", "department": {"name": "Foundry"}}
    record |= {"workplace_type_text": "Fully remote"}
    (alone,) = read("pinpoint", json.dumps({"data": record}).encode()).postings
    (listed,) = read("pinpoint", json.dumps({"data": [record]}).encode()).postings
    assert (alone.department, alone.arrangement, alone.vendor_id) == ("Foundry", "remote", "7")
    assert alone == listed

"""Pinpoint: one answer, texts in four sections, pay that may be hidden."""

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


def test_an_empty_section_leaves_no_heading(postings: tuple[Posting, ...]) -> None:
    assert postings[1].description == "Tune bells."


def test_pay_is_read_unless_it_is_hidden(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(30000, 35000, "GBP", "year", "structured")
    assert postings[1].salary is None


def test_fields_have_their_place(postings: tuple[Posting, ...]) -> None:
    one = postings[0]
    assert (one.department, one.requisition_id, one.vendor_id) == ("Foundry", "BF-12", "501")
    assert (one.arrangement, one.employment_type) == ("onsite", "full_time")
    assert (one.locations, postings[1].locations) == (("Loughborough",), ("Derby, Derbyshire",))
    assert one.board == "ringwell"
    assert one.valid_through == dt.datetime.fromisoformat("2024-09-30T23:59:59+01:00")


def test_an_odd_record_does_not_lose_the_others() -> None:
    page = read("pinpoint", answer("pinpoint/postings.json"))
    assert (len(page.postings), page.stubs, page.total) == (2, 1, 3)


@pytest.mark.parametrize("body", [b"<html></html>", b'{"error": 1}', b'{"data": {}}'])
def test_what_is_no_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("pinpoint", body)


def test_a_department_may_stand_beside_the_position() -> None:
    one = {"id": 7, "title": "Tuner", "department": {"name": "Foundry"}}
    one |= {"workplace_type_text": "Fully remote"}
    (alone,) = read("pinpoint", json.dumps({"data": one}).encode()).postings
    (listed,) = read("pinpoint", json.dumps({"data": [one]}).encode()).postings
    assert (alone.department, alone.arrangement, alone.vendor_id) == ("Foundry", "remote", "7")
    assert alone == listed

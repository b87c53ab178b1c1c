"""SmartRecruiters: a list without texts, details with four sections."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import smartrecruiters
from jobmill.boards.platform import BoardConfig
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError

from . import answer, read

CONFIG = BoardConfig(board_token="BrotUndSalz1")
TOKEN = {"board_token": "BrotUndSalz1"}


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("smartrecruiters", answer("smartrecruiters/list.json")).postings


def part(offset: int | None, count: int, total: int) -> bytes:
    record = json.loads(answer("smartrecruiters/list.json"))["content"][0]
    content = [record | {"id": str(n)} for n in range(count)]
    body: dict[str, Any] = {"totalFound": total, "content": content}
    return json.dumps(body if offset is None else body | {"offset": offset}).encode()


def test_all_fields_of_the_list_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert posting.title == "Baker | Night Shift"
    assert posting.company == "Brot & Salz GmbH"
    assert posting.board == "BrotUndSalz1"
    assert (posting.vendor_id, posting.requisition_id) == ("744000000000001", "REF12K")
    assert posting.department == "Bakery"
    assert posting.employment_type == "full_time"
    assert posting.seniority == "entry"
    assert posting.posted_at == dt.datetime(2024, 6, 1, 6, tzinfo=dt.UTC)
    assert posting.language == "de"


def test_the_url_is_the_page_and_not_the_api(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].url == "https://jobs.smartrecruiters.com/BrotUndSalz1/744000000000001"


def test_the_location_is_its_full_name_or_built_from_its_parts(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].locations == ("Graz, Steiermark, Austria",)
    assert postings[1].locations == ("Wien, AT",)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"remote": True, "hybrid": False}, "remote"),
        ({"remote": False, "hybrid": True}, "hybrid"),
        ({"remote": True, "hybrid": True}, "hybrid"),
        ({"remote": False, "hybrid": False}, None),
    ],
)
def test_only_a_true_flag_sets_the_arrangement(
    flags: dict[str, bool], expected: str | None
) -> None:
    body = json.loads(answer("smartrecruiters/list.json"))
    body["content"][0]["location"] |= flags
    page = read("smartrecruiters", json.dumps(body).encode())
    assert page.postings[0].arrangement == expected


def test_postings_of_the_list_are_partial(postings: tuple[Posting, ...]) -> None:
    assert all(posting.partial and posting.description is None for posting in postings)


def test_the_details_add_all_four_sections_and_keep_the_identity(
    postings: tuple[Posting, ...],
) -> None:
    request = smartrecruiters.detail_request(postings[0], CONFIG)
    assert request.url == (
        "https://api.smartrecruiters.com/v1/companies/BrotUndSalz1/postings/744000000000001"
    )
    body = answer("smartrecruiters/posting.json")
    complete = smartrecruiters.PLATFORM.read_detail_response(body, postings[0], CONFIG)
    assert complete.description == (
        "Company Description\nBread since 1911.\n\n"
        "Job Description\nYou knead & bake.\n\n"
        "Qualifications\n- Early riser\n\n"
        "Additional Information\nFree rolls."
    )
    assert not complete.partial
    assert complete.url == postings[0].url
    assert complete.apply_url
    assert complete.apply_url.endswith("?oga=true")


def test_a_single_posting_is_read() -> None:
    (posting,) = read("smartrecruiters", answer("smartrecruiters/posting.json")).postings
    assert posting.title == "Baker | Night Shift"
    assert posting.url.endswith("744000000000001-baker-night-shift")
    assert posting.requirements == "- Early riser"


def test_sections_alone_give_a_text_without_a_title() -> None:
    body = {"jobAd": json.loads(answer("smartrecruiters/posting.json"))["jobAd"]}
    (posting,) = read("smartrecruiters", json.dumps(body).encode()).postings
    assert posting.title == ""
    assert "You knead & bake." in (posting.description or "")


def test_empty_sections_add_no_titles() -> None:
    body = json.loads(answer("smartrecruiters/posting.json"))
    body["jobAd"]["sections"]["qualifications"]["text"] = ""
    (posting,) = read("smartrecruiters", json.dumps(body).encode()).postings
    assert "Qualifications" not in (posting.description or "")


def test_pages_are_requested_until_the_total_is_reached() -> None:
    first = smartrecruiters.first_request(CONFIG)
    assert first.url.endswith("/BrotUndSalz1/postings?limit=100&offset=0")
    (second,) = read("smartrecruiters", part(0, 100, 130), TOKEN, first).next
    assert second.url.endswith("limit=100&offset=100")
    page = read("smartrecruiters", part(None, 30, 130), TOKEN, second)
    assert (page.next, page.truncated, page.total) == ((), False, 130)


def test_an_empty_page_before_the_end_is_truncated() -> None:
    (second,) = read("smartrecruiters", part(0, 100, 130), TOKEN).next
    page = read("smartrecruiters", part(100, 0, 130), TOKEN, second)
    assert (page.next, page.truncated) == ((), True)


def test_an_empty_board_is_not_trusted_because_the_company_may_not_exist() -> None:
    page = read("smartrecruiters", b'{"offset":0,"limit":100,"totalFound":0,"content":[]}')
    assert (page.postings, page.total) == ((), 0)
    assert not smartrecruiters.PLATFORM.allow_empty


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    body = json.loads(answer("smartrecruiters/list.json"))
    body["content"][0] |= {"location": None, "department": "Bakery", "company": [1]}
    body["content"][1] = {"id": "1"}
    page = read("smartrecruiters", json.dumps(body).encode(), TOKEN)
    assert (len(page.postings), page.stubs) == (1, 1)
    assert page.postings[0].url.endswith("/BrotUndSalz1/744000000000001")


@pytest.mark.parametrize("body", [b"<html>", b'{"message": "x"}', b"[]", b'{"content": "x"}'])
def test_a_response_that_is_not_a_list_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("smartrecruiters", body)


def test_custom_fields_fill_missing_values() -> None:
    record: dict[str, Any] = {"id": "1", "name": "Baker", "location": {"remote": False}}
    custom_fields = [
        ("Brands", "Brot"),
        ("Department", "Bakery"),
        ("Work flexibility", "Office-based"),
    ]
    record["customField"] = [
        {"fieldLabel": label, "valueLabel": value} for label, value in custom_fields
    ]
    (posting,) = read("smartrecruiters", json.dumps(record).encode()).postings
    assert (posting.department, posting.arrangement) == ("Bakery", "onsite")
    record |= {"department": {"label": "Sales"}, "location": {"hybrid": True}}
    (posting,) = read("smartrecruiters", json.dumps(record).encode()).postings
    assert (posting.department, posting.arrangement) == ("Sales", "hybrid")


def test_ids_are_preferred_to_translated_labels() -> None:
    record = {
        "id": "1",
        "name": "Baker",
        "typeOfEmployment": {"id": "contract", "label": "Vertrag"},
    }
    record |= {"experienceLevel": {"id": "director", "label": "Direktor"}}
    (posting,) = read("smartrecruiters", json.dumps(record).encode()).postings
    assert (posting.employment_type, posting.seniority) == ("contract", "director")

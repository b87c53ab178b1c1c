"""SmartRecruiters: a list without texts, a detail with four."""

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
    one = json.loads(answer("smartrecruiters/list.json"))["content"][0]
    content = [one | {"id": str(n)} for n in range(count)]
    body: dict[str, Any] = {"totalFound": total, "content": content}
    return json.dumps(body if offset is None else body | {"offset": offset}).encode()


def test_what_the_list_says_is_kept(postings: tuple[Posting, ...]) -> None:
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


def test_the_page_is_for_people_not_the_address_for_programs(
    postings: tuple[Posting, ...],
) -> None:
    assert postings[0].url == "https://jobs.smartrecruiters.com/BrotUndSalz1/744000000000001"


def test_the_place_is_its_full_name_or_made_of_its_parts(postings: tuple[Posting, ...]) -> None:
    assert postings[0].locations == ("Graz, Steiermark, Austria",)
    assert postings[1].locations == ("Wien, AT",)


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        ({"remote": True, "hybrid": False}, "remote"),
        ({"remote": False, "hybrid": True}, "hybrid"),
        ({"remote": True, "hybrid": True}, "hybrid"),
        ({"remote": False, "hybrid": False}, None),
    ],
)
def test_only_a_flag_that_is_set_says_where_the_work_is(
    flags: dict[str, bool], kept: str | None
) -> None:
    body = json.loads(answer("smartrecruiters/list.json"))
    body["content"][0]["location"] |= flags
    page = read("smartrecruiters", json.dumps(body).encode())
    assert page.postings[0].arrangement == kept


def test_the_list_has_no_text_and_says_so(postings: tuple[Posting, ...]) -> None:
    assert all(one.partial and one.description is None for one in postings)


def test_the_detail_adds_all_four_sections_and_the_posting_stays_the_same(
    postings: tuple[Posting, ...],
) -> None:
    asked = smartrecruiters.detail_request(postings[0], CONFIG)
    assert asked.url == (
        "https://api.smartrecruiters.com/v1/companies/BrotUndSalz1/postings/744000000000001"
    )
    body = answer("smartrecruiters/posting.json")
    whole = smartrecruiters.read_detail(body, postings[0], CONFIG)
    assert whole.description == (
        "Company Description\nBread since 1911.\n\n"
        "Job Description\nYou knead & bake.\n\n"
        "Qualifications\n- Early riser\n\n"
        "Additional Information\nFree rolls."
    )
    assert not whole.partial
    assert whole.url == postings[0].url
    assert whole.apply_url
    assert whole.apply_url.endswith("?oga=true")


def test_a_single_posting_is_understood() -> None:
    (posting,) = read("smartrecruiters", answer("smartrecruiters/posting.json")).postings
    assert posting.title == "Baker | Night Shift"
    assert posting.url.endswith("744000000000001-baker-night-shift")
    assert posting.requirements == "- Early riser"


def test_sections_alone_are_a_text_without_a_title() -> None:
    body = {"jobAd": json.loads(answer("smartrecruiters/posting.json"))["jobAd"]}
    (posting,) = read("smartrecruiters", json.dumps(body).encode()).postings
    assert posting.title == ""
    assert "You knead & bake." in (posting.description or "")


def test_empty_sections_leave_no_titles_behind() -> None:
    body = json.loads(answer("smartrecruiters/posting.json"))
    body["jobAd"]["sections"]["qualifications"]["text"] = ""
    (posting,) = read("smartrecruiters", json.dumps(body).encode()).postings
    assert "Qualifications" not in (posting.description or "")


def test_parts_are_asked_for_until_all_are_there() -> None:
    first = smartrecruiters.first_request(CONFIG)
    assert first.url.endswith("/BrotUndSalz1/postings?limit=100&offset=0")
    (second,) = read("smartrecruiters", part(0, 100, 130), TOKEN, first).next
    assert second.url.endswith("limit=100&offset=100")
    page = read("smartrecruiters", part(None, 30, 130), TOKEN, second)
    assert (page.next, page.truncated, page.total) == ((), False, 130)


def test_an_empty_part_before_the_end_is_no_end() -> None:
    (second,) = read("smartrecruiters", part(0, 100, 130), TOKEN).next
    page = read("smartrecruiters", part(100, 0, 130), TOKEN, second)
    assert (page.next, page.truncated) == ((), True)


def test_no_posting_at_all_is_not_believed_for_the_company_may_not_exist() -> None:
    page = read("smartrecruiters", b'{"offset":0,"limit":100,"totalFound":0,"content":[]}')
    assert (page.postings, page.total) == ((), 0)
    assert not smartrecruiters.PLATFORM.allow_empty


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    body = json.loads(answer("smartrecruiters/list.json"))
    body["content"][0] |= {"location": None, "department": "Bakery", "company": [1]}
    body["content"][1] = {"id": "1"}
    page = read("smartrecruiters", json.dumps(body).encode(), TOKEN)
    assert (len(page.postings), page.stubs) == (1, 1)
    assert page.postings[0].url.endswith("/BrotUndSalz1/744000000000001")


@pytest.mark.parametrize("body", [b"<html>", b'{"message": "x"}', b"[]", b'{"content": "x"}'])
def test_an_answer_that_is_not_a_list_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("smartrecruiters", body)


def test_a_companys_own_fields_fill_gaps() -> None:
    one: dict[str, Any] = {"id": "1", "name": "Baker", "location": {"remote": False}}
    own = [("Brands", "Brot"), ("Department", "Bakery"), ("Work flexibility", "Office-based")]
    one["customField"] = [{"fieldLabel": label, "valueLabel": value} for label, value in own]
    (found,) = read("smartrecruiters", json.dumps(one).encode()).postings
    assert (found.department, found.arrangement) == ("Bakery", "onsite")
    one |= {"department": {"label": "Sales"}, "location": {"hybrid": True}}
    (found,) = read("smartrecruiters", json.dumps(one).encode()).postings
    assert (found.department, found.arrangement) == ("Sales", "hybrid")


def test_ids_say_what_labels_in_other_languages_do_not() -> None:
    one = {"id": "1", "name": "Baker", "typeOfEmployment": {"id": "contract", "label": "Vertrag"}}
    one |= {"experienceLevel": {"id": "director", "label": "Direktor"}}
    (found,) = read("smartrecruiters", json.dumps(one).encode()).postings
    assert (found.employment_type, found.seniority) == ("contract", "director")

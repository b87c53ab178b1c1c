"""Oracle: all postings inside one element, truncated texts in the list."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import oracle
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

CONFIG = {"base_url": "https://span.fa.ap1.oraclecloud.com", "site": "CX_1"}
SITE = oracle.OracleSite(**CONFIG)


def listed(**changes: Any) -> bytes:
    body = json.loads(answer("oracle/list.json"))
    body["items"][0] |= changes
    return json.dumps(body).encode()


def test_the_list_request_names_the_site_in_the_finder() -> None:
    url = oracle.first_request(SITE).url
    assert url.startswith("https://span.fa.ap1.oraclecloud.com/hcmRestApi/resources/latest/")
    assert "finder=findReqs;siteNumber=CX_1,limit=200,offset=0" in url


def test_postings_are_inside_the_first_element() -> None:
    page = read("oracle", answer("oracle/list.json"), CONFIG, oracle.first_request(SITE))
    first = page.postings[0]
    assert [posting.title for posting in page.postings] == ["Bridge Rigger", "Cable Splicer"]
    assert first.locations == ("Perth, WA, Australia", "Hobart, TAS, Australia")
    assert (first.arrangement, first.employment_type) == ("onsite", "full_time")
    assert first.url.endswith("/hcmUI/CandidateExperience/en/sites/CX_1/job/25587")
    assert (first.description, first.partial, first.department) == ("Rig bridges.", True, "Spans")


def test_the_next_page_starts_after_the_last_posting() -> None:
    page = read("oracle", answer("oracle/list.json"), CONFIG, oracle.first_request(SITE))
    (more,) = page.next
    assert "offset=2" in more.url
    assert page.total == 3
    assert read("oracle", answer("oracle/list.json"), CONFIG, more).next == ()


def test_an_empty_page_before_the_end_is_truncated() -> None:
    page = read("oracle", listed(requisitionList=[]), CONFIG, oracle.first_request(SITE))
    assert page.truncated
    assert page.next == ()


def test_all_sections_of_a_requisition_are_read() -> None:
    posting = read("oracle", answer("oracle/list.json"), CONFIG).postings[0]
    complete = oracle.PLATFORM.read_detail_response(answer("oracle/detail.json"), posting, SITE)
    assert lines(complete.description) == [
        "Rig bridges high up.", "Climb.", "- No fear of heights", "We build spans.",
        "A small team.",
    ]  # fmt: skip
    assert complete.requirements == "- No fear of heights"
    assert complete.valid_through == dt.datetime(2024, 12, 24, 1, tzinfo=dt.UTC)
    assert not complete.partial
    assert "Id=%2225587%22,siteNumber=CX_1" in oracle.detail_request(posting, SITE).url


def test_a_requisition_whose_main_text_is_empty_keeps_the_others() -> None:
    body = json.loads(answer("oracle/detail.json"))
    body["items"][0]["ExternalDescriptionStr"] = ""
    (posting,) = read("oracle", json.dumps(body).encode(), CONFIG).postings
    assert lines(posting.description)[0] == "Climb."
    assert not posting.partial


def test_a_saved_list_of_an_unknown_site_is_read() -> None:
    blank = oracle.OracleSite.model_construct(base_url="", site="")
    assert oracle.read(answer("oracle/list.json"), Request(""), blank).postings[0].board is None


@pytest.mark.parametrize("body", [b"<html></html>", b'{"items": []}', b'{"items": [{}]}', b"{}"])
def test_a_response_that_is_not_a_list_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("oracle", body, CONFIG)


def test_an_unwrapped_requisition_is_read() -> None:
    body = json.dumps(json.loads(answer("oracle/detail.json"))["items"][0]).encode()
    assert read("oracle", body, CONFIG) == read("oracle", answer("oracle/detail.json"), CONFIG)


def test_a_saved_list_may_name_its_site() -> None:
    body = json.loads(listed(SiteNumber="CX_7"))
    body["links"] = [{"href": "https://span.fa.ap1.oraclecloud.com:443/hcmRestApi/resources/1"}]
    blank = oracle.OracleSite.model_construct(base_url="", site="")
    posting = oracle.read(json.dumps(body).encode(), Request(""), blank).postings[0]
    site = "https://span.fa.ap1.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX_7"
    assert (posting.board, posting.url) == ("span/CX_7", f"{site}/job/25587")


def test_the_category_is_preferred_to_the_function_as_department() -> None:
    body = json.loads(answer("oracle/detail.json"))
    body["items"][0] |= {"Category": "Spans", "JobFunction": "Research"}
    assert read("oracle", json.dumps(body).encode(), CONFIG).postings[0].department == "Spans"


def test_the_details_of_another_requisition_are_refused() -> None:
    posting = read("oracle", answer("oracle/list.json"), CONFIG).postings[1]
    with pytest.raises(OutsideError):
        oracle.PLATFORM.read_detail_response(answer("oracle/detail.json"), posting, SITE)

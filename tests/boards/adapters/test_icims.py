"""iCIMS: new sites have an API, classic ones only pages inside a frame."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.boards.adapters import icims
from jobmill.boards.platform import BoardConfig
from jobmill.catalog.posting import Salary
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, read

CLASSIC = {"board_token": "prairieseed"}
NEW = {"board_token": "prairieseed", "base_url": "https://careers.prairieseed.example"}
SEARCH = "https://careers-prairieseed.icims.com/jobs/search"


def test_own_hosts_are_read_through_the_api_and_vendor_hosts_through_pages() -> None:
    new, classic = (
        icims.first_request(BoardConfig(**NEW)),
        icims.first_request(BoardConfig(**CLASSIC)),
    )
    assert new.url == "https://careers.prairieseed.example/api/jobs?page=1&limit=100"
    assert (classic.url, classic.page) == (f"{SEARCH}?pr=0&in_iframe=1", True)


def test_all_fields_of_the_api_are_read() -> None:
    page = read("icims", answer("icims/api.json"), NEW, icims.first_request(BoardConfig(**NEW)))
    (posting,) = page.postings
    assert (posting.title, posting.company, posting.vendor_id) == (
        "Seed Cleaner",
        "Prairie Seed",
        "8841",
    )
    assert posting.description == "Clean seeds.\n\nRun the sieve.\n\n- Patience"
    assert posting.salary == Salary(21, 25, "USD", "hour", "structured")
    assert (posting.department, posting.employment_type) == ("Operations", "full_time")
    assert posting.url == "https://careers.prairieseed.example/jobs/8841"
    assert posting.posted_at == dt.datetime(2024, 6, 17, 15, 57, tzinfo=dt.UTC)
    assert (page.stubs, page.total) == (1, 102)


def test_api_pages_are_requested_until_the_total_is_reached() -> None:
    (more,) = read(
        "icims", answer("icims/api.json"), NEW, icims.first_request(BoardConfig(**NEW))
    ).next
    assert more.url.endswith("page=2&limit=100")
    assert read("icims", answer("icims/api.json"), NEW, more).next == ()


def test_an_empty_page_before_the_end_is_truncated() -> None:
    page = read(
        "icims", b'{"jobs": [], "totalCount": 300}', NEW, icims.first_request(BoardConfig(**NEW))
    )
    assert page.truncated
    assert page.next == ()


def test_a_classic_list_is_read_from_its_cards() -> None:
    page = read(
        "icims", answer("icims/search.html"), CLASSIC, icims.first_request(BoardConfig(**CLASSIC))
    )
    posting, other = page.postings
    assert (posting.title, posting.vendor_id, posting.requisition_id) == (
        "Seed Cleaner",
        "8841",
        "2024-8841",
    )
    assert posting.locations == ("US-IA-Ames", "US-IA-Boone")
    assert posting.posted_at
    assert posting.posted_at.date() == dt.date(2024, 6, 17)
    assert posting.url == "https://careers-prairieseed.icims.com/jobs/8841/seed-cleaner/job"
    assert other.url == "https://careers-prairieseed.icims.com/jobs/8850/grain-buyer/job"
    assert posting.partial


def test_a_classic_list_is_followed_to_its_last_page() -> None:
    first = icims.first_request(BoardConfig(**CLASSIC))
    (second,) = read("icims", answer("icims/search.html"), CLASSIC, first).next
    (third,) = read("icims", answer("icims/search.html"), CLASSIC, second).next
    assert [second.url, third.url] == [f"{SEARCH}?pr=1&in_iframe=1", f"{SEARCH}?pr=2&in_iframe=1"]
    assert read("icims", answer("icims/search.html"), CLASSIC, third).next == ()


def test_a_frame_page_leads_to_the_page_inside_it() -> None:
    page = read("icims", answer("icims/frame.html"), CLASSIC, Request(SEARCH, page=True))
    assert [request.url for request in page.next] == [f"{SEARCH}?ss=1&in_iframe=1"]


def test_a_frame_of_another_host_is_not_followed() -> None:
    body = answer("icims/frame.html").replace(b"https://careers-prairieseed", b"https://evil")
    assert read("icims", body, CLASSIC, Request(SEARCH, page=True)).next == ()


def test_a_site_without_the_api_is_tried_as_a_classic_one() -> None:
    (more,) = read(
        "icims", b"<html><p>Careers</html>", NEW, icims.first_request(BoardConfig(**NEW))
    ).next
    assert more.url == "https://careers.prairieseed.example/jobs/search?pr=0&in_iframe=1"


def test_the_inner_page_has_the_details_of_a_posting() -> None:
    config = BoardConfig(**CLASSIC)
    listed = read(
        "icims", answer("icims/search.html"), CLASSIC, icims.first_request(config)
    ).postings[0]
    complete = icims.PLATFORM.read_detail_response(answer("icims/page.html"), listed, config)
    assert icims.detail_request(listed, config).url.endswith("/seed-cleaner/job?in_iframe=1")
    assert (complete.description, complete.company) == ("Clean seeds.", "Prairie Seed")
    assert (complete.requisition_id, complete.partial) == ("2024-8841", False)


def test_an_empty_classic_board_is_empty() -> None:
    page = read("icims", b"<body class='iCIMS_Body'>Sorry</body>", CLASSIC, Request(SEARCH))
    assert (page.postings, page.next, page.truncated) == ((), (), False)


@pytest.mark.parametrize("body", [b"<html>Just a moment...</html>", b'{"error": 1}', b""])
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("icims", body, CLASSIC, Request(f"{SEARCH}?pr=0&in_iframe=1"))


def test_a_classic_page_without_cards_before_the_last_is_truncated() -> None:
    body = b"<body class='iCIMS_Body'><div class='iCIMS_Paging'>Page 2 of 3</div></body>"
    page = read("icims", body, CLASSIC, Request(f"{SEARCH}?pr=1&in_iframe=1", context={"page": 1}))
    assert (page.truncated, page.next) == (True, ())


def test_the_category_replaces_a_missing_department() -> None:
    data = {
        "title": "Seed Cleaner",
        "slug": "1",
        "category": [],
        "categories": [{"name": " Fields"}],
    }
    (posting,) = read("icims", json.dumps({"jobs": [{"data": data}]}).encode(), NEW).postings
    assert posting.department == "Fields"


LISTED = b"""<div class="iCIMS_JobsTable"><div class="row"><a class="iCIMS_Anchor"
  href="https://careers-prairieseed.icims.com/jobs/7/seed-cleaner/job"><h3>Seed Cleaner</h3></a><dl>
  <dt class="iCIMS_JobHeaderField">Position Type</dt><dd><span>Full-time</span></dd>
  <dt class="iCIMS_JobHeaderField">Work Arrangement</dt><dd><span>On Site</span></dd>
  <dt class="iCIMS_JobHeaderField">Category</dt><dd><span>Fields</span></dd></dl></div></div>"""
ONE = b"""<script type="application/ld+json">{"@type": "JobPosting", "title": "Seed Cleaner",
  "occupationalCategory": "Fields", "description": "Clean.", "employmentType": "OTHER",
  "jobLocation": [{"address": {"addressLocality": "Ames", "addressRegion": "UNAVAILABLE",
  "addressCountry": "US"}}]}</script>"""


def test_labelled_values_of_a_card_are_read() -> None:
    (posting,) = read("icims", LISTED, CLASSIC).postings
    assert (posting.employment_type, posting.arrangement) == ("full_time", "onsite")
    assert posting.department == "Fields"


def test_a_page_names_the_category_and_unavailable_is_not_a_location() -> None:
    (posting,) = read("icims", ONE, CLASSIC).postings
    assert (posting.department, posting.location) == ("Fields", "Ames, US")
    listed = read("icims", LISTED, CLASSIC).postings[0]
    complete = icims.PLATFORM.read_detail_response(ONE, listed, BoardConfig(**CLASSIC))
    assert (complete.department, complete.employment_type) == ("Fields", "full_time")

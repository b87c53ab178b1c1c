"""Workday: pages of twenty, a total that later pages report as zero, a cap, mirrored requisitions."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import workday
from jobmill.boards.adapters.workday import WorkdaySite
from jobmill.boards.platform import BoardPage
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

POLAR = {
    "company_id": "polaris",
    "base_url": "https://polaris.wd3.myworkdayjobs.com",
    "site": "Polar_Careers",
}
NOWHERE = {"company_id": "", "base_url": "", "site": ""}
API = "https://polaris.wd3.myworkdayjobs.com/wday/cxs/polaris/Polar_Careers"


@pytest.fixture
def page() -> BoardPage:
    return read(
        "workday", answer("workday/page.json"), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )


def part(start: int, count: int, total: int, **more: Any) -> bytes:
    items = [
        {"title": f"Guide {n}", "externalPath": f"/job/Alta/Guide_R{n}", "bulletFields": [f"R{n}"]}
        for n in range(start, start + count)
    ]
    return json.dumps({"total": total, "jobPostings": items, **more}).encode()


def capped(**more: Any) -> bytes:
    return json.dumps(json.loads(answer("workday/page.json")) | {"total": 2000} | more).encode()


def facets(request: Request) -> Any:
    assert isinstance(request.json, dict)
    return request.json["appliedFacets"]


def starts(requests: tuple[Request, ...]) -> list[Any]:
    """The facets of each request for a first page."""
    return [facets(request) for request in requests if request.context["offset"] == 0]


def test_the_request_has_all_four_keys_and_a_page_size_of_twenty() -> None:
    request = workday.first_request(WorkdaySite(**POLAR, facets={"jobFamily": ["fam-1"]}))
    assert (request.method, request.url) == ("POST", f"{API}/jobs")
    assert request.json == {
        "appliedFacets": {"jobFamily": ["fam-1"]},
        "limit": 20,
        "offset": 0,
        "searchText": "",
    }


def test_records_without_a_title_are_counted_and_skipped(page: BoardPage) -> None:
    assert [posting.title for posting in page.postings] == [
        "Glacier Guide", "Ice Core Analyst", "Sled Mechanic", "Cook",
    ]  # fmt: skip
    assert page.stubs == 1


def test_the_url_is_built_from_site_and_path(page: BoardPage) -> None:
    assert page.postings[0].url == (
        "https://polaris.wd3.myworkdayjobs.com/Polar_Careers/job/Tromso/Glacier-Guide_R-1001"
    )
    elsewhere = POLAR | {"base_url": "https://wd3.myworkdaysite.com"}
    (first, *_) = read("workday", answer("workday/page.json"), elsewhere).postings
    assert first.url == (
        "https://wd3.myworkdaysite.com/recruiting/polaris/Polar_Careers"
        "/job/Tromso/Glacier-Guide_R-1001"
    )


@pytest.mark.parametrize(
    ("index", "vendor_id", "requisition"),
    [
        (0, "R-1001", "R-1001"),
        (1, "R1002-1", "R1002"),
        (2, "JR_77", "JR_77"),
        (3, "R1004-2", "R1004"),
    ],
)
def test_a_mirrored_posting_has_the_same_requisition_id(
    page: BoardPage, index: int, vendor_id: str, requisition: str
) -> None:
    posting = page.postings[index]
    assert (posting.vendor_id, posting.requisition_id) == (vendor_id, requisition)


def test_a_number_of_locations_is_not_a_location(page: BoardPage) -> None:
    assert page.postings[0].locations == ("Tromsø",)
    assert page.postings[1].location is None
    assert page.postings[1].locations == ()


def test_relative_dates_are_counted_from_now(page: BoardPage) -> None:
    posted = page.postings[0].posted_at
    assert posted
    age = dt.datetime.now(dt.UTC) - posted
    assert dt.timedelta(days=2) < age < dt.timedelta(days=4, hours=1)
    assert page.postings[2].posted_at is None


def test_the_list_has_hours_and_arrangement_but_no_text(page: BoardPage) -> None:
    assert page.postings[1].employment_type == "full_time"
    assert page.postings[1].arrangement == "remote"
    assert all(posting.partial for posting in page.postings)
    assert page.postings[0].board == "polaris/Polar_Careers"


def test_the_details_have_all_locations_and_the_posting_date(page: BoardPage) -> None:
    config = WorkdaySite(**POLAR)
    request = workday.detail_request(page.postings[1], config)
    assert (request.method, request.url) == ("GET", f"{API}/job/Tromso/Ice-Core-Analyst_R1002-1")
    complete = workday.PLATFORM.read_detail_response(
        answer("workday/posting.json"), page.postings[1], config
    )
    assert complete.locations == ("Tromsø", "Longyearbyen")
    assert complete.posted_at
    assert complete.posted_at.date() == dt.date(2024, 2, 11)
    assert complete.valid_through
    assert complete.valid_through.date() == dt.date(2024, 12, 31)
    assert complete.company == "Polaris Research AS"
    assert (complete.employment_type, complete.arrangement) == ("part_time", "hybrid")
    assert lines(complete.description) == ["Your lab", "It is cold & bright.", "- Count layers"]
    assert not complete.partial
    assert (complete.vendor_id, complete.requisition_id) == ("R1002-1", "R1002")


def test_a_single_posting_names_its_board_and_url() -> None:
    (posting,) = read("workday", answer("workday/posting.json"), NOWHERE).postings
    assert posting.board == "polaris/Polar_Careers"
    assert posting.url.endswith("/Polar_Careers/job/Tromso/Ice-Core-Analyst_R1002-1")
    assert (posting.vendor_id, posting.requisition_id) == ("R1002-1", "R1002")


def test_later_pages_use_the_total_of_the_first_although_they_report_zero() -> None:
    first = read("workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    (ask,) = first.next
    second = read("workday", part(20, 20, 0), POLAR, ask)
    (ask,) = second.next
    assert isinstance(ask.json, dict)
    assert ask.json["offset"] == 40
    third = read("workday", part(40, 5, 0), POLAR, ask)
    assert [page.total for page in (first, second, third)] == [45, 45, 45]
    assert (third.next, third.truncated) == ((), False)


def test_a_repeated_first_page_ends_the_crawl_as_incomplete() -> None:
    (ask,) = read(
        "workday", part(0, 20, 5000), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    assert read("workday", part(0, 20, 0), POLAR, ask) == BoardPage((), truncated=True)


def test_an_empty_page_before_the_end_is_truncated() -> None:
    (ask,) = read(
        "workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    page = read("workday", part(20, 0, 0), POLAR, ask)
    assert (page.next, page.truncated) == ((), True)


def test_a_page_of_stubs_does_not_end_the_crawl() -> None:
    (ask,) = read(
        "workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    stubs = json.dumps({"total": 0, "jobPostings": [{"bulletFields": ["R1"]}] * 20}).encode()
    page = read("workday", stubs, POLAR, ask)
    assert (page.stubs, len(page.next)) == (20, 1)


def test_a_saved_later_page_with_total_zero_is_read_without_a_total() -> None:
    page = read("workday", part(20, 20, 0), NOWHERE)
    assert (len(page.postings), page.total) == (20, None)


def test_a_capped_list_is_split_by_a_facet_with_values_below_the_cap() -> None:
    """`timeType` has a value above the cap, `union` does not cover all postings, `locations` has
    more values."""
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    assert starts(page.next) == [
        {"jobFamilyGroup": ["fam-field"]},
        {"jobFamilyGroup": ["fam-lab"]},
        {"jobFamilyGroup": ["fam-office"]},
    ]
    assert not page.truncated


def test_nested_facets_are_found() -> None:
    body = json.loads(capped())
    group = body["facets"][3]
    page = read(
        "workday", capped(facets=[group]), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )
    assert starts(page.next) == [
        {"locations": ["loc-alta"]}, {"locations": ["loc-tromso"]}, {"locations": ["loc-bodo"]},
    ]  # fmt: skip


def test_all_pages_of_a_facet_value_are_requested_at_once() -> None:
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    offsets = [
        request.context["offset"] for request in page.next if "fam-office" in str(request.json)
    ]
    assert offsets == [0, 20, 40, 60, 80]
    last = page.next[-1]
    shown = read("workday", part(80, 20, 0), POLAR, last)
    assert (len(shown.postings), shown.next, shown.truncated) == (20, (), False)


def test_a_facet_value_that_has_grown_or_is_empty_makes_the_crawl_incomplete() -> None:
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    (first, *_, last) = [request for request in page.next if "fam-office" in str(request.json)]
    assert read("workday", part(0, 20, 121), POLAR, first).truncated
    assert read("workday", part(0, 0, 0), POLAR, first).truncated
    assert read("workday", part(80, 0, 0), POLAR, last).truncated
    assert not read("workday", part(0, 20, 100), POLAR, first).truncated


def test_a_facet_value_above_the_cap_is_split_again_and_not_counted_twice() -> None:
    body = json.loads(capped())
    time, sites = body["facets"][1], body["facets"][3]
    first = read(
        "workday", capped(facets=[time]), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )
    assert first.postings
    (full, part_time) = first.next
    again = read("workday", capped(facets=[time, sites]), POLAR, full)
    assert again.postings == ()
    assert starts(again.next) == [
        {"timeType": ["time-full"], "locations": [place]}
        for place in ("loc-alta", "loc-tromso", "loc-bodo")
    ]
    assert facets(part_time) == {"timeType": ["time-part"]}


def test_configured_facets_are_kept_and_not_used_for_splitting() -> None:
    config = POLAR | {"facets": {"jobFamilyGroup": ["fam-field", "fam-lab"]}}
    page = read(
        "workday", capped(), config, workday.first_request(WorkdaySite.model_validate(config))
    )
    assert {name for request in page.next for name in facets(request)} == {
        "jobFamilyGroup",
        "locations",
    }


def test_a_facet_that_some_postings_lack_is_used_and_the_crawl_stays_incomplete() -> None:
    union = json.loads(capped())["facets"][2]
    page = read(
        "workday", capped(facets=[union]), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )
    assert starts(page.next) == [{"union": ["union-yes"]}, {"union": ["union-no"]}]
    assert facets(page.next[-1]) == {}
    assert page.truncated


def test_a_capped_list_without_facets_is_crawled_and_incomplete() -> None:
    page = read("workday", part(0, 20, 2000), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    assert page.truncated
    assert len(page.next) == 1


def test_a_tenant_without_the_cap_is_crawled_page_by_page() -> None:
    page = read("workday", part(0, 20, 18_000), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    assert (len(page.next), page.truncated) == (1, False)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"errorCode": "HTTP_422", "httpStatus": 422}',
        b"[]",
        b'{"total": 2, "jobPostings": [{"name": "x"}, {"name": "y"}]}',
    ],
)
def test_a_response_that_is_not_a_list_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("workday", body, POLAR)


def test_a_site_without_postings_is_valid() -> None:
    assert read("workday", b'{"total": 0, "jobPostings": []}', POLAR) == BoardPage(())


def test_malformed_fields_do_not_lose_a_posting() -> None:
    body = json.loads(answer("workday/page.json"))
    body["jobPostings"][0] |= {"locationsText": 3.5, "postedOn": [], "bulletFields": "R-1001"}
    body["facets"] = {"x": 1}
    posting: Posting = read("workday", json.dumps(body).encode(), POLAR).postings[0]
    assert posting.requisition_id == "R-1001"


@pytest.mark.parametrize(
    ("page", "board"),
    [
        ("https://polaris.wd3.myworkdayjobs.com/en-US/Polar_Careers/job/Alta/Guide_R1", "polaris"),
        (
            "https://wd3.myworkdaysite.com/en-US/recruiting/polaris/Polar_Careers/job/X_R1",
            "polaris",
        ),
        ("https://polaris.wd3.myworkdayjobs.com/", None),
    ],
)
def test_the_board_of_a_saved_posting_is_read_from_its_url(page: str, board: str | None) -> None:
    body = {"jobPostingInfo": {"title": "Guide", "jobReqId": "R1", "externalUrl": page}}
    (posting,) = read("workday", json.dumps(body).encode(), NOWHERE).postings
    assert posting.board == (f"{board}/Polar_Careers" if board else None)

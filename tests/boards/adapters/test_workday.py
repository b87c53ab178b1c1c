"""Workday: parts of twenty, a total that later parts deny, a cap, and requisitions mirrored."""

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
    """The facets of each first part."""
    return [facets(one) for one in requests if one.context["offset"] == 0]


def test_the_question_has_all_four_keys_and_asks_for_twenty() -> None:
    asked = workday.first_request(WorkdaySite(**POLAR, facets={"jobFamily": ["fam-1"]}))
    assert (asked.method, asked.url) == ("POST", f"{API}/jobs")
    assert asked.json == {
        "appliedFacets": {"jobFamily": ["fam-1"]},
        "limit": 20,
        "offset": 0,
        "searchText": "",
    }


def test_records_without_a_title_are_counted_and_passed_over(page: BoardPage) -> None:
    assert [one.title for one in page.postings] == [
        "Glacier Guide", "Ice Core Analyst", "Sled Mechanic", "Cook",
    ]  # fmt: skip
    assert page.stubs == 1


def test_the_page_for_people_is_made_of_site_and_path(page: BoardPage) -> None:
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
def test_a_mirrored_posting_is_another_one_of_the_same_requisition(
    page: BoardPage, index: int, vendor_id: str, requisition: str
) -> None:
    posting = page.postings[index]
    assert (posting.vendor_id, posting.requisition_id) == (vendor_id, requisition)


def test_a_number_of_places_is_no_place(page: BoardPage) -> None:
    assert page.postings[0].locations == ("Tromsø",)
    assert page.postings[1].location is None
    assert page.postings[1].locations == ()


def test_relative_days_are_counted_from_now_and_may_be_missing(page: BoardPage) -> None:
    posted = page.postings[0].posted_at
    assert posted
    age = dt.datetime.now(dt.UTC) - posted
    assert dt.timedelta(days=2) < age < dt.timedelta(days=4, hours=1)
    assert page.postings[2].posted_at is None


def test_the_list_knows_hours_and_place_of_work_but_no_text(page: BoardPage) -> None:
    assert page.postings[1].employment_type == "full_time"
    assert page.postings[1].arrangement == "remote"
    assert all(one.partial for one in page.postings)
    assert page.postings[0].board == "polaris/Polar_Careers"


def test_the_detail_names_all_places_and_the_day_of_posting(page: BoardPage) -> None:
    config = WorkdaySite(**POLAR)
    asked = workday.detail_request(page.postings[1], config)
    assert (asked.method, asked.url) == ("GET", f"{API}/job/Tromso/Ice-Core-Analyst_R1002-1")
    whole = workday.read_detail(answer("workday/posting.json"), page.postings[1], config)
    assert whole.locations == ("Tromsø", "Longyearbyen")
    assert whole.posted_at
    assert whole.posted_at.date() == dt.date(2024, 2, 11)
    assert whole.valid_through
    assert whole.valid_through.date() == dt.date(2024, 12, 31)
    assert whole.company == "Polaris Research AS"
    assert (whole.employment_type, whole.arrangement) == ("part_time", "hybrid")
    assert lines(whole.description) == ["Your lab", "It is cold & bright.", "- Count layers"]
    assert not whole.partial
    assert (whole.vendor_id, whole.requisition_id) == ("R1002-1", "R1002")


def test_a_single_posting_tells_its_board_and_page() -> None:
    (posting,) = read("workday", answer("workday/posting.json"), NOWHERE).postings
    assert posting.board == "polaris/Polar_Careers"
    assert posting.url.endswith("/Polar_Careers/job/Tromso/Ice-Core-Analyst_R1002-1")
    assert (posting.vendor_id, posting.requisition_id) == ("R1002-1", "R1002")


def test_later_parts_go_by_the_first_total_though_they_say_zero() -> None:
    first = read("workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    (ask,) = first.next
    second = read("workday", part(20, 20, 0), POLAR, ask)
    (ask,) = second.next
    assert isinstance(ask.json, dict)
    assert ask.json["offset"] == 40
    third = read("workday", part(40, 5, 0), POLAR, ask)
    assert [one.total for one in (first, second, third)] == [45, 45, 45]
    assert (third.next, third.truncated) == ((), False)


def test_a_part_that_is_the_first_again_ends_the_walk_as_incomplete() -> None:
    (ask,) = read(
        "workday", part(0, 20, 5000), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    assert read("workday", part(0, 20, 0), POLAR, ask) == BoardPage((), truncated=True)


def test_an_empty_part_before_the_end_is_no_end() -> None:
    (ask,) = read(
        "workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    page = read("workday", part(20, 0, 0), POLAR, ask)
    assert (page.next, page.truncated) == ((), True)


def test_a_part_of_stubs_only_does_not_end_the_walk() -> None:
    (ask,) = read(
        "workday", part(0, 20, 45), POLAR, workday.first_request(WorkdaySite(**POLAR))
    ).next
    stubs = json.dumps({"total": 0, "jobPostings": [{"bulletFields": ["R1"]}] * 20}).encode()
    page = read("workday", stubs, POLAR, ask)
    assert (page.stubs, len(page.next)) == (20, 1)


def test_a_saved_later_part_with_total_zero_is_read_and_its_total_is_unknown() -> None:
    page = read("workday", part(20, 20, 0), NOWHERE)
    assert (len(page.postings), page.total) == (20, None)


def test_above_the_cap_a_facet_is_asked_whose_values_stay_below_it() -> None:
    """`timeType` has a value above it, `union` not all postings, `locations` more values."""
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    assert starts(page.next) == [
        {"jobFamilyGroup": ["fam-field"]},
        {"jobFamilyGroup": ["fam-lab"]},
        {"jobFamilyGroup": ["fam-office"]},
    ]
    assert not page.truncated


def test_facets_in_groups_are_found() -> None:
    body = json.loads(capped())
    group = body["facets"][3]
    page = read(
        "workday", capped(facets=[group]), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )
    assert starts(page.next) == [
        {"locations": ["loc-alta"]}, {"locations": ["loc-tromso"]}, {"locations": ["loc-bodo"]},
    ]  # fmt: skip


def test_all_pages_of_a_value_are_asked_for_at_once() -> None:
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    offsets = [one.context["offset"] for one in page.next if "fam-office" in str(one.json)]
    assert offsets == [0, 20, 40, 60, 80]
    last = page.next[-1]
    shown = read("workday", part(80, 20, 0), POLAR, last)
    assert (len(shown.postings), shown.next, shown.truncated) == (20, (), False)


def test_a_value_that_has_grown_or_is_empty_makes_the_walk_incomplete() -> None:
    page = read("workday", capped(), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    (first, *_, last) = [one for one in page.next if "fam-office" in str(one.json)]
    assert read("workday", part(0, 20, 121), POLAR, first).truncated
    assert read("workday", part(0, 0, 0), POLAR, first).truncated
    assert read("workday", part(80, 0, 0), POLAR, last).truncated
    assert not read("workday", part(0, 20, 100), POLAR, first).truncated


def test_a_value_above_the_cap_is_split_again_and_shown_only_with_its_parts() -> None:
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


def test_chosen_facets_are_kept_and_not_split_by() -> None:
    config = POLAR | {"facets": {"jobFamilyGroup": ["fam-field", "fam-lab"]}}
    page = read(
        "workday", capped(), config, workday.first_request(WorkdaySite.model_validate(config))
    )
    assert {name for one in page.next for name in facets(one)} == {"jobFamilyGroup", "locations"}


def test_a_facet_that_some_postings_lack_is_asked_besides_and_known_to_be_incomplete() -> None:
    union = json.loads(capped())["facets"][2]
    page = read(
        "workday", capped(facets=[union]), POLAR, workday.first_request(WorkdaySite(**POLAR))
    )
    assert starts(page.next) == [{"union": ["union-yes"]}, {"union": ["union-no"]}]
    assert facets(page.next[-1]) == {}
    assert page.truncated


def test_a_capped_list_without_facets_is_walked_and_known_to_be_incomplete() -> None:
    page = read("workday", part(0, 20, 2000), POLAR, workday.first_request(WorkdaySite(**POLAR)))
    assert page.truncated
    assert len(page.next) == 1


def test_a_tenant_that_shows_more_than_the_cap_is_walked_as_usual() -> None:
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
def test_an_answer_that_is_not_a_list_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("workday", body, POLAR)


def test_a_site_without_postings_is_a_site() -> None:
    assert read("workday", b'{"total": 0, "jobPostings": []}', POLAR) == BoardPage(())


def test_odd_fields_cost_no_posting() -> None:
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
def test_a_saved_posting_names_its_board_by_its_address(page: str, board: str | None) -> None:
    body = {"jobPostingInfo": {"title": "Guide", "jobReqId": "R1", "externalUrl": page}}
    (one,) = read("workday", json.dumps(body).encode(), NOWHERE).postings
    assert one.board == (f"{board}/Polar_Careers" if board else None)

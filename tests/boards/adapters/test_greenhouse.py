"""Greenhouse: one response per board, texts as escaped HTML, custom fields of each company."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import pytest

from jobmill.boards.adapters import greenhouse
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError

from . import answer, lines, read


@pytest.fixture
def board() -> BoardPage:
    return read("greenhouse", answer("greenhouse/board.json"))


@pytest.fixture
def posting(board: BoardPage) -> Posting:
    return board.postings[0]


def test_one_request_returns_the_board_with_texts_and_salaries() -> None:
    request = greenhouse.first_request(BoardConfig(board_token="kestreloptics", region="eu"))
    assert request.url == (
        "https://boards-api.greenhouse.io/v1/boards/kestreloptics/jobs"
        "?content=true&pay_transparency=true"
    )


def test_a_board_is_complete(board: BoardPage) -> None:
    assert (len(board.postings), board.total, board.next) == (3, 3, ())
    assert not board.truncated
    assert {posting.platform for posting in board.postings} == {"greenhouse"}


def test_a_board_with_fewer_posts_than_its_total_is_incomplete() -> None:
    body = json.loads(answer("greenhouse/board.json"))
    body["meta"]["total"] = 4
    assert read("greenhouse", json.dumps(body).encode()).truncated


def test_the_text_is_unescaped_and_scripts_are_dropped(posting: Posting) -> None:
    assert lines(posting.description) == [
        "About the role", "You design lenses & mirrors.", "- Know Zemax", "- Like R&D",
    ]  # fmt: skip
    assert not posting.partial


def test_all_fields_of_a_post_are_read(posting: Posting) -> None:
    assert posting.title == "Optical Engineer"
    assert posting.url == "https://kestreloptics.example/careers?gh_jid=5100001"
    assert posting.company == "Kestrel Optics"
    assert posting.department == "Lens Design"
    assert posting.employment_type == "full_time"
    assert posting.arrangement == "hybrid"
    assert posting.language == "en"
    assert posting.vendor_id == "5100001"


def test_the_posting_date_is_the_first_publication_not_the_last_edit(posting: Posting) -> None:
    east = dt.timezone(dt.timedelta(hours=-4))
    assert posting.posted_at == dt.datetime(2024, 4, 2, 9, 30, tzinfo=east)
    assert posting.updated_at == dt.datetime(2024, 5, 20, 8, 15, tzinfo=east)


def test_a_deadline_in_the_future_is_read() -> None:
    ahead = dt.datetime.now(dt.UTC).replace(microsecond=0) + dt.timedelta(days=30)
    body = json.loads(answer("greenhouse/board.json"))
    body["jobs"][0]["application_deadline"] = ahead.isoformat()
    assert read("greenhouse", json.dumps(body).encode()).postings[0].valid_through == ahead


def test_several_locations_in_one_text_are_split(posting: Posting) -> None:
    assert posting.location == "Oslo, Norway | Bergen, Norway"
    assert posting.locations == ("Oslo, Norway", "Bergen, Norway")


def test_offices_replace_a_location_that_is_not_applicable(board: BoardPage) -> None:
    assert board.postings[1].location is None
    assert board.postings[1].locations == ("Oslo, Norway", "Trondheim")


def test_no_department_is_none(board: BoardPage) -> None:
    assert board.postings[1].department is None


@pytest.mark.parametrize(
    ("company_number", "internal", "expected"),
    [
        ("KO-118", 3200001, "KO-118"),
        ("See Opening ID", 3200001, "3200001"),
        (None, 3200001, "3200001"),
        ("", None, None),
        (None, None, None),
    ],
)
def test_posts_of_a_vacancy_share_a_requisition_id_that_has_a_digit(
    company_number: str | None, internal: int | None, expected: str | None
) -> None:
    body: dict[str, Any] = json.loads(answer("greenhouse/post.json"))
    body |= {"requisition_id": company_number, "internal_job_id": internal}
    assert read("greenhouse", json.dumps(body).encode()).postings[0].requisition_id == expected


def test_a_salary_in_a_custom_field_is_read_and_an_empty_one_skipped(posting: Posting) -> None:
    assert posting.salary == Salary(720_000, 910_000, "NOK", "year", "structured")


def test_salary_ranges_of_one_currency_become_one_range(board: BoardPage) -> None:
    assert board.postings[1].salary == Salary(55_000, 80_000, "EUR", "year", "structured")


def test_hourly_cents_become_an_hourly_salary() -> None:
    post = read("greenhouse", answer("greenhouse/post.json")).postings[0]
    assert post.salary == Salary(24, 31, "EUR", "hour", "structured")


def test_the_board_is_read_from_urls_on_its_own_host_only(board: BoardPage) -> None:
    assert [posting.board for posting in board.postings] == [None, "kestreloptics", "kestreloptics"]
    configured = read("greenhouse", answer("greenhouse/board.json"), {"board_token": "kestrel"})
    assert {posting.board for posting in configured.postings} == {"kestrel"}


def test_a_post_without_text_gets_it_from_its_details() -> None:
    body: dict[str, Any] = json.loads(answer("greenhouse/post.json"))
    content = body.pop("content")
    (bare,) = read("greenhouse", json.dumps({"jobs": [body]}).encode()).postings
    assert bare.partial

    config = BoardConfig(board_token="kestreloptics")
    request = greenhouse.detail_request(bare, config)
    assert request.url.partition("?")[0].endswith("/v1/boards/kestreloptics/jobs/5100004")
    complete = greenhouse.PLATFORM.read_detail_response(
        json.dumps(body | {"content": content}).encode(), bare, config
    )
    assert complete == replace(bare, description="Coat lenses by night.", partial=False)


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
    body = json.loads(answer("greenhouse/board.json"))
    body["jobs"][1] = {"id": 1, "title": {"what": "is this"}}
    body["jobs"][2] |= {"location": 17, "metadata": "none", "departments": [3, {"name": "Talent"}]}
    page = read("greenhouse", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (2, 1)
    assert page.postings[1].location is None
    assert page.postings[1].department == "Talent"


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Down for maintenance</body></html>",
        b'{"status": 404, "error": "Board not found"}',
        b"[]",
        b'{"jobs": {}}',
        b'{"jobs": [{"name": "another shape"}, {"name": "of all records"}]}',
        b"",
    ],
)
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("greenhouse", body)


def test_a_board_without_posts_is_valid() -> None:
    assert read("greenhouse", b'{"jobs": [], "meta": {"total": 0}}') == BoardPage((), total=0)

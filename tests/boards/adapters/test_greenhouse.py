"""Greenhouse: one answer for a board, text as escaped HTML, fields that each company names itself."""

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


def test_a_board_is_asked_for_once_with_texts_and_pay() -> None:
    asked = greenhouse.first_request(BoardConfig(board_token="kestreloptics", region="eu"))
    assert asked.url == (
        "https://boards-api.greenhouse.io/v1/boards/kestreloptics/jobs"
        "?content=true&pay_transparency=true"
    )


def test_a_board_is_whole(board: BoardPage) -> None:
    assert (len(board.postings), board.total, board.next) == (3, 3, ())
    assert not board.truncated
    assert {one.platform for one in board.postings} == {"greenhouse"}


def test_a_board_with_fewer_posts_than_it_says_is_not_whole() -> None:
    body = json.loads(answer("greenhouse/board.json"))
    body["meta"]["total"] = 4
    assert read("greenhouse", json.dumps(body).encode()).truncated


def test_the_text_is_unescaped_and_scripts_are_dropped(posting: Posting) -> None:
    assert lines(posting.description) == [
        "About the role", "You design lenses & mirrors.", "- Know Zemax", "- Like R&D",
    ]  # fmt: skip
    assert not posting.partial


def test_what_a_post_says_of_itself_is_kept(posting: Posting) -> None:
    assert posting.title == "Optical Engineer"
    assert posting.url == "https://kestreloptics.example/careers?gh_jid=5100001"
    assert posting.company == "Kestrel Optics"
    assert posting.department == "Lens Design"
    assert posting.employment_type == "full_time"
    assert posting.arrangement == "hybrid"
    assert posting.language == "en"
    assert posting.vendor_id == "5100001"


def test_the_day_of_first_publishing_counts_not_that_of_the_last_edit(posting: Posting) -> None:
    east = dt.timezone(dt.timedelta(hours=-4))
    assert posting.posted_at == dt.datetime(2024, 4, 2, 9, 30, tzinfo=east)
    assert posting.updated_at == dt.datetime(2024, 5, 20, 8, 15, tzinfo=east)


def test_the_deadline_may_lie_ahead() -> None:
    ahead = dt.datetime.now(dt.UTC).replace(microsecond=0) + dt.timedelta(days=30)
    body = json.loads(answer("greenhouse/board.json"))
    body["jobs"][0]["application_deadline"] = ahead.isoformat()
    assert read("greenhouse", json.dumps(body).encode()).postings[0].valid_through == ahead


def test_several_places_in_one_text_are_taken_apart(posting: Posting) -> None:
    assert posting.location == "Oslo, Norway | Bergen, Norway"
    assert posting.locations == ("Oslo, Norway", "Bergen, Norway")


def test_offices_stand_in_where_the_place_is_not_applicable(board: BoardPage) -> None:
    assert board.postings[1].location is None
    assert board.postings[1].locations == ("Oslo, Norway", "Trondheim")


def test_no_department_is_none(board: BoardPage) -> None:
    assert board.postings[1].department is None


@pytest.mark.parametrize(
    ("own", "internal", "kept"),
    [
        ("KO-118", 3200001, "KO-118"),
        ("See Opening ID", 3200001, "3200001"),
        (None, 3200001, "3200001"),
        ("", None, None),
        (None, None, None),
    ],
)
def test_posts_of_a_vacancy_share_a_number_and_words_are_none(
    own: str | None, internal: int | None, kept: str | None
) -> None:
    body: dict[str, Any] = json.loads(answer("greenhouse/post.json"))
    body |= {"requisition_id": own, "internal_job_id": internal}
    assert read("greenhouse", json.dumps(body).encode()).postings[0].requisition_id == kept


def test_pay_in_a_custom_field_is_read_and_an_empty_one_passed_over(posting: Posting) -> None:
    assert posting.salary == Salary(720_000, 910_000, "NOK", "year", "structured")


def test_pay_ranges_of_one_currency_make_one_range(board: BoardPage) -> None:
    assert board.postings[1].salary == Salary(55_000, 80_000, "EUR", "year", "structured")


def test_cents_an_hour_become_money_an_hour() -> None:
    post = read("greenhouse", answer("greenhouse/post.json")).postings[0]
    assert post.salary == Salary(24, 31, "EUR", "hour", "structured")


def test_the_board_is_known_from_its_own_pages_only(board: BoardPage) -> None:
    assert [one.board for one in board.postings] == [None, "kestreloptics", "kestreloptics"]
    known = read("greenhouse", answer("greenhouse/board.json"), {"board_token": "kestrel"})
    assert {one.board for one in known.postings} == {"kestrel"}


def test_a_post_without_text_gets_it_from_its_detail() -> None:
    body: dict[str, Any] = json.loads(answer("greenhouse/post.json"))
    content = body.pop("content")
    (bare,) = read("greenhouse", json.dumps({"jobs": [body]}).encode()).postings
    assert bare.partial

    config = BoardConfig(board_token="kestreloptics")
    asked = greenhouse.detail_request(bare, config)
    assert asked.url.partition("?")[0].endswith("/v1/boards/kestreloptics/jobs/5100004")
    whole = greenhouse.read_detail(json.dumps(body | {"content": content}).encode(), bare, config)
    assert whole == replace(bare, description="Coat lenses by night.", partial=False)


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
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
def test_an_answer_that_is_not_a_board_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("greenhouse", body)


def test_a_board_without_posts_is_a_board() -> None:
    assert read("greenhouse", b'{"jobs": [], "meta": {"total": 0}}') == BoardPage((), total=0)

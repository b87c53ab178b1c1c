"""Lever: a bare list, its text in many parts, dates in milliseconds, parts of a hundred."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import lever
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting, Salary
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

HAVNBRO = {"board_token": "havnbro"}


@pytest.fixture
def postings() -> tuple[Posting, ...]:
    return read("lever", answer("lever/board.json")).postings


def many(count: int, start: int = 0) -> bytes:
    one: dict[str, Any] = json.loads(answer("lever/board.json"))[0]
    return json.dumps([one | {"id": f"id-{start + n}"} for n in range(count)]).encode()


def test_all_parts_of_the_text_are_there_in_their_order(postings: tuple[Posting, ...]) -> None:
    assert lines(postings[0].description) == [
        "We keep bridges standing.",
        "You measure & report.",
        "What you do",
        "- Climb pylons",
        "- Draw cracks",
        "What you bring",
        "- No fear of heights",
        "Havnbro hires everyone.",
        "Pension comes on top.",
    ]


def test_plain_parts_do_where_there_is_no_html(postings: tuple[Posting, ...]) -> None:
    assert postings[1].description == "A year with us.\n\nYou learn the trade."


def test_what_a_posting_says_of_itself_is_kept(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert posting.title == "Bridge Surveyor"
    assert posting.url.endswith("/havnbro/0b0f6a10-3a41-4f1e-9f6f-0d1d7c2b1001")
    assert posting.apply_url == f"{posting.url}/apply"
    assert posting.vendor_id == "0b0f6a10-3a41-4f1e-9f6f-0d1d7c2b1001"
    assert (posting.department, posting.tags) == ("Field", ("Survey North",))
    assert posting.employment_type == "full_time"
    assert posting.company is None
    assert posting.board == "havnbro"


def test_milliseconds_are_no_seconds(postings: tuple[Posting, ...]) -> None:
    assert postings[0].posted_at == dt.datetime(2024, 1, 1, 10, 40, tzinfo=dt.UTC)


def test_all_places_count_each_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Aarhus"
    assert postings[0].locations == ("Aarhus", "Odense")


def test_the_country_is_the_place_where_no_other_is_named(postings: tuple[Posting, ...]) -> None:
    assert postings[1].location is None
    assert postings[1].locations == ("SE",)


def test_the_team_is_the_department_where_there_is_none(postings: tuple[Posting, ...]) -> None:
    assert (postings[1].department, postings[1].tags) == ("Office", ())


def test_entities_in_titles_are_resolved(postings: tuple[Posting, ...]) -> None:
    assert postings[1].title == "Trainee & Friend of Bridges"


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("on-site", "onsite"),
        ("onsite", "onsite"),
        ("hybrid", "hybrid"),
        ("remote", "remote"),
        ("unspecified", None),
    ],
)
def test_the_workplace_is_taken_from_its_field(word: str, kept: str | None) -> None:
    one = json.loads(answer("lever/board.json"))[0] | {"workplaceType": word}
    assert read("lever", json.dumps([one]).encode()).postings[0].arrangement == kept


@pytest.mark.parametrize(
    ("interval", "period"),
    [
        ("per-year-salary", "year"),
        ("per-month-salary", "month"),
        ("per-hour-wage", "hour"),
        ("bi-month-salary", None),
    ],
)
def test_pay_has_its_interval(interval: str, period: str | None) -> None:
    one = json.loads(answer("lever/board.json"))[0]
    one["salaryRange"]["interval"] = interval
    (posting,) = read("lever", json.dumps([one]).encode()).postings
    assert posting.salary
    assert posting.salary.currency == "DKK"
    assert (posting.salary.min, posting.salary.max) == (41_000, 52_000)
    if period:
        assert posting.salary.period == period


def test_pay_is_as_stated(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(41_000, 52_000, "DKK", "month", "structured")
    assert postings[1].salary is None


def test_europeans_are_asked_in_europe() -> None:
    assert lever.first_request(BoardConfig(board_token="x")).url.startswith(
        "https://api.lever.co/v0/postings/x?"
    )
    eu = lever.first_request(BoardConfig(board_token="x", region="eu"))
    assert eu.url.startswith("https://api.eu.lever.co/v0/postings/x?")


def test_a_full_part_is_followed_by_the_next_until_one_is_not_full() -> None:
    first = lever.first_request(BoardConfig(board_token="havnbro"))
    one = read("lever", many(100), HAVNBRO, first)
    (second,) = one.next
    assert "skip=100" in second.url
    two = read("lever", many(100, 100), HAVNBRO, second)
    (third,) = two.next
    assert "skip=200" in third.url
    assert read("lever", many(30, 200), HAVNBRO, third).next == ()


def test_more_than_was_asked_for_is_the_whole_board() -> None:
    page = read(
        "lever", many(130), HAVNBRO, lever.first_request(BoardConfig(board_token="havnbro"))
    )
    assert (page.next, page.truncated) == ((), False)


def test_a_board_that_pays_no_heed_to_skip_is_not_walked_for_ever() -> None:
    (second,) = read("lever", many(100), HAVNBRO).next
    again = read("lever", many(100), HAVNBRO, second)
    assert again == BoardPage((), truncated=True)


def test_a_part_beyond_the_end_is_empty_and_that_is_all() -> None:
    (second,) = read("lever", many(100), HAVNBRO).next
    assert read("lever", b"[]", HAVNBRO, second) == BoardPage(())


def test_a_single_posting_is_understood() -> None:
    one = json.loads(answer("lever/board.json"))[0]
    (posting,) = read("lever", json.dumps(one).encode()).postings
    assert posting.title == "Bridge Surveyor"


def test_a_posting_without_text_gets_it_from_its_detail() -> None:
    one = json.loads(answer("lever/board.json"))[1]
    texts = {name: one.pop(name) for name in ("openingPlain", "descriptionBodyPlain")}
    (bare,) = read("lever", json.dumps([one]).encode(), HAVNBRO).postings
    assert bare.partial
    config = BoardConfig(board_token="havnbro")
    assert lever.detail_request(bare, config).url == (
        f"https://api.lever.co/v0/postings/havnbro/{bare.vendor_id}"
    )
    whole = lever.read_detail(json.dumps(one | texts).encode(), bare, config)
    assert whole.description == "A year with us.\n\nYou learn the trade."
    assert not whole.partial


def test_an_odd_record_is_counted_and_costs_no_other() -> None:
    body = json.loads(answer("lever/board.json"))
    body += [7, {"id": "x"}]
    body[0] |= {"createdAt": "yesterday", "lists": {"text": "One", "content": 3}, "salaryRange": []}
    page = read("lever", json.dumps(body).encode())
    assert (len(page.postings), page.stubs) == (2, 2)
    assert page.postings[0].posted_at is None
    assert page.postings[0].salary is None


@pytest.mark.parametrize(
    "body",
    [b"<!doctype html>", b'{"ok": false, "error": "Document not found"}', b"null", b'["x"]', b"3"],
)
def test_an_answer_that_is_not_a_board_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("lever", body)


def test_a_board_without_postings_is_a_board() -> None:
    assert read("lever", b"[]", request=Request("")) == BoardPage(())


@pytest.mark.parametrize(
    ("interval", "period"),
    [
        ("per-year-salary", "year"),
        ("per-hour-wage", "hour"),
        ("per-month-salary", "month"),
        ("bi-weekly-salary", None),
        ("one-time", None),
    ],
)
def test_intervals_of_pay_are_periods_where_we_have_one(interval: str, period: str | None) -> None:
    pay = {"min": 5000, "max": 6000, "currency": "USD", "interval": interval}
    body = [{"id": "1", "text": "Cook", "categories": {}, "salaryRange": pay}]
    found = read("lever", json.dumps(body).encode()).postings[0].salary
    assert found
    assert found.period == period

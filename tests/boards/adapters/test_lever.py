"""Lever: a plain list, texts in many sections, dates in milliseconds, pages of a hundred."""

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
    record: dict[str, Any] = json.loads(answer("lever/board.json"))[0]
    return json.dumps([record | {"id": f"id-{start + n}"} for n in range(count)]).encode()


def test_all_sections_of_the_text_are_in_order(postings: tuple[Posting, ...]) -> None:
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


def test_plain_texts_replace_missing_html(postings: tuple[Posting, ...]) -> None:
    assert postings[1].description == "A year with us.\n\nYou learn the trade."


def test_all_fields_of_a_posting_are_read(postings: tuple[Posting, ...]) -> None:
    posting = postings[0]
    assert posting.title == "Bridge Surveyor"
    assert posting.url.endswith("/havnbro/0b0f6a10-3a41-4f1e-9f6f-0d1d7c2b1001")
    assert posting.apply_url == f"{posting.url}/apply"
    assert posting.vendor_id == "0b0f6a10-3a41-4f1e-9f6f-0d1d7c2b1001"
    assert (posting.department, posting.tags) == ("Field", ("Survey North",))
    assert posting.employment_type == "full_time"
    assert posting.company is None
    assert posting.board == "havnbro"


def test_epoch_milliseconds_are_read(postings: tuple[Posting, ...]) -> None:
    assert postings[0].posted_at == dt.datetime(2024, 1, 1, 10, 40, tzinfo=dt.UTC)


def test_each_location_is_read_once(postings: tuple[Posting, ...]) -> None:
    assert postings[0].location == "Aarhus"
    assert postings[0].locations == ("Aarhus", "Odense")


def test_the_country_replaces_a_missing_location(postings: tuple[Posting, ...]) -> None:
    assert postings[1].location is None
    assert postings[1].locations == ("SE",)


def test_the_team_replaces_a_missing_department(postings: tuple[Posting, ...]) -> None:
    assert (postings[1].department, postings[1].tags) == ("Office", ())


def test_entities_in_titles_are_resolved(postings: tuple[Posting, ...]) -> None:
    assert postings[1].title == "Trainee & Friend of Bridges"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("on-site", "onsite"),
        ("onsite", "onsite"),
        ("hybrid", "hybrid"),
        ("remote", "remote"),
        ("unspecified", None),
    ],
)
def test_the_workplace_type_sets_the_arrangement(word: str, expected: str | None) -> None:
    record = json.loads(answer("lever/board.json"))[0] | {"workplaceType": word}
    assert read("lever", json.dumps([record]).encode()).postings[0].arrangement == expected


@pytest.mark.parametrize(
    ("interval", "period"),
    [
        ("per-year-salary", "year"),
        ("per-month-salary", "month"),
        ("per-hour-wage", "hour"),
        ("bi-month-salary", None),
    ],
)
def test_a_salary_has_its_interval(interval: str, period: str | None) -> None:
    record = json.loads(answer("lever/board.json"))[0]
    record["salaryRange"]["interval"] = interval
    (posting,) = read("lever", json.dumps([record]).encode()).postings
    assert posting.salary
    assert posting.salary.currency == "DKK"
    assert (posting.salary.min, posting.salary.max) == (41_000, 52_000)
    if period:
        assert posting.salary.period == period


def test_a_salary_is_read_as_stated(postings: tuple[Posting, ...]) -> None:
    assert postings[0].salary == Salary(41_000, 52_000, "DKK", "month", "structured")
    assert postings[1].salary is None


def test_european_boards_are_requested_from_the_european_host() -> None:
    assert lever.first_request(BoardConfig(board_token="x")).url.startswith(
        "https://api.lever.co/v0/postings/x?"
    )
    eu = lever.first_request(BoardConfig(board_token="x", region="eu"))
    assert eu.url.startswith("https://api.eu.lever.co/v0/postings/x?")


def test_pages_are_requested_until_one_is_not_full() -> None:
    first = lever.first_request(BoardConfig(board_token="havnbro"))
    posting = read("lever", many(100), HAVNBRO, first)
    (second,) = posting.next
    assert "skip=100" in second.url
    two = read("lever", many(100, 100), HAVNBRO, second)
    (third,) = two.next
    assert "skip=200" in third.url
    assert read("lever", many(30, 200), HAVNBRO, third).next == ()


def test_a_response_above_the_page_size_is_the_whole_board() -> None:
    page = read(
        "lever", many(130), HAVNBRO, lever.first_request(BoardConfig(board_token="havnbro"))
    )
    assert (page.next, page.truncated) == ((), False)


def test_a_board_that_ignores_skip_is_not_crawled_forever() -> None:
    (second,) = read("lever", many(100), HAVNBRO).next
    again = read("lever", many(100), HAVNBRO, second)
    assert again == BoardPage((), truncated=True)


def test_an_empty_page_after_the_end_is_complete() -> None:
    (second,) = read("lever", many(100), HAVNBRO).next
    assert read("lever", b"[]", HAVNBRO, second) == BoardPage(())


def test_a_single_posting_is_read() -> None:
    record = json.loads(answer("lever/board.json"))[0]
    (posting,) = read("lever", json.dumps(record).encode()).postings
    assert posting.title == "Bridge Surveyor"


def test_a_posting_without_text_gets_it_from_its_details() -> None:
    record = json.loads(answer("lever/board.json"))[1]
    texts = {name: record.pop(name) for name in ("openingPlain", "descriptionBodyPlain")}
    (bare,) = read("lever", json.dumps([record]).encode(), HAVNBRO).postings
    assert bare.partial
    config = BoardConfig(board_token="havnbro")
    assert lever.detail_request(bare, config).url == (
        f"https://api.lever.co/v0/postings/havnbro/{bare.vendor_id}"
    )
    complete = lever.PLATFORM.read_detail_response(
        json.dumps(record | texts).encode(), bare, config
    )
    assert complete.description == "A year with us.\n\nYou learn the trade."
    assert not complete.partial


def test_a_malformed_record_is_counted_and_the_others_are_read() -> None:
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
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("lever", body)


def test_a_board_without_postings_is_valid() -> None:
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
def test_salary_intervals_become_periods(interval: str, period: str | None) -> None:
    pay = {"min": 5000, "max": 6000, "currency": "USD", "interval": interval}
    body = [{"id": "1", "text": "Cook", "categories": {}, "salaryRange": pay}]
    posting = read("lever", json.dumps(body).encode()).postings[0].salary
    assert posting
    assert posting.period == period

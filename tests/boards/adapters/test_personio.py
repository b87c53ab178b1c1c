"""Personio: an XML feed for each language, which may hold anything but declarations."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from jobmill.boards.adapters import personio
from jobmill.boards.adapters.personio import PersonioFeed
from jobmill.boards.platform import BoardPage
from jobmill.catalog.posting import Salary
from jobmill.errors import OutsideError

from . import answer, lines, read

NORDLICHT = {"board_token": "nordlicht"}


@pytest.fixture
def page() -> BoardPage:
    return read("personio", answer("personio/feed.xml"), NORDLICHT)


def test_a_feed_is_asked_for_in_its_language() -> None:
    assert personio.first_request(PersonioFeed(board_token="nordlicht")).url == (
        "https://nordlicht.jobs.personio.de/xml?language=en"
    )
    german = PersonioFeed(
        board_token="nordlicht", base_url="https://nordlicht.jobs.personio.com", language="de"
    )
    assert (
        personio.first_request(german).url == "https://nordlicht.jobs.personio.com/xml?language=de"
    )


def test_positions_without_id_or_name_are_counted(page: BoardPage) -> None:
    assert [one.title for one in page.postings] == [
        "Laser Engineer (m/w/d) & Tutor",
        "Praktikum Messtechnik",
    ]
    assert page.stubs == 1


def test_what_a_position_says_of_itself_is_kept(page: BoardPage) -> None:
    posting = page.postings[0]
    assert posting.url == "https://nordlicht.jobs.personio.de/job/1500001"
    assert posting.company == "Nordlicht Labs GmbH"
    assert posting.department == "Optik"
    assert posting.vendor_id == "1500001"
    assert posting.board == "nordlicht"
    assert posting.tags == ("laser", "optics")
    assert posting.posted_at == dt.datetime(2024, 3, 4, 8, tzinfo=dt.UTC)


def test_all_parts_of_the_text_stand_below_their_names(page: BoardPage) -> None:
    assert lines(page.postings[0].description) == [
        "Deine Aufgaben", "Du justierst Laser & Spiegel.", "Dein Profil", "- Ruhige Hand",
    ]  # fmt: skip


def test_all_offices_count_each_once(page: BoardPage) -> None:
    assert page.postings[0].location == "Hamburg"
    assert page.postings[0].locations == ("Hamburg", "Kiel")


def test_hours_say_more_than_that_it_is_for_good(page: BoardPage) -> None:
    assert [one.employment_type for one in page.postings] == ["full_time", "internship"]


def test_the_category_stands_in_for_the_department(page: BoardPage) -> None:
    assert page.postings[1].department == "Students"


def test_pay_stands_one_level_deeper(page: BoardPage) -> None:
    assert page.postings[0].salary == Salary(52_000, 64_000, "EUR", "year", "structured")


def test_a_saved_feed_of_an_unknown_site_has_no_pages() -> None:
    posting = read("personio", answer("personio/feed.xml")).postings[0]
    assert (posting.url, posting.board) == ("", None)


def test_a_single_position_is_understood() -> None:
    body = b"<position><id>7</id><name>Cook</name></position>"
    assert read("personio", body).postings[0].title == "Cook"


LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10 if n else b"ha") for n in range(9)
)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE a [" + LAUGHS + b"]><workzag-jobs><position>&l8;</position></workzag-jobs>",
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><workzag-jobs>&x;</workzag-jobs>',
        '<!DOCTYPE a [<!ENTITY x "y">]><workzag-jobs>&x;</workzag-jobs>'.encode("utf-16"),
        b'<!DOCTYPE a SYSTEM "https://example.org/a.dtd"><workzag-jobs/>',
    ],
    ids=["billion laughs", "a file", "in another encoding", "from elsewhere"],
)
def test_a_document_that_declares_anything_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError, match="document type"):
        read("personio", body)


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Not found</body></html>",
        b"<rss/>",
        b"{}",
        b"",
        b"<workzag-jobs><position>",
        b'<?xml version="1.0" encoding="klingon"?><workzag-jobs/>',
        b'<?xml version="1.0" encoding="utf-7"?><workzag-jobs/>',
        b"<workzag-jobs><position><title>Another shape</title></position></workzag-jobs>",
    ],
)
def test_an_answer_that_is_not_a_feed_is_refused(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("personio", body)


def test_a_feed_without_positions_is_a_feed() -> None:
    assert read("personio", b"<workzag-jobs></workzag-jobs>") == BoardPage(())


def test_what_the_boards_own_search_finds_is_read() -> None:
    one = {"id": 42, "name": "Laser Engineer", "office": "Kiel,Bonn", "offices": ["Kiel", "Bonn"]}
    one |= {"department": "Optics", "seniority": "Experienced", "keywords": "laser, lens"}
    one |= {"employment_type": "permanent", "schedule": "full-time", "description": "<p>Align.</p>"}
    page = read("personio", json.dumps([one, {"id": 1, "name": ""}]).encode(), NORDLICHT)
    (found,) = page.postings
    assert found.url == "https://nordlicht.jobs.personio.de/job/42"
    assert (found.location, found.locations) == ("Kiel,Bonn", ("Kiel", "Bonn"))
    assert (found.department, found.employment_type) == ("Optics", "full_time")
    assert (found.seniority, found.tags, found.description) == ("mid", ("laser", "lens"), "Align.")
    assert page.stubs == 1

"""Personio: an XML feed per language, without document types."""

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


def test_a_feed_is_requested_in_its_language() -> None:
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
    assert [posting.title for posting in page.postings] == [
        "Laser Engineer (m/w/d) & Tutor",
        "Praktikum Messtechnik",
    ]
    assert page.stubs == 1


def test_all_fields_of_a_position_are_read(page: BoardPage) -> None:
    posting = page.postings[0]
    assert posting.url == "https://nordlicht.jobs.personio.de/job/1500001"
    assert posting.company == "Nordlicht Labs GmbH"
    assert posting.department == "Optik"
    assert posting.vendor_id == "1500001"
    assert posting.board == "nordlicht"
    assert posting.tags == ("laser", "optics")
    assert posting.posted_at == dt.datetime(2024, 3, 4, 8, tzinfo=dt.UTC)


def test_each_section_of_the_text_follows_its_title(page: BoardPage) -> None:
    assert lines(page.postings[0].description) == [
        "Deine Aufgaben", "Du justierst Laser & Spiegel.", "Dein Profil", "- Ruhige Hand",
    ]  # fmt: skip


def test_each_office_is_read_once(page: BoardPage) -> None:
    assert page.postings[0].location == "Hamburg"
    assert page.postings[0].locations == ("Hamburg", "Kiel")


def test_a_permanent_contract_is_described_by_its_hours(page: BoardPage) -> None:
    assert [posting.employment_type for posting in page.postings] == ["full_time", "internship"]


def test_the_category_replaces_a_missing_department(page: BoardPage) -> None:
    assert page.postings[1].department == "Students"


def test_a_nested_salary_is_read(page: BoardPage) -> None:
    assert page.postings[0].salary == Salary(52_000, 64_000, "EUR", "year", "structured")


def test_postings_of_a_saved_feed_of_an_unknown_site_have_no_url() -> None:
    posting = read("personio", answer("personio/feed.xml")).postings[0]
    assert (posting.url, posting.board) == ("", None)


def test_a_single_position_is_read() -> None:
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
def test_a_document_with_a_document_type_is_refused(body: bytes) -> None:
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
def test_a_response_that_is_not_a_feed_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("personio", body)


def test_a_feed_without_positions_is_valid() -> None:
    assert read("personio", b"<workzag-jobs></workzag-jobs>") == BoardPage(())


def test_results_of_the_boards_own_search_are_read() -> None:
    record = {
        "id": 42,
        "name": "Laser Engineer",
        "office": "Kiel,Bonn",
        "offices": ["Kiel", "Bonn"],
    }
    record |= {"department": "Optics", "seniority": "Experienced", "keywords": "laser, lens"}
    record |= {
        "employment_type": "permanent",
        "schedule": "full-time",
        "description": "<p>Align.</p>",
    }
    page = read("personio", json.dumps([record, {"id": 1, "name": ""}]).encode(), NORDLICHT)
    (posting,) = page.postings
    assert posting.url == "https://nordlicht.jobs.personio.de/job/42"
    assert (posting.location, posting.locations) == ("Kiel,Bonn", ("Kiel", "Bonn"))
    assert (posting.department, posting.employment_type) == ("Optics", "full_time")
    assert (posting.seniority, posting.tags, posting.description) == (
        "mid",
        ("laser", "lens"),
        "Align.",
    )
    assert page.stubs == 1

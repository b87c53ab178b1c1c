"""Jobvite: one page with all postings, grouped by department."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import jobvite
from jobmill.boards.platform import BoardConfig, BoardPage
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, lines, read

BOARD = {"board_token": "saltmarsh"}
CONFIG = BoardConfig(board_token="saltmarsh")


@pytest.fixture
def board() -> BoardPage:
    return read("jobvite", answer("jobvite/viewall.html"), BOARD, jobvite.first_request(CONFIG))


@pytest.fixture
def posting(board: BoardPage) -> Posting:
    return board.postings[0]


def test_the_page_with_all_postings_is_requested() -> None:
    request = jobvite.first_request(CONFIG)
    assert request == Request("https://jobs.jobvite.com/saltmarsh/jobs/viewall", page=True)


def test_a_featured_posting_is_listed_once_under_its_department(board: BoardPage) -> None:
    assert [(posting.title, posting.department) for posting in board.postings] == [
        ("Eel Smoker", "Smokehouse"),
        ("Salt Maker & Raker", "Smokehouse"),
    ]


def test_rows_have_urls_and_locations(board: BoardPage) -> None:
    posting, other = board.postings
    assert (posting.url, posting.vendor_id) == (
        "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx",
        "oAbc1fwx",
    )
    assert posting.location == "Maldon, United Kingdom"
    assert other.locations == ()


def test_a_page_is_read_from_its_structured_data(posting: Posting) -> None:
    body = (
        b'<script type="application/ld+json">{"@type": "JobPosting", "title": "Eel Smoker",'
        b' "datePosted": "2024-03-01", "description": "<p>Smoke.</p>"}</script>'
    )
    complete = jobvite.PLATFORM.read_detail_response(body, posting, CONFIG)
    assert (complete.description, complete.partial) == ("Smoke.", False)
    assert complete.posted_at
    assert complete.department == "Smokehouse"


def test_a_page_without_structured_data_is_read_from_its_text(posting: Posting) -> None:
    complete = jobvite.PLATFORM.read_detail_response(answer("jobvite/page.html"), posting, CONFIG)
    assert lines(complete.description) == ["Smoke eels.", "- Know wood"]
    assert (complete.department, complete.location) == ("Smokehouse", "Maldon, United Kingdom")


def test_a_page_without_a_posting_is_an_error(posting: Posting) -> None:
    with pytest.raises(OutsideError):
        jobvite.PLATFORM.read_detail_response(answer("jobvite/viewall.html"), posting, CONFIG)


def test_an_empty_board_is_empty() -> None:
    assert read("jobvite", b"<body class='jv-page-body'>None now</body>", BOARD).postings == ()


@pytest.mark.parametrize(
    "body",
    [b"<html>Find out about Jobvite</html>", b"<p class='jv-job-list-name'>No link</p>", b"{}"],
)
def test_a_response_that_is_not_a_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("jobvite", body, BOARD)


def test_rows_without_the_usual_classes_are_read_by_their_links() -> None:
    body = b"""<table><tr><td><a href="/saltmarsh/job/oAbc1fwx">Eel Smoker</a></td>
      <td class="jv-job-list-location">Maldon</td></tr></table>"""
    (posting,) = read("jobvite", body).postings
    assert (posting.title, posting.location, posting.board) == ("Eel Smoker", "Maldon", "saltmarsh")


def test_the_url_of_a_saved_page_is_read_from_its_apply_link() -> None:
    body = b"""<div class="jv-wrapper"><script type="application/ld+json">{"@type": "JobPosting",
      "title": "Eel Smoker", "identifier": "oAbc1fwx", "industry": "Smokehouse",
      "description": "Smoke."}</script><a class="jv-button jv-button-apply"
      href="/saltmarsh/job/oAbc1fwx/apply?x=1">Apply</a></div>"""
    (posting,) = read("jobvite", body).postings
    assert posting.url == "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx"
    assert posting.apply_url == "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx/apply?x=1"
    assert (posting.board, posting.vendor_id, posting.requisition_id) == (
        "saltmarsh",
        "oAbc1fwx",
        None,
    )
    assert posting.department == "Smokehouse"


def test_without_a_url_the_identifier_is_the_posting_id() -> None:
    body = b"""<script type="application/ld+json">{"@type": "JobPosting", "title": "Eel Smoker",
      "identifier": "oAbc1fwx"}</script>"""
    (posting,) = read("jobvite", body).postings
    assert (posting.vendor_id, posting.url) == ("oAbc1fwx", "")

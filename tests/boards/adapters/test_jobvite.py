"""Jobvite: one page for people with all postings, by department."""

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


def test_the_page_with_all_of_them_is_asked_for() -> None:
    asked = jobvite.first_request(CONFIG)
    assert asked == Request("https://jobs.jobvite.com/saltmarsh/jobs/viewall", page=True)


def test_what_is_featured_too_is_listed_once_under_its_department(board: BoardPage) -> None:
    assert [(one.title, one.department) for one in board.postings] == [
        ("Eel Smoker", "Smokehouse"),
        ("Salt Maker & Raker", "Smokehouse"),
    ]


def test_rows_lead_to_pages_and_name_places(board: BoardPage) -> None:
    one, other = board.postings
    assert (one.url, one.vendor_id) == (
        "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx",
        "oAbc1fwx",
    )
    assert one.location == "Maldon, United Kingdom"
    assert other.locations == ()


def test_a_page_is_read_from_what_it_states(posting: Posting) -> None:
    body = (
        b'<script type="application/ld+json">{"@type": "JobPosting", "title": "Eel Smoker",'
        b' "datePosted": "2024-03-01", "description": "<p>Smoke.</p>"}</script>'
    )
    whole = jobvite.read_detail(body, posting, CONFIG)
    assert (whole.description, whole.partial) == ("Smoke.", False)
    assert whole.posted_at
    assert whole.department == "Smokehouse"


def test_a_page_that_states_nothing_is_read_as_it_is_shown(posting: Posting) -> None:
    whole = jobvite.read_detail(answer("jobvite/page.html"), posting, CONFIG)
    assert lines(whole.description) == ["Smoke eels.", "- Know wood"]
    assert (whole.department, whole.location) == ("Smokehouse", "Maldon, United Kingdom")


def test_a_page_without_a_posting_is_an_error(posting: Posting) -> None:
    with pytest.raises(OutsideError):
        jobvite.read_detail(answer("jobvite/viewall.html"), posting, CONFIG)


def test_an_empty_board_is_empty() -> None:
    assert read("jobvite", b"<body class='jv-page-body'>None now</body>", BOARD).postings == ()


@pytest.mark.parametrize(
    "body",
    [b"<html>Find out about Jobvite</html>", b"<p class='jv-job-list-name'>No link</p>", b"{}"],
)
def test_what_is_no_board_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("jobvite", body, BOARD)


def test_rows_without_the_usual_names_are_read_by_their_links() -> None:
    body = b"""<table><tr><td><a href="/saltmarsh/job/oAbc1fwx">Eel Smoker</a></td>
      <td class="jv-job-list-location">Maldon</td></tr></table>"""
    (one,) = read("jobvite", body).postings
    assert (one.title, one.location, one.board) == ("Eel Smoker", "Maldon", "saltmarsh")


def test_a_saved_page_names_itself_by_the_way_to_apply() -> None:
    body = b"""<div class="jv-wrapper"><script type="application/ld+json">{"@type": "JobPosting",
      "title": "Eel Smoker", "identifier": "oAbc1fwx", "industry": "Smokehouse",
      "description": "Smoke."}</script><a class="jv-button jv-button-apply"
      href="/saltmarsh/job/oAbc1fwx/apply?x=1">Apply</a></div>"""
    (one,) = read("jobvite", body).postings
    assert one.url == "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx"
    assert one.apply_url == "https://jobs.jobvite.com/saltmarsh/job/oAbc1fwx/apply?x=1"
    assert (one.board, one.vendor_id, one.requisition_id) == ("saltmarsh", "oAbc1fwx", None)
    assert one.department == "Smokehouse"


def test_without_an_address_the_identifier_names_the_posting() -> None:
    body = b"""<script type="application/ld+json">{"@type": "JobPosting", "title": "Eel Smoker",
      "identifier": "oAbc1fwx"}</script>"""
    (one,) = read("jobvite", body).postings
    assert (one.vendor_id, one.url) == ("oAbc1fwx", "")

from __future__ import annotations

import pytest

from jobmill.boards import company_board
from tests.extract.company.helpers import CAREERS, page

HOME = "https://brinewell.example/"
WORK = "https://brinewell.example/careers"


@pytest.mark.parametrize(
    ("body", "head", "expected"),
    [
        ('<a href="https://boards.greenhouse.io/brinewell">Jobs</a>', "", ("greenhouse", "high")),
        (
            '<a href="https://brinewell.wd5.myworkdayjobs.com/en-US/External">Jobs</a>',
            "",
            ("workday", "high"),
        ),
        (
            "",
            '<link rel="alternate" type="application/rss+xml" title="Jobs" href="/jobs.rss">',
            ("rss", "high"),
        ),
        ('<a href="https://jobs.lever.co/brinewell">Jobs</a>', "", ("lever", "medium")),
        ('<a href="https://jobs.jobvite.com/brinewell">Jobs</a>', "", ("jobvite", "medium")),
        ("<p>Write to us.</p>", "", ("html", "low")),
    ],
)
def test_confidence_depends_on_the_evidence(
    body: str, head: str, expected: tuple[str, str]
) -> None:
    board = company_board.find_company_board([page(body, WORK, head=head)], "Brinewell")
    assert board
    assert (board.type, board.confidence) == expected
    assert board.evidence.startswith(f"on {WORK}") or expected[0] == "html"


def test_the_most_certain_board_of_all_pages_is_used() -> None:
    home = page('<a href="https://jobs.lever.co/brinewell">Jobs</a>', HOME)
    board = company_board.find_company_board([home, page(CAREERS, WORK)], "Brinewell")
    assert board
    assert (board.type, board.token) == ("greenhouse", "brinewell")


def test_a_feed_on_another_site_is_not_certain() -> None:
    feed = '<link rel="alternate" type="application/rss+xml" title="Jobs" href="https://other.example/jobs.rss">'
    board = company_board.find_company_board([page("", WORK, head=feed)], "Brinewell")
    assert board
    assert board.confidence == "medium"


def test_a_board_that_a_blog_mentions_is_ignored() -> None:
    body = "<p>Last week we met https://boards.greenhouse.io/fernleaf at a fair.</p>"
    assert company_board.find_company_board([page(body, HOME + "blog")], "Brinewell").url == WORK  # type: ignore[union-attr]


def test_a_site_that_redirects_to_its_board_names_it() -> None:
    board = company_board.find_company_board(
        [page("<h1>Openings</h1>", "https://job-boards.greenhouse.io/brinewell")], "B"
    )
    assert board
    assert (board.type, board.confidence, board.token) == ("greenhouse", "high", "brinewell")


def test_without_a_careers_page_there_is_no_board() -> None:
    bare = page("<p>Hello.</p>", HOME)
    bare = type(bare)(bare.url, "<html><body><p>Hello.</p></body></html>")
    assert company_board.find_company_board([bare], "Brinewell") is None
    assert company_board.find_company_board([], "Brinewell") is None

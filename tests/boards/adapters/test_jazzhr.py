"""JazzHR: one XML feed with full texts; ids start with their creation time."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.boards.adapters import jazzhr
from jobmill.boards.platform import BoardConfig
from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError
from jobmill.outside.request import Request

from . import answer, read


@pytest.fixture
def posting() -> Posting:
    return read("jazzhr", answer("jazzhr/feed.xml")).postings[0]


def test_the_feed_is_requested_by_token() -> None:
    request = jazzhr.first_request(BoardConfig(board_token="crumbandco"))
    assert request.url == "https://app.jazz.co/feeds/export/jobs/crumbandco"


def test_closed_postings_are_left_out_and_those_without_a_title_counted() -> None:
    page = read("jazzhr", answer("jazzhr/feed.xml"))
    assert [posting.title for posting in page.postings] == ["Night Baker & Oven Lead"]
    assert (page.stubs, page.total) == (1, None)


def test_the_posting_date_is_read_from_the_id(posting: Posting) -> None:
    assert posting.posted_at == dt.datetime(2024, 2, 14, 9, 30, 5, tzinfo=dt.UTC)
    assert posting.vendor_id == "job_20240214093005_QWERTYUIOPASDFGH"


def test_all_fields_of_a_posting_are_read(posting: Posting) -> None:
    assert "Bake at night." in (posting.description or "")
    assert posting.locations == ("Portland, OR, United States",)
    assert (posting.employment_type, posting.seniority) == ("part_time", "senior")
    assert (posting.board, posting.partial) == ("crumbandco", False)


LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10 if n else b"ha") for n in range(9)
)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE jobs [" + LAUGHS + b"]><jobs><job><title>&l8;</title></job></jobs>",
        b'<!DOCTYPE jobs [<!ENTITY x SYSTEM "file:///etc/passwd">]><jobs><job><title>&x;</title></job></jobs>',
    ],
)
def test_documents_that_declare_entities_are_refused(body: bytes) -> None:
    with pytest.raises(OutsideError, match="document type"):
        read("jazzhr", body)


@pytest.mark.parametrize(
    "body",
    [
        b"<html><p>Not found</html>",
        b"<error>no</error>",
        b"",
        b"<jobs><job><id>1</id></job></jobs>",
    ],
)
def test_a_response_that_is_not_a_feed_is_an_error(body: bytes) -> None:
    with pytest.raises(OutsideError):
        read("jazzhr", body)


def test_an_empty_feed_is_empty() -> None:
    assert read("jazzhr", b"<jobs><publisher>JazzHR</publisher></jobs>").postings == ()


def test_a_feed_nested_a_hundred_thousand_deep_neither_hangs_nor_crashes() -> None:
    deep = b"<jobs>" + b"<x>" * 100_000 + b"</x>" * 100_000 + b"</jobs>"
    assert read("jazzhr", deep).postings == ()


PAGE = b"""<!doctype html><html><body><ul class="list-group"><li class="list-group-item">
  <h3><a href="https://crumbandco.applytojob.com/apply/evgnhR5LkV/Night-Baker">Night Baker &amp;
  Lead</a></h3><ul><li><i class="fa fa-map-marker"></i>Portland, OR</li>
  <li><i class="fa fa-sitemap"></i>Ovens</li></ul></li></ul></body></html>"""
ONE = b"""<html><script type="application/ld+json">{"@type": "JobPosting", "title": "Night Baker",
  "url": "https://crumbandco.applytojob.com/apply/evgnhR5LkV/x", "description": "Bake."}</script>"""


def test_pages_are_read_as_well_as_the_feed() -> None:
    (listed,) = read("jazzhr", PAGE).postings
    assert (listed.title, listed.location) == ("Night Baker & Lead", "Portland, OR")
    assert (listed.department, listed.board) == ("Ovens", "crumbandco")
    assert (listed.vendor_id, listed.partial) == ("evgnhR5LkV", True)
    (complete,) = read("jazzhr", ONE).postings
    assert (complete.description, complete.vendor_id, complete.board) == (
        "Bake.",
        "evgnhR5LkV",
        "crumbandco",
    )


def test_an_older_page_is_read_from_its_text() -> None:
    body = b"""<html><head><title>Night Baker - East - Crumb &amp; Co. - Career Page</title></head>
      <body><div id="job-description"><p>Bake.</p></div></body></html>"""
    request = Request("https://crumbandco.applytojob.com/apply/evgnhR5LkV/Night-Baker")
    (posting,) = read("jazzhr", body, request=request).postings
    assert (posting.title, posting.company) == ("Night Baker - East", "Crumb & Co.")
    assert (posting.description, posting.vendor_id, posting.board) == (
        "Bake.",
        "evgnhR5LkV",
        "crumbandco",
    )

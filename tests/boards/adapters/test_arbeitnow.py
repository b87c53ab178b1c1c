"""Arbeitnow: dates in seconds, texts that are sometimes escaped."""

from __future__ import annotations

import datetime as dt

from . import answer, first_request, lines, read


def test_epoch_seconds_are_a_date() -> None:
    posting = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings[0]
    assert posting.posted_at == dt.datetime(2024, 8, 15, 15, 30, 24, tzinfo=dt.UTC)


def test_a_false_remote_flag_does_not_mean_on_site() -> None:
    postings = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings
    assert [posting.arrangement for posting in postings] == [None, "remote"]


def test_an_escaped_text_above_a_plain_line_is_read() -> None:
    posting = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings[1]
    assert lines(posting.description) == ["Voice & tune.", "Find more at the site"]


def test_pages_are_requested_while_there_is_a_next_page() -> None:
    first = first_request("arbeitnow")
    (second,) = read("arbeitnow", answer("arbeitnow/page.json"), {}, first).next
    assert second.url == "https://www.arbeitnow.com/api/job-board-api?page=2"
    assert read("arbeitnow", b'{"data": [], "links": {"next": null}}', {}, second).next == ()


def test_pages_are_requested_up_to_the_maximum() -> None:
    page = read("arbeitnow", answer("arbeitnow/page.json"), {"max_pages": 1})
    assert (page.next, page.truncated) == ((), True)


def test_the_last_page_has_no_next_page() -> None:
    body = answer("arbeitnow/page.json").replace(b'"next": "https', b'"prev": "https')
    page = read("arbeitnow", body, {})
    assert page.postings
    assert (page.next, page.truncated) == ((), False)

"""Arbeitnow: dates as seconds, texts that are escaped at times."""

from __future__ import annotations

import datetime as dt

from . import answer, first_request, lines, read


def test_seconds_are_a_date() -> None:
    one = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings[0]
    assert one.posted_at == dt.datetime(2024, 8, 15, 15, 30, 24, tzinfo=dt.UTC)


def test_not_remote_is_not_said_to_be_on_site() -> None:
    postings = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings
    assert [one.arrangement for one in postings] == [None, "remote"]


def test_an_escaped_text_above_a_plain_line_is_read() -> None:
    one = read("arbeitnow", answer("arbeitnow/page.json"), {}).postings[1]
    assert lines(one.description) == ["Voice & tune.", "Find more at the site"]


def test_pages_are_turned_while_there_is_a_next_one() -> None:
    first = first_request("arbeitnow")
    (second,) = read("arbeitnow", answer("arbeitnow/page.json"), {}, first).next
    assert second.url == "https://www.arbeitnow.com/api/job-board-api?page=2"
    assert read("arbeitnow", b'{"data": [], "links": {"next": null}}', {}, second).next == ()


def test_no_more_pages_are_turned_than_allowed() -> None:
    page = read("arbeitnow", answer("arbeitnow/page.json"), {"max_pages": 1})
    assert (page.next, page.truncated) == ((), True)


def test_the_last_page_is_the_one_without_a_next() -> None:
    body = answer("arbeitnow/page.json").replace(b'"next": "https', b'"prev": "https')
    page = read("arbeitnow", body, {})
    assert page.postings
    assert (page.next, page.truncated) == ((), False)

"""Jooble: the key is part of the address, and texts are snippets."""

from __future__ import annotations

from jobmill.outside.request import Request

from . import answer, first_request, read


def ask(**wanted: object) -> Request:
    return first_request("jooble", **wanted)


def test_what_is_looked_for_is_posted_to_an_address_that_only_names_the_key() -> None:
    asked = ask(keywords="clocks", location="Basel")
    assert (asked.method, asked.url) == ("POST", "https://jooble.org/api/{JOOBLE_API_KEY}")
    assert asked.json == {"keywords": "clocks", "location": "Basel", "page": 1, "ResultOnPage": 100}


def test_a_snippet_is_plain_and_said_to_be_partial() -> None:
    one, other = read("jooble", answer("jooble/answer.json"), {}).postings
    assert (one.title, one.company) == ("Clock Maker", "Tick AG")
    assert one.description == "...makes clocks by hand ..."
    assert (one.partial, one.employment_type, one.vendor_id) == (True, "full_time", "-4411")
    assert one.updated_at
    assert one.salary
    assert one.salary.currency == "CHF"
    assert (other.company, other.location, other.salary) == (None, None, None)


def test_pages_are_turned_as_far_as_allowed() -> None:
    first = ask(max_pages=2)
    (second,) = read("jooble", answer("jooble/answer.json"), {"max_pages": 2}, first).next
    last = read("jooble", answer("jooble/answer.json"), {"max_pages": 2}, second)
    assert second.json == {"page": 2, "ResultOnPage": 100}
    assert (last.next, last.truncated) == ((), True)


def test_a_page_without_postings_is_the_last() -> None:
    page = read("jooble", b'{"totalCount": 900, "jobs": []}', {}, ask())
    assert (page.next, page.truncated) == ((), False)

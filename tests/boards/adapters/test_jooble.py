"""Jooble: the key is part of the URL, and texts are excerpts."""

from __future__ import annotations

from jobmill.outside.request import Request

from . import answer, first_request, read


def ask(**config: object) -> Request:
    return first_request("jooble", **config)


def test_the_search_is_posted_to_a_url_that_only_names_the_key() -> None:
    request = ask(keywords="clocks", location="Basel")
    assert (request.method, request.url) == ("POST", "https://jooble.org/api/{JOOBLE_API_KEY}")
    assert request.json == {
        "keywords": "clocks",
        "location": "Basel",
        "page": 1,
        "ResultOnPage": 100,
    }


def test_a_snippet_is_plain_text_and_partial() -> None:
    posting, other = read("jooble", answer("jooble/answer.json"), {}).postings
    assert (posting.title, posting.company) == ("Clock Maker", "Tick AG")
    assert posting.description == "...makes clocks by hand ..."
    assert (posting.partial, posting.employment_type, posting.vendor_id) == (
        True,
        "full_time",
        "-4411",
    )
    assert posting.updated_at
    assert posting.salary
    assert posting.salary.currency == "CHF"
    assert (other.company, other.location, other.salary) == (None, None, None)


def test_pages_are_requested_up_to_the_maximum() -> None:
    first = ask(max_pages=2)
    (second,) = read("jooble", answer("jooble/answer.json"), {"max_pages": 2}, first).next
    last = read("jooble", answer("jooble/answer.json"), {"max_pages": 2}, second)
    assert second.json == {"page": 2, "ResultOnPage": 100}
    assert (last.next, last.truncated) == ((), True)


def test_a_page_without_postings_is_the_last_page() -> None:
    page = read("jooble", b'{"totalCount": 900, "jobs": []}', {}, ask())
    assert (page.next, page.truncated) == ((), False)

"""The Muse: pages that start at one, levels, several locations."""

from __future__ import annotations

from . import answer, first_request, read


def test_pages_start_at_one_and_filters_may_repeat() -> None:
    request = first_request("themuse", category=("Crafts", "Design"))
    assert request.url == (
        "https://www.themuse.com/api/public/jobs?page=1&category=Crafts&category=Design"
    )


def test_all_fields_of_a_posting_are_read() -> None:
    (posting,) = read("themuse", answer("themuse/page.json"), {}).postings
    assert (posting.title, posting.company, posting.seniority) == (
        "Puppet Carver",
        "Lindenwood",
        "senior",
    )
    assert posting.locations == ("Prague, Czech Republic", "Flexible / Remote")
    assert (posting.description, posting.partial, posting.tags) == (
        "Carve puppets.",
        False,
        ("Crafts",),
    )


def test_pages_end_at_the_stated_page_count() -> None:
    first = first_request("themuse")
    (second,) = read("themuse", answer("themuse/page.json"), {}, first).next
    (third,) = read("themuse", answer("themuse/page.json"), {}, second).next
    last = read("themuse", answer("themuse/page.json"), {}, third)
    assert (last.next, last.truncated, last.total) == ((), False, 41)


def test_a_posting_without_an_id_is_read() -> None:
    assert read("themuse", b'{"results": [{"name": "Tuner"}]}', {}).postings[0].title == "Tuner"

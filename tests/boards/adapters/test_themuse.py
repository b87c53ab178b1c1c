"""The Muse: pages from one, levels, several places."""

from __future__ import annotations

from . import answer, first_request, read


def test_pages_begin_with_one_and_filters_may_repeat() -> None:
    asked = first_request("themuse", category=("Crafts", "Design"))
    assert asked.url == (
        "https://www.themuse.com/api/public/jobs?page=1&category=Crafts&category=Design"
    )


def test_a_posting_is_whole() -> None:
    (one,) = read("themuse", answer("themuse/page.json"), {}).postings
    assert (one.title, one.company, one.seniority) == ("Puppet Carver", "Lindenwood", "senior")
    assert one.locations == ("Prague, Czech Republic", "Flexible / Remote")
    assert (one.description, one.partial, one.tags) == ("Carve puppets.", False, ("Crafts",))


def test_the_last_page_is_the_one_the_answer_names() -> None:
    first = first_request("themuse")
    (second,) = read("themuse", answer("themuse/page.json"), {}, first).next
    (third,) = read("themuse", answer("themuse/page.json"), {}, second).next
    last = read("themuse", answer("themuse/page.json"), {}, third)
    assert (last.next, last.truncated, last.total) == ((), False, 41)


def test_a_posting_without_a_number_is_one_all_the_same() -> None:
    assert read("themuse", b'{"results": [{"name": "Tuner"}]}', {}).postings[0].title == "Tuner"

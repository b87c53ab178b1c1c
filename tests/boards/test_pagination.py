"""The parameters of a page distinguish it from all other pages of a crawl."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from jobmill.boards.board_crawler import page_parameters
from jobmill.outside.request import Request

from .adapters import first_request, read

FIRST = Request("https://a.example/jobs?size=20&q=cook")


@pytest.mark.parametrize(
    ("url", "asks"),
    [
        ("https://a.example/jobs?size=20&q=cook", {}),
        ("https://a.example/jobs?q=cook&size=20", {}),
        ("https://a.example/jobs?size=20&q=cook&page=2", {"page": "2"}),
        ("https://a.example/jobs?size=20&q=cook&after=a%26b%3D1", {"after": "a&b=1"}),
        ("https://a.example/jobs?q=cook", {"size": None}),
        ("https://a.example/jobs/2?size=20&q=cook", {"at": "https://a.example/jobs/2"}),
        ("https://a.example/jobs?size=20&q=cook#2", {"at": "https://a.example/jobs#2"}),
        ("https://a.example/jobs?size=20&q=cook&q=chef", {"q": ["cook", "chef"]}),
    ],
)
def test_page_parameters_are_those_that_differ_from_the_first_request(
    url: str, asks: dict[str, Any]
) -> None:
    assert page_parameters(FIRST, Request(url)) == asks


@pytest.mark.parametrize(
    ("platform", "body", "asks"),
    [
        ("jooble", {"jobs": [{"title": "a", "link": "b"}], "totalCount": 101}, {"page": 2}),
        (
            "reed",
            {"results": [{"jobTitle": "a", "jobId": 1}], "totalResults": 101},
            {"resultsToSkip": "100"},
        ),
        (
            "adzuna",
            {"results": [{"title": "a"}], "count": 51},
            {"at": "https://api.adzuna.com/v1/api/jobs/us/search/2"},
        ),
    ],
)
def test_the_second_page_of_a_search_differs_in_its_page_parameters(
    platform: str, body: dict[str, Any], asks: dict[str, Any]
) -> None:
    first = first_request(platform, keywords="cook")
    (second,) = read(platform, json.dumps(body).encode(), {"keywords": "cook"}, first).next
    assert page_parameters(first, second) == asks


def test_a_cursor_in_the_body_differs_from_one_in_the_url() -> None:
    first = Request("https://a.example/", method="POST", json={"offset": 0})
    body = Request("https://a.example/?x=1", method="POST", json={"offset": 0, "x": "2"})
    twice = Request("https://a.example/?x=1&x=2", method="POST", json={"offset": 0})
    assert page_parameters(first, body) != page_parameters(first, twice)
    assert page_parameters(first, Request("https://a.example/")) == {
        "method": "GET",
        "offset": None,
    }


WORDS = some.sampled_from(["a", "b", "at", "method", "body", "1", ""])
PAIRS = some.lists(some.tuples(WORDS, WORDS), max_size=3)


@given(PAIRS, some.dictionaries(WORDS, WORDS, max_size=2), PAIRS)
def test_different_pages_have_different_parameters(
    query: list[tuple[str, str]], body: dict[str, str], other: list[tuple[str, str]]
) -> None:
    def ask(pairs: list[tuple[str, str]], json: dict[str, str]) -> Request:
        words = "&".join(f"{name}={value}" for name, value in pairs)
        return Request(f"https://a.example/?{words}", method="POST", json=json)

    def plain(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
        return {name: [value for key, value in pairs if key == name] for name, _ in pairs}

    first = ask([("a", "1")], {"b": "1"})
    left, two = ask(query, body), ask(other, body)
    same = plain(query) == plain(other)
    assert (page_parameters(first, left) == page_parameters(first, two)) is same

"""What holds for all sites that gather postings of many companies."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import BY_NAME, DISABLED
from jobmill.errors import OutsideError

from . import answer, read

SAVED = {
    "jooble": "answer.json", "reed": "search.json", "adzuna": "search.json",
    "remoteok": "feed.json", "remotive": "answer.json", "arbeitnow": "page.json",
    "jobicy": "answer.json", "himalayas": "page.json", "themuse": "page.json",
    "usajobs": "search.json", "hackernews": "comments.json", "weworkremotely": "feed.xml",
    "jobspy": "records.json",
}  # fmt: skip
KEYED = {"jooble", "reed", "adzuna", "usajobs"}


@pytest.mark.parametrize(("name", "file"), SAVED.items())
def test_who_must_be_named_is_named(name: str, file: str) -> None:
    postings = read(name, answer(f"{name}/{file}"), {}).postings
    assert postings
    assert all(one.via and one.url.startswith("https://") for one in postings)


@pytest.mark.parametrize("name", SAVED)
def test_a_search_that_shows_not_all_there_is_closes_nothing(name: str) -> None:
    assert not BY_NAME[name].inventory


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("body", [b"<html>Busy</html>", b'{"error": "Invalid key"}', b"", b"null"])
def test_an_answer_of_another_kind_is_an_error_and_not_empty(name: str, body: bytes) -> None:
    with pytest.raises(OutsideError):
        read(name, body, {})


@pytest.mark.parametrize("name", SAVED)
def test_a_key_is_wanted_only_where_there_is_one(name: str) -> None:
    assert bool(BY_NAME[name].key_names) == (name in KEYED)


def test_two_searches_are_told_apart_by_what_they_look_for() -> None:
    reed = BY_NAME["reed"]
    names = [
        reed.token(reed.parse_config(config))
        for config in ({}, {"keywords": "thatch"}, {"keywords": "thatch", "location": "Wells"})
    ]
    assert names == ["all", "keywords=thatch", "keywords=thatch&location=Wells"]


def test_sources_that_were_given_up_are_kept_with_the_reason_and_never_called() -> None:
    assert {one.name for one in DISABLED} == {
        "jobdatafeeds", "theirstack", "careerjet", "careeronestop", "fantastic", "whatjobs",
    }  # fmt: skip
    assert all(one.disabled and one.first_request is None and one.read is None for one in DISABLED)
    assert all(BY_NAME[one.name] is one for one in DISABLED)

"""Rules that all aggregators follow."""

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
def test_every_posting_credits_its_aggregator(name: str, file: str) -> None:
    postings = read(name, answer(f"{name}/{file}"), {}).postings
    assert postings
    assert all(posting.via and posting.url.startswith("https://") for posting in postings)


@pytest.mark.parametrize("name", SAVED)
def test_an_aggregator_is_not_an_inventory_and_closes_nothing(name: str) -> None:
    assert not BY_NAME[name].inventory


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("body", [b"<html>Busy</html>", b'{"error": "Invalid key"}', b"", b"null"])
def test_an_unknown_response_is_an_error_and_not_empty(name: str, body: bytes) -> None:
    with pytest.raises(OutsideError):
        read(name, body, {})


@pytest.mark.parametrize("name", SAVED)
def test_only_sites_with_keys_require_them(name: str) -> None:
    assert bool(BY_NAME[name].key_names) == (name in KEYED)


def test_searches_are_named_by_their_settings() -> None:
    reed = BY_NAME["reed"]
    names = [
        reed.token(reed.parse_config(config))
        for config in ({}, {"keywords": "thatch"}, {"keywords": "thatch", "location": "Wells"})
    ]
    assert names == ["all", "keywords=thatch", "keywords=thatch&location=Wells"]


def test_disabled_platforms_are_listed_with_their_reason_and_never_called() -> None:
    assert {platform.name for platform in DISABLED} == {
        "jobdatafeeds", "theirstack", "careerjet", "careeronestop", "fantastic", "whatjobs",
    }  # fmt: skip
    assert all(
        platform.disabled and platform.first_request is None and platform.read is None
        for platform in DISABLED
    )
    assert all(BY_NAME[platform.name] is platform for platform in DISABLED)

"""Remotive: four requests a day, location restrictions."""

from __future__ import annotations

import datetime as dt

from jobmill.boards.adapters import remotive

from . import answer, first_request, read


def test_remotive_is_called_at_most_four_times_a_day() -> None:
    assert remotive.PLATFORM.min_interval == dt.timedelta(hours=6)


def test_a_search_is_one_request() -> None:
    request = first_request("remotive", keywords="verse", category="writing")
    assert request.url == "https://remotive.com/api/remote-jobs?search=verse&category=writing"
    assert read("remotive", answer("remotive/answer.json"), {}).next == ()


def test_locations_are_restrictions_unless_worldwide() -> None:
    posting, other = read("remotive", answer("remotive/answer.json"), {}).postings
    assert (posting.remote_from, posting.arrangement) == (("Europe", "UK"), "remote")
    assert (other.remote_from, other.location) == ((), "Worldwide")


def test_salary_and_employment_type_are_read() -> None:
    posting, other = read("remotive", answer("remotive/answer.json"), {}).postings
    assert posting.salary
    assert (posting.salary.min, posting.salary.max, posting.salary.currency) == (
        55000,
        70000,
        "USD",
    )
    assert (posting.employment_type, other.employment_type) == ("part_time", "contract")
    assert (posting.company, posting.tags) == ("Iamb Ltd", ("Writing", "poetry"))

"""Remotive: four calls a day, places one may live in."""

from __future__ import annotations

import datetime as dt

from jobmill.boards.adapters import remotive

from . import answer, first_request, read


def test_it_is_asked_four_times_a_day_at_most() -> None:
    assert remotive.PLATFORM.min_interval == dt.timedelta(hours=6)


def test_a_search_is_one_call() -> None:
    asked = first_request("remotive", keywords="verse", category="writing")
    assert asked.url == "https://remotive.com/api/remote-jobs?search=verse&category=writing"
    assert read("remotive", answer("remotive/answer.json"), {}).next == ()


def test_places_are_restrictions_unless_it_is_the_world() -> None:
    one, other = read("remotive", answer("remotive/answer.json"), {}).postings
    assert (one.remote_from, one.arrangement) == (("Europe", "UK"), "remote")
    assert (other.remote_from, other.location) == ((), "Worldwide")


def test_pay_and_kind_are_read() -> None:
    one, other = read("remotive", answer("remotive/answer.json"), {}).postings
    assert one.salary
    assert (one.salary.min, one.salary.max, one.salary.currency) == (55000, 70000, "USD")
    assert (one.employment_type, other.employment_type) == ("part_time", "contract")
    assert (one.company, one.tags) == ("Iamb Ltd", ("Writing", "poetry"))

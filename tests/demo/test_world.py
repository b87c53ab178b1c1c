"""The demo's state is a function of its seed and the time."""

from __future__ import annotations

import datetime as dt

import pytest

from jobmill.demo import companies, state
from jobmill.demo.companies import COMPANIES
from jobmill.demo.state import FAILURE_CYCLE, FAILURES, World

BEGAN = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(minutes=2)


def on(day: float, seed: int = 7) -> state.DemoMoment:
    return World(seed, BEGAN, DAY).at(BEGAN + day * DAY)


def everything(now: state.DemoMoment) -> list[state.DemoListing]:
    return [listing for company in COMPANIES for listing in now.open_listings(company)]


def test_the_same_seed_and_time_give_the_same_state() -> None:
    assert everything(on(3)) == everything(on(3))
    assert everything(on(3)) != everything(on(3, seed=8))


def test_the_demo_starts_with_many_listings_and_keeps_them() -> None:
    for day in (0, 1, 5, 50, 500):
        assert 60 <= len(everything(on(day))) <= sum(company.max_listings for company in COMPANIES)


def test_listings_come_and_go_from_the_first_minutes_on() -> None:
    first, later = set(everything(on(0))), set(everything(on(1)))
    assert later - first
    assert first - later
    # No listing returns, except on a silent board.
    dead = {listing for listing in first - later if on(1).failure(listing.company) != "empty"}
    assert dead
    assert not dead & set(everything(on(4)))


def test_no_listing_is_dated_in_the_future_and_some_are_weeks_old() -> None:
    for day in (0, 1, 30, 300):
        now = on(day)
        ages = [now.at - now.posted_at(listing) for listing in everything(now)]
        assert min(ages) >= dt.timedelta()
    assert max(
        now.at - now.posted_at(listing) for now in [on(0)] for listing in everything(now)
    ) > 9 * (dt.timedelta(days=1))


def test_listings_of_a_company_have_distinct_numbers() -> None:
    for company in COMPANIES:
        for day in (0, 2, 20):
            numbers = [listing.number for listing in on(day).open_listings(company)]
            assert len(set(numbers)) == len(numbers)


def test_the_last_change_is_reported() -> None:
    for company in companies.companies_on("ashby"):
        before, after = on(1), on(3)
        if before.open_listings(company) == after.open_listings(company):
            assert before.changed_at(company) == after.changed_at(company)
        else:
            assert before.changed_at(company) < after.changed_at(company) <= after.at


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.kind)
def test_every_failure_happens_and_comes_again(failure: state.Failure) -> None:
    company = companies.BY_SLUG[failure.slug]
    amid = (failure.begins + failure.ends) / 2
    assert on(amid).failure(company) == on(amid + FAILURE_CYCLE).failure(company) == failure.kind
    if failure.ends < FAILURE_CYCLE:
        assert on(failure.ends).failure(company) is None


def test_every_platform_trade_and_language_occurs() -> None:
    assert len(COMPANIES) == 25
    assert {listing.platform for listing in COMPANIES} >= {
        "greenhouse", "lever", "ashby", "workday", "rss", "html",
    }  # fmt: skip
    assert {listing.language for listing in COMPANIES} == {"en", "de", "fr", "es"}
    assert len({listing.slug for listing in COMPANIES}) == 25

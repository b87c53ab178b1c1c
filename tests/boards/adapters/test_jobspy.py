"""JobSpy: records of a library; filters that it drops are put right."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards.adapters import jobspy as adapter
from jobmill.catalog.posting import Salary
from jobmill.errors import Unavailable
from jobmill.outside import jobspy
from jobmill.outside.jobspy import JobSpy
from jobmill.outside.request import FetchFailure, Ok, Request

from . import answer, read

TODAY = dt.datetime.now(dt.UTC)


def found(**config: Any) -> list[str]:
    return [one.title for one in read("jobspy", answer("jobspy/records.json"), config).postings]


def test_records_become_postings() -> None:
    one, other = read("jobspy", answer("jobspy/records.json"), {}).postings
    assert (one.title, one.company, one.locations) == (
        "Ink Maker",
        "Inkwell",
        ("Leeds, England, UK",),
    )
    assert one.salary == Salary(30000, 34000, "GBP", "year", "structured")
    assert (one.apply_url, one.via) == ("https://inkwell.example/1", "JobSpy (indeed)")
    assert (other.arrangement, other.employment_type, other.partial) == (
        "remote",
        "part_time",
        True,
    )


def test_pay_that_it_found_in_the_text_is_not_a_statement() -> None:
    assert read("jobspy", answer("jobspy/records.json"), {}).postings[1].salary is None


def test_what_says_that_it_is_not_remote_is_left_out_when_remote_is_wanted() -> None:
    assert found(is_remote=True) == ["Quill Cutter"]


def test_another_kind_of_employment_is_left_out() -> None:
    assert found(job_type="fulltime") == ["Ink Maker"]
    assert found(job_type="contract") == ["Quill Cutter"]


def test_what_is_too_old_is_left_out_and_what_has_no_date_stays() -> None:
    records = json.loads(answer("jobspy/records.json"))
    records[0]["date_posted"] = (TODAY - dt.timedelta(days=9)).date().isoformat()
    old = read("jobspy", json.dumps(records).encode(), {"hours_old": 48})
    records[0]["date_posted"] = (TODAY - dt.timedelta(days=1)).date().isoformat()
    new = read("jobspy", json.dumps(records).encode(), {"hours_old": 48})
    assert [one.title for one in old.postings] == ["Quill Cutter"]
    assert len(new.postings) == 2


def test_as_many_as_were_wanted_means_that_there_are_more() -> None:
    assert read("jobspy", answer("jobspy/records.json"), {"results_wanted": 1}).truncated
    assert not read("jobspy", answer("jobspy/records.json"), {}).truncated


class Frame:
    def to_json(self, **_: Any) -> str:
        return '[{"title": "Ink Maker"}]'


async def test_the_library_is_asked_with_what_the_config_says() -> None:
    asked: list[dict[str, Any]] = []

    def scrape(**wanted: Any) -> Frame:
        asked.append(wanted)
        return Frame()

    config = adapter.JobSpySearch(search_term="ink", site_name=("indeed", "google"), hours_old=72)
    got = await JobSpy(scrape)(adapter.first_request(config))
    assert isinstance(got, Ok)
    assert adapter.read(got.body, Request(""), config).postings[0].title == "Ink Maker"
    assert asked == [
        {
            "site_name": ["indeed", "google"], "search_term": "ink", "is_remote": False,
            "results_wanted": 50, "country_indeed": "usa", "hours_old": 72,
        }
    ]  # fmt: skip


class SiteError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (SiteError("bad response status code 429"), "rate_limited"),
        (SiteError("403 Forbidden"), "forbidden"),
        (OSError("no route"), "network"),
        (KeyError("jobs"), "network"),
    ],
)
async def test_a_refusal_is_an_answer_and_names_no_address(error: Exception, cause: str) -> None:
    def scrape(**_: Any) -> Frame:
        raise error

    got = await JobSpy(scrape, (SiteError,))(adapter.first_request(adapter.JobSpySearch()))
    assert isinstance(got, FetchFailure)
    assert (got.cause, got.detail) == (cause, f"JobSpy: {type(error).__name__}")


def test_without_the_extra_it_says_what_to_install() -> None:
    with pytest.raises(Unavailable, match=r"jobmill\[jobspy\]"):
        jobspy.load()

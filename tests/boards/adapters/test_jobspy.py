"""JobSpy: records of a library; filters that sites ignore are applied again."""

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
    return [
        posting.title for posting in read("jobspy", answer("jobspy/records.json"), config).postings
    ]


def test_records_become_postings() -> None:
    posting, other = read("jobspy", answer("jobspy/records.json"), {}).postings
    assert (posting.title, posting.company, posting.locations) == (
        "Ink Maker",
        "Inkwell",
        ("Leeds, England, UK",),
    )
    assert posting.salary == Salary(30000, 34000, "GBP", "year", "structured")
    assert (posting.apply_url, posting.via) == ("https://inkwell.example/1", "JobSpy (indeed)")
    assert (other.arrangement, other.employment_type, other.partial) == (
        "remote",
        "part_time",
        True,
    )


def test_a_salary_that_jobspy_found_in_the_text_is_ignored() -> None:
    assert read("jobspy", answer("jobspy/records.json"), {}).postings[1].salary is None


def test_on_site_postings_are_left_out_of_a_remote_search() -> None:
    assert found(is_remote=True) == ["Quill Cutter"]


def test_postings_of_another_employment_type_are_left_out() -> None:
    assert found(job_type="fulltime") == ["Ink Maker"]
    assert found(job_type="contract") == ["Quill Cutter"]


def test_old_postings_are_left_out_and_undated_ones_stay() -> None:
    records = json.loads(answer("jobspy/records.json"))
    records[0]["date_posted"] = (TODAY - dt.timedelta(days=9)).date().isoformat()
    old = read("jobspy", json.dumps(records).encode(), {"hours_old": 48})
    records[0]["date_posted"] = (TODAY - dt.timedelta(days=1)).date().isoformat()
    new = read("jobspy", json.dumps(records).encode(), {"hours_old": 48})
    assert [posting.title for posting in old.postings] == ["Quill Cutter"]
    assert len(new.postings) == 2


def test_a_site_that_reaches_the_limit_is_truncated() -> None:
    assert read("jobspy", answer("jobspy/records.json"), {"results_wanted": 1}).truncated
    assert not read("jobspy", answer("jobspy/records.json"), {}).truncated


class Frame:
    def to_json(self, **_: Any) -> str:
        return '[{"title": "Ink Maker"}]'


async def test_the_library_is_called_with_the_config() -> None:
    calls: list[dict[str, Any]] = []

    def scrape(**params: Any) -> Frame:
        calls.append(params)
        return Frame()

    config = adapter.JobSpySearch(search_term="ink", site_name=("indeed", "google"), hours_old=72)
    got = await JobSpy(scrape)(adapter.first_request(config))
    assert isinstance(got, Ok)
    assert adapter.read(got.body, Request(""), config).postings[0].title == "Ink Maker"
    assert calls == [
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
async def test_a_refusal_is_a_response_without_urls(error: Exception, cause: str) -> None:
    def scrape(**_: Any) -> Frame:
        raise error

    got = await JobSpy(scrape, (SiteError,))(adapter.first_request(adapter.JobSpySearch()))
    assert isinstance(got, FetchFailure)
    assert (got.cause, got.detail) == (cause, f"JobSpy: {type(error).__name__}")


def test_without_the_extra_the_reason_names_what_to_install() -> None:
    with pytest.raises(Unavailable, match=r"jobmill\[jobspy\]"):
        jobspy.load()

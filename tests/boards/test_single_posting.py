"""Reading one posting by its URL: from its board if there is one, else from its page."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from jobmill.boards import single_posting
from jobmill.boards.single_posting import ClosedPosting, ReadPosting, UnclearPage
from jobmill.catalog.sources import NewSource, add
from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.errors import OutsideError
from jobmill.outside.request import FetchCause, FetchFailure
from tests.catalog.helpers import TEXT
from tests.fakes import Net, ok

HOUR = dt.timedelta(hours=1)
URL = "https://boards.greenhouse.io/wells/jobs/4001"
DETAIL = "https://boards-api.greenhouse.io/v1/boards/wells/jobs/4001?pay_transparency=true"
OWN = "https://deepwells.example/careers/digger"
ASHBY = "https://jobs.ashbyhq.com/pumps/0c7c8b6e-6a1d-4d0e-9a51-3f6f6a3c1c11"


def greenhouse() -> dict[str, Any]:
    return {
        "id": 4001,
        "title": "Pump Engineer",
        "absolute_url": URL,
        "location": {"name": "Remote"},
        "content": f"&lt;p&gt;{TEXT}&lt;/p&gt;",
        "company_name": "Wells & Co",
        "updated_at": "2026-03-01T10:00:00-05:00",
    }


def page(**facts: Any) -> str:
    node = {
        "@type": "JobPosting",
        "title": "Well Digger",
        "description": TEXT,
        "hiringOrganization": {
            "name": "Deep Wells",
            "sameAs": ["https://www.linkedin.com/company/dw", "https://deepwells.example"],
        },
        **facts,
    }
    return f'<html><script type="application/ld+json">{json.dumps(node)}</script></html>'


async def read(database: Database, net: Net, url: str) -> single_posting.PostingResult:
    return await single_posting.read_posting(database, net, url, {})


async def test_a_posting_of_a_source_is_read_from_its_board(database: Database) -> None:
    async with database.transaction() as tx:
        new = NewSource("Wells", "greenhouse", "wells", {"board_token": "wells"})
        source, _ = await add(tx, new, enabled=True)
    net = Net()
    net.on(DETAIL, ok(greenhouse(), DETAIL))
    result = await read(database, net, f"{URL}?gh_src=newsletter")
    assert isinstance(result, ReadPosting)
    assert (result.method, result.source_id) == ("source:greenhouse", source)
    assert (result.posting.title, result.posting.company) == ("Pump Engineer", "Wells & Co")
    assert result.posting.vendor_id == "4001"
    assert [request.url for request in net.requests] == [DETAIL]


async def test_a_board_that_is_not_a_source_is_read_as_well(database: Database) -> None:
    net = Net()
    net.on(DETAIL, ok(greenhouse(), DETAIL))
    result = await read(database, net, URL)
    assert isinstance(result, ReadPosting)
    assert (result.method, result.source_id) == ("board:greenhouse", None)


async def test_a_board_without_details_is_searched_for_the_posting(database: Database) -> None:
    new = NewSource(
        name="Pumps", source_type="ashby", token="pumps", config={"board_token": "pumps"},
        company_name="Pumps Inc",
    )  # fmt: skip
    async with database.transaction() as tx:
        source, _ = await add(tx, new, enabled=True)
    board = "https://api.ashbyhq.com/posting-api/job-board/pumps?includeCompensation=true"
    vendor_id = ASHBY.rpartition("/")[2]
    posts = [
        {"id": id, "title": title, "jobUrl": f"https://jobs.ashbyhq.com/pumps/{id}",
         "descriptionHtml": f"<p>{TEXT}</p>", "location": "Remote", "isListed": True}
        for id, title in (("other", "Cook"), (vendor_id, "Pump Tester"))
    ]  # fmt: skip
    net = Net()
    net.on(board, ok({"apiVersion": "1", "jobs": posts}, board))
    net.on(ASHBY, ok(page(title="As the page calls it"), ASHBY))
    result = await read(database, net, ASHBY)
    assert isinstance(result, ReadPosting)
    assert (result.method, result.source_id) == ("source:ashby", source)
    # Ashby does not name the company: the company of the source is used.
    assert (result.posting.title, result.posting.company) == ("Pump Tester", "Pumps Inc")
    assert [request.url for request in net.requests] == [board]


async def test_the_page_is_read_if_the_board_names_no_company(
    database: Database,
) -> None:
    board = "https://api.ashbyhq.com/posting-api/job-board/pumps?includeCompensation=true"
    post = {
        "id": ASHBY.rpartition("/")[2], "title": "Pump Tester", "jobUrl": ASHBY,
        "descriptionHtml": f"<p>{TEXT}</p>", "location": "Remote", "isListed": True,
    }  # fmt: skip
    net = Net()
    net.on(board, ok({"apiVersion": "1", "jobs": [post]}, board))
    net.on(ASHBY, ok(page(title="As the page calls it"), ASHBY))
    result = await read(database, net, ASHBY)
    assert isinstance(result, ReadPosting)
    assert (result.method, result.posting.title) == ("json-ld", "As the page calls it")
    assert [request.url for request in net.requests] == [board, ASHBY]


async def test_a_posting_that_a_feed_shows_in_part_is_completed_from_its_page(
    database: Database,
) -> None:
    feed = "https://deepwells.example/jobs.rss"
    async with database.transaction() as tx:
        new = NewSource(
            "Deep Wells", "rss", feed, {"url": feed}, url=feed, company_name="Deep Wells"
        )
        source, _ = await add(tx, new, enabled=True)
    entry = f"<item><title>Well Digger</title><link>{OWN}</link><description>{TEXT}</description></item>"
    net = Net()
    net.on(feed, ok(f"<rss version='2.0'><channel>{entry}</channel></rss>", feed))
    net.on(OWN, ok(page(description=f"{TEXT} You will dig with Python."), OWN))
    result = await read(database, net, OWN)
    assert isinstance(result, ReadPosting)
    assert (result.method, result.source_id) == ("source:rss+json-ld", source)
    assert "Python" in (result.posting.description or "")
    net.on(OWN, FetchFailure(OWN, "refused", "status 403", 403))
    teaser = await read(database, net, OWN)
    assert isinstance(teaser, ReadPosting)
    assert teaser.method == "source:rss"


async def test_without_a_board_the_page_is_read(database: Database) -> None:
    net = Net()
    net.on(OWN, ok(page(), OWN))
    result = await read(database, net, OWN)
    assert isinstance(result, ReadPosting)
    assert (result.method, result.posting.title) == ("json-ld", "Well Digger")
    assert result.posting.company_url == "https://deepwells.example"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "the page does not exist (status 404)"),
        (page(validThrough="2020-01-01"), "the page says that the job is closed"),
    ],
)
async def test_missing_and_closed_postings_are_closed(
    database: Database, body: str | None, why: str
) -> None:
    net = Net()
    if body:
        net.on(OWN, ok(body, OWN))
    assert await read(database, net, OWN) == ClosedPosting(why)


@pytest.mark.parametrize(
    "over",
    [
        pytest.param(True, marks=pytest.mark.server_clock(HOUR)),
        pytest.param(False, marks=pytest.mark.server_clock(-HOUR)),
    ],
)
async def test_the_database_clock_decides_whether_the_deadline_has_passed(
    database: Database, over: bool
) -> None:
    async with database.transaction() as tx:
        ends_at = await server_time(tx) + (-HOUR if over else HOUR) / 2
    net = Net()
    net.on(OWN, ok(page(validThrough=ends_at.isoformat()), OWN))
    assert isinstance(await read(database, net, OWN), ClosedPosting if over else ReadPosting)


async def test_a_page_that_is_not_understood_is_returned_for_a_model(database: Database) -> None:
    net = Net()
    net.on(OWN, ok("<html><div id=app></div></html>", OWN))
    result = await read(database, net, OWN)
    assert isinstance(result, UnclearPage)
    assert result.posting is None or not result.posting.description


@pytest.mark.parametrize(
    ("cause", "lasts"),
    [("timeout", False), ("server", False), ("rate_limited", False), ("refused", True),
     ("robots", True)],
)  # fmt: skip
async def test_a_failed_page_is_permanent_or_temporary_by_its_cause(
    database: Database, cause: FetchCause, lasts: bool
) -> None:
    net = Net()
    net.on(OWN, FetchFailure(OWN, cause, "no answer"))
    with pytest.raises(OutsideError, match="no answer") as caught:
        await read(database, net, OWN)
    assert caught.value.permanent == lasts


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (
            "https://jobs.deepwells.example/4711-digger",
            "https://jobs.deepwells.example/4711-digger",
        ),
        ("https://boards.greenhouse.io/wells/jobs/4001", OWN),
        ("https://brinewell.example/careers/4712", OWN),
        ("https://a b/4712", OWN),
    ],
)
async def test_a_page_cannot_claim_the_url_of_another_site(
    database: Database, stated: str, expected: str
) -> None:
    net = Net()
    net.on(OWN, ok(page(url=stated), OWN))
    result = await read(database, net, OWN)
    assert isinstance(result, ReadPosting)
    assert result.posting.url == expected

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest

from jobmill.db import Database, connect
from jobmill.outside.fetch import open_fetch
from jobmill.outside.request import Fetch, FetchFailure, Ok, PageGone, Request
from jobmill.outside.robots import (
    MAX_LENGTH_IN_PLACE,
    MAX_ROBOTS_BYTES,
    RULES_LIFETIME,
    crawl_delay,
)
from jobmill.settings import Settings

from .conftest import QUICK
from .site import Handler, LoopbackSite, ReceivedRequest, ResponseWriter, in_turn, redirect, reply

HOUR = dt.timedelta(hours=1)
RULES = b"""
User-agent: *
Disallow: /

User-agent: jobmill
Allow: /jobs/public
Disallow: /jobs/
Crawl-delay: 0.25
"""


@pytest.fixture(autouse=True)
def pages(site: LoopbackSite) -> None:
    for path in ("/jobs/1", "/jobs/public/1", "/about"):
        site.on(path, reply(b"a page"))


async def read(fetch: Fetch, site: LoopbackSite, path: str) -> object:
    return await fetch(Request(site.url(path), page=True))


@pytest.mark.parametrize("comments", [b"", b"# x\n" * (MAX_LENGTH_IN_PLACE // 3)])
async def test_robots_txt_is_obeyed_under_our_own_name(
    fetch: Fetch, site: LoopbackSite, comments: bytes
) -> None:
    """Long rules are read in a child process."""
    site.on("/robots.txt", reply(RULES + comments))
    denied = await read(fetch, site, "/jobs/1")
    assert isinstance(denied, FetchFailure)
    assert denied.cause == "robots"
    assert isinstance(await read(fetch, site, "/jobs/public/1"), Ok)
    assert isinstance(await read(fetch, site, "/about"), Ok)
    assert [request.path for request in site.requests] == [
        "/robots.txt",
        "/jobs/public/1",
        "/about",
    ]


async def test_apis_are_requested_without_robots_txt(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/robots.txt", reply(RULES))
    assert isinstance(await fetch(Request(site.url("/jobs/1"))), Ok)
    assert site.requests_to("/robots.txt") == []


async def test_every_redirect_is_checked_against_robots_txt(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/robots.txt", reply(RULES))
    site.on("/about", redirect("/jobs/1"))
    answer = await read(fetch, site, "/about")
    assert isinstance(answer, FetchFailure)
    assert answer.cause == "robots"
    assert site.requests_to("/jobs/1") == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_without_robots_txt_everything_is_allowed(
    fetch: Fetch, site: LoopbackSite, status: int
) -> None:
    site.on("/robots.txt", reply(status=status))
    assert isinstance(await read(fetch, site, "/jobs/1"), Ok)


async def reset(request: ReceivedRequest, out: ResponseWriter) -> None:
    out.reset()


UNREADABLE: list[tuple[Handler, str]] = [
    (reply(status=500), "server"),
    (reply(status=429), "rate_limited"),
    (reply(status=503, retry_after="60"), "rate_limited"),
    (reset, "network"),
]


@pytest.mark.parametrize(("handler", "cause"), UNREADABLE)
async def test_an_unreadable_robots_txt_blocks_with_its_own_cause(
    fetch: Fetch, site: LoopbackSite, handler: Handler, cause: str
) -> None:
    site.on("/robots.txt", handler)
    answer = await read(fetch, site, "/jobs/1")
    assert isinstance(answer, FetchFailure)
    assert answer.cause == cause
    assert "robots.txt" in answer.detail
    assert site.requests_to("/jobs/1") == []


async def test_an_html_page_as_robots_txt_allows_everything(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/robots.txt", reply(b"<!doctype html><title>Acme</title>\0" + b"<p>Disallow: /" * 9))
    assert isinstance(await read(fetch, site, "/jobs/1"), Ok)


async def test_robots_txt_may_be_redirected(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/robots.txt", redirect("/other.txt"))
    site.on("/other.txt", reply(RULES))
    assert isinstance(await read(fetch, site, "/jobs/1"), FetchFailure)


async def test_a_redirect_loop_as_robots_txt_allows_everything(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/robots.txt", redirect("/robots.txt"))
    assert isinstance(await read(fetch, site, "/jobs/1"), Ok)


async def test_only_the_beginning_of_a_huge_robots_txt_counts(
    database: Database, site: LoopbackSite
) -> None:
    early = b"User-agent: *\nDisallow: /about\n" + b"#" * MAX_ROBOTS_BYTES + b"\nDisallow: /jobs/\n"
    site.on("/robots.txt", reply(early))
    settings = Settings(private_hosts=site.place)
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        assert isinstance(await read(fetch, site, "/about"), FetchFailure)
        assert isinstance(await read(fetch, site, "/jobs/1"), Ok)


async def test_concurrent_callers_read_robots_txt_once(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/robots.txt", reply(b""))
    answers = await asyncio.gather(*(read(fetch, site, "/jobs/1") for _ in range(8)))
    assert all(isinstance(answer, Ok) for answer in answers)
    assert len(site.requests_to("/robots.txt")) == 1


async def test_workers_share_robots_txt(
    database: Database, fetch: Fetch, url: str, site: LoopbackSite
) -> None:
    site.on("/robots.txt", in_turn(reply(RULES), reply(b"")))
    await read(fetch, site, "/about")
    settings = Settings(private_hosts=site.place)
    async with connect(url) as other, open_fetch(other, settings, rate_limit=QUICK) as second:
        assert isinstance(await read(second, site, "/jobs/1"), FetchFailure)
    assert len(site.requests_to("/robots.txt")) == 1


async def change(
    database: Database, read_at: dt.timedelta, expires_in: dt.timedelta = dt.timedelta()
) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE outside.robots SET read_at = now() - %s, expires_at = now() + %s",
            [read_at, expires_in],
        )


async def fresh(database: Database, site: LoopbackSite) -> object:
    """A `Fetch` of a process that has just started."""
    settings = Settings(private_hosts=site.place)
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        return await read(fetch, site, "/jobs/1")


async def test_expired_rules_are_read_again(database: Database, site: LoopbackSite) -> None:
    site.on("/robots.txt", in_turn(reply(RULES), reply(b"")))
    assert isinstance(await fresh(database, site), FetchFailure)
    assert isinstance(await fresh(database, site), FetchFailure)
    await change(database, dt.timedelta(days=1))
    assert isinstance(await fresh(database, site), Ok)


async def test_old_rules_are_used_for_a_month_while_new_ones_fail(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/robots.txt", in_turn(reply(b"Disallow:"), reply(status=500)))
    assert isinstance(await fresh(database, site), Ok)
    await change(database, dt.timedelta(days=29))
    assert isinstance(await fresh(database, site), Ok)
    await change(database, dt.timedelta(days=31))
    assert isinstance(await fresh(database, site), FetchFailure)


@pytest.mark.parametrize(
    "rules_expired",
    [
        pytest.param(True, marks=pytest.mark.server_clock(2 * HOUR)),
        pytest.param(False, marks=pytest.mark.server_clock(-2 * HOUR)),
    ],
)
async def test_the_server_decides_when_rules_expire(
    database: Database, site: LoopbackSite, rules_expired: bool
) -> None:
    site.on("/robots.txt", in_turn(reply(RULES), reply(b"")))
    await fresh(database, site)
    await change(database, HOUR, expires_in=dt.timedelta() if rules_expired else HOUR)
    assert isinstance(await fresh(database, site), Ok if rules_expired else FetchFailure)
    assert len(site.requests_to("/robots.txt")) == (2 if rules_expired else 1)


@pytest.mark.server_clock(dt.timedelta(days=2))
async def test_rules_are_kept_with_the_times_of_the_server(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/robots.txt", reply(RULES))
    await fresh(database, site)
    async with database.transaction() as tx:
        rows = await tx.execute(
            """
            SELECT now() - read_at < interval '1 minute', expires_at - read_at FROM outside.robots
            """
        )
        assert await rows.fetchall() == [(True, RULES_LIFETIME)]


async def test_the_crawl_delay_applies_to_all_workers(
    database: Database, fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/robots.txt", reply(RULES))
    assert isinstance(await read(fetch, site, "/jobs/1"), FetchFailure)
    async with database.transaction() as tx:
        row: Any = await (await tx.execute("SELECT crawl_delay FROM outside.host")).fetchall()
    assert row == [(dt.timedelta(seconds=0.25),)]


@pytest.mark.parametrize(
    ("delay", "seconds"), [("5", 5), ("0.5", 0.5), ("86400", 30), ("1e9", 30), ("1e999", 0), ("-1", 0), ("x", 0), ("nan", 0)]
)  # fmt: skip
def test_the_crawl_delay_has_a_maximum(delay: str, seconds: float) -> None:
    parsed = crawl_delay(f"User-agent: *\nCrawl-delay: {delay}", "jobmill")
    assert parsed == dt.timedelta(seconds=seconds)


async def test_a_missing_page_is_gone_despite_robots_txt(fetch: Fetch, site: LoopbackSite) -> None:
    assert isinstance(await read(fetch, site, "/jobs/9"), PageGone)

"""Sites that want to exhaust or misuse the crawl: bounded, refused, and named in the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from jobmill.db import Database
from jobmill.outside.fetch import open_fetch
from jobmill.outside.rate_limits import HostRateLimit
from jobmill.outside.request import Fetch
from jobmill.reports import site_reader
from jobmill.settings import Settings
from tests.outside.site import (
    LoopbackSite,
    ReceivedRequest,
    ResponseWriter,
    open_site,
    redirect,
    reply,
)
from tests.reports.helpers import HOME

QUICK = HostRateLimit(timedelta(milliseconds=1), max_concurrent=20)


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        yield site


@pytest.fixture
async def fetch(database: Database, site: LoopbackSite) -> AsyncIterator[Fetch]:
    settings = Settings(host_overrides={"hostile.example": site.place})
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        yield fetch


async def test_endless_links_end_at_the_page_limit(site: LoopbackSite, fetch: Fetch) -> None:
    async def endless(request: ReceivedRequest, out: ResponseWriter) -> None:
        number = int(request.path.partition("?n=")[2] or 0)
        links = "".join(f'<a href="/?n={10 * number + n}">more</a>' for n in range(1, 10))
        await reply(f"<html><body><p>Page {number}</p>{links}</body></html>".encode())(request, out)

    site.on("/", endless)
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    assert len(reading.pages) <= 25
    assert len(site.requests_to("/")) <= 25
    assert any(
        "addresses that differ in numbers or parameters only" in note for note in reading.notes
    )


async def test_a_huge_page_is_cut_and_named(site: LoopbackSite, fetch: Fetch) -> None:
    sent = 0

    async def huge(request: ReceivedRequest, out: ResponseWriter) -> None:
        nonlocal sent
        await out.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while sent < 50_000_000:
            await out.send(b"<p>more</p>" * 10_000)
            sent += 110_000

    site.on("/", reply(HOME.encode()))
    site.on("/about", huge)
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    [page] = [page for page in reading.pages if page.url.endswith("/about")]
    assert page.failure == "larger than 2 MB"
    assert len(page.html) <= site_reader.MAX_PAGE_LENGTH
    assert sent < 50_000_000


@pytest.mark.parametrize("to", ["http://127.0.0.1:9/", "http://169.254.169.254/latest/meta-data"])
async def test_a_redirect_to_a_private_address_is_refused_and_named(
    site: LoopbackSite, fetch: Fetch, to: str
) -> None:
    site.on("/", reply(HOME.encode()))
    site.on("/careers", redirect(to))
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    [page] = [page for page in reading.pages if page.url.endswith("/careers")]
    assert (page.html, page.status) == ("", None)
    assert page.failure.startswith("refused: ")


async def test_pages_that_robots_txt_disallows_are_not_read(
    site: LoopbackSite, fetch: Fetch
) -> None:
    site.on("/", reply(HOME.encode()))
    site.on("/robots.txt", reply(b"User-agent: *\nDisallow: /about", content_type="text/plain"))
    site.on("/about", reply(b"<p>secret</p>", x_robots_tag="noindex"))
    site.on("/careers", reply(b"<p>open</p>", x_robots_tag="noindex"))
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    assert site.requests_to("/about") == []
    pages = {page.url.rpartition("/")[2]: page for page in reading.pages}
    assert pages["about"].failure.startswith("robots: ")
    assert pages["careers"].robots_header == "noindex"
    assert reading.robots_txt == "User-agent: *\nDisallow: /about"


async def test_a_slow_site_ends_at_the_time_limit(
    site: LoopbackSite, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_reader, "CRAWL_SECONDS", 0.0)
    site.on("/", reply(HOME.encode()))
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    assert reading.pages == ()
    assert any("The crawl ended" in note for note in reading.notes)


async def test_pages_of_other_sites_are_left_out(site: LoopbackSite, fetch: Fetch) -> None:
    site.on("/", reply(HOME.encode()))
    site.on("/about", redirect("https://other.example/"))
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    assert {page.url.split("/")[2] for page in reading.pages} == {"hostile.example"}
    assert not any(page.url.endswith("/about") and page.html for page in reading.pages)


async def test_a_site_that_has_moved_is_read_at_its_new_address(
    database: Database, site: LoopbackSite
) -> None:
    async with open_site() as new:
        new.on("/", reply(HOME.encode()))
        new.on("/about", reply(b"<p>We are 40 people.</p>"))
        site.on("/", redirect("https://new.example/"))
        hosts = {"old.example": site.place, "new.example": new.place}
        async with open_fetch(database, Settings(host_overrides=hosts), rate_limit=QUICK) as fetch:
            reading = await site_reader.read_site(fetch, "https://old.example/", 25)
    assert reading.site == "https://new.example/"
    assert {"https://new.example/", "https://new.example/about"} <= {
        page.url for page in reading.pages
    }
    assert any("redirects to https://new.example/" in note for note in reading.notes)


async def test_every_request_ends_with_the_time_for_the_site_and_is_named(
    site: LoopbackSite, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(request: ReceivedRequest, out: ResponseWriter) -> None:
        await asyncio.Event().wait()

    site.on("/", reply(HOME.encode()))
    for path in ("/about", "/llms.txt", "/sitemap.xml"):
        site.on(path, never)
    monkeypatch.setattr(site_reader, "READING_SECONDS", 3.0)
    reading = await site_reader.read_site(fetch, "https://hostile.example/", 25)
    [start] = [page for page in reading.pages if not page.failure]
    assert start.url == "https://hostile.example/"
    # A page that we had no time for says nothing about the site.
    assert not any(page.conclusive for page in reading.pages if page.failure)
    [note] = [note for note in reading.notes if note.startswith("Not read within")]
    for path in ("sitemap.xml", "about", "llms.txt"):
        assert f"https://hostile.example/{path}" in note

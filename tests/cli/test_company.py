"""`jobmill company` against a site on loopback."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.extract.company.helpers import ABOUT, html
from tests.outside.site import LoopbackSite, ReceivedRequest, ResponseWriter, open_site, reply

LEVER = '<p>Come and build pumps with us.</p><a href="https://jobs.lever.co/brinewell">Roles</a>'


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        site.on("/robots.txt", reply(b"User-agent: *\nAllow: /\n"))
        site.on("/about", reply(html(ABOUT).encode()))
        site.on("/careers", reply(html(LEVER).encode()))
        yield site


@pytest.fixture
def run(home: Path, url: str, site: LoopbackSite) -> Run:
    return forked.runner(home, url, JOBMILL_PRIVATE_HOSTS=site.place)


async def add(run: Run, site: LoopbackSite, *more: str) -> subprocess.CompletedProcess[str]:
    return await run("company", "add", "Brinewell", "--website", site.url("/"), *more)


async def test_a_worker_analyzes_an_added_company(run: Run, site: LoopbackSite) -> None:
    [added] = json_lines(await add(run, site, "--json"))
    assert (added["name"], added["note"]) == ("Brinewell", "queued")
    [again] = json_lines(await add(run, site, "--json"))
    assert again["item"] == added["item"]
    assert again["note"] != "queued"
    assert (await run("worker", "--drain")).returncode == 0
    [company] = json_lines(await run("company", "list", "--tier", "c", "--json"))
    assert (company["analysis_status"], company["tier"]) == ("complete", "C")
    [left] = json_lines(await add(run, site, "--json"))
    assert left["item"] is None
    assert "--force" in left["note"]
    [forced] = json_lines(await add(run, site, "--force", "--json"))
    assert forced["note"] == "queued"


async def test_company_add_wait_prints_the_analysis(run: Run, site: LoopbackSite) -> None:
    done = await add(run, site, "--wait")
    assert done.returncode == 0, done.stderr
    for words in (
        "more than 240 employees",
        "tier C: 50 points",
        "50 of 50 home city office: it has an office in Portland, OR (Portland, Oregon)",
        "job board: https://jobs.lever.co/brinewell (lever, medium confidence): needs your approval: `jobmill approval",
    ):
        assert words in done.stdout
    shown = (await run("company", "show", "brinewell")).stdout
    assert "tier C: 50 points" in shown
    assert "analyzed complete" in shown
    assert "needs your approval" in (await run("company", "list", "--waiting")).stdout
    assert "No companies" in (await run("company", "list", "--tier", "S")).stdout


async def test_company_add_waits_for_items_of_another_worker(run: Run, site: LoopbackSite) -> None:
    requested, go = asyncio.Event(), asyncio.Event()

    async def hold(request: ReceivedRequest, out: ResponseWriter) -> None:
        requested.set()
        await go.wait()
        await reply(html(ABOUT).encode())(request, out)

    site.on("/about", hold)
    json_lines(await add(run, site, "--json"))
    other = asyncio.create_task(run("worker", "--drain"))
    await asyncio.wait_for(requested.wait(), 30)
    waits = asyncio.create_task(add(run, site, "--wait", "--json"))
    ended, _ = await asyncio.wait([waits], timeout=3)
    go.set()
    assert not ended
    [company] = json_lines(await waits)
    assert company["analysis_status"] == "complete"
    assert (await other).returncode == 0


async def test_company_add_wait_reports_why_the_analysis_failed(
    run: Run, site: LoopbackSite
) -> None:
    done = await run("company", "add", "Brinewell", "--website", "http://10.0.0.1/", "--wait")
    assert done.returncode == 1
    assert "10.0.0.1 is not a public address" in done.stdout


async def test_a_url_is_refused_as_company_name(run: Run, site: LoopbackSite) -> None:
    done = await run("company", "add", site.url("/"))
    assert done.returncode == 2
    assert "--website" in done.stderr


async def test_a_website_that_is_not_http_is_refused(run: Run) -> None:
    done = await run("company", "add", "Brinewell", "--website", "ftp://brinewell.example")
    assert done.returncode != 0
    assert "http" in done.stderr

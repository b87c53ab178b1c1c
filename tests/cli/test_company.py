"""The commands for companies, as somebody would use them, against a site on loopback."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import forked
from tests.cli.forked import Run
from tests.extract.company.helpers import ABOUT, html
from tests.outside.site import ReceivedRequest, ResponseWriter, Site, open_site, reply

LEVER = '<p>Come and build pumps with us.</p><a href="https://jobs.lever.co/brinewell">Roles</a>'


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as site:
        site.on("/robots.txt", reply(b"User-agent: *\nAllow: /\n"))
        site.on("/about", reply(html(ABOUT).encode()))
        site.on("/careers", reply(html(LEVER).encode()))
        yield site


@pytest.fixture
def run(home: Path, url: str, site: Site) -> Run:
    return forked.runner(home, url, JOBMILL_PRIVATE_HOSTS=site.place)


def read(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def add(run: Run, site: Site, *more: str) -> subprocess.CompletedProcess[str]:
    return await run("company", "add", "Brinewell", "--website", site.url("/"), *more)


async def test_a_company_is_followed_by_a_worker(run: Run, site: Site) -> None:
    [added] = read(await add(run, site, "--json"))
    assert (added["name"], added["note"]) == ("Brinewell", "queued")
    [again] = read(await add(run, site, "--json"))
    assert again["item"] == added["item"]
    assert again["note"] != "queued"
    assert (await run("worker", "--drain")).returncode == 0
    [known] = read(await run("company", "list", "--tier", "c", "--json"))
    assert (known["analysis_status"], known["tier"]) == ("complete", "C")
    [left] = read(await add(run, site, "--json"))
    assert left["item"] is None
    assert "--force" in left["note"]
    [forced] = read(await add(run, site, "--force", "--json"))
    assert forced["note"] == "queued"


async def test_whoever_waits_is_shown_what_was_found(run: Run, site: Site) -> None:
    told = await add(run, site, "--wait")
    assert told.returncode == 0, told.stderr
    for words in (
        "more than 240 employees",
        "tier C: 50 points",
        "50 of 50 home city office: it has an office in Portland, OR (Portland, Oregon)",
        "job board: https://jobs.lever.co/brinewell (lever, medium confidence): needs your approval: `jobmill approval",
    ):
        assert words in told.stdout
    shown = (await run("company", "show", "brinewell")).stdout
    assert "tier C: 50 points" in shown
    assert "analyzed complete" in shown
    assert "needs your approval" in (await run("company", "list", "--waiting")).stdout
    assert "No companies" in (await run("company", "list", "--tier", "S")).stdout


async def test_whoever_waits_also_waits_for_what_another_worker_has_begun(
    run: Run, site: Site
) -> None:
    asked, go = asyncio.Event(), asyncio.Event()

    async def hold(request: ReceivedRequest, out: ResponseWriter) -> None:
        asked.set()
        await go.wait()
        await reply(html(ABOUT).encode())(request, out)

    site.on("/about", hold)
    read(await add(run, site, "--json"))
    other = asyncio.create_task(run("worker", "--drain"))
    await asyncio.wait_for(asked.wait(), 30)
    waits = asyncio.create_task(add(run, site, "--wait", "--json"))
    ended, _ = await asyncio.wait([waits], timeout=3)
    go.set()
    assert not ended
    [company] = read(await waits)
    assert company["analysis_status"] == "complete"
    assert (await other).returncode == 0


async def test_whoever_waits_in_vain_is_told_why(run: Run, site: Site) -> None:
    told = await run("company", "add", "Brinewell", "--website", "http://10.0.0.1/", "--wait")
    assert told.returncode == 1
    assert "10.0.0.1 is not a public address" in told.stdout


async def test_an_address_is_no_name(run: Run, site: Site) -> None:
    done = await run("company", "add", site.url("/"))
    assert done.returncode == 2
    assert "--website" in done.stderr


async def test_what_is_no_site_is_said_so(run: Run) -> None:
    done = await run("company", "add", "Brinewell", "--website", "ftp://brinewell.example")
    assert done.returncode != 0
    assert "http" in done.stderr

"""`jobmill listing add` against a site on loopback."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acceptance.world import PROFILE, WANTED, posting_page
from tests.cli.forked import Run, runner
from tests.outside.site import LoopbackSite, open_site, reply

BLOG = b"<html><head><title>Our blog</title></head><body><h1>How we built it</h1></body></html>"
LITTLE = b"""<html><head><title>Backend Engineer</title><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "JobPosting", "title": "Backend Engineer",
 "description": "Come.", "hiringOrganization": {"@type": "Organization", "name": "Tidewater"}}
</script></head><body><h1>Backend Engineer</h1></body></html>"""


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        site.on("/robots.txt", reply(b"User-agent: *\nAllow: /\n"))
        site.on("/good", reply(posting_page()))
        site.on("/blog", reply(BLOG))
        site.on("/little", reply(LITTLE))
        yield site


@pytest.fixture
def run(home: Path, url: str, site: LoopbackSite) -> Run:
    return runner(home, url, JOBMILL_HOST_OVERRIDES=f"tidewater.example={site.place}")


async def add(run: Run, path: str, *more: str) -> subprocess.CompletedProcess[str]:
    return await run("listing", "add", f"https://tidewater.example{path}", *more)


async def have_profile(run: Run, home: Path) -> None:
    (home / "me.yaml").write_text(PROFILE)
    assert (await run("profile", "import", "me.yaml")).returncode == 0


async def test_listing_add_without_a_profile_says_how_to_create_one(run: Run) -> None:
    done = await add(run, "/good")
    assert done.returncode == 3
    assert "jobmill profile example > me.yaml" in done.stderr


async def test_listing_add_wait_prints_the_result(run: Run, home: Path) -> None:
    await have_profile(run, home)
    done = await add(run, "/good", "--wait")
    assert done.returncode == 0, done.stderr
    assert "/good: success: High match with score" in done.stdout
    hint = re.search(r"`jobmill (match show \d+)`", done.stdout)
    assert hint
    # The printed command works.
    assert (await run(*hint[1].split())).returncode == 0
    gone = await add(run, "/gone", "--wait")
    assert (gone.returncode, "skipped: the page does not exist" in gone.stdout) == (0, True)


async def test_listing_add_fails_if_no_job_can_be_read(run: Run, home: Path) -> None:
    await have_profile(run, home)
    none = await add(run, "/blog", "--wait")
    assert (none.returncode, "failed: no job could be read" in none.stdout) == (1, True)
    little = await add(run, "/little", "--wait")
    assert little.returncode == 1
    assert (
        "(title: Backend Engineer). Paste the text of the job under Jobs to score it. "
        "To score it anyway: `jobmill listing add URL --force`"
    ) in little.stdout
    assert (await add(run, "/little", "--wait", "--force")).returncode == 0


async def test_what_cannot_be_read_is_explained_by_match_why(run: Run, home: Path) -> None:
    await have_profile(run, home)
    done = await run("add", "https://tidewater.example/little", "--wait")
    assert (done.returncode, "could not be read" in done.stdout) == (1, True)
    why = await run("match", "why", "https://tidewater.example/little")
    assert why.returncode == 0, why.stderr
    assert "says too little" in why.stdout
    assert "title: Backend Engineer" in why.stdout
    # The older command leaves a record, too.
    await add(run, "/blog", "--wait")
    why = await run("match", "why", "https://tidewater.example/blog", "--json")
    assert '"outcome": "unknown"' in why.stdout


async def test_a_pasted_text_is_scored_without_network(run: Run, home: Path) -> None:
    await have_profile(run, home)
    text = f"Senior Backend Engineer at Tidewater\nLocation: Remote, United States\n\n{WANTED}"
    done = await run("add", "-", "--wait", stdin=text, JOBMILL_HOST_OVERRIDES="")
    assert done.returncode == 0, done.stderr
    hint = re.search(r"`jobmill (match why \d+)`", done.stdout)
    assert hint
    why = await run(*hint[1].split())
    assert "Senior Backend Engineer" in why.stdout
    assert "Backend Engineer" in (await run("match", "list")).stdout

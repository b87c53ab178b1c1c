"""Postings that appear only after JavaScript ran: a real browser and a site on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jobmill.boards import single_posting
from jobmill.boards.single_posting import ClosedPosting, ReadPosting, UnclearPage
from jobmill.db import Database
from jobmill.outside.browser import find_browser
from jobmill.outside.fetch import open_fetch
from jobmill.settings import Settings
from tests.catalog.helpers import TEXT
from tests.missing_browser import skip_or_fail
from tests.outside.conftest import QUICK
from tests.outside.site import LoopbackSite, open_site, reply
from tests.pipelines.test_listing import ListingPipeline
from tests.queue.helpers import item

PATH = "/careers/digger"
POSTING = {
    "title": "Well Digger",
    "company": "Deep Wells",
    "text": TEXT,
}


def shell(show: str) -> bytes:
    """A page without content, which a script fills from a JSON file."""
    return f"""<!doctype html><title>Careers</title><div id=app></div><script>
    setTimeout(async () => {{
      const job = await (await fetch("/job.json")).json();
      {show}
    }}, 500);
    </script>""".encode()


AS_DATA = """const data = document.createElement("script");
data.type = "application/ld+json";
data.textContent = JSON.stringify({"@type": "JobPosting", title: job.title, description: job.text,
  hiringOrganization: {name: job.company}});
document.head.append(data);"""
AS_TEXT = """document.title = job.title + " - " + job.company;
app.innerHTML = "<h1>" + job.title + "</h1><p>Company: " + job.company + "</p><p>Location: Oslo</p>"
  + "<p>" + job.text + "</p>";"""


@pytest.fixture
def chromium() -> None:
    if not find_browser():
        skip_or_fail("No Chromium is in the PATH: install it, or set CHROMIUM=/path/to/it.")


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        site.on("/job.json", reply(json.dumps(POSTING).encode(), content_type="application/json"))
        yield site


async def read(
    database: Database, site: LoopbackSite, chromium: Path | None = None
) -> single_posting.PostingResult:
    settings = Settings(private_hosts=site.place, chromium=chromium)
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        return await single_posting.read_posting(database, fetch, site.url(PATH), {})


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(
    ("show", "method"), [(AS_DATA, "browser:json-ld"), (AS_TEXT, "browser:text")]
)
async def test_a_posting_that_a_script_shows_is_read(
    database: Database, site: LoopbackSite, show: str, method: str
) -> None:
    site.on(PATH, reply(shell(show)))
    result = await read(database, site)
    assert isinstance(result, ReadPosting), result
    assert result.method == method
    assert (result.posting.title, result.posting.company) == ("Well Digger", "Deep Wells")
    assert result.posting.url == site.url(PATH)


@pytest.mark.usefixtures("chromium")
async def test_a_notice_that_a_script_shows_closes_the_posting(
    database: Database, site: LoopbackSite
) -> None:
    site.on(PATH, reply(shell('app.textContent = "This job is no longer available.";')))
    assert isinstance(await read(database, site), ClosedPosting)


async def test_a_page_that_is_understood_needs_no_browser(
    database: Database, site: LoopbackSite, tmp_path: Path
) -> None:
    node = {"@type": "JobPosting", "title": "Well Digger", "description": TEXT,
            "hiringOrganization": {"name": "Deep Wells"}}  # fmt: skip
    body = f"<script type='application/ld+json'>{json.dumps(node)}</script><script>1</script>"
    site.on(PATH, reply(body.encode()))
    result = await read(database, site, tmp_path / "none")
    assert isinstance(result, ReadPosting)
    assert result.method == "json-ld"


async def test_without_a_browser_the_result_says_so(
    database: Database, site: LoopbackSite, tmp_path: Path
) -> None:
    site.on(PATH, reply(shell(AS_DATA)))
    result = await read(database, site, tmp_path / "none")
    assert isinstance(result, UnclearPage)
    assert (
        result.render_problem == f"the setting chromium is {tmp_path}/none, which is not a program"
    )


async def test_without_a_browser_the_task_says_so(
    database: Database, site: LoopbackSite, tmp_path: Path
) -> None:
    site.on(PATH, reply(shell(AS_DATA)))
    settings = Settings(private_hosts=site.place, chromium=tmp_path / "none")
    async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
        pipeline = await ListingPipeline(database, fetch).begin()
        failed = await item(database, await pipeline.judge(site.url(PATH)))
    assert "needs JavaScript" in f"{failed.error_text} {failed.message}"
    assert "which is not a program" in f"{failed.error_text} {failed.message}"


async def test_a_page_without_scripts_is_not_rendered(
    database: Database, site: LoopbackSite, tmp_path: Path
) -> None:
    site.on(PATH, reply(b"<!doctype html><title>Careers</title><p>Come and see us.</p>"))
    result = await read(database, site, tmp_path / "none")
    assert isinstance(result, UnclearPage)
    assert result.render_problem is None
    assert len(site.requests_to(PATH)) == 1

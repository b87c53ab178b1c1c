"""Every way in which a job arrives leads to a complete match with facts of its company.

Real processes, real HTTP on loopback, and a real browser for the page that needs JavaScript.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobmill.catalog import companies
from jobmill.db import Database, connect
from jobmill.outside.browser import find_browser
from tests.acceptance.test_pipelines import Mill
from tests.acceptance.world import BOARD, HOME, PAGE, WANTED, open_world, post, posting_page
from tests.conftest import clone
from tests.missing_browser import skip_or_fail
from tests.outside.site import LoopbackSite, open_site, reply
from tests.queue.helpers import fetch

TEASER = "Tidewater is hiring. Read the full description on our site to learn about this job…"
FEED = f"""<rss version="2.0"><channel><title>Jobs at Tidewater</title><item>
<title>Senior Backend Engineer, Forecasts</title><link>{PAGE}</link><description>{TEASER}</description>
</item></channel></rss>"""
AGGREGATOR = {
    "jobs": [
        {
            "id": 31, "url": "https://remotive.com/remote-jobs/31", "company_name": "Tidewater",
            "title": "Senior Backend Engineer", "job_type": "full_time",
            "candidate_required_location": "USA", "publication_date": "2026-11-02T08:00:00",
            "description": f"<p>{WANTED}</p><p>Write to jobs@tidewater.example.</p>",
        }
    ]
}  # fmt: skip
POSTING = post(
    7001, "Senior Backend Engineer", "Remote, United States",
    f"{WANTED}\nWrite to jobs@tidewater.example.",
)  # fmt: skip
SCRIPTED = b"""<html><head><title>Careers</title></head><body><div id="app"></div><script>
fetch('/posting.html').then(answer => answer.text()).then(html => {
  const page = new DOMParser().parseFromString(html, 'text/html');
  document.head.append(...page.head.children);
  document.body.append(...page.body.children);
});
</script></body></html>"""
PASTED = (
    f"Senior Backend Engineer at Tidewater\nLocation: Remote, United States\n\n{WANTED}\n"
    "Write to jobs@tidewater.example."
)


@dataclass(frozen=True)
class Way:
    words: tuple[str, ...]
    stdin: str = ""
    needs_company: bool = False
    """The catalog knows the company's website already."""


WAYS = {
    "feed teaser": Way(("add", f"{HOME}/jobs.rss")),
    "aggregator": Way(("source", "add", "--platform", "remotive", "--enable")),
    "board": Way(("add", BOARD)),
    "JavaScript page": Way(("add", "http://{scripted}/jobs/backend")),
    "pasted text": Way(("add", "-"), PASTED),
    "company name": Way(("company", "add", "Tidewater"), needs_company=True),
}


@pytest.fixture
async def world() -> AsyncIterator[dict[str, LoopbackSite]]:
    async with open_world() as sites, open_site() as remotive, open_site() as scripted:
        sites["tidewater.example"].on("/jobs.rss", reply(FEED.encode(), content_type="text/xml"))
        api = sites["boards-api.greenhouse.io"]
        board = json.dumps({"jobs": [POSTING], "meta": {"total": 1}}).encode()
        api.on("/v1/boards/tidewater/jobs", reply(board, content_type="application/json"))
        found = json.dumps(AGGREGATOR).encode()
        remotive.on("/api/remote-jobs", reply(found, content_type="application/json"))
        remotive.on("/remote-jobs/31", reply(posting_page()))
        scripted.on("/jobs/backend", reply(SCRIPTED))
        scripted.on("/posting.html", reply(posting_page()))
        yield {**sites, "remotive.com": remotive, "scripted": scripted}


@pytest.mark.parametrize("name", list(WAYS))
async def test_every_way_in_leads_to_a_complete_match(
    home: Path, server: str, template: str, world: dict[str, LoopbackSite], name: str
) -> None:
    way = WAYS[name]
    if name == "JavaScript page" and find_browser() is None:
        skip_or_fail("Chromium is missing: the page needs JavaScript")
    scripted = world.pop("scripted")
    with clone(server, template) as url:
        mill = Mill(home, url, world)
        mill.variables["JOBMILL_PRIVATE_HOSTS"] = scripted.place
        async with connect(url) as database:
            if way.needs_company:
                async with database.transaction() as tx:
                    await companies.get_or_create(tx, "Tidewater", HOME)
            await mill.begin(
                *(word.format(scripted=scripted.place) for word in way.words), stdin=way.stdin
            )
            await mill.work(database)
            await mill.run("rotate", "run")
            await mill.work(database)
            await check_match(database)


async def check_match(database: Database) -> None:
    rows = await fetch(
        database,
        """
        SELECT listing.title, listing.description, company.website,
               company.analysis_status::text, company.tier
          FROM matching.match JOIN catalog.listing ON listing.id = listing_id
          LEFT JOIN catalog.company ON company.id = listing.company_id
        """,
    )
    # The company's own board may bring more jobs.
    assert rows, await fetch(
        database, "SELECT kind, stage, key, status, message, error_text FROM queue.items"
    )
    for title, text, site, status, tier in rows:
        assert title.startswith("Senior Backend Engineer")
        assert "Nice to have" in text
        assert (site, status) == (HOME, "complete")
        assert tier in ("S", "A", "B", "C", "D")

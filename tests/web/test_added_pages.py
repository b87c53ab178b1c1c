"""One box, one API call: whatever is entered leaves a record with its state."""

from __future__ import annotations

import httpx2
import pytest

from jobmill import app, queue
from jobmill.catalog import submissions
from jobmill.db import Database
from jobmill.matching import profiles
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.pipelines.test_listing import PROFILE, URL
from tests.pipelines.test_submission import PASTED
from tests.web.hiring_helpers import look, post, text


@pytest.fixture(autouse=True)
async def profile(database: Database) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, app.build_stages(Tools(database), Settings()))
        await profiles.save(tx, "main", PROFILE)


@pytest.mark.parametrize("path", ["/today", "/jobs"])
async def test_the_box_is_on_today_and_jobs(site: httpx2.AsyncClient, path: str) -> None:
    page = await look(site, path)
    assert page.css_first('form[action="/jobs/added"] textarea[name="what"]')


async def test_a_url_in_the_box_shows_its_progress_at_once(site: httpx2.AsyncClient) -> None:
    answer = await post(site, "/jobs/added", {"what": URL})
    assert answer.status_code == 303
    page = await look(site, answer.headers["location"])
    assert "Being read" in text(page, "#submission")
    assert "Waiting for a worker" in text(page, "#progress")
    assert URL in text(await look(site, "/jobs/added"), "#added")


async def test_a_pasted_text_in_the_box_is_a_job_at_once(site: httpx2.AsyncClient) -> None:
    answer = await post(site, "/jobs/added", {"what": PASTED})
    page = await look(site, answer.headers["location"])
    link = page.css_first('#submission a[href^="/jobs/"]')
    assert link is not None
    job = await look(site, link.attributes["href"] or "")
    assert "Senior Backend Engineer" in text(job, "h1")


async def test_wrong_input_is_shown_again_with_the_reason(site: httpx2.AsyncClient) -> None:
    answer = await post(site, "/jobs/added", {"what": "two <b>words"})
    assert answer.status_code == 400
    assert "at least 100 characters" in answer.text
    assert "two &lt;b&gt;words" in answer.text


async def test_what_could_not_be_read_is_on_the_first_page_with_a_retry(
    site: httpx2.AsyncClient, database: Database
) -> None:
    answer = await post(site, "/jobs/added", {"what": URL})
    path = answer.headers["location"]
    async with database.transaction() as tx:
        await submissions.mark_unknown(tx, URL, "it denied access", {"title": "Diver <i>"})
    today = await look(site, "/today")
    assert "Could not read Diver <i>" in text(today, ".needs")
    assert path in [link.attributes["href"] for link in today.css(".needs a")]
    page = await look(site, path)
    assert "it denied access" in text(page, "#submission")
    assert "Diver <i>" in text(page, "dl")
    retried = await post(site, f"{path}/retry")
    assert retried.headers["location"] == path
    assert "Being read" in text(await look(site, path), "#submission")


async def test_the_api_takes_any_input_and_shows_its_state(site: httpx2.AsyncClient) -> None:
    made = await site.post("/api/submissions", json={"input": URL})
    assert made.status_code == 201
    record = made.json()
    assert (record["state"], record["url"], record["kind"]) == ("waiting", URL, "page")
    shown = await site.get(f"/api/submissions/{record['id']}")
    assert shown.json() == record
    again = await site.post(f"/api/submissions/{record['id']}/retry")
    assert again.json()["id"] == record["id"]
    pasted = (await site.post("/api/submissions", json={"input": PASTED})).json()
    assert (pasted["state"], pasted["listingId"] is not None) == ("done", True)
    assert (await site.post("/api/submissions", json={"input": "nothing"})).status_code == 400
    assert (await site.get("/api/submissions/999")).status_code == 404

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill import app
from jobmill.catalog import approvals, companies, history, source_list, sources
from jobmill.catalog.approvals import ApprovalRef
from jobmill.catalog.source_list import RunOutcome
from jobmill.catalog.sources import NewSource, Source
from jobmill.db import Database, Tx
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import preview
from jobmill.queue import Stage
from jobmill.settings import Settings
from jobmill.tools import Tools
from jobmill.web.pages.sources import labels, list_page
from tests.catalog import helpers
from tests.fakes import Net, ok
from tests.people.helpers import bearer
from tests.queue.helpers import drain
from tests.web.helpers import site_with

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(1)>{{7*7}}\u202e'
TAG = re.compile(r"<script(?! src=\"/static/)|<img src=x", re.IGNORECASE)
API = "https://boards-api.greenhouse.io/v1/boards/{}/jobs?content=true&pay_transparency=true"


async def declare(database: Database) -> None:
    await app.declare_stages(Tools(database), Settings())


async def work(database: Database, net: Net) -> None:
    """Process all pending items with a fake network."""
    tools = Tools(database, net)
    run = partial(preview.try_source, tools, os.environ)
    await drain(database, {(preview.KIND, "try"): Stage(run, max_retries=0)})


async def board(database: Database, **facts: object) -> Source:
    async with database.transaction() as tx:
        id = await helpers.make_source(tx, **facts)
        return await sources.get(tx, id)


async def now(database: Database, id: int) -> Source:
    async with database.transaction() as tx:
        return await sources.get(tx, id)


async def fail(tx: Tx, source: int, times: int, failure: str = "gone") -> None:
    for hour in range(times):
        await helpers.run(
            tx, source, 10 + hour, outcome="failed", failure=failure, detail="no board"
        )


def ids(page: httpx2.Response) -> list[int]:
    return [
        int(id) for id in re.findall(r'<th scope="row"[^>]*><a href="/sources/(\d+)"', page.text)
    ]


async def test_each_tab_lists_its_sources(site: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        fine, odd, broken, off, no = [await helpers.make_source(tx) for _ in range(5)]
        waits = await helpers.make_source(tx, enabled=False)
        await helpers.run(tx, fine, 1, [helpers.posting()])
        await fail(tx, odd, 1)
        await fail(tx, broken, 5)
        await sources.disable(tx, off, "moved")
        await sources.reject(tx, no, "an agency")
    page = await site.get("/sources")
    assert ids(page) == [waits, off, broken, odd, fine]
    assert Html(page.text).css(".advanced:not([open]) a[href='/sources/rotation']")
    assert ids(await site.get("/sources?show=troubled")) == [odd]
    assert ids(await site.get("/sources?show=disabled")) == [off, broken]
    assert ids(await site.get("/sources?show=rejected")) == [no]
    page = await site.get("/sources?show=waiting")
    assert f"/sources/approvals/source:{waits}/approve" in page.text
    tabs = [tab.text(separator=" ", strip=True) for tab in Html(page.text).css("#tabs a")]
    assert tabs == ["All", "Needs approval 1", "Failing 1", "Disabled 2", "Rejected"]


async def test_source_lists_are_paged(site: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        made = [await helpers.make_source(tx) for _ in range(list_page.PAGE_SIZE + 3)]
    page = await site.get("/sources")
    more = Html(page.text).css_first("a[rel=next]").attributes["href"] or ""
    rest = await site.get(more)
    assert ids(page) + ids(rest) == made[::-1]
    assert 'rel="next"' not in rest.text


async def test_filters_by_platform_and_words(site: httpx2.AsyncClient, database: Database) -> None:
    lever = await board(database, source_type="lever", token="wellspring")
    other = await board(database, token="pumps")
    assert ids(await site.get("/sources?platform=lever")) == [lever.id]
    assert ids(await site.get("/sources?q=PUMP&platform=")) == [other.id]
    page = await site.get("/sources?q=nothing")
    assert "No sources match these filters" in page.text
    options = [option.text() for option in Html(page.text).css("[name=platform] option")]
    assert options == ["Any", "Greenhouse", "Lever"]


def test_the_sparkline_shows_only_completed_runs() -> None:
    runs = [
        ("failed", 0),
        ("complete", 5),
        ("unchanged", 0),
        ("held", 0),
        ("partial", 2),
        ("empty", 0),
    ]
    assert source_list.posting_counts(RunOutcome(1, *run) for run in runs) == [5, 5, 0]
    assert source_list.posting_counts([RunOutcome(1, "unchanged", 0)]) == []


async def test_the_list_shows_recent_runs_with_a_text_alternative(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    async with database.transaction() as tx:
        for hour in range(1, 24):
            await helpers.run(tx, source.id, hour, [helpers.posting(n) for n in range(hour)])
    [line] = Html((await site.get("/sources")).text).css("svg.spark")
    assert line.attributes["aria-label"] == "Jobs in the last 20 runs: now 23, lowest 4, highest 23"
    assert "Runs" in (await site.get(f"/sources/{source.id}")).text


async def test_the_health_of_a_source_names_its_cause(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    async with database.transaction() as tx:
        await fail(tx, source.id, 2)
    page = (await site.get(f"/sources/{source.id}")).text
    assert "2 failures in a row. The board no longer exists." in page
    async with database.transaction() as tx:
        await helpers.run(tx, source.id, 20, outcome="failed", failure="gone", detail="no board")
        await fail_until_disabled(tx, source.id)
    assert (
        "Disabled after repeated failures. The board no longer exists."
        in (await site.get(f"/sources/{source.id}")).text
    )
    answer = await site.post(f"/sources/{source.id}/enable")
    assert answer.headers["location"] == f"/sources/{source.id}?did=enabled"
    again = await now(database, source.id)
    assert (again.status, again.consecutive_failures) == ("active", 0)


async def fail_until_disabled(tx: Tx, source: int) -> None:
    for hour in range(30, 33):
        await helpers.run(tx, source, hour, outcome="failed", failure="gone", detail="no board")


async def test_a_platform_incident_is_shown_on_its_sources(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    async with database.transaction() as tx:
        await tx.execute(
            "INSERT INTO catalog.incident (vendor, cause, detail, held_until) "
            "VALUES ('greenhouse', 'transient', 'status 500', now() + interval '1 hour')"
        )
    page = (await site.get(f"/sources/{source.id}")).text
    assert "Greenhouse has problems." in page
    assert "All its sources are on hold" in page


async def test_disabling_asks_for_confirmation_and_stores_the_reason(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    path = f"/sources/{source.id}/change/disable"
    page = await site.get(path)
    assert "Disable this source?" in page.text
    assert (await now(database, source.id)).enabled
    answer = await site.post(path, data={"reason": "it moved"})
    assert answer.headers["location"] == f"/sources/{source.id}?did=disabled"
    assert (await now(database, source.id)).disabled_reason == "it moved"
    async with database.transaction() as tx:
        event = (await history.find_events(tx, "source", source.id))[-1]
    assert (event.what, event.data, event.actor) == ("disabled", {"reason": "it moved"}, "local")
    again = await site.post(path, data={"reason": "it moved"})
    assert again.status_code == 409
    assert "already disabled" in again.text


async def test_a_reason_that_is_too_long_is_refused_and_kept(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    page = await site.post(f"/sources/{source.id}/change/reject", data={"reason": "x" * 501})
    assert page.status_code == 400
    assert Html(page.text).css_first("[name=reason]").attributes["value"] == "x" * 501
    assert (await now(database, source.id)).enabled


async def test_an_approval_can_be_decided_and_changed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    source = await board(
        database, enabled=False, evidence="the address", discovery_confidence="low"
    )
    page = await site.get("/sources?show=waiting")
    assert "The address" in page.text
    path = f"/sources/approvals/source:{source.id}"
    answer = await site.post(f"{path}/reject", data={"reason": "an agency"})
    assert answer.headers["location"] == f"/sources?show=waiting&did=source:{source.id}"
    page = await site.get(answer.headers["location"])
    assert f"{source.name} rejected." in page.text
    assert "Nothing needs your approval." in page.text
    answer = await site.post(f"{path}/approve")
    assert (await now(database, source.id)).status == "active"
    page = await site.get(answer.headers["location"])
    assert f"{source.name} approved." in page.text
    again = await site.post(f"{path}/approve")
    assert (again.status_code, "already enabled" in again.text) == (409, True)


async def test_job_boards_of_companies_need_approval_like_sources(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    async with database.transaction() as tx:
        id = await companies.get_or_create(tx, "Wells")
        await tx.execute(
            "UPDATE catalog.company SET job_board_url = 'https://w.example/jobs', "
            "job_board_confidence = 'medium' WHERE id = %s",
            [id],
        )
        assert await approvals.count_waiting(tx) == 1
    await site.post(f"/sources/approvals/board:{id}/approve")
    async with database.transaction() as tx:
        assert (await approvals.get(tx, ApprovalRef("board", id))).state == "approved"
        assert await approvals.count_waiting(tx) == 0


async def test_the_return_path_cannot_leave_the_site(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database, enabled=False)
    form = {"back": "//evil.example"}
    answer = await site.post(f"/sources/approvals/source:{source.id}/reject", data=form)
    assert answer.headers["location"].startswith("/sources?show=waiting")


async def test_a_test_shows_a_preview_and_saves_no_listing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    source = await board(database)
    net = Net()
    post = {"id": 7, "title": f"Pump Engineer {EVIL}", "absolute_url": "javascript:alert(1)"}
    net.on(API.format(source.token), ok({"jobs": [post]}))
    answer = await site.post(f"/sources/{source.id}/test")
    watched = answer.headers["location"]
    page = await site.get(watched)
    assert "Waiting for a worker" in page.text
    assert "No worker is running that can process this task" in page.text
    assert 'hx-trigger="every 1s' in page.text
    assert (await site.post(f"/sources/{source.id}/test")).headers["location"] == watched
    assert Html(page.text).css_first("#what").attributes["hx-get"] == watched
    await work(database, net)
    page = await site.get(watched)
    assert "It works: 1" in page.text
    assert told_of(page, "Configuration") == "Confirmed by a test or a run"
    assert "hx-get" not in Html(page.text).css_first("#what").attributes
    assert "Pump Engineer" in page.text
    assert "Nothing was saved" in page.text
    assert 'hx-trigger="every 1s' not in page.text, "it ended"
    assert not TAG.search(page.text)
    assert 'href="javascript' not in page.text
    tested = await now(database, source.id)
    assert (tested.tested_at is not None, tested.open_listings) == (True, 0)


def told_of(page: httpx2.Response, name: str) -> str:
    """The value of a term in the list of details."""
    names, values = (Html(page.text).css(f"#what {tag}") for tag in ("dt", "dd"))
    details = {
        term.text(strip=True): description.text()
        for term, description in zip(names, values, strict=True)
    }
    return details[name]


async def test_a_successful_test_confirms_the_configuration(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    assert source.discovery_confidence is None, "nobody had to recognise it"
    page = await site.get(f"/sources/{source.id}")
    assert told_of(page, "Configuration").startswith("Not confirmed")
    assert told_of(page, "Last success") == "none yet"
    async with database.transaction() as tx:
        await sources.mark_tested(tx, source.id)
    page = await site.get(f"/sources/{source.id}")
    assert told_of(page, "Configuration") == "Confirmed by a test or a run"


async def test_a_disabled_source_is_not_shown_as_working(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    async with database.transaction() as tx:
        await sources.mark_tested(tx, source.id)
        await sources.disable(tx, source.id, "gone")
    page = await site.get(f"/sources/{source.id}")
    assert told_of(page, "Configuration") == "Worked before, but not now (see Health)"


async def test_an_uncertain_board_needs_confirmation_by_a_person(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database, enabled=False, discovery_confidence="low")
    async with database.transaction() as tx:
        await sources.mark_tested(tx, source.id)
    assert "a person has to confirm" in told_of(
        await site.get(f"/sources/{source.id}"), "Configuration"
    )
    empty = replace(source, config={})
    assert labels.describe_check(empty) == "Incomplete: the board or address to read is missing"


async def test_a_test_that_fails_says_why(site: httpx2.AsyncClient, database: Database) -> None:
    await declare(database)
    source = await board(database)
    net = Net()
    net.on(API.format(source.token), FetchFailure("", "server", "it had a server error", 500))
    answer = await site.post(f"/sources/{source.id}/test")
    await work(database, net)
    page = await site.get(answer.headers["location"])
    assert "It does not work (server)" in page.text
    assert (await now(database, source.id)).tested_at is None


async def test_without_a_worker_the_page_says_how_to_start_one(
    site: httpx2.AsyncClient, database: Database
) -> None:
    source = await board(database)
    for path in ("test", "run"):
        page = await site.post(f"/sources/{source.id}/{path}", headers={"Accept": "text/html"})
        assert (page.status_code, "Start Jobmill or a worker, then try again." in page.text) == (
            503,
            True,
        )


async def test_the_item_of_another_source_is_not_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    source, other = await board(database), await board(database)
    answer = await site.post(f"/sources/{source.id}/run")
    item = answer.headers["location"].partition("item=")[2]
    assert 'id="progress"' in (await site.get(f"/sources/{source.id}?item={item}")).text
    assert 'id="progress"' not in (await site.get(f"/sources/{other.id}?item={item}")).text


async def test_a_rejected_source_is_not_run(site: httpx2.AsyncClient, database: Database) -> None:
    await declare(database)
    source = await board(database)
    async with database.transaction() as tx:
        await sources.reject(tx, source.id, "no")
    assert (await site.post(f"/sources/{source.id}/run")).status_code == 409


async def test_an_address_is_recognized_before_the_source_is_added(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    existing = await board(database, token="wells")
    page = await site.get("/sources/new", params={"url": "job-boards.greenhouse.io/wells"})
    assert "Greenhouse" in page.text
    assert "This source already exists" in page.text
    assert f'href="/sources/{existing.id}"' in page.text
    page = await site.get("/sources/new", params={"url": "pumps.example/about"})
    assert "The address alone does not identify a platform" in page.text
    assert (await site.get("/sources/new", params={"url": "ftp://x"})).status_code == 400
    answer = await site.post("/sources/new", data={"url": "job-boards.greenhouse.io/pumps"})
    page = await site.get(answer.headers["location"])
    assert "Recognize the job board" in page.text
    assert "https://job-boards.greenhouse.io/pumps" in page.text
    wrong = await site.post("/sources/new", data={"url": "ftp://x", "company": "Wells"})
    assert wrong.status_code == 400
    assert Html(wrong.text).css_first("[name=company]").attributes["value"] == "Wells"


def test_configurations_are_shown_without_secrets() -> None:
    config = {
        "base_url": "https://ann:pass@api.example/v1?api_key=s3cret&page=1",
        "auth_type": "bearer",
        "api_key_env": "WELLS_API_KEY",
        "headers": {"X-Org": "s3cret"},
        "params": {"access_token": "s3cret", "limit": 100},
        "selectors": {"job_list": ".job", "title": None},
        "keywords": ["go", "rust"],
        "is_remote": True,
        "region": "",
    }
    described = dict(labels.describe_config(config))
    assert "s3cret" not in str(described)
    assert "pass" not in str(described)
    assert described["Environment variable of the API key"] == "WELLS_API_KEY"
    assert described["Headers"] == "X-Org"
    assert described["Params"] == "access token: •••; limit: 100"
    assert described["Selectors"] == "job list: .job"
    assert described["Search term"] == "go, rust"
    assert described["Is remote"] == "yes"
    assert "Region" not in described


async def test_external_text_is_escaped(site: httpx2.AsyncClient, database: Database) -> None:
    new = NewSource(f"Wells {EVIL}", "rss", EVIL, {"url": EVIL}, "https://w.example", evidence=EVIL)
    async with database.transaction() as tx:
        waits, _ = await sources.add(tx, new, enabled=False)
        await tx.execute(
            "UPDATE catalog.source SET url = 'javascript:alert(1)' WHERE id = %s", [waits]
        )
        source = await helpers.make_source(tx)
        await helpers.run(tx, source, 1, outcome="failed", failure="gone", detail=EVIL)
    paths = ("/sources", "/sources?show=waiting", f"/sources/{waits}", f"/sources/{source}")
    for path in paths:
        page = await site.get(path)
        assert page.status_code == 200
        assert not TAG.search(page.text), path
        assert 'href="javascript' not in page.text


async def test_a_viewer_can_neither_see_nor_change(database: Database) -> None:
    source = await board(database, enabled=False)
    headers = {**await bearer(database, "viewer"), "Accept": "text/html"}
    refused = [f"/sources/{source.id}/{act}" for act in ("test", "run", "enable", "change/disable")]
    refused += ["/sources/new", f"/sources/approvals/source:{source.id}/approve"]
    async with site_with(database) as far:
        assert (await far.get("/sources")).status_code == 401
        for path in ("/sources?show=waiting", f"/sources/{source.id}"):
            assert (await far.get(path, headers=headers)).status_code == 403
        for path in refused:
            assert (await far.post(path, headers=headers)).status_code == 403, path
    assert (await now(database, source.id)).status == "pending_validation"


@pytest.mark.parametrize("path", ["/sources/987654321", "/sources/0", "/sources?show=nothing"])
async def test_unknown_sources_are_not_found(empty_site: httpx2.AsyncClient, path: str) -> None:
    assert (await empty_site.get(path)).status_code in (404, 422)

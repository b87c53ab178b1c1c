"""Discovery from URL to source, with real stages, a real queue and a small fake network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

from jobmill import app, queue
from jobmill.boards.url_detection import DetectedBoard
from jobmill.catalog import companies, sources
from jobmill.catalog.sources import Source
from jobmill.cli.support import hints
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import discovery
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import Block, ItemId, Work, Worker
from jobmill.queue.inspect import Item
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.boards.selectors import pages
from tests.fakes import Net, ok
from tests.queue.helpers import fetch, item

BOARD = "https://job-boards.greenhouse.io/wells"
API = "https://boards-api.greenhouse.io/v1/boards/wells/jobs?content=true&pay_transparency=true"
FEED = "https://wells.example/jobs.rss"
CAREERS = "https://wells.example/careers"
WORKDAY = "https://wells.wd5.myworkdayjobs.com/Wells_Careers"
CXS = "https://wells.wd5.myworkdayjobs.com/wday/cxs/wells/Wells_Careers/jobs"
POST = {
    "id": 7,
    "title": "Pump Engineer",
    "absolute_url": f"{BOARD}/jobs/7",
    "content": "We pump water.",
    "location": {"name": "Porto"},
}


def rss(*titles: str) -> str:
    entries = "".join(
        f"<item><title>{title}</title><link>https://wells.example/jobs/{n}</link></item>"
        for n, title in enumerate(titles)
    )
    return f'<rss version="2.0"><channel><title>Jobs</title>{entries}</channel></rss>'


@pytest.fixture
def net() -> Net:
    net = Net()
    net.on(API, ok({"jobs": [POST]}))
    net.on(FEED, ok(rss("Cook", "Diver"), FEED))
    net.on(CAREERS, ok(pages.cards(), CAREERS))
    net.on(WORKDAY, ok("<html>Wells</html>", WORKDAY))
    posting = {"title": "Guide", "externalPath": "/job/Alta/Guide_R1", "bulletFields": ["R1"]}
    net.on(CXS, ok({"total": 1, "jobPostings": [posting]}))
    return net


async def run(
    database: Database, net: Net, config: Mapping[str, Any], **how: Any
) -> tuple[Item, list[Source]]:
    """Submit one item, let a worker finish everything, and return the item and the sources."""
    table = app.build_stages(Tools(database, net), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        id = await queue.submit(tx, discovery.new_item(DiscoveryConfig(**config), **how))
    await Worker(database, table).drain()
    async with database.transaction() as tx:
        return await item(database, id), await sources.find(tx)


async def runs_of(database: Database, id: ItemId) -> list[str]:
    return await fetch(
        database,
        "SELECT key FROM queue.items WHERE parent_id = %s AND kind = 'source' ORDER BY id",
        [id],
    )


@pytest.mark.parametrize(
    ("config", "platform", "status", "confidence"),
    [
        ({"url": BOARD}, "greenhouse", "active", "high"),
        ({"url": BOARD, "type_hint": "greenhouse"}, "greenhouse", "active", "high"),
        ({"url": BOARD, "auto_enable": False}, "greenhouse", "pending_validation", "high"),
        ({"url": BOARD, "validation_required": True}, "greenhouse", "pending_validation", "high"),
        ({"url": FEED}, "rss", "active", "high"),
        ({"url": FEED, "type_hint": "rss"}, "rss", "active", "high"),
        ({"url": WORKDAY}, "workday", "active", "high"),
        ({"url": CAREERS}, "html", "pending_validation", "medium"),
        ({"url": CAREERS, "type_hint": "generic"}, "html", "pending_validation", "medium"),
    ],
)
async def test_confident_boards_run_and_others_wait_for_approval(
    database: Database,
    net: Net,
    config: dict[str, Any],
    platform: str,
    status: str,
    confidence: str,
) -> None:
    done, (source,) = await run(database, net, config)
    assert (done.status, done.data["source_id"]) == ("SUCCESS", source.id)
    assert f"source {source.id} " in (done.message or "")
    assert (source.source_type, source.status) == (platform, status)
    assert source.discovery_confidence == confidence
    assert source.tested_at is not None
    assert source.discovered_via == "user_submission"
    first = [f"source:{source.id}"] if status == "active" else []
    assert await runs_of(database, done.id) == first
    if status != "active":
        assert "needs your approval" in (done.message or "")
        assert f"approval approve source:{source.id}" in hints.add_next_command(done.message or "")


async def test_the_first_run_brings_listings(database: Database, net: Net) -> None:
    _, (source,) = await run(database, net, {"url": BOARD})
    assert source.open_listings == 1
    assert source.last_scraped_status is not None


async def test_an_approved_page_needs_no_second_approval(database: Database, net: Net) -> None:
    done, (source,) = await run(database, net, {"url": CAREERS}, approved=True, by="Ada")
    assert (source.status, source.validation_required) == ("active", False)
    assert source.discovered_by == "Ada"
    assert await runs_of(database, done.id) == [f"source:{source.id}"]


async def test_a_board_is_saved_once_and_gets_its_missing_company(
    database: Database, net: Net
) -> None:
    _, (first,) = await run(database, net, {"url": BOARD})
    async with database.transaction() as tx:
        company = await companies.get_or_create(tx, "Wells & Co", "https://wells.example")
    again = {"url": f"{BOARD}/jobs/7", "company_id": company}
    done, (source,) = await run(database, net, again, via="company_analysis")
    assert (done.status, done.data["source_id"]) == ("SUCCESS", first.id)
    assert "already exists" in (done.message or "")
    assert (source.company_id, source.company_name) == (company, "Wells & Co")
    assert await runs_of(database, done.id) == []


async def test_a_rejected_source_is_not_revived(database: Database, net: Net) -> None:
    _, (source,) = await run(database, net, {"url": BOARD})
    async with database.transaction() as tx:
        await sources.reject(tx, source.id, "spam")
    for approved in (False, True):
        done, (saved_sources,) = await run(database, net, {"url": f"{BOARD}/"}, approved=approved)
        assert (done.status, saved_sources.status) == ("SKIPPED", "rejected")
        assert "rejected" in (done.message or "")


async def test_a_source_rejected_before_its_test_stays_rejected(
    database: Database, net: Net
) -> None:
    table = app.build_stages(Tools(database, net), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        new = discovery.new_item(DiscoveryConfig(url=BOARD, auto_enable=False))
        id = await queue.submit(tx, new)
    before = [(discovery.KIND, stage) for stage in ("discover", "validate", "configure")]
    await Worker(database, table, only=before).drain()
    async with database.transaction() as tx:
        (source,) = await sources.find(tx)
        await sources.reject(tx, source.id, "spam")
    await Worker(database, table).drain()
    assert (await item(database, id)).status == "SKIPPED"


async def test_boards_found_by_company_analysis_say_so(database: Database, net: Net) -> None:
    async with database.transaction() as tx:
        company = await companies.get_or_create(tx, "Wells & Co")
    config = {"url": BOARD, "company_id": company}
    _, (source,) = await run(database, net, config, via="company_analysis")
    assert (source.discovered_via, source.name) == ("company_analysis", "Wells & Co Greenhouse")


@pytest.mark.parametrize(
    ("board", "html", "words"),
    [
        ("https://job-boards.greenhouse.io/nobody", None, "nobody"),
        (CAREERS, "<html><body><p>Write to us.</p></body></html>", "give the URL of the list"),
        (
            "https://wells.example/about",
            "<html><body>Water</body></html>",
            "no board was recognised",
        ),
    ],
)
async def test_a_page_without_a_board_fails_with_advice(
    database: Database, net: Net, board: str, html: str | None, words: str
) -> None:
    if html:
        net.on(board, ok(html, board))
    done, saved_sources = await run(database, net, {"url": board})
    assert (done.status, done.error_class, saved_sources) == ("FAILED", "permanent", [])
    assert words in (done.error_text or "")
    assert done.retry_count == 0


async def test_a_page_that_fails_for_now_is_tried_again(database: Database, net: Net) -> None:
    net.on(API, FetchFailure(API, "server", "status 503", 503))
    done, saved_sources = await run(database, net, {"url": BOARD})
    assert (done.status, done.retry_count, saved_sources) == ("PENDING", 1, [])


async def test_an_empty_board_waits_for_approval(database: Database, net: Net) -> None:
    net.on(FEED, ok(rss(), FEED))
    done, (source,) = await run(database, net, {"url": FEED, "type_hint": "rss"})
    assert (done.status, source.status) == ("SKIPPED", "pending_validation")
    assert "shows no posting" in (done.message or "")


async def test_a_test_that_fails_leaves_the_source_with_the_reason(
    database: Database, net: Net
) -> None:
    net.on(CXS, FetchFailure(CXS, "forbidden", "status 403", 403))
    done, (source,) = await run(database, net, {"url": WORKDAY})
    assert (done.status, done.data["source_id"]) == ("SKIPPED", source.id)
    assert (source.status, source.tested_at) == ("pending_validation", None)
    assert source.last_detail == "status 403"


async def test_a_platform_that_wants_a_key_waits_for_it(database: Database, net: Net) -> None:
    detected = DetectedBoard("jooble", "cook", "medium", "named", {"keywords": "cook"})
    new = discovery.new_item(DiscoveryConfig(url=CAREERS))
    waiting = Work(
        id=ItemId(1), kind=new.kind, stage="validate", key=new.key,
        data={**new.data, "found": asdict(detected)}, attempt=1, retry_count=0, max_retries=3,
        steps=1, spawn_depth=0, tracking_id="x", parent_id=None, waited_for=None,
    )  # fmt: skip
    move = await discovery.validate(Tools(database, net), {}, waiting)
    assert isinstance(move, Block)
    assert "JOOBLE_API_KEY" in move.message


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, "config"),
        ({}, "url"),
        ({"url": "nowhere"}, "url"),
        ({"url": "ftp://wells.example/x"}, "url"),
        ({"url": BOARD, "type_hint": "greenhose"}, "did you mean greenhouse"),
        ({"url": BOARD, "company_id": 0}, "company_id"),
        ({"url": BOARD, "colour": 1}, "colour"),
    ],
)
def test_a_wrong_config_says_what_is_wrong(config: object, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        discovery.parse_config(config)


def test_one_board_is_one_key() -> None:
    first, other = (
        discovery.new_item(DiscoveryConfig(url=url)).key
        for url in (CAREERS, f"{CAREERS}/?utm_source=x#top")
    )
    assert first == other

"""A source from HTTP on loopback to the catalog in PostgreSQL."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from jobmill.boards import add_source, source_reader
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.boards.url_detection import find_source
from jobmill.catalog import crawl_results, sources
from jobmill.catalog.crawl_results import SavedRun
from jobmill.catalog.sources import NewSource
from jobmill.db import Database
from jobmill.errors import Conflict, Unavailable
from jobmill.outside.fetch import open_fetch
from jobmill.pipelines import maintenance, source
from jobmill.queue import Advance, Block, Finish, Skip, Work
from jobmill.queue.items import ItemId
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source, open_titles, posting
from tests.catalog.helpers import run as save
from tests.fakes import Net, ok
from tests.outside.site import (
    LoopbackSite,
    ReceivedRequest,
    ResponseWriter,
    in_turn,
    open_site,
    raw,
    reply,
)

PATH = "/api/offers/"


def offers(*titles: str) -> bytes:
    return json.dumps(
        {
            "offers": [
                {
                    "id": number,
                    "slug": title.lower(),
                    "title": title,
                    "careers_url": f"https://wells.example/o/{title.lower()}",
                    "description": f"<p>{title}s work here.</p>",
                }
                for number, title in enumerate(titles, 1)
            ]
        }
    ).encode()


def board(*titles: str, **headers: str) -> Any:
    return reply(offers(*titles), content_type="application/json", **headers)


@pytest.fixture
async def site() -> Any:
    async with open_site() as site:
        yield site


async def scrape(database: Database, site: LoopbackSite, id: int) -> SavedRun:
    settings = Settings(private_hosts=site.place, host_interval_seconds=0.001)
    async with open_fetch(database, settings) as fetch:
        crawl = await source_reader.crawl_source(Tools(database, fetch), id, {})
    async with database.transaction() as tx:
        # Rate limits have their own tests: this test does not wait for the hold of a failure.
        await tx.execute("DELETE FROM outside.host")
        return await crawl_results.save(tx, id, crawl, PLATFORM_RULES)


async def add(database: Database, site: LoopbackSite) -> int:
    config = {"board_token": "wells", "base_url": site.url("").rstrip("/")}
    async with database.transaction() as tx:
        new = NewSource("Wells", "recruitee", "wells", config, url=site.url("/"))
        return (await sources.add(tx, new, enabled=True))[0]


async def titles(database: Database, id: int) -> list[str]:
    async with database.transaction() as tx:
        return await open_titles(tx, id)


async def test_a_board_that_reports_no_change_is_not_read_again(
    database: Database, site: LoopbackSite
) -> None:
    id = await add(database, site)

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        is_unchanged = request.headers.get("if-none-match") == '"one"'
        answer = reply(status=304) if is_unchanged else board("Anchor", "Baker", ETag='"one"')
        await answer(request, out)

    site.on(PATH, handle)
    first, second = await scrape(database, site, id), await scrape(database, site, id)
    assert (first.outcome, first.counts.added) == ("complete", 2)
    assert (second.outcome, await titles(database, id)) == ("unchanged", ["Anchor", "Baker"])


@pytest.mark.parametrize(
    ("trouble", "outcome"),
    [
        (reply(b"slow down", status=429, Retry_After="60"), "held"),
        (reply(b"", status=503), "failed"),
        (reply(b"<html>Just a moment...</html>"), "failed"),
        (reply(b'{"error": "internal"}', content_type="application/json"), "failed"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + offers("Anchor")), "failed"),
        (board(), "empty"),
        (reply(b"", status=404), "failed"),
    ],
    ids=["429", "503", "challenge", "error", "cut", "empty", "404"],
)
async def test_network_errors_close_no_listings(
    database: Database, site: LoopbackSite, trouble: Any, outcome: str
) -> None:
    id = await add(database, site)
    site.on(PATH, in_turn(board("Anchor", "Baker"), trouble, board("Anchor")))
    await scrape(database, site, id)
    assert (await scrape(database, site, id)).outcome == outcome
    assert await titles(database, id) == ["Anchor", "Baker"]
    healed = await scrape(database, site, id)
    assert (healed.outcome, healed.counts.closed) == ("complete", 1)
    assert await titles(database, id) == ["Anchor"]


async def test_a_vendor_on_hold_is_not_called(database: Database, site: LoopbackSite) -> None:
    id = await add(database, site)
    async with database.transaction() as tx:
        await tx.execute(
            "INSERT INTO catalog.incident (vendor, cause, detail, held_until) "
            "VALUES ('recruitee', 'transient', 'x', now() + interval '1 hour')"
        )
    assert (await scrape(database, site, id)).outcome == "held"
    assert site.requests == []


async def test_a_source_that_cannot_be_read_states_the_reason(database: Database) -> None:
    async def run(source_type: str, config: dict[str, Any]) -> None:
        async with database.transaction() as tx:
            new = NewSource("x", source_type, "x", config)
            id, _ = await sources.add(tx, new, enabled=True)
        await source_reader.crawl_source(Tools(database), id, {})

    with pytest.raises(Unavailable, match="JOOBLE_API_KEY"):
        await run("jooble", {"keywords": "cook"})
    with pytest.raises(Conflict, match="cannot be read"):
        await run("gem", {"board_token": "x"})


async def test_a_rejected_source_is_not_called(database: Database, site: LoopbackSite) -> None:
    id = await add(database, site)
    async with database.transaction() as tx:
        await sources.reject(tx, id, "not ours")
    with pytest.raises(Conflict, match="rejected"):
        await scrape(database, site, id)
    assert site.requests == []


async def test_an_aggregator_source_has_no_company(database: Database) -> None:
    feed = Path(__file__).with_name("answers") / "remoteok" / "feed.json"
    (record, *_) = [post for post in json.loads(feed.read_bytes()) if "position" in post]
    net = Net()
    net.on("https://remoteok.com/api", ok([{"legal": "x"}, record]))
    request = add_source.SourceRequest(platform="remoteok", config={}, enable=True)
    added = await add_source.add_source(Tools(database, net), request, {})
    async with database.transaction() as tx:
        assert (await sources.get(tx, added.id)).company_name is None
    assert added.postings == 1


async def test_a_posting_belongs_to_the_source_of_its_board(database: Database) -> None:
    async with database.transaction() as tx:
        new = NewSource("Acme", "greenhouse", "acme", {"board_token": "acme"})
        id, _ = await sources.add(tx, new, enabled=True)
        source = await find_source(tx, "https://boards.greenhouse.io/acme/jobs/42?gh_src=x")
        assert source
        assert source.id == id
        assert await find_source(tx, "https://boards.greenhouse.io/other/jobs/42") is None


def item(**data: Any) -> Work:
    return Work(
        id=ItemId(1), kind="x", stage="x", key="x", data=data, attempt=1, retry_count=0,
        max_retries=3, steps=1, spawn_depth=0, tracking_id="x", parent_id=None, waited_for=None,
    )  # fmt: skip


async def test_an_item_waits_for_a_missing_key_and_skips_a_missing_source(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        new = NewSource("x", "jooble", "x", {"keywords": "cook"})
        id, _ = await sources.add(tx, new, enabled=True)
    move = await source.scrape(Tools(database), {}, item(source=id))
    assert isinstance(move, Block)
    assert move.on == "key"
    assert isinstance(await source.scrape(Tools(database), {}, item(source=id + 1)), Skip)


async def test_closed_listings_are_deleted_in_batches(database: Database) -> None:
    async with database.transaction() as tx:
        await save(tx, await make_source(tx), 0, [posting(1), posting(2)])
        await tx.execute("UPDATE catalog.listing SET closed_at = now() - interval '9 days'")
    keep = dt.timedelta(days=1)
    first = await maintenance.prune_listings(Tools(database), keep, item())
    assert isinstance(first, Advance)
    last = await maintenance.prune_listings(Tools(database), keep, item(**(first.data or {})))
    assert isinstance(last, Finish)
    assert last.message == "2 closed listings pruned"


async def test_old_runs_are_deleted_except_the_newest_of_each_source(database: Database) -> None:
    async with database.transaction() as tx:
        often, rarely = await make_source(tx), await make_source(tx)
        await tx.execute(
            """
            INSERT INTO catalog.run (source_id, started_at, ended_at, outcome)
            SELECT source, now() - days * interval '24 hours', now() - days * interval '24 hours',
                   'complete'
              FROM (SELECT %(often)s AS source, generate_series(200, 1, -1) AS days
                    UNION ALL SELECT %(rarely)s, generate_series(130, 100, -1)) AS run
             ORDER BY days DESC
            """,
            {"often": often, "rarely": rarely},
        )
        await tx.execute(
            "INSERT INTO budget.answer VALUES ('x', 'm', '{}', now() - interval '100 days')"
        )
    first = await maintenance.prune_records(Tools(database), dt.timedelta(), item())
    assert isinstance(first, Advance)
    last = await maintenance.prune_records(
        Tools(database), dt.timedelta(), item(**(first.data or {}))
    )
    assert isinstance(last, Finish)
    # Of 200 daily runs, those of the last 90 days stay; of 31 older runs, all stay.
    assert last.message == "112 old calls, answers and runs pruned"
    async with database.transaction() as tx:
        cursor = await tx.execute("SELECT source_id, count(*) FROM catalog.run GROUP BY 1")
        assert dict(await cursor.fetchall()) == {often: 89, rarely: 31}

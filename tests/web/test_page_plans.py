"""Pages go by index and read what they show: no plan of theirs reads a table of size whole.

Some thousands of rows of everything are made once for the module, by the statements of `make bench-pages`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import httpx2
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from bench.pages import sample_database
from bench.pages.sample_database import Sizes
from jobmill.db import Connection, Database
from jobmill.demo import demo_profile
from jobmill.matching import profiles
from jobmill.web import site as pages
from tests.conftest import drop, run
from tests.web.conftest import served

BIG = {
    *("catalog.listing", "catalog.source", "catalog.company"),
    *("matching.match", "matching.verdict"),
    *("queue.item", "queue.event"),
    *("hiring.application", "hiring.event"),
    "rotation.call",
}
SIZES = Sizes(
    listings=24_000,
    companies=8_000,
    sources=6_000,
    verdicts=24_000,
    matches=6_000,
    items=8_000,
    live=200,
    lineage=300,
    calls=12_000,
    runs=100,
    ran=60,
    openings=60,
    applications=6_000,
    hot=4_000,
    left=1_000,
    budget=200,
    people=10,
)


async def fill_sample(url: str, sizes: Sizes) -> None:
    """Fill an empty database with rows of everything."""
    async with await psycopg.AsyncConnection.connect(url) as tx:
        # Restart ids at 1: other tests have used ids of the template.
        await tx.execute(
            """
            DO $$
            DECLARE one record;
            BEGIN
                FOR one IN SELECT schemaname, sequencename FROM pg_sequences LOOP
                    EXECUTE format('ALTER SEQUENCE %I.%I RESTART', one.schemaname, one.sequencename);
                END LOOP;
            END $$
            """
        )
        await tx.execute(
            """
            INSERT INTO queue.phase
            SELECT 'listing', stage, place, 1, 1000, 3, 10
              FROM unnest(ARRAY['filter', 'analyze', 'save']) WITH ORDINALITY AS known (stage, place)
            """
        )
        await profiles.save(tx, "ada", demo_profile.ENGINEER)
    with psycopg.connect(url, autocommit=True) as connection:
        sample_database.fill(connection, sizes)


@pytest.fixture(scope="module")
async def past(server: str, template: str) -> AsyncIterator[str]:
    name = "pages_with_a_past"
    run(server, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
    url = make_conninfo(server, dbname=name)
    await fill_sample(url, SIZES)
    yield url
    drop(server, name)


class Explained(psycopg.AsyncCursor[Any]):
    """Records the plan of every query."""

    plans: ClassVar[list[dict[str, Any]]] = []

    async def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        if re.match(r"(--.*\s+)*(SELECT|WITH)\b", str(query).strip()):
            plain = psycopg.AsyncCursor(self.connection)
            await plain.execute(f"EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) {query}", params)
            [[[plan_json]]] = await plain.fetchall()
            self.plans.append(plan_json["Plan"])
        return await super().execute(query, params, **more)


@pytest.fixture(scope="module")
async def explained(past: str) -> AsyncIterator[Database]:
    """One connection for all pages, which plans each query anew: a prepared one may have a generic plan."""
    kwargs: dict[str, Any] = {"cursor_factory": Explained, "prepare_threshold": None}
    async with AsyncConnectionPool[Connection](
        past, connection_class=Connection, kwargs=kwargs, min_size=1, max_size=4, open=False
    ) as pool:
        yield Database(past, pool)


@pytest.fixture
async def site(explained: Database) -> AsyncIterator[httpx2.AsyncClient]:
    """A new site for each page: its caches would hide the queries that an earlier page has made."""
    async with served(pages.create_app(explained, local=True)) as client:
        yield client


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Plan nodes that read a large table."""
    if f"{plan.get('Schema')}.{plan.get('Relation Name')}" in BIG:
        yield plan
    for below in plan.get("Plans", ()):
        yield from scans(below)


def read(scan: dict[str, Any]) -> float:
    """Rows that were read, including filtered ones."""
    left = sum(scan.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
    return (scan["Actual Rows"] + left) * scan["Actual Loops"]


async def looked_at(site: httpx2.AsyncClient, path: str) -> list[dict[str, Any]]:
    """How the page read the large tables."""
    Explained.plans.clear()
    answer = await site.get(path)
    assert answer.status_code == 200, answer.text
    assert Explained.plans
    return [scan for plan in Explained.plans for scan in scans(plan)]


async def sparing(site: httpx2.AsyncClient, path: str, most: int) -> None:
    """The page scans no large table and reads at most `most` rows of each."""
    nodes = await looked_at(site, path)
    full_scans = [node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"]
    assert not full_scans, (path, full_scans)
    dear = [(node["Relation Name"], read(node)) for node in nodes if read(node) > most]
    assert not dear, (path, dear)


FEW = 1_100
"""A page of 50 rows, their lookups, and tabs that count to 1,000."""
WALK = 4_100
"""The newest among which listings are looked for, or seven tabs of matches; there are six times as many."""


@pytest.mark.parametrize(
    "path",
    [
        "/companies",
        "/companies?order=newest",
        "/companies?tier=S",
        "/companies?waiting=true",
        "/companies?data=good",
        "/sources",
        "/sources?show=waiting",
        "/sources?show=troubled",
        "/sources?show=disabled",
        "/sources?show=rejected",
        "/sources/5957",
        "/companies/2",
        "/jobs",
        "/jobs/23999",
        "/jobs?state=all",
        "/sources/rotation/reads",
        "/sources/rotation/reads?status=paused",
        "/sources/rotation/reads?platform=lever",
        "/sources/rotation/reads/5957",
        "/activity",
        "/activity/tasks",
        "/activity/tasks?status=FAILED",
        "/activity/tasks?status=PENDING",
        "/activity/tasks/77",
        "/activity/lineage/b1600000-0000-4000-8000-000000000000",
        "/hiring",
        "/hiring/applicants",
        "/hiring/messages",
        "/hiring/messages?state=failed",
        "/health",
        "/hiring?status=closed",
        "/hiring/1",
        "/hiring/1/events",
        "/hiring/1/events?upto=2000",
        "/hiring/1/people/3000",
        "/openings",
        "/openings/1",
        "/profile",
    ],
)
async def test_a_page_reads_only_the_rows_it_shows(site: httpx2.AsyncClient, path: str) -> None:
    await sparing(site, path, FEW)


@pytest.mark.parametrize(
    "path",
    [
        "/jobs?arrangement=remote",
        "/jobs?state=closed",
        "/jobs?q=python&sort=best",
        "/jobs?company=river",
        "/jobs?location=lisbon",
        "/jobs?q=fortran",
        "/matches?arrangement=remote",
        "/matches?q=python",
        "/matches",
        "/matches?order=newest",
        "/matches?status=saved",
        "/matches?status=new&order=newest",
        "/applications",
    ],
)
async def test_searches_stay_within_the_scan_limit(site: httpx2.AsyncClient, path: str) -> None:
    await sparing(site, path, WALK)


@pytest.mark.parametrize(
    "path",
    [
        "/matches",
        "/matches?order=newest",
        "/companies",
        "/sources",
        "/jobs",
        "/activity/tasks",
        "/sources/rotation/reads",
    ],
)
async def test_a_later_page_costs_no_more_than_the_first(
    site: httpx2.AsyncClient, path: str
) -> None:
    for _ in range(3):
        page = await site.get(path)
        match = re.search(r'rel="next" href="([^"]+)"', page.text)
        assert match, path
        path = match[1].replace("&amp;", "&")
        await sparing(site, path, WALK if path.startswith("/matches") else FEW)


async def test_a_full_scan_is_detected(site: httpx2.AsyncClient, past: str) -> None:
    with pytest.raises(AssertionError, match="'match'"):
        await sparing(site, "/matches", 10)
    async with await psycopg.AsyncConnection.connect(past, cursor_factory=Explained) as tx:
        Explained.plans.clear()
        await tx.execute("SELECT count(*) FROM catalog.company WHERE about = 'x'")
    assert [node["Node Type"] for plan in Explained.plans for node in scans(plan)] == ["Seq Scan"]

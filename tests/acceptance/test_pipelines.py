"""From a company's name or a listing's URL to matches, with real processes and real HTTP. Killing
the worker at any boundary does not change the result."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database, connect
from tests.acceptance import self_killing_worker
from tests.acceptance.world import HOME, PAGE, PROFILE, open_world
from tests.cli import forked
from tests.cli.forked import ForkedProcess
from tests.conftest import clone
from tests.outside.site import LoopbackSite
from tests.queue.helpers import fetch

PATIENCE = 200.0

BY_COMPANY = ("company", "add", "Tidewater", "--website", HOME)
BY_LISTING = ("listing", "add", PAGE)
PHASES = (
    "company/fetch", "company/extract", "company/analyze", "company/save",
    "source_discovery/discover", "source_discovery/validate", "source_discovery/configure",
    "source_discovery/test", "source/scrape", "listing/scrape", "listing/filter",
    "listing/analyze", "listing/ask", "listing/save",
)  # fmt: skip


@pytest.fixture
async def world() -> AsyncIterator[dict[str, LoopbackSite]]:
    async with open_world() as sites:
        yield sites


class Mill:
    """The product on one database: its commands, and a worker that is restarted when it dies."""

    def __init__(self, folder: Path, url: str, world: dict[str, LoopbackSite]) -> None:
        self.folder = folder
        self.deaths = folder / "deaths"
        self.variables = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "DATABASE_URL": forked.as_url(url),
            "JOBMILL_HOST_OVERRIDES": ",".join(
                f"{host}={site.place}" for host, site in world.items()
            ),
            "JOBMILL_HOST_INTERVAL_SECONDS": "0.001",
            "JOBMILL_LOG_LEVEL": "error",
        }

    async def run(self, *words: str, stdin: str = "") -> str:
        done = await asyncio.to_thread(
            forked.jobmill, *words, stdin=stdin, folder=self.folder, variables=self.variables
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def begin(self, *words: str, stdin: str = "") -> None:
        (self.folder / "profile.yaml").write_text(PROFILE)
        await self.run("profile", "import", "profile.yaml")
        await self.run(*words, stdin=stdin)

    async def work(self, database: Database, deaths: Sequence[str] = ()) -> int:
        """Run until nothing is left to do; returns how often the worker died."""
        self.deaths.write_text("\n".join(deaths))
        died, deadline = 0, time.monotonic() + PATIENCE
        process = self.start()
        try:
            while await self.is_busy(database):
                assert time.monotonic() < deadline, await _state(database)
                if process.poll() is not None:
                    died += 1
                    await let_leases_lapse(database)
                    process = self.start()
                await asyncio.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        return died

    async def is_busy(self, database: Database) -> bool:
        return await _is_busy(database)

    def start(self) -> ForkedProcess:
        """Forked from a process that has loaded all modules: starting Python again takes longer than the work."""
        return ForkedProcess(self_killing_worker.run, self.deaths, self.folder, self.variables)


async def let_leases_lapse(database: Database) -> None:
    """As if the lease of the dead worker had run out: the test does not depend on how fast the machine is."""
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE queue.worker SET heartbeat_at = heartbeat_at - lease WHERE ended_at IS NULL"
        )


async def _is_busy(database: Database) -> bool:
    left = await fetch(
        database,
        "SELECT (SELECT count(*) FROM queue.live) + (SELECT count(*) FROM matching.judging_queue)",
    )
    return left != [0]


async def _state(database: Database) -> list[Any]:
    return await fetch(
        database,
        "SELECT kind, stage, key, status, message, error_text FROM queue.items ORDER BY id",
    )


async def _outcome(database: Database) -> dict[str, list[Any]]:
    """The results, without ids and times."""
    return {
        "companies": await fetch(
            database,
            """
            SELECT name, website, analysis_status::text, tier, priority_score, tech_stack, about,
                   company_size_category, job_board_url
              FROM catalog.company ORDER BY name
            """,
        ),
        "sources": await fetch(
            database,
            """
            SELECT source_type, token, status::text, source.name, company.name FROM catalog.source
              LEFT JOIN catalog.company ON company.id = company_id ORDER BY token
            """,
        ),
        "listings": await fetch(
            database, "SELECT identity, title, company FROM catalog.listing ORDER BY identity"
        ),
        "verdicts": await fetch(
            database,
            """
            SELECT identity, outcome::text, score, scored_by FROM matching.verdict
              JOIN catalog.listing ON listing.id = listing_id ORDER BY identity
            """,
        ),
        "matches": await fetch(
            database,
            """
            SELECT identity, match_score, status::text, matched_skills FROM matching.match
              JOIN catalog.listing ON listing.id = listing_id ORDER BY identity
            """,
        ),
        "events": await fetch(
            database,
            "SELECT subject_type, type, count(*) FROM catalog.event GROUP BY subject_type, type ORDER BY 1, 2",
        ),
        "failed": await fetch(database, "SELECT key FROM queue.items WHERE status = 'FAILED'"),
        "lineages": await fetch(database, "SELECT count(DISTINCT tracking_id) FROM queue.item"),
        "twice": await fetch(
            database,
            "SELECT kind, key, stage FROM queue.item GROUP BY 1, 2, 3 HAVING count(*) > 1",
        ),
    }


async def _follow(
    mill: Mill, url: str, words: Sequence[str], deaths: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Submit one thing and wait for everything that follows."""
    async with connect(url) as database:
        await mill.begin(*words)
        assert await mill.work(database, deaths) == len(deaths)
        assert mill.deaths.read_text() == ""
        return await _outcome(database)


@pytest.mark.parametrize("words", [BY_COMPANY, BY_LISTING], ids=["company", "listing"])
async def test_killing_the_worker_at_any_step_does_not_change_the_result(
    home: Path, server: str, template: str, world: dict[str, LoopbackSite], words: tuple[str, ...]
) -> None:
    with clone(server, template) as url:
        mill = Mill(home, url, world)
        outcome = await _follow(mill, url, words)
        listed = await mill.run("match", "list")
    with clone(server, template) as url:
        assert await _follow(Mill(home, url, world), url, words, PHASES) == outcome
    [company] = outcome["companies"]
    assert company[:3] == ("Tidewater", HOME, "complete")
    assert outcome["sources"] == [
        ("greenhouse", "tidewater", "active", "Tidewater Greenhouse", "Tidewater")
    ]
    by_hand = words is BY_LISTING
    assert len(outcome["listings"]) == 3 + by_hand
    outcomes = sorted(what for _, what, *_ in outcome["verdicts"])
    assert outcomes == ["filtered", "filtered", *["matched"] * (1 + by_hand)]
    assert {status for _, _, status, _ in outcome["matches"]} == {"new"}
    assert outcome["failed"] == []
    # Everything came from one submission, and nothing was done twice.
    assert (outcome["lineages"], outcome["twice"]) == ([1], [])
    assert "Senior Backend Engineer" in listed
    assert "Pump Attendant" not in listed

"""How the demo begins, and how one knows that it is on."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass

from jobmill import queue
from jobmill.catalog import companies as catalog
from jobmill.catalog import sources
from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.demo import hiring, person
from jobmill.demo.companies import COMPANIES, Company
from jobmill.demo.vendors import feed
from jobmill.demo.world import DAY, World
from jobmill.errors import Conflict
from jobmill.hiring.records import openings
from jobmill.matching import profiles
from jobmill.people import persons
from jobmill.pipelines import company, discovery, source
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import NewItem
from jobmill.rotation import searches

SEED = 7
WAITING = ("pipwillowlearning", "ironquillpress")
"""Whose boards nobody has approved yet."""


@dataclass(frozen=True, slots=True)
class _Row:
    seed: int
    began_at: dt.datetime
    day: dt.timedelta


async def find(tx: Tx) -> World | None:
    """The world of this database; None where it is not a demo."""
    found = await fetch_one(tx, _Row, "SELECT seed, began_at, day FROM demo.world")
    # The database's name for our zone is its own.
    return World(found.seed, found.began_at.astimezone(dt.UTC), found.day) if found else None


async def is_on(tx: Tx) -> bool:
    """Whether what this database holds is fiction."""
    return await find(tx) is not None


async def is_new(tx: Tx) -> bool:
    """Whether nobody has put anything in yet."""
    kept = (
        await profiles.find(tx),
        await catalog.find(tx, limit=1),
        await sources.find(tx, limit=1),
        await openings.list_openings(tx, limit=1),
    )
    return not any(kept)


async def is_first(tx: Tx) -> bool:
    """Whether nobody has ever done anything here: no data, no demo, and nobody who may sign in."""
    if await is_on(tx) or not await is_new(tx) or await persons.find_all(tx):
        return False
    return await fetch_value(tx, bool, "SELECT NOT EXISTS (SELECT FROM demo.ended)") or False


async def begin(tx: Tx, *, seed: int = SEED, day: dt.timedelta = DAY) -> World:
    """Fill a new database, whose phases are declared, with what the demo begins with; Conflict where
    it holds anything. All else comes by the real pipelines from the world's own sites."""
    # Two who begin at once: the second waits here, and finds the first's row.
    await tx.execute("LOCK TABLE demo.world IN EXCLUSIVE MODE")
    if await is_on(tx):
        raise Conflict("the demo has begun already: `jobmill demo run` shows it")
    if not await is_new(tx):
        raise Conflict("this database is in use: the demo needs an empty one of its own")
    await tx.execute("INSERT INTO demo.world (seed, day) VALUES (%s, %s)", [seed, day])
    await profiles.save(tx, person.NAME, person.PROFILE, by="demo", note="a fictional person")
    news = [new for one in COMPANIES for new in await _wanted(tx, one)]
    search = await searches.add(tx, "remotive", ["python", "support"], [""])
    slices = [source.work(one.id) for one in await sources.find(tx, source_type=search.platform)]
    await queue.submit_all(tx, [*news, *slices])
    await hiring.begin(tx, random.Random(seed), day)
    world = await find(tx)
    assert world
    return world


async def _wanted(tx: Tx, one: Company) -> list[NewItem]:
    """What a person would submit who follows this company."""
    id = await company.begin(tx, one.name, one.site)
    found = [company.work(id)]
    if url := _board(one):
        config = DiscoveryConfig(url=url, company_id=id, company_name=one.name)
        approved = one.slug not in WAITING
        found.append(discovery.work(config, approved=approved, by="demo"))
    return found


def _board(one: Company) -> str | None:
    """The address of a board that is not sure enough to be taken in by itself."""
    match one.vendor:
        case "lever":
            return f"https://jobs.lever.co/{one.slug}"
        case "ashby":
            return f"https://jobs.ashbyhq.com/{one.slug}"
        case "rss":
            return f"{one.site}{feed.PATH}"
        case "html":
            return f"{one.site}/careers"
        case _:
            return None

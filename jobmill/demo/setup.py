"""Starts the demo, and detects whether it is on."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace

from jobmill import queue
from jobmill.catalog import companies as catalog
from jobmill.catalog import sources
from jobmill.db import Tx, fetch_one, fetch_value
from jobmill.demo.companies import COMPANIES, DemoCompany
from jobmill.errors import Conflict
from jobmill.hiring.records import openings
from jobmill.matching import profiles
from jobmill.people import persons
from jobmill.pipelines import company, discovery, source
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import NewItem
from jobmill.rotation import searches

from . import demo_profile, hiring
from .platforms import feed
from .state import DAY_LENGTH, World

SEED = 7
WAITING = ("pipwillowlearning", "ironquillpress")
"""Companies with boards that still need approval."""


async def read_world(tx: Tx) -> World | None:
    """The demo of this database, or None."""
    world = await fetch_one(tx, World, "SELECT seed, began_at, day FROM demo.world")
    # Convert from the database's time zone object.
    return replace(world, began_at=world.began_at.astimezone(dt.UTC)) if world else None


async def is_demo(tx: Tx) -> bool:
    """Whether the data of this database is fictional."""
    return await read_world(tx) is not None


async def is_empty(tx: Tx) -> bool:
    """Whether the database has no data yet."""
    tables = (
        await profiles.find_of_everyone(tx),
        await catalog.find(tx, limit=1),
        await sources.find(tx, limit=1),
        await openings.list_openings(tx, limit=1),
    )
    return not any(tables)


async def is_first_start(tx: Tx) -> bool:
    """Whether the database was never used: no data, no demo, no accounts."""
    if await is_demo(tx) or not await is_empty(tx) or await persons.find_all(tx):
        return False
    return await fetch_value(tx, bool, "SELECT NOT EXISTS (SELECT FROM demo.ended)") or False


async def start_demo(tx: Tx, *, seed: int = SEED, day: dt.timedelta = DAY_LENGTH) -> World:
    """Fill a new database with the start of the demo; Conflict if it holds data. Everything else
    comes through the real pipelines from the demo's sites."""
    # Of two concurrent starts the second waits here and finds the first one's row.
    await tx.execute("LOCK TABLE demo.world IN EXCLUSIVE MODE")
    if await is_demo(tx):
        raise Conflict("the demo has begun already: `jobmill demo run` shows it")
    if not await is_empty(tx):
        raise Conflict("this database is in use: the demo needs an empty one of its own")
    await tx.execute("INSERT INTO demo.world (seed, day) VALUES (%s, %s)", [seed, day])
    for name, profile in demo_profile.PROFILES.items():
        await profiles.save(tx, name, profile, by="demo", note="a fictional person")
    news = [new for company in COMPANIES for new in await _items_of_company(tx, company)]
    search = await searches.add(tx, "remotive", ["python", "support"], [""])
    slices = [
        source.new_item(company.id)
        for company in await sources.find(tx, source_type=search.platform)
    ]
    await queue.submit_all(tx, [*news, *slices])
    await hiring.create_openings(tx, random.Random(seed), day)
    world = await read_world(tx)
    assert world
    return world


async def _items_of_company(tx: Tx, demo_company: DemoCompany) -> list[NewItem]:
    """The items that following this company would submit."""
    id = await company.ensure_company(tx, demo_company.name, demo_company.website)
    items = [company.new_item(id)]
    if url := _board(demo_company):
        config = DiscoveryConfig(url=url, company_id=id, company_name=demo_company.name)
        approved = demo_company.slug not in WAITING
        items.append(discovery.new_item(config, approved=approved, by="demo"))
    return items


def _board(company: DemoCompany) -> str | None:
    """The URL of a board that is not confident enough to be added automatically."""
    match company.platform:
        case "lever":
            return f"https://jobs.lever.co/{company.slug}"
        case "ashby":
            return f"https://jobs.ashbyhq.com/{company.slug}"
        case "rss":
            return f"{company.website}{feed.PATH}"
        case "html":
            return f"{company.website}/careers"
        case _:
            return None

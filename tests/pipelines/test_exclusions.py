"""Stop lists hold at every door, before any request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from jobmill import app, queue
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies
from jobmill.catalog.posting import Posting
from jobmill.db import Database, Tx
from jobmill.matching import excluded_companies, judging_feed, profiles
from jobmill.matching.profile import Profile, StopLists
from jobmill.pipelines import company, discovery, judging, rotation, source, submission
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.pipelines.submission import SubmittedUrl
from jobmill.queue import NewItem
from jobmill.queue.feed import feed_batch
from jobmill.rotation.planner import RunRequest
from jobmill.rotation.target_selection import RunLimits
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source, run
from tests.fakes import Net
from tests.queue.helpers import drain, fetch

SITE = "https://wells.example"
STOPPED = Profile(stop_lists=StopLists(companies=["Wells"], domains=["brine.example"]))
Make: TypeAlias = Callable[[Tx], Awaitable[NewItem]]


async def a_company(tx: Tx) -> NewItem:
    return company.new_item(await companies.get_or_create(tx, "Wells Inc.", SITE), force=True)


async def a_company_on_a_domain(tx: Tx) -> NewItem:
    id = await companies.get_or_create(tx, "Salt", "https://www.brine.example")
    return company.new_item(id)


async def a_discovery(tx: Tx) -> NewItem:
    return discovery.new_item(DiscoveryConfig(url=f"{SITE}/careers", company_name="Wells"))


async def a_discovery_by_domain(tx: Tx) -> NewItem:
    return discovery.new_item(DiscoveryConfig(url="https://brine.example/careers"))


async def a_board(tx: Tx) -> NewItem:
    return discovery.new_item(DiscoveryConfig(url="https://job-boards.greenhouse.io/wells"))


async def a_source(tx: Tx) -> NewItem:
    return source.new_item(await make_source(tx, token="wells"))


async def a_submitted_site(tx: Tx) -> NewItem:
    data = {"url": "https://brine.example/", "profile_id": None}
    return NewItem(submission.KIND, "detect", "https://brine.example", data=data)


async def declare(database: Database, profile: Profile = STOPPED) -> tuple[Net, queue.Stages]:
    net = Net()
    table = app.build_stages(Tools(database, net), Settings())
    async with database.transaction() as tx:
        await queue.declare_stages(tx, table)
        await profiles.save(tx, "main", profile)
    return net, table


@pytest.mark.parametrize(
    "make",
    [
        a_company,
        a_company_on_a_domain,
        a_discovery,
        a_discovery_by_domain,
        a_board,
        a_source,
        a_submitted_site,
    ],
)
async def test_nothing_of_an_excluded_company_is_requested(database: Database, make: Make) -> None:
    net, table = await declare(database)
    async with database.transaction() as tx:
        id = await queue.submit(tx, await make(tx))
    await drain(database, table)
    assert net.requests == []
    [(status, message)] = await fetch(
        database, "SELECT status, message FROM queue.items WHERE id = %s", [id]
    )
    assert (status, message.startswith("Excluded")) == ("FILTERED", True)


async def test_the_rotation_leaves_an_excluded_source_out(database: Database) -> None:
    net, table = await declare(database)
    request = RunRequest(trigger="manual", limits=RunLimits(10, 10))
    async with database.transaction() as tx:
        await make_source(tx, token="wells")
        await rotation.start_run(tx, request, {})
    await drain(database, table)
    async with database.transaction() as tx:
        _, again = await rotation.start_run(tx, request, {})
    assert (again, net.requests) == ({}, [])


async def test_a_job_of_an_excluded_company_in_a_feed_is_not_requested(database: Database) -> None:
    net, table = await declare(database)
    async with database.transaction() as tx:
        id = await make_source(tx, token="jobs")
        saved = await run(
            tx, id, 0, [Posting("Cook", f"{SITE}/jobs/1", company="Wells", partial=True)]
        )
        await judging_feed.add(tx, saved.added)
        await feed_batch(tx, judging.FEED)
    await drain(database, table)
    assert net.requests == []
    assert await fetch(database, "SELECT status FROM queue.items") == ["FILTERED"]


async def test_a_company_that_another_profile_wants_is_read(database: Database) -> None:
    await declare(database)
    async with database.transaction() as tx:
        assert await excluded_companies.find_exclusion(tx, PLATFORM_RULES, names=["Wells"])
        await profiles.save(tx, "second", Profile())
        assert await excluded_companies.find_exclusion(tx, PLATFORM_RULES, names=["Wells"]) is None
        await profiles.pause(tx, "second")
        assert await excluded_companies.find_exclusion(tx, PLATFORM_RULES, names=["Wells"])


async def test_a_submission_says_that_it_is_excluded(database: Database) -> None:
    net, table = await declare(database)
    async with database.transaction() as tx:
        added = await submission.submit(tx, SubmittedUrl("https://brine.example/about"))
    await drain(database, table)
    [(state, reason)] = await fetch(
        database, "SELECT state, reason FROM catalog.submission WHERE id = %s", [added.id]
    )
    assert (state, reason, net.requests) == ("done", "Excluded domain: brine.example", [])

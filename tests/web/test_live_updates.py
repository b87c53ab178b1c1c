"""Live updates, with one database listener for all pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from jobmill.catalog import companies
from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.openings import lifecycle
from jobmill.matching import matches, profiles
from jobmill.matching.profile import Profile
from jobmill.web import site as pages
from tests.hiring.helpers import make_opening
from tests.matching import judged
from tests.people.helpers import PASSWORD, make_person
from tests.web.conftest import served, signed_in


async def words(stream: httpx2.Response) -> AsyncIterator[str]:
    async for line in stream.aiter_lines():
        if line.startswith("event: "):
            yield line.removeprefix("event: ")


async def listeners(database: Database) -> int:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
        row = await cursor.fetchone()
        return row[0] if row else 0


async def test_a_page_receives_only_its_topics(
    database: Database, site: httpx2.AsyncClient
) -> None:
    async with site.stream("GET", "/live?topic=hiring&topic=queue") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        heard = words(stream)
        # Changes before LISTEN may have been missed, so all topics come once.
        assert {await anext(heard), await anext(heard)} == {"hiring", "queue"}
        async with database.transaction() as tx:
            await companies.get_or_create(tx, "Acme")
            opening = await make_opening(tx)
        assert await anext(heard) == "hiring"
        async with database.transaction() as tx:
            await lifecycle.set_capacity(tx, opening.id, 3, LOCAL)
        assert await anext(heard) == "hiring"


async def test_two_hundred_pages_share_one_database_listener(
    database: Database, site: httpx2.AsyncClient
) -> None:
    limits = httpx2.Limits(max_connections=250)
    async with signed_in(str(site.base_url).rstrip("/"), limits=limits, timeout=30) as client:

        async def page() -> str:
            async with client.stream("GET", "/live?topic=hiring") as stream:
                heard = words(stream)
                await anext(heard)
                opened.release()
                return await anext(heard)

        opened = asyncio.Semaphore(0)
        reading = [asyncio.create_task(page()) for _ in range(200)]
        for _ in reading:
            await opened.acquire()
        assert await listeners(database) == 1
        async with database.transaction() as tx:
            await make_opening(tx)
        assert set(await asyncio.gather(*reading)) == {"hiring"}
    while await listeners(database):
        await asyncio.sleep(0.05)


async def test_a_reconnected_page_receives_all_topics(site: httpx2.AsyncClient) -> None:
    async with site.stream("GET", "/live?topic=queue") as stream:
        assert await anext(words(stream)) == "queue"
    async with site.stream(
        "GET", "/live?topic=queue&topic=budget", headers={"Last-Event-ID": "7"}
    ) as stream:
        heard = words(stream)
        assert {await anext(heard), await anext(heard)} == {"queue", "budget"}


async def test_an_unknown_topic_is_refused(site: httpx2.AsyncClient) -> None:
    assert (await site.get("/live?topic=weather")).status_code == 422
    assert (await site.get("/live")).status_code == 422


async def test_an_open_page_does_not_keep_the_server_from_stopping(database: Database) -> None:
    async with served(pages.create_app(database, local=True)) as client:
        stream = await client.send(client.build_request("GET", "/live?topic=queue"), stream=True)
        heard = words(stream)
        await anext(heard)
        ended = asyncio.create_task(_until_the_end(heard))
    # The server and the stream have stopped.
    await ended


async def _until_the_end(heard: AsyncIterator[str]) -> None:
    try:
        async for _ in heard:
            pass
    except httpx2.HTTPError:
        pass


async def test_matches_are_announced_only_to_their_owner(
    database: Database, site: httpx2.AsyncClient
) -> None:
    anna = (await make_person(database, "anna@example.org", "seeker")).id
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=3, owner=anna)
        await profiles.save(tx, "main", Profile())
        own = judged.Place((await profiles.get(tx)).profile_id, place.listings)
    async with site.stream("GET", "/live?topic=matches&topic=companies") as stream:
        heard = words(stream)
        # Changes before LISTEN may have been missed, so all topics come once.
        assert {await anext(heard), await anext(heard)} == {"matches", "companies"}
        async with database.transaction() as tx:
            await matches.save_verdict(tx, place.word(91))
        async with database.transaction() as tx:
            await companies.get_or_create(tx, "Acme")
        assert await anext(heard) == "companies"
        async with database.transaction() as tx:
            await matches.save_verdict(tx, own.word(91))
        assert await anext(heard) == "matches"


async def test_nobody_hears_of_workspaces_that_they_cannot_open(database: Database) -> None:
    for role, topics in (("recruiter", {"hiring"}), ("seeker", {"matches", "queue"})):
        person = await make_person(database, f"{role}@example.org", role)
        async with served(pages.create_app(database)) as client:
            login = {"email": person.email, "password": PASSWORD}
            assert (await client.post("/api/session", json=login)).status_code == 200
            query = "topic=hiring&topic=matches&topic=queue&topic=budget"
            headers = {"Last-Event-ID": "1"}
            async with client.stream("GET", f"/live?{query}", headers=headers) as stream:
                heard = words(stream)
                assert {await anext(heard) for _ in topics} == topics

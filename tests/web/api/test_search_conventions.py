"""The conventions of the API on the resources of the job search: ETags, problems, privacy of keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest
from fastapi import FastAPI

from jobmill.db import Database
from jobmill.people import keys
from jobmill.web import site as pages
from jobmill.web.rate_limits import RateLimit
from tests.people.helpers import make_person
from tests.web.api.search_world import SearchWorld, fill_search, search_world
from tests.web.conftest import served
from tests.web.helpers import status_and_code


@pytest.fixture
async def world(database: Database) -> AsyncIterator[SearchWorld]:
    async with search_world(database) as world:
        yield world


async def test_an_unchanged_response_is_not_sent_again(world: SearchWorld) -> None:
    url = f"/api/matches/{world.match_ids[0]}"
    first = await world.site.get(url)
    seen = {"If-None-Match": first.headers["etag"]}
    again = await world.site.get(url, headers=seen)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    await world.site.post(f"{url}/status", json={"status": "saved"})
    assert (await world.site.get(url, headers=seen)).status_code == 200


async def test_the_etag_of_a_versioned_thing_protects_its_change(world: SearchWorld) -> None:
    body = {"profile": {"titles": ["Cook"]}}
    etag = (await world.site.get("/api/profiles/main")).headers["etag"]
    headers = {"If-Match": etag}
    assert (await world.site.put("/api/profiles/main", json=body, headers=headers)).is_success
    body = {"profile": {"titles": ["Baker"]}}
    refused = await world.site.put("/api/profiles/main", json=body, headers=headers)
    assert status_and_code(refused) == (412, "CHANGED_MEANWHILE")
    profile = (await world.site.get("/api/profiles/main")).json()
    assert (profile["version"], profile["profile"]["titles"]) == (2, ["Cook"])


async def test_of_two_changes_of_one_version_at_once_one_is_refused(world: SearchWorld) -> None:
    async def save(title: str) -> int:
        body = {"profile": {"titles": [title]}, "rescore": False}
        headers = {"If-Match": '"1"'}
        return (await world.site.put("/api/profiles/main", json=body, headers=headers)).status_code

    statuses = await asyncio.gather(*(save(title) for title in ("Cook", "Baker", "Miller")))
    assert sorted(statuses) == [200, 412, 412]
    versions = (await world.site.get("/api/profiles/main/versions")).json()["items"]
    assert [version["version"] for version in versions] == [2, 1]


async def test_errors_are_problems_for_clients_that_accept_them(world: SearchWorld) -> None:
    headers = {"Accept": "application/json, application/problem+json"}
    answer = await world.site.get("/api/matches?minscore=80", headers=headers)
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["title"], problem["code"]) == (
        400, "Bad Request", "VALIDATION_ERROR"
    )  # fmt: skip
    assert problem["errors"][0]["field"] == "minscore"
    assert status_and_code(await world.site.get("/api/matches/999999")) == (404, "NOT_FOUND")


async def test_a_triage_with_the_same_idempotency_key_happens_once(world: SearchWorld) -> None:
    url, headers = f"/api/matches/{world.match_ids[0]}", {"Idempotency-Key": "once"}
    for status in ("saved", "applied"):
        await world.site.post(f"{url}/status", json={"status": status})
    first = await world.site.post(f"{url}/undo", headers=headers)
    again = await world.site.post(f"{url}/undo", headers=headers)
    assert first.json() == again.json()
    assert (await world.site.get(url)).json()["status"] == "saved"


async def test_a_search_key_changes_the_job_search_of_its_owner_and_nothing_else(
    world: SearchWorld, database: Database
) -> None:
    admin = await make_person(database, role="admin")
    async with database.transaction() as tx:
        made = await keys.add(tx, "assistant", "search", owner_id=admin.id)
    world.site.headers["Authorization"] = f"Bearer {made.key}"
    body = {"profile": {"titles": ["Cook"]}}
    assert (await world.site.put("/api/profiles/main", json=body)).is_success
    listed = (await world.site.get("/api/profiles")).json()["items"]
    assert [profile["name"] for profile in listed] == ["main"]
    # The first profile of this owner, although the local user has one of the same name.
    assert listed[0]["version"] == 1
    for path in ("/api/sources", "/api/tasks", "/api/applicants", "/api/webhooks", "/api/keys"):
        assert status_and_code(await world.site.get(path)) == (403, "FORBIDDEN"), path
    match = await world.site.get(f"/api/matches/{world.match_ids[0]}")
    assert status_and_code(match) == (404, "NOT_FOUND")


async def test_scoring_for_an_unsaved_profile_is_limited(database: Database) -> None:
    search = await fill_search(database)
    guard = pages.create_app(database, local=True)
    cast(FastAPI, guard.app).state.rate_limits.scorings = RateLimit(1)
    url = f"/api/listings/{search.listing_ids[0]}/what-if?having=Nonsensical"
    async with served(guard) as site:
        assert status_and_code(await site.get(url)) == (400, "VALIDATION_ERROR")
        limited = await site.get(url)
    assert status_and_code(limited) == (429, "RATE_LIMITED")
    assert int(limited.headers["retry-after"]) > 0


async def test_secrets_of_a_source_are_not_shown(world: SearchWorld, database: Database) -> None:
    [source] = (await world.site.get("/api/sources")).json()["items"]
    async with database.transaction() as tx:
        await tx.execute(
            """
            UPDATE catalog.source SET url = 'https://u:p@x.example/?api_key=s3cret&page=1',
                   config = '{"api_key": "s3cret", "headers": {"X-Auth": "s3cret"}, "base_url": "https://x.example"}'
             WHERE id = %s
            """,
            [source["id"]],
        )
    answer = await world.site.get(f"/api/sources/{source['id']}")
    assert "s3cret" not in answer.text
    assert answer.json()["config"]["base_url"] == "https://x.example"

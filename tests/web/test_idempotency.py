from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import APIRouter, Response
from pydantic import BaseModel

from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import AppError, Conflict, Gone
from jobmill.hiring.records import idempotent_responses
from jobmill.hiring.records.idempotent_responses import KeyedRequest, NewResponse, StoredResponse
from jobmill.web.api.callers import AnyCaller
from tests.people.helpers import bearer
from tests.web.helpers import site_with, status_and_code

router = APIRouter(prefix="/api/try")


class Made(BaseModel):
    number: int
    name: str


class Body(BaseModel):
    name: str
    how: str = "well"


async def block(tx: Tx, name: str) -> int:
    """An effect that can be counted."""
    await tx.execute(
        "INSERT INTO hiring.blocklist (email_key, reason) VALUES (gen_random_uuid()::text, %s)",
        [name],
    )
    made = await fetch_value(
        tx, int, "SELECT count(*) FROM hiring.blocklist WHERE reason = %s", [name]
    )
    assert made
    return made


@router.post("/block", status_code=201)
@router.post("/other")
async def act(body: Body, caller: AnyCaller) -> Response:
    async def work(tx: Tx) -> int:
        number = await block(tx, body.name)
        await asyncio.sleep(0.2 if body.how == "slowly" else 0)
        if body.how == "refused":
            raise Conflict("no")
        if body.how == "crash":
            raise ValueError("broken")
        return number

    def to_schema(number: int) -> Made | AppError:
        if body.how == "shapeless":
            raise ValueError("broken")
        return Gone("too late") if body.how == "late" else Made(number=number, name=body.name)

    return await caller.run_once(work, to_schema=to_schema, status=201)


@pytest.fixture
async def near(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with site_with(database, router, local=True, database_timeout=20) as client:
        yield client


async def post(
    client: httpx2.AsyncClient,
    key: str | None,
    path: str = "block",
    headers: dict[str, str] | None = None,
    **body: str,
) -> httpx2.Response:
    key_header = {} if key is None else {"Idempotency-Key": key}
    return await client.post(
        f"/api/try/{path}", json={"name": "x"} | body, headers=key_header | (headers or {})
    )


async def effects(database: Database) -> int:
    async with database.transaction() as tx:
        return await fetch_value(tx, int, "SELECT count(*) FROM hiring.blocklist") or 0


async def kept(database: Database) -> int:
    async with database.transaction() as tx:
        return await fetch_value(tx, int, "SELECT count(*) FROM hiring.idempotent_response") or 0


async def test_a_repeated_request_gets_the_same_response_and_changes_nothing(
    near: httpx2.AsyncClient, database: Database
) -> None:
    first, second = await post(near, "k-1"), await post(near, "k-1")
    assert (first.status_code, first.json()) == (201, {"number": 1, "name": "x"})
    assert (second.status_code, second.content) == (201, first.content)
    assert second.headers["content-type"] == first.headers["content-type"] == "application/json"
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert await effects(database) == 1


async def test_without_a_key_every_request_counts(
    near: httpx2.AsyncClient, database: Database
) -> None:
    for number in (1, 2):
        assert (await post(near, None)).json()["number"] == number
    assert await kept(database) == 0


async def test_concurrent_requests_with_one_key_have_one_effect_and_one_response(
    near: httpx2.AsyncClient, database: Database
) -> None:
    answers = await asyncio.gather(*(post(near, "k-1", how="slowly") for _ in range(6)))
    assert {answer.content for answer in answers} == {b'{"number":1,"name":"x"}'}
    assert sum("idempotent-replayed" in answer.headers for answer in answers) == 5
    assert await effects(database) == 1


async def test_a_key_is_valid_for_one_request(near: httpx2.AsyncClient, database: Database) -> None:
    await post(near, "k-1")
    assert status_and_code(await post(near, "k-1", name="y")) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert status_and_code(await post(near, "k-1", "block?dry=1")) == (
        422,
        "IDEMPOTENCY_KEY_REUSED",
    )
    assert await effects(database) == 1
    assert (await post(near, "k-2", name="y")).status_code == 201


async def test_the_same_key_of_another_route_or_client_is_independent(
    near: httpx2.AsyncClient, database: Database
) -> None:
    await post(near, "k-1")
    assert "idempotent-replayed" not in (await post(near, "k-1", "other")).headers
    for _ in range(2):
        headers = await bearer(database, "recruiter")
        assert "idempotent-replayed" not in (await post(near, "k-1", headers=headers)).headers
    assert await effects(database) == 4


async def test_anonymous_clients_are_told_apart_by_address(database: Database) -> None:
    async with site_with(database, router, proxies=["127.0.0.1"]) as client:
        for address, replayed in (("203.0.113.1", False), ("203.0.113.2", False),
                                  ("203.0.113.1", True)):  # fmt: skip
            answer = await post(client, "k-1", headers={"X-Forwarded-For": address})
            assert ("idempotent-replayed" in answer.headers) is replayed
    assert await effects(database) == 2


@pytest.mark.parametrize(("how", "status"), [("refused", 409), ("crash", 500), ("shapeless", 500)])
async def test_a_failed_request_stores_nothing_and_can_be_repeated(
    near: httpx2.AsyncClient, database: Database, how: str, status: int
) -> None:
    for _ in range(2):
        answer = await post(near, "k-1", how=how)
        assert answer.status_code == status
        assert "idempotent-replayed" not in answer.headers
    assert (await effects(database), await kept(database)) == (0, 0)
    assert (await post(near, "k-1")).status_code == 201


async def test_a_request_that_waited_for_a_failed_one_does_the_work(
    near: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        # The key is claimed already, so the second request waits.
        await tx.execute("LOCK TABLE hiring.blocklist IN SHARE MODE")
        both = [asyncio.create_task(post(near, "k-1")) for _ in range(2)]
        await _until_waiting(database, 2)
        async with database.transaction() as other:
            # Ends the first request as a lost connection would.
            await other.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE wait_event = 'relation' AND datname = current_database()
                """
            )
        await _until_waiting(database, 1)
    statuses = sorted([(await answer).status_code for answer in both])
    assert statuses == [201, 503]
    assert (await effects(database), await kept(database)) == (1, 1)


async def _until_waiting(database: Database, n: int) -> None:
    for _ in range(200):
        async with database.transaction() as tx:
            waiting = await fetch_value(
                tx,
                int,
                """
                SELECT count(*) FROM pg_stat_activity
                 WHERE wait_event_type = 'Lock' AND datname = current_database()
                """,
            )
        if waiting == n:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{n} never waited")


async def test_an_error_response_is_stored_with_its_committed_work(
    near: httpx2.AsyncClient, database: Database
) -> None:
    first = await post(near, "k-1", how="late")
    assert status_and_code(first) == (410, "GONE")
    again = await post(near, "k-1", how="late")
    assert (again.status_code, again.content) == (410, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert await effects(database) == 1


@pytest.mark.parametrize("key", [b"", b"two words", b"x" * 256, "é".encode(), b"a\tb"])
async def test_an_invalid_key_is_refused(
    near: httpx2.AsyncClient, database: Database, key: bytes
) -> None:
    answer = await near.post(
        "/api/try/block", json={"name": "x"}, headers=[(b"Idempotency-Key", key)]
    )
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")
    assert await effects(database) == 0


async def test_a_long_key_is_accepted_but_not_two_keys(
    near: httpx2.AsyncClient, database: Database
) -> None:
    assert (await post(near, "!~" + "x" * 253)).status_code == 201
    twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    answer = await near.post("/api/try/block", json={"name": "x"}, headers=twice)
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")


async def test_responses_are_deleted_after_two_days(tx: Tx) -> None:
    for n, age in enumerate(("49 h", "47 h")):
        await idempotent_responses.claim_key(tx, KeyedRequest(bytes([n]), b"f"))
        await idempotent_responses.store_responses(tx, {bytes([n]): NewResponse(200, "{}")})
        await tx.execute(
            "UPDATE hiring.idempotent_response SET created_at = now() - %s::interval WHERE key = %s",
            [age, bytes([n])],
        )
    assert await idempotent_responses.delete_expired(tx) == 1
    assert await idempotent_responses.claim_key(tx, KeyedRequest(b"\x00", b"f")) is None
    assert await idempotent_responses.claim_key(tx, KeyedRequest(b"\x01", b"f")) == StoredResponse(
        b"\x01", b"f", 200, "{}"
    )

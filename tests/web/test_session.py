from __future__ import annotations

import hashlib
from http.cookies import SimpleCookie

import httpx2
import pytest

from jobmill.db import Database
from jobmill.people import persons
from jobmill.web.auth import SESSION_COOKIE
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.helpers import site_with, status_and_code

RIGHT = {"email": "ada@example.org", "password": PASSWORD}


async def sign_in(client: httpx2.AsyncClient, **body: str) -> httpx2.Response:
    return await client.post("/api/session", json=RIGHT | body)


async def test_a_person_signs_in_and_out(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        assert status_and_code(await client.get("/api/session")) == (401, "UNAUTHENTICATED")
        answer = await sign_in(client, email=" ADA@example.org")
        me = {"name": "Ada", "role": "recruiter", "applicantId": None, "local": False}
        assert (answer.status_code, answer.json()) == (200, me)
        assert (await client.get("/api/session")).json() == me
        session_key = client.cookies[SESSION_COOKIE]
        gone = await client.delete("/api/session")
        assert (gone.status_code, gone.content) == (204, b"")
        assert SESSION_COOKIE not in client.cookies
        # The session ended on the server, not only in this browser.
        copied = await client.get(
            "/api/session", headers={"Cookie": f"{SESSION_COOKIE}={session_key}"}
        )
        assert copied.status_code == 401


@pytest.mark.parametrize(
    ("options", "headers", "secure"),
    [
        ({}, {}, False),
        ({}, {"X-Forwarded-Proto": "https"}, False),
        ({"proxies": ["127.0.0.1"]}, {"X-Forwarded-Proto": "https"}, True),
        ({"proxies": ["127.0.0.1"]}, {"X-Forwarded-Proto": "http"}, False),
    ],
)
async def test_the_session_cookie_is_hidden_from_scripts_and_other_sites(
    database: Database, options: dict[str, list[str]], headers: dict[str, str], secure: bool
) -> None:
    await make_person(database)
    async with site_with(database, **options) as client:
        answer = await client.post("/api/session", json=RIGHT, headers=headers)
    name = f"__Host-{SESSION_COOKIE}" if secure else SESSION_COOKIE
    cookie = SimpleCookie(answer.headers.get_list("set-cookie")[0])[name]
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "lax"
    assert cookie["path"] == "/"
    assert not cookie["domain"]
    assert bool(cookie["secure"]) is secure
    assert answer.headers["cache-control"] == "no-store"


async def test_every_failed_sign_in_gets_the_same_response(database: Database) -> None:
    await make_person(database)
    await make_person(database, "eve@example.org")
    async with database.transaction() as tx:
        await persons.deactivate(tx, "eve@example.org")
    async with site_with(database) as client:
        answers = [
            await sign_in(client, email="nobody@example.org"),
            await sign_in(client, password="wrong password"),
            await sign_in(client, email="eve@example.org"),
        ]
    assert {status_and_code(answer) for answer in answers} == {(401, "UNAUTHENTICATED")}
    assert len({answer.text for answer in answers}) == 1
    assert not any("set-cookie" in answer.headers for answer in answers)


async def test_removed_access_and_a_new_password_end_sessions(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        await sign_in(client)
        async with database.transaction() as tx:
            await persons.set_password(tx, RIGHT["email"], "another password")
        assert (await client.get("/api/session")).status_code == 401
        assert (await sign_in(client)).status_code == 401
        assert (await sign_in(client, password="another password")).status_code == 200
        async with database.transaction() as tx:
            await persons.deactivate(tx, RIGHT["email"])
        assert (await client.get("/api/session")).status_code == 401


async def test_sign_in_attempts_are_counted_for_all_processes_together(database: Database) -> None:
    await make_person(database)
    wrong = {**RIGHT, "password": "wrong"}
    async with site_with(database) as first, site_with(database) as second:
        tried = [
            (await client.post("/api/session", json=wrong)).status_code
            for client in (first, second, first, second, first, second, first)
        ]
    assert tried == [*[401] * 5, 429, 429]


async def test_sign_in_attempts_are_limited_by_network_and_account(database: Database) -> None:
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:

        async def attempt(address: str, email: str) -> int:
            headers = {"X-Forwarded-For": address}
            body = {"email": email, "password": "wrong"}
            return (await client.post("/api/session", json=body, headers=headers)).status_code

        tried = [await attempt("203.0.113.1", RIGHT["email"].upper()) for _ in range(6)]
        assert tried == [*[401] * 5, 429]
        tried = [await attempt("203.0.113.2", f"{n}@example.org") for n in range(21)]
        assert tried == [*[401] * 20, 429]
        # Used up by attempts from many networks, which would take longer than it refills.
        account = hashlib.sha256(RIGHT["email"].encode()).hexdigest()
        async with database.transaction() as tx:
            used = await tx.execute(
                "UPDATE hiring.apply_limit SET resets_at = now() + interval '65 s' WHERE key = %s",
                [f"sign-in of {account}"],
            )
            assert used.rowcount == 1
        refused = await client.post(
            "/api/session", json=RIGHT, headers={"X-Forwarded-For": "203.0.113.99"}
        )
        assert status_and_code(refused) == (429, "RATE_LIMITED")
        assert 0 < int(refused.headers["retry-after"]) <= 12


async def test_the_session_names_the_visitor(database: Database) -> None:
    id, token = await make_applicant(database)
    async with site_with(database, local=True) as client:
        local = (await client.get("/api/session")).json()
        key = (await client.get("/api/session", headers=await bearer(database, "viewer"))).json()
        link = (await client.get("/api/session", params={"key": token})).json()
    assert local == {"name": "local", "role": "admin", "applicantId": None, "local": True}
    assert (key["name"], key["role"]) == ("for a viewer", "viewer")
    assert link == {"name": None, "role": None, "applicantId": id, "local": False}


async def test_a_person_signed_in_on_this_machine_has_their_own_role(database: Database) -> None:
    await make_person(database, role="viewer")
    async with site_with(database, local=True) as client:
        await sign_in(client)
        me = (await client.get("/api/session")).json()
        assert (me["role"], me["local"]) == ("viewer", False)
        await client.delete("/api/session")
        assert (await client.get("/api/session")).json()["role"] == "admin"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"email": "a@b"}',
        b'{"email": 1, "password": "x"}',
        b'{"email": "no address", "password": "x"}',
        b'{"email": "a\\u0000@b", "password": "x"}',
        b'{"email": "a\\ud800@b", "password": "x"}',
        b'{"email": "a@b", "password": "' + b"x" * 1_001 + b'"}',
    ],
)
async def test_an_invalid_sign_in_body_is_400(empty_database: Database, body: bytes) -> None:
    async with site_with(empty_database) as client:
        answer = await client.post(
            "/api/session", content=body, headers={"Content-Type": "application/json"}
        )
        assert status_and_code(answer) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("password", ["\\u0000" * 12, "\\ud83d\\ude00" * 6])
async def test_a_password_may_be_any_text(database: Database, password: str) -> None:
    async with site_with(database) as client:
        answer = await client.post(
            "/api/session",
            content=f'{{"email": "a@b", "password": "{password}"}}',
            headers={"Content-Type": "application/json"},
        )
        assert status_and_code(answer) == (401, "UNAUTHENTICATED")

"""Every route, with the ids of another person in its path, form and body."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

import httpx2
import pytest
from psycopg import sql

from jobmill.db import Database, Tx, fetch_value
from jobmill.people import keys
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.security.json_bodies import json_bodies
from tests.web.api.helpers import apply, make_job
from tests.web.helpers import site_with
from tests.web.test_every_route import OPEN, Route, routes

SECRET = "victim.secret@example.org"
TABLES = (
    "hiring.applicant",
    "hiring.application",
    "people.person",
    "people.session",
    "people.api_key",
    "matching.view",
)


class Intruder(NamedTuple):
    client: httpx2.AsyncClient
    ids: Mapping[str, object]
    """The ids of the victim, by the name of a parameter in lower case."""
    bodies: Mapping[tuple[str, str], dict[str, Any]]
    links: Mapping[str, str]
    """Personal links of the attacker and the victim."""

    def url(self, route: Route, token: str) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1].split(":")[0].lower().replace("_", "")
            return token if name == "token" else str(self.ids.get(name, "withdraw"))

        return re.sub(r"\{([^}]+)\}", fill, route.path)

    async def ask(
        self, route: Route, headers: Mapping[str, str], token: str = "x"
    ) -> tuple[int, str]:
        body: dict[str, Any] = {}
        if route.method != "GET" and route.path.startswith("/api/"):
            body = {"json": self.bodies.get((route.method, route.path), {})}
        elif route.method != "GET":
            body = {"data": {"confirm": "yes", **{name: str(id) for name, id in self.ids.items()}}}
        async with self.client.stream(
            route.method, self.url(route, token), headers=headers, **body
        ) as answer:
            if "event-stream" in answer.headers.get("content-type", ""):
                return answer.status_code, ""
            return answer.status_code, (await answer.aread()).decode("utf-8", "replace")


@pytest.fixture
async def intruder(database: Database) -> AsyncIterator[Intruder]:
    async with site_with(database, public_per_minute=100_000) as client:
        admin = await bearer(database, "admin")
        client.headers.update(admin)
        job = await make_job(client, capacity=5)
        victim, victim_link = await make_applicant(database, SECRET)
        application = (await apply(client, job, victim))["applicationId"]
        _, own_link = await make_applicant(database, "attacker@example.org")
        document = (await client.get("/api/openapi.json")).json()
        del client.headers["Authorization"]
        person = await make_person(database, SECRET, role="admin")
        ids: dict[str, object] = {
            "jobid": job, "openingid": job, "applicantid": victim, "applicationid": application,
            "personid": person.id, **await make_rows(client, database, person.id),
        }  # fmt: skip
        bodies = {
            (body.method, body.path): {
                **body.sample, **{name: ids.get(name.lower(), 1) for name in body.ids}
            }
            for body in json_bodies(document)
        }  # fmt: skip
        yield Intruder(client, ids, bodies, {"own": own_link, "victim": victim_link})


async def make_rows(
    client: httpx2.AsyncClient, database: Database, person_id: int
) -> dict[str, object]:
    """A key and a session of the victim, and a saved view."""
    login = {"email": SECRET, "password": PASSWORD}
    assert (await client.post("/api/session", json=login)).status_code == 200
    client.cookies.clear()
    async with database.transaction() as tx:
        key = await keys.add(tx, "of the victim", "admin", owner_id=person_id)
        session_id = await fetch_value(tx, int, "SELECT id FROM people.session")
        view_id = await fetch_value(
            tx,
            int,
            """
            WITH made AS (INSERT INTO matching.profile (name) VALUES ('main') RETURNING id)
            INSERT INTO matching.view (profile_id, name) SELECT id, 'Good ones' FROM made
            RETURNING id
            """,
        )
    assert session_id
    assert view_id
    return {"keyid": key.id, "sessionid": session_id, "viewid": view_id}


async def test_an_applicant_neither_sees_nor_changes_another(
    intruder: Intruder, database: Database
) -> None:
    before = await snapshot(database)
    header = {"Authorization": f"Link {intruder.links['own']}"}
    cookie = {"Cookie": f"jobmill_link={intruder.links['own']}"}
    leaks: list[str] = []
    attempts = 0
    # The attackers may erase themselves, which ends their link.
    for route in sorted(routes(), key=lambda route: "erase" in route.path):
        if route.name in OPEN and "{token}" not in route.path:
            continue
        for headers in (header, cookie):
            attempts += 1
            status, text = await intruder.ask(route, headers, intruder.links["own"])
            if SECRET in text or (status < 300 and "applicationId" in route.path):
                leaks.append(f"{route.name}: {status}")
    assert leaks == []
    assert changed(before, await snapshot(database)) == []
    assert attempts > 300


async def test_a_token_counts_only_as_it_was_signed(intruder: Intruder, database: Database) -> None:
    """Cut, extended, mixed and re-signed tokens open nothing."""
    own, victim = intruder.links["own"], intruder.links["victim"]
    parts, others = victim.split("."), own.split(".")
    mixed = [".".join([*parts[:n], *others[n:]]) for n in range(1, len(parts))]
    forged = [*mixed, victim[:-1], victim[1:], victim + "A", victim.swapcase(), victim[::-1], ".." + victim, "%00" + victim]  # fmt: skip
    before = await snapshot(database)
    opened: list[str] = []
    for route in routes():
        if "{token}" in route.path:
            for token in forged:
                status, text = await intruder.ask(route, {}, token)
                if (status < 400 and status != 303) or SECRET in text:
                    opened.append(f"{route.name} {token}: {status}")
    assert opened == []
    assert changed(before, await snapshot(database)) == []


@pytest.mark.parametrize("role", ["viewer", "recruiter"])
async def test_staff_do_not_change_accounts_keys_and_sessions_of_others(
    intruder: Intruder, database: Database, role: Any
) -> None:
    await make_person(database, "staff@example.org", role=role)
    login = {"email": "staff@example.org", "password": PASSWORD}
    assert (await intruder.client.post("/sign-in", data=login)).status_code == 303
    before = await snapshot(database, "people.person", "people.session", "people.api_key")
    cookies = dict(intruder.client.cookies)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    for route in routes():
        # Ending one's own session is no attack.
        if route.path.startswith(("/people", "/api/people", "/api/keys", "/settings")):
            status, text = await intruder.ask(route, headers)
            assert status in (403, 404, 405), route.name
            assert SECRET not in text
    after = await snapshot(database, "people.person", "people.session", "people.api_key")
    assert changed(before, after) == []


async def snapshot(database: Database, *tables: str) -> dict[str, list[str]]:
    async with database.transaction() as tx:
        return {table: await _rows(tx, table) for table in tables or TABLES}


async def _rows(tx: Tx, table: str) -> list[str]:
    name = sql.Identifier(*table.split("."))
    # Reading a link or a key may note when it was last used.
    cursor = await tx.execute(
        sql.SQL(
            "SELECT (to_jsonb(t) - 'last_used_at' - 'used_at' - 'last_seen_at')::text FROM {} t"
        ).format(name)
    )
    return sorted(str(row[0]) for row in await cursor.fetchall())


def changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> list[str]:
    """Rows of others that are gone or different; attackers may change their own."""
    return [
        row
        for table, rows in before.items()
        for row in rows
        if row not in after[table] and "attacker@example.org" not in row
    ]

"""Every route, requested by every kind of visitor.

By default viewers may read and recruiters may change. The tables below list the routes with another
rule: recruiters have the openings, and the rest of the installation belongs to admins.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import NamedTuple, cast

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from jobmill.db import Database
from jobmill.people import keys
from jobmill.people.keys import Scope
from jobmill.people.persons import Role
from jobmill.web import site
from jobmill.web.auth import RANKS, SESSION_COOKIE
from jobmill.web.workspaces import all_workspaces
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.api.helpers import apply, make_job
from tests.web.helpers import site_with

OPEN = {
    "GET /api/healthz",
    "GET /api/openapi.json",
    "GET /api/jobs",
    "POST /api/apply-public",
    "POST /api/offers/{token}",
    "POST /api/session",
    "DELETE /api/session",
    "GET /healthz",
    "GET /readyz",
    "GET /openings",
    "GET /openings/feed.xml",
    "GET /openings/{opening_id}",
    "POST /openings/{opening_id}",
    "GET /my",
    "POST /my",
    "POST /my/forget",
    "GET /sign-in",
    "POST /sign-in",
    "GET /sign-in/code",
    "POST /sign-in/code",
    "GET /sign-in/local",
    "POST /sign-out",
}
"""Public routes."""

SIGNED = ("/my/{token}", "/offer/{token}", "/confirm/{token}")
"""Routes with a personal link in the path, which is their only credential."""

OWN = {
    "POST /api/apply",
    "POST /api/withdraw",
    "POST /api/acknowledge",
    "POST /api/applications/{applicationId}/decline",
    "GET /api/applicants/{applicantId}",
    "GET /api/status/{applicantId}",
    "GET /api/timeline/{applicantId}",
    "GET /api/applicants/{applicantId}/export",
    "POST /api/applicants/{applicantId}/erase",
    "GET /api/session",
}
"""Routes that applicants may also use for themselves."""

BODIES = {
    "POST /api/apply": {"jobId": 999_999, "applicantId": 999_999},
    "POST /api/withdraw": {"applicationId": 999_999},
    "POST /api/acknowledge": {"applicationId": 999_999},
}
"""Routes whose body says whose application it is: they check the body before the credentials."""

LEAST: dict[str, Role] = {
    "POST /account/password": "viewer",
    "POST /account/sessions/end": "viewer",
    "POST /account/two-factor/app": "viewer",
    "POST /account/two-factor/app/confirm": "viewer",
    "POST /account/two-factor/app/remove": "viewer",
    "POST /account/two-factor/recovery-codes": "viewer",
    "POST /account/two-factor/passkeys/new": "viewer",
    "POST /account/two-factor/passkeys": "viewer",
    "POST /account/two-factor/passkeys/{passkey_id}/remove": "viewer",
    "POST /account/sessions/{session_id}/end": "viewer",
    "POST /api/session/confirm": "viewer",
    "POST /today/intro": "viewer",
    "GET /companies/new": "admin",
}
"""Exceptions from the rule."""

ADMINS = (
    "/people",
    "/settings",
    "/demo",
    "/api/webhooks",
    "/activity",
    "/health",
    "/queue",
    "/rotation",
    "/sources",
    "/profile",
    "/setup",
    "/budget",
    "/reports",
    "/api/reports",
)
"""Everything below these paths is for admins."""

ADMINS_CHANGE = ("/matches", "/jobs", "/companies", "/api/submissions")
"""Viewers may read below these paths, and admins may change."""

READS = ("GET", "HEAD")
CHANGES = ("POST", "PUT", "PATCH", "DELETE")


class Route(NamedTuple):
    method: str
    path: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_signed(self) -> bool:
        return self.path.startswith(SIGNED)

    @property
    def least(self) -> Role:
        """The role that the route needs."""
        if self.name in LEAST:
            return LEAST[self.name]
        if self.is_below(ADMINS):
            return "admin"
        if self.method in READS:
            return "viewer"
        return "admin" if self.is_below(ADMINS_CHANGE) else "recruiter"

    def is_below(self, paths: tuple[str, ...]) -> bool:
        return any(self.path == top or self.path.startswith(f"{top}/") for top in paths)


_routes: list[Route] = []


def routes(database: Database) -> list[Route]:
    """All routes, cached since they do not depend on the database."""
    if not _routes:
        app = cast(FastAPI, site.create_app(database).app)
        for route in iter_route_contexts(app.routes):
            methods = sorted(set(route.methods or ()) - {"HEAD"})
            _routes.extend(Route(method, str(route.path)) for method in methods)
    return _routes


class RouteTester(NamedTuple):
    """Rows for every route."""

    ids: dict[str, int]
    nobody: httpx2.AsyncClient
    headers: dict[str, dict[str, str]]

    def url(self, route: Route) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1].split(":")[0]
            value = self.ids.get(name.replace("Id", "_id").lower())
            return str(value or (999_999 if name.lower().endswith(("id", "seq")) else "x"))

        return re.sub(r"\{([^}]+)\}", fill, route.path)

    async def ask(self, route: Route, who: str) -> int:
        """Only the status: some responses are endless streams."""
        params = {"topic": "queue"} if route.path == "/live" else {}
        is_api_change = route.path.startswith("/api/") and route.method in CHANGES
        body = {"json": BODIES.get(route.name, {})} if is_api_change else {}
        async with self.nobody.stream(
            route.method, self.url(route), headers=self.headers[who], params=params, **body
        ) as answer:
            return answer.status_code


async def cookie(client: httpx2.AsyncClient, database: Database, role: Role) -> dict[str, str]:
    """Headers with a session of a person with this role."""
    person = await make_person(database, f"{role}@example.org", role)
    body = {"email": person.email, "password": PASSWORD}
    assert (await client.post("/api/session", json=body)).status_code == 200
    headers = {"Cookie": f"{SESSION_COOKIE}={client.cookies[SESSION_COOKIE]}"}
    client.cookies.clear()
    return headers


async def make_world(client: httpx2.AsyncClient, database: Database) -> RouteTester:
    headers: dict[str, dict[str, str]] = {"nobody": {}}
    for role in ("viewer", "recruiter", "admin"):
        headers[role] = await cookie(client, database, role)
        headers[f"key of a {role}"] = await bearer(database, role)
    _, link = await make_applicant(database)
    headers["applicant"] = {"Authorization": f"Link {link}"}
    client.headers.update(headers["key of a admin"])
    job = await make_job(client)
    application = (await apply(client, job))["applicationId"]
    del client.headers["Authorization"]
    other, _ = await make_applicant(database, "cy@example.org")
    ids = {"job_id": job, "opening_id": job, "application_id": application, "applicant_id": other}
    return RouteTester(ids, client, headers)


@pytest.fixture
async def world(database: Database) -> AsyncIterator[RouteTester]:
    async with site_with(database, public_per_minute=10_000) as client:
        yield await make_world(client, database)


async def test_anonymous_visitors_reach_only_public_routes(
    world: RouteTester, database: Database
) -> None:
    wrong: dict[str, int] = {}
    for route in routes(database):
        status = await world.ask(route, "nobody")
        is_refused = status >= 400 if route.is_signed else status == 401
        if not is_refused and route.name not in OPEN:
            wrong[route.name] = status
    assert wrong == {}


async def test_a_personal_link_opens_no_staff_route(world: RouteTester, database: Database) -> None:
    wrong: dict[str, int] = {}
    for route in routes(database):
        if route.name in OPEN or route.is_signed:
            continue
        status = await world.ask(route, "applicant")
        # Applicants may not act for another applicant.
        is_session = route.name == "GET /api/session"
        if not (is_session or status == 403 or (route.name in OWN and status >= 400)):
            wrong[route.name] = status
    assert wrong == {}


@pytest.mark.parametrize("role", ["viewer", "recruiter"])
async def test_no_role_may_use_routes_of_a_higher_role(
    world: RouteTester, database: Database, role: Role
) -> None:
    wrong: dict[str, int] = {}
    for route in routes(database):
        if route.name in OPEN | OWN or route.is_signed or RANKS[role] >= RANKS[route.least]:
            continue
        status = await world.ask(route, role)
        if status != 403:
            wrong[route.name] = status
    assert wrong == {}


@pytest.mark.parametrize("role", ["viewer", "recruiter", "admin"])
async def test_every_role_may_use_its_routes(
    world: RouteTester, database: Database, role: Role
) -> None:
    """Viewers may not open pages that only lead to a change."""
    wrong: dict[str, int] = {}
    for route in routes(database):
        if route.is_signed or RANKS[role] < RANKS[route.least] or route.name in OPEN:
            continue
        if route.name in OWN and role != "admin":
            continue
        status = await world.ask(route, role)
        asks = role == "viewer" and status == 403 and is_asking(route, database)
        if status in (401, 403) and not asks:
            wrong[route.name] = status
    assert wrong == {}


SCOPE_ROLES: dict[Scope, Role | None] = {
    "metrics": None,
    "read": "viewer",
    "hiring": "recruiter",
    "admin": "admin",
}


@pytest.mark.parametrize("scope", list(SCOPE_ROLES))
async def test_a_key_opens_the_routes_of_its_scope_and_no_others(
    world: RouteTester, database: Database, scope: Scope
) -> None:
    async with database.transaction() as tx:
        made = await keys.add(tx, scope, scope)
    world.headers["key"] = {"Authorization": f"Bearer {made.key}"}
    role, wrong = SCOPE_ROLES[scope], dict[str, int]()
    for route in routes(database):
        if route.name in OPEN | OWN or route.is_signed:
            continue
        status = await world.ask(route, "key")
        if route.path == "/people" or route.path.startswith("/people/"):
            allowed = False
        else:
            allowed = route.path == "/metrics" or RANKS[role] >= RANKS[route.least]
        asks = role == "viewer" and is_asking(route, database)
        if (status in (401, 403)) is allowed and not asks:
            wrong[route.name] = status
    assert wrong == {}


def is_asking(route: Route, database: Database) -> bool:
    """Whether a page is only the form or the confirmation of a change."""
    return Route("POST", route.path) in routes(database) or route.path.endswith("/new")


@pytest.mark.parametrize("role", ["viewer", "recruiter", "admin"])
async def test_the_menu_links_only_to_allowed_pages(
    world: RouteTester, database: Database, role: Role
) -> None:
    paths = {route.path for route in routes(database)}
    for workspace in all_workspaces():
        for entry in workspace.entries:
            assert entry.path in paths, entry.path
            status = await world.ask(Route("GET", entry.path), role)
            assert (status == 403) is (RANKS[role] < RANKS[entry.role]), (entry.path, status)


@pytest.mark.parametrize("role", ["viewer", "recruiter"])
async def test_pages_of_viewers_and_recruiters_do_not_link_to_pages_of_admins(
    world: RouteTester, role: Role
) -> None:
    headers = world.headers[role] | {"Accept": "text/html"}
    for path in (
        "/today", "/matches", "/matches/board", "/jobs", "/companies", "/hiring",
        "/hiring/applicants", "/hiring/messages", "/account",
    ):  # fmt: skip
        page = await world.nobody.get(path, headers=headers)
        assert page.status_code == 200, path
        links = set(re.findall(r'href="(/[^"?#]*)', page.text))
        assert "/today" in links
        assert not {link for link in links if Route("GET", link).is_below(ADMINS)}, path


async def test_a_browser_without_a_session_is_sent_to_sign_in_from_every_page(
    world: RouteTester, database: Database
) -> None:
    world.headers["nobody"] = {"Accept": "text/html"}
    wrong: dict[str, int] = {}
    for route in routes(database):
        inside = not (route.name in OPEN | OWN or route.is_signed or route.path.startswith("/api"))
        if not inside:
            continue
        status = await world.ask(route, "nobody")
        if status != (303 if route.method in READS else 401):
            wrong[route.name] = status
    assert wrong == {}


async def test_no_page_of_another_site_changes_anything_with_a_session(database: Database) -> None:
    await make_person(database, role="admin")
    async with site_with(database) as client:
        body = {"email": "ada@example.org", "password": PASSWORD}
        assert (await client.post("/sign-in", data=body)).status_code == 303
        foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
        world = RouteTester({}, client, {"foreign": foreign})
        allowed = {
            route.name: status
            for route in routes(database)
            if route.method in CHANGES and (status := await world.ask(route, "foreign")) != 403
        }
    assert allowed == {}


def test_the_route_tables_name_only_existing_routes(database: Database) -> None:
    """The tables must not name removed routes."""
    there = {route.name for route in routes(database)}
    assert OPEN | OWN | set(BODIES) | set(LEAST) <= there

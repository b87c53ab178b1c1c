"""Every route, requested by every kind of visitor.

A route belongs to a workspace, which its visitor must have the right to read or to change. By default
it is hiring; the tables below list the others. tests/security/test_private_job_search.py adds
the owners of job searches.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import cache
from typing import NamedTuple

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from jobmill.catalog import companies
from jobmill.db import Database
from jobmill.matching import matches, profiles
from jobmill.matching.profile import Profile
from jobmill.people import keys, persons
from jobmill.people.keys import Scope
from jobmill.people.persons import Role
from jobmill.web import access_rights, site
from jobmill.web.access_rights import ROLE_RIGHTS, SCOPE_RIGHTS, Access, Rights, Workspace
from jobmill.web.auth import SESSION_COOKIE
from jobmill.web.workspace_menus import all_workspaces
from tests.matching import judged
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.api.helpers import apply, make_job
from tests.web.helpers import site_with

OPEN = {
    "GET /api/healthz",
    "GET /api/openapi.json",
    "GET /api/docs",
    "GET /api/jobs",
    "GET /api/jobs/{jobId}/lottery",
    "GET /api/jobs/{jobId}/fairness",
    "GET /api/jobs/{jobId}/fairness/log",
    "POST /api/apply-public",
    "GET /api/jobs/{jobId}/form",
    "POST /api/jobs/{jobId}/files",
    "POST /api/offers/{token}",
    "POST /api/session",
    "DELETE /api/session",
    "GET /healthz",
    "GET /readyz",
    "GET /openings",
    "GET /openings/feed.xml",
    "GET /openings/feed.json",
    "GET /openings/embed",
    "GET /openings/company.css",
    "GET /openings/logo",
    "GET /openings/{opening_id}",
    "POST /openings/{opening_id}",
    "GET /openings/{opening_id}/draw",
    "GET /openings/{opening_id}/fairness",
    "GET /openings/{opening_id}/fairness/log.jsonl",
    "GET /openings/{opening_id}/fairness/verify_fairness.py",
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

SIGNED = (
    "/my/{token}",
    "/offer/{token}",
    "/confirm/{token}",
    "/unsubscribe/{token}",
    "/feeds/{token}.atom",
)
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
    "GET /api/applications/{applicationId}/interview",
    "PUT /api/applications/{applicationId}/interview",
    "DELETE /api/applications/{applicationId}/interview",
}
"""Routes that applicants may also use for themselves."""

BODIES = {
    "POST /api/apply": {"jobId": 999_999, "applicantId": 999_999},
    "POST /api/withdraw": {"applicationId": 999_999},
    "POST /api/acknowledge": {"applicationId": 999_999},
    "PUT /api/applications/{applicationId}/interview": {"interviewId": 999_999},
}
"""Routes whose body says whose application it is: they check the body before the credentials."""

SIGNED_IN = ("/account", "/live", "/api/session/confirm", "/api/notifications")
"""Everything below these paths, and the home page, is for everyone with an account."""

SYSTEM = (
    "/people",
    "/settings",
    "/demo",
    "/api/webhooks",
    "/activity",
    "/health",
    "/queue",
    "/rotation",
    "/sources",
    "/budget",
    "/api/sources",
    "/api/approvals",
    "/api/searches",
    "/api/rotation",
    "/api/tasks",
    "/api/lineages",
    "/api/work-queue",
    "/api/budget",
    "/api/health",
    "/api/people",
    "/api/keys",
)
SEARCH = (
    "/today",
    "/matches",
    "/applications",
    "/documents",
    "/profile",
    "/setup",
    "/jobs",
    "/companies",
    "/api/submissions",
    "/api/documents",
    "/api/listings",
    "/api/matches",
    "/api/saved-views",
    "/api/tracked-applications",
    "/api/profiles",
    "/api/companies",
)

SEARCH_OF_ADMINS = {
    "POST /api/companies",
    "POST /api/companies/track",
    "POST /api/companies/{company_id}/analyze",
    "GET /companies/new",
    "POST /companies/new",
    "POST /companies/{company_id}/analyse",
    "GET /setup/companies",
    "POST /setup/companies",
    "GET /setup/model",
    "POST /setup/model",
}
"""Routes of the job search that change what everyone shares."""

HIRING_OF_ADMINS = {
    "GET /reports/{report_id}/delete",
    "POST /reports/{report_id}/delete",
    "DELETE /api/reports/{report_id}",
    "GET /hiring/company/webhooks",
    "POST /hiring/company/webhooks",
    "GET /hiring/company/webhooks/{webhook_id}",
    "GET /hiring/company/webhooks/{webhook_id}/delete",
    "POST /hiring/company/webhooks/{webhook_id}/delete",
    "POST /hiring/company/webhooks/{webhook_id}/state",
    "POST /hiring/company/webhooks/{webhook_id}/deliveries/{delivery_id}/replay",
    "GET /hiring/{opening_id}/people/{application_id}/erase",
    "POST /hiring/{opening_id}/people/{application_id}/erase",
}
"""Routes of hiring that delete for good, or send data to other servers."""

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
    def needs(self) -> tuple[Workspace, Access] | None:
        """The right that the route needs; None: an account."""
        if self.path == "/" or self.is_below(SIGNED_IN):
            return None
        access: Access = "read" if self.method in READS else "change"
        if self.name in SEARCH_OF_ADMINS | HIRING_OF_ADMINS:
            return "system", "change"
        if self.is_below(SEARCH):
            return "search", access
        # A page of the system only leads to changes, so reading it is for admins, too.
        return ("system", "change") if self.is_below(SYSTEM) else ("hiring", access)

    def is_for(self, rights: Rights) -> bool:
        return self.needs is None or access_rights.may(rights, *self.needs)

    def refusal(self, rights: Rights) -> int:
        """The status for visitors without the right: a job search that is not theirs does not exist."""
        return 404 if self.is_below(SEARCH) and "search" not in rights else 403

    def is_below(self, paths: tuple[str, ...]) -> bool:
        return any(self.path == top or self.path.startswith(f"{top}/") for top in paths)


@cache
def routes() -> list[Route]:
    """All routes but the static files."""
    return [
        Route(method, str(route.path))
        for route in iter_route_contexts(site.list_routes())
        for method in sorted(set(route.methods or ()) - {"HEAD"})
    ]


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
    for role in ROLE_RIGHTS:
        headers[role] = await cookie(client, database, role)
    _, link = await make_applicant(database)
    headers["applicant"] = {"Authorization": f"Link {link}"}
    client.headers.update(await bearer(database, "admin"))
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


async def test_anonymous_visitors_reach_only_public_routes(world: RouteTester) -> None:
    wrong: dict[str, int] = {}
    for route in routes():
        status = await world.ask(route, "nobody")
        is_refused = status >= 400 if route.is_signed else status == 401
        if not is_refused and route.name not in OPEN:
            wrong[route.name] = status
    assert wrong == {}


async def test_a_personal_link_opens_no_staff_route(world: RouteTester) -> None:
    wrong: dict[str, int] = {}
    for route in routes():
        if route.name in OPEN or route.is_signed:
            continue
        status = await world.ask(route, "applicant")
        # Applicants may not act for another applicant.
        is_session = route.name == "GET /api/session"
        if not (is_session or status == 403 or (route.name in OWN and status >= 400)):
            wrong[route.name] = status
    assert wrong == {}


@pytest.mark.parametrize("role", ["seeker", "viewer", "recruiter"])
async def test_no_role_may_use_routes_that_it_has_no_right_to(
    world: RouteTester, role: Role
) -> None:
    wrong: dict[str, int] = {}
    for route in routes():
        rights = ROLE_RIGHTS[role]
        if route.name in OPEN | OWN or route.is_signed or route.is_for(rights):
            continue
        status = await world.ask(route, role)
        if status != route.refusal(rights):
            wrong[route.name] = status
    assert wrong == {}


@pytest.mark.parametrize("role", list(ROLE_RIGHTS))
async def test_every_role_may_use_its_routes(world: RouteTester, role: Role) -> None:
    """Viewers may not open pages that only lead to a change."""
    wrong: dict[str, int] = {}
    for route in routes():
        if route.is_signed or not route.is_for(ROLE_RIGHTS[role]) or route.name in OPEN:
            continue
        if route.name in OWN and role != "admin":
            continue
        status = await world.ask(route, role)
        asks = role == "viewer" and status == 403 and is_asking(route)
        if status in (401, 403) and not asks:
            wrong[route.name] = status
    assert wrong == {}


@pytest.mark.parametrize("scope", list(SCOPE_RIGHTS))
async def test_a_key_opens_the_routes_of_its_scope_and_no_others(
    world: RouteTester, database: Database, scope: Scope
) -> None:
    async with database.transaction() as tx:
        made = await keys.add(tx, scope, scope)
    world.headers["key"] = {"Authorization": f"Bearer {made.key}"}
    rights, wrong = SCOPE_RIGHTS[scope], dict[str, int]()
    for route in routes():
        if route.name in OPEN | OWN or route.is_signed:
            continue
        status = await world.ask(route, "key")
        if route.is_below(access_rights.PEOPLE_PATHS):
            allowed = False
        elif scope == "metrics":
            allowed = route.path == "/metrics"
        else:
            allowed = route.is_for(rights)
        asks = scope == "read" and is_asking(route)
        refused = (401, 403) if allowed or scope == "metrics" else (route.refusal(rights), 403)
        if (status in refused) is allowed and not asks:
            wrong[route.name] = status
    assert wrong == {}


def is_asking(route: Route) -> bool:
    """Whether a page is only the form or the confirmation of a change."""
    return Route("POST", route.path) in routes() or route.path.endswith("/new")


@pytest.mark.parametrize("role", list(ROLE_RIGHTS))
async def test_the_menu_links_only_to_allowed_pages(world: RouteTester, role: Role) -> None:
    paths = {route.path for route in routes()}
    for workspace in all_workspaces():
        for entry in workspace.entries:
            assert entry.path in paths, entry.path
            status = await world.ask(Route("GET", entry.path), role)
            allowed = access_rights.may(ROLE_RIGHTS[role], workspace.id)
            assert (status == 200) is allowed, (entry.path, status)


LINKING_PAGES: dict[Workspace, tuple[str, ...]] = {
    "search": (
        "/today", "/matches", "/applications", "/jobs", "/jobs/added", "/companies", "/profile",
        "/setup", "/setup/profile", "/setup/matches",
    ),
    "hiring": ("/hiring", "/hiring/applicants", "/hiring/messages", "/reports"),
    "system": (),
}  # fmt: skip


async def find_refused_links(world: RouteTester, role: Role, *more: str) -> dict[str, list[str]]:
    """The links of each page that this role may not open."""
    headers = world.headers[role] | {"Accept": "text/html"}
    rights = ROLE_RIGHTS[role]
    refused: dict[str, list[str]] = {}
    for path in ("/account", *(path for name in rights for path in LINKING_PAGES[name]), *more):
        page = await world.nobody.get(path, headers=headers)
        assert page.status_code == 200, path
        links = sorted(set(re.findall(r'href="(/[^"?#]*)', page.text)))
        if wrong := [link for link in links if not may_follow(link, rights)]:
            refused[path] = wrong
    return refused


def may_follow(link: str, rights: Rights) -> bool:
    """Whether the first route that this path matches is for these rights."""
    for context in iter_route_contexts(site.list_routes()):
        if "GET" in (context.methods or ()) and context.path_regex.match(link):
            route = Route("GET", str(context.path))
            return route.name in OPEN or route.is_for(rights)
    return link.startswith("/static/")


@pytest.mark.parametrize("role", ["viewer", "recruiter"])
async def test_pages_do_not_link_to_workspaces_that_a_role_cannot_open(
    world: RouteTester, role: Role
) -> None:
    assert await find_refused_links(world, role) == {}


async def test_no_page_of_a_seeker_links_to_what_only_admins_may_open(
    world: RouteTester, database: Database
) -> None:
    """From the empty job search to one with a match of a source that fails."""
    assert await find_refused_links(world, "seeker") == {}
    async with database.transaction() as tx:
        seeker = await persons.get_by_email(tx, "seeker@example.org")
        await profiles.save(tx, "main", Profile(), owner=seeker.id)
    assert await find_refused_links(world, "seeker") == {}
    async with database.transaction() as tx:
        place = await judged.make(tx, owner=seeker.id)
        await tx.execute("UPDATE catalog.source SET consecutive_failures = 1")
    assert await find_refused_links(world, "seeker") == {}
    async with database.transaction() as tx:
        match = await matches.save_verdict(tx, place.word(90))
        company = await companies.get_or_create(tx, "Wells & Co", "https://wells.example")
    paths = [f"/matches/{match}", f"/applications/{match}", f"/jobs/{place.listing}"]
    assert await find_refused_links(world, "seeker", *paths, f"/companies/{company}") == {}


async def test_a_browser_without_a_session_is_sent_to_sign_in_from_every_page(
    world: RouteTester,
) -> None:
    world.headers["nobody"] = {"Accept": "text/html"}
    wrong: dict[str, int] = {}
    for route in routes():
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
            for route in routes()
            if route.method in CHANGES and (status := await world.ask(route, "foreign")) != 403
        }
    assert allowed == {}


def test_the_route_tables_name_only_existing_routes() -> None:
    """The tables must not name removed routes."""
    there = {route.name for route in routes()}
    assert OPEN | OWN | set(BODIES) | SEARCH_OF_ADMINS <= there

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts

from jobmill.db import Database
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.people import keys, persons, secrets
from jobmill.people.persons import Role
from jobmill.web import auth, rate_limits, site
from jobmill.web.auth import Admin, Anyone, Links, Recruiter, Viewer, Visitor
from jobmill.web.rate_limits import Public
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.helpers import site_with, status_and_code

router = APIRouter(prefix="/api/try")


def shown(visitor: Visitor) -> dict[str, Any]:
    return dataclasses.asdict(visitor)


@router.get("/anyone")
async def anyone(visitor: Anyone) -> dict[str, Any]:
    return shown(visitor)


@router.get("/public")
async def public(visitor: Public) -> dict[str, Any]:
    return shown(visitor)


@router.get("/viewer")
async def viewer(visitor: Viewer) -> dict[str, Any]:
    return shown(visitor)


@router.get("/recruiter")
async def recruiter(visitor: Recruiter) -> dict[str, Any]:
    return shown(visitor)


@router.get("/admin")
async def admin(visitor: Admin) -> dict[str, Any]:
    return shown(visitor)


@router.get("/applicants/{id}")
async def one_applicant(id: int, visitor: Anyone) -> dict[str, Any]:
    visitor.require("viewer", applicant_id=id)
    return shown(visitor)


@router.get("/link/{id}")
async def link(id: int, links: Links) -> str:
    return links.sign_personal(id, 1, dt.datetime.now(dt.UTC))


@pytest.fixture
async def far(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    """A site that needs credentials."""
    async with site_with(database, router) as client:
        yield client


GATES = ("anyone", "public", "viewer", "recruiter", "admin")


@pytest.mark.parametrize(
    ("role", "statuses"),
    [
        ("admin", [200, 200, 200, 200, 200]),
        ("recruiter", [200, 200, 200, 200, 403]),
        ("viewer", [200, 200, 200, 403, 403]),
        ("applicant", [200, 200, 403, 403, 403]),
        (None, [200, 200, 401, 401, 401]),
    ],
)
async def test_every_role_reaches_its_own_routes_and_no_others(
    far: httpx2.AsyncClient, database: Database, role: Any, statuses: list[int]
) -> None:
    headers: dict[str, str] = {}
    if role == "applicant":
        headers = {"Authorization": f"Link {(await make_applicant(database))[1]}"}
    elif role:
        headers = await bearer(database, role)
    answers = [await far.get(f"/api/try/{gate}", headers=headers) for gate in GATES]
    assert [answer.status_code for answer in answers] == statuses
    codes = {200: None, 401: (401, "UNAUTHENTICATED"), 403: (403, "FORBIDDEN")}
    for answer in answers:
        if expected := codes[answer.status_code]:
            assert status_and_code(answer) == expected
        if answer.status_code == 401:
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_an_api_key_is_recorded_as_actor_with_the_request_id(
    far: httpx2.AsyncClient, database: Database
) -> None:
    headers = {**await bearer(database, "recruiter"), "X-Request-ID": "r-7"}
    visitor = (await far.get("/api/try/anyone", headers=headers)).json()
    async with database.transaction() as tx:
        [key] = await keys.find_all(tx)
    assert visitor["actor"] == {"side": "company", "name": f"key:{key.id}", "request": "r-7"}
    assert (visitor["role"], visitor["local"], visitor["applicant_id"]) == (
        "recruiter",
        False,
        None,
    )


async def test_a_revoked_or_unknown_key_is_refused_everywhere(
    far: httpx2.AsyncClient, database: Database
) -> None:
    headers = await bearer(database, "admin")
    async with database.transaction() as tx:
        [key] = await keys.find_all(tx)
        await keys.revoke(tx, key.id)
    for bad in (headers, {"Authorization": "Bearer jm_x"}, {"Authorization": "Bearer"}):
        assert status_and_code(await far.get("/api/try/anyone", headers=bad)) == (
            401,
            "UNAUTHENTICATED",
        )


async def test_the_user_who_runs_a_local_server_may_do_everything(database: Database) -> None:
    async with site_with(database, router, local=True) as near:
        for gate in GATES:
            visitor = (await near.get(f"/api/try/{gate}", headers={"X-Request-ID": "r-8"})).json()
            assert (visitor["role"], visitor["local"]) == ("admin", True)
            assert visitor["actor"] == {"side": "company", "name": "local", "request": "r-8"}


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Host"]
)
async def test_a_request_through_a_proxy_is_not_local(database: Database, header: str) -> None:
    async with site_with(database, router, local=True) as near:
        answer = await near.get("/api/try/viewer", headers={header: "203.0.113.9"})
        assert status_and_code(answer) == (401, "UNAUTHENTICATED")


async def test_explicit_credentials_override_local_access(database: Database) -> None:
    _, token = await make_applicant(database)
    async with site_with(database, router, local=True) as near:
        for headers, status in (
            (await bearer(database, "viewer"), 403),
            ({"Authorization": f"Link {token}"}, 403),
            ({"Authorization": "Bearer jm_x"}, 401),
            # Basic credentials of a proxy are ignored.
            ({"Authorization": "Basic eDp5"}, 200),
        ):
            answer = await near.get("/api/try/admin", headers=headers)
            assert answer.status_code == status, headers


async def test_applicants_reach_only_their_own_data(
    far: httpx2.AsyncClient, database: Database
) -> None:
    (own_id, token), (theirs, _) = (
        await make_applicant(database),
        await make_applicant(database, "cy@example.org"),
    )
    ways = (
        {"headers": {"Authorization": f"Link {token}"}},
        {"params": {"key": token}},
        {"headers": {"Cookie": f"{auth.LINK_COOKIE}={token}"}},
    )
    for way in ways:
        visitor = (await far.get(f"/api/try/applicants/{own_id}", **way)).json()
        assert (visitor["applicant_id"], visitor["role"]) == (own_id, None)
        assert visitor["actor"]["name"] == f"applicant:{own_id}"
        assert status_and_code(await far.get(f"/api/try/applicants/{theirs}", **way)) == (
            403,
            "FORBIDDEN",
        )
    assert status_and_code(await far.get(f"/api/try/applicants/{own_id}")) == (
        401,
        "UNAUTHENTICATED",
    )
    viewer = await bearer(database, "viewer")
    assert (await far.get(f"/api/try/applicants/{own_id}", headers=viewer)).status_code == 200


async def test_invalid_expired_replaced_and_erased_links_are_refused(
    far: httpx2.AsyncClient, database: Database
) -> None:
    id, token = await make_applicant(database)
    async with database.transaction() as tx:
        secret = await secrets.get_signing_key(tx)
    old = LinkSigner(secret).sign_personal(id, 1, dt.datetime.fromtimestamp(0, dt.UTC))
    foreign = LinkSigner(b"f" * 32).sign_personal(id, 1, dt.datetime.now(dt.UTC))
    next_version = LinkSigner(secret).sign_personal(id, 2, dt.datetime.now(dt.UTC))
    for bad in (old, foreign, next_version, token[:-2], "x" * 40):
        for way in ({"headers": {"Authorization": f"Link {bad}"}}, {"params": {"key": bad}}):
            assert status_and_code(await far.get("/api/try/anyone", **way)) == (
                401,
                "UNAUTHENTICATED",
            )
        # An invalid cookie is ignored.
        cookie = {"Cookie": f"{auth.LINK_COOKIE}={bad}"}
        visitor = (await far.get("/api/try/anyone", headers=cookie)).json()
        assert visitor["applicant_id"] is None
    way = {"headers": {"Authorization": f"Link {token}"}}
    assert (await far.get("/api/try/anyone", **way)).status_code == 200
    async with database.transaction() as tx:
        await tx.execute("UPDATE hiring.applicant SET link_version = 2")
    assert (await far.get("/api/try/anyone", **way)).status_code == 401
    newer = {"headers": {"Authorization": f"Link {next_version}"}}
    assert (await far.get("/api/try/anyone", **newer)).status_code == 200
    async with database.transaction() as tx:
        await tx.execute("UPDATE hiring.applicant SET erased_at = now(), email_key = NULL")
    assert (await far.get("/api/try/anyone", **newer)).status_code == 401


async def test_a_remembered_link_does_not_reduce_local_rights(database: Database) -> None:
    id, token = await make_applicant(database)
    async with site_with(database, router, local=True) as near:
        near.cookies.set(auth.LINK_COOKIE, token)
        visitor = (await near.get("/api/try/admin")).json()
        assert (visitor["role"], visitor["applicant_id"]) == ("admin", id)


async def test_links_that_a_handler_signs_are_accepted(
    far: httpx2.AsyncClient, database: Database
) -> None:
    id, _ = await make_applicant(database)
    token = (await far.get(f"/api/try/link/{id}")).json()
    assert (await far.get(f"/api/try/applicants/{id}", params={"key": token})).status_code == 200


@pytest.mark.parametrize("role", ["viewer", "recruiter", "admin"])
async def test_pages_need_the_viewer_role_on_a_public_server(
    far: httpx2.AsyncClient, database: Database, role: Role
) -> None:
    for path in ("/hiring", "/metrics"):
        assert (await far.get(path)).status_code == 401
        assert (await far.get(path, headers=await bearer(database, role))).status_code == 200
    for path in ("/healthz", "/readyz", "/static/app.css"):
        assert (await far.get(path)).status_code == 200


OPEN = {
    "GET /healthz",
    "HEAD /healthz",
    "GET /readyz",
    "HEAD /readyz",
    "GET /api/healthz",
    "GET /api/openapi.json",
    "GET /api/docs",
    "POST /api/session",
    "DELETE /api/session",
    "POST /sign-out",
    "POST /my/forget",
    "GET /openings",
    "GET /openings/feed.xml",
    "GET /openings/{opening_id}",
}
GUARDS = {auth.identify, auth.viewer, auth.recruiter, auth.admin, rate_limits.check_public}


def calls(dependant: Dependant) -> Iterator[object]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from calls(inner)


def test_every_route_identifies_its_visitor() -> None:
    unasked: set[str] = set()
    for route in iter_route_contexts(site.list_routes()):
        dependencies = (
            set(calls(route.dependant)) if hasattr(route, "dependant") else {auth.identify}
        )
        # A personal link in the path identifies the visitor, too.
        signed = "{token}" in str(route.path) and auth.get_signer in dependencies
        if not (signed or GUARDS & dependencies):
            unasked |= {f"{method} {route.path}" for method in route.methods or ()}
    assert unasked <= OPEN
    assert "POST /api/session" in unasked


async def test_a_role_change_applies_immediately(database: Database) -> None:
    person = await make_person(database, role="viewer")
    async with site_with(database, router) as client:
        body = {"email": person.email, "password": PASSWORD}
        assert (await client.post("/api/session", json=body)).status_code == 200
        assert (await client.get("/api/try/recruiter")).status_code == 403
        async with database.transaction() as tx:
            await persons.set_role(tx, person.email, "recruiter")
        visitor = (await client.get("/api/try/recruiter")).json()
        assert (visitor["name"], visitor["actor"]["name"]) == ("Ada", f"person:{person.id}")

"""What browsers may load, keep and send: pages of other sites, caches, cookies, and many requests."""

from __future__ import annotations

import httpx2
import pytest

from jobmill.db import Database
from jobmill.web.auth import LINK_COOKIE, SESSION_COOKIE
from jobmill.web.rate_limits import READS_PER_CHANGE
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.queue.helpers import fetch
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with
from tests.web.test_every_route import OPEN, READS, RouteTester, routes

HTTPS = {"X-Forwarded-Proto": "https"}
RIGHT = {"email": "ada@example.org", "password": PASSWORD}
EMBEDDED = {
    "image": ("no-cors", "image"),
    "script": ("no-cors", "script"),
    "fetch": ("cors", "empty"),
    "frame": ("navigate", "iframe"),
    "object": ("navigate", "object"),
}


def foreign(mode: str, dest: str, site: str = "cross-site") -> dict[str, str]:
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}


async def test_pages_of_other_sites_cannot_load_any_private_page(
    site: httpx2.AsyncClient, database: Database
) -> None:
    world = RouteTester({}, site, {"image": foreign(*EMBEDDED["image"])})
    private = [route for route in routes() if route.method in READS and route.name not in OPEN]
    answers = {route.name: await world.ask(route, "image") for route in private}
    assert len(answers) > 60
    assert {name: status for name, status in answers.items() if status != 403} == {}


@pytest.mark.parametrize("way", list(EMBEDDED))
@pytest.mark.parametrize("from_site", ["cross-site", "same-site"])
async def test_no_way_of_embedding_loads_a_private_page(
    empty_site: httpx2.AsyncClient, way: str, from_site: str
) -> None:
    headers = foreign(*EMBEDDED[way], from_site)
    assert (await empty_site.get("/matches", headers=headers)).status_code == 403
    assert (await empty_site.get("/openings", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        foreign("navigate", "document"),
        foreign("no-cors", "image", "same-origin"),
        foreign("navigate", "document", "none"),
        {},
    ],
)
async def test_links_own_pages_and_programs_are_not_refused(
    empty_site: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    assert (await empty_site.get("/matches", headers=headers)).status_code == 200


async def test_pages_for_a_certain_visitor_are_not_cached(database: Database) -> None:
    _, link = await make_applicant(database)
    async with site_with(database) as client:
        viewer = await bearer(database, "viewer")
        for path in ("/today", "/matches", "/hiring", "/api/jobs", "/openings"):
            answer = await client.get(path, headers=viewer)
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), path
        for path in (f"/my/{link}", f"/openings?key={link}"):
            assert (await client.get(path)).headers["cache-control"] == "no-store", path
        client.cookies.clear()
        for path in ("/openings", "/static/app.css", "/healthz"):
            assert (await client.get(path)).headers["cache-control"] == "no-cache", path


async def test_cookies_over_https_belong_to_this_host_only(database: Database) -> None:
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:
        answer = await client.post("/api/session", json=RIGHT, headers=HTTPS)
        session = answer.headers.get_list("set-cookie")[0].partition(";")[0]
        client.cookies.clear()
        assert session.startswith(f"__Host-{SESSION_COOKIE}=")
        with_prefix = {"Cookie": f"a=b; {session}"} | HTTPS
        assert (await client.get("/api/session", headers=with_prefix)).status_code == 200
        # A subdomain, or a page without HTTPS, can set a cookie without the prefix.
        planted = {"Cookie": session.removeprefix("__Host-")} | HTTPS
        assert (await client.get("/api/session", headers=planted)).status_code == 401
        ended = await client.delete("/api/session", headers=with_prefix)
        deleted = ended.headers["set-cookie"]
        # Browsers ignore a cookie with the prefix that is not Secure.
        assert deleted.startswith(f"__Host-{SESSION_COOKIE}=")
        assert "; Secure" in deleted
        assert (await client.get("/api/session", headers=with_prefix)).status_code == 401
        _, link = await make_applicant(database)
        opened = await client.get(f"/my/{link}", headers=HTTPS)
        assert opened.headers["set-cookie"].startswith(f"__Host-{LINK_COOKIE}=")


async def test_public_pages_cannot_be_read_without_limit(database: Database) -> None:
    async with site_with(database, public_per_minute=1, proxies=["127.0.0.1"]) as client:
        statuses = [
            (await client.get(path)).status_code
            for path in ("/openings", "/openings/feed.xml") * READS_PER_CHANGE
        ]
        assert statuses.count(200) in range(READS_PER_CHANGE, READS_PER_CHANGE + 3)
        assert statuses[-1] == 429
        other = {"X-Forwarded-For": "203.0.113.9"}
        assert (await client.get("/openings", headers=other)).status_code == 200
        viewer = await bearer(database, "viewer")
        assert (await client.get("/openings", headers=viewer)).status_code == 200


async def test_no_secret_is_stored_for_repeated_requests(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id, _ = await make_applicant(database)
    await make_job(site)
    requests = (
        ("/api/webhooks", {"url": "https://hooks.example/x"}, "secret"),
        (f"/api/applicants/{id}/link", {"renew": True}, "url"),
    )
    for path, body, field in requests:
        headers = {"Idempotency-Key": path}
        first = (await site.post(path, json=body, headers=headers)).json()
        again = await site.post(path, json=body, headers=headers)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first | {field: None}
        stored = await fetch(
            database, "SELECT string_agg(body, '') FROM hiring.idempotent_response"
        )
        assert first[field] not in stored[0]

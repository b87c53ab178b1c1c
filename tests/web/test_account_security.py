"""API keys, sessions and entering the password again, on a public server."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2
import pytest
from fastapi import APIRouter
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, fetch_value
from jobmill.hiring.records import applicants, blocklist
from jobmill.people import keys, persons, stored_settings
from jobmill.people.devices import describe_device
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.site_settings import SiteSettings
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with, status_and_code
from tests.web.hiring_helpers import HTML, attribute, fill, look, post, text, texts

EMAIL = "boss@example.org"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def sign_in(client: httpx2.AsyncClient, email: str = EMAIL) -> None:
    body = {"email": email, "password": PASSWORD}
    assert (await client.post("/api/session", json=body)).status_code == 200


@pytest.fixture
async def boss(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    await make_person(database, EMAIL, "admin")
    async with site_with(database) as client:
        await sign_in(client)
        yield client


async def age_sessions(database: Database, hours: float) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            "UPDATE people.session SET used_at = used_at - %(age)s, authenticated_at = authenticated_at - %(age)s",
            {"age": dt.timedelta(hours=hours)},
        )


async def make_key(
    database: Database, scope: keys.Scope, owner_id: int | None = None
) -> dict[str, str]:
    async with database.transaction() as tx:
        made = await keys.add(tx, "reports", scope, owner_id=owner_id)
    return {"Authorization": f"Bearer {made.key}"}


async def test_a_key_has_no_more_rights_than_its_owner(database: Database) -> None:
    owner = await make_person(database, role="admin")
    key = await make_key(database, "admin", owner.id)
    async with site_with(database) as client:
        roles: list[str] = []
        for role in ("admin", "recruiter", "viewer"):
            async with database.transaction() as tx:
                await persons.set_role(tx, owner.email, role)
            roles.append((await client.get("/api/session", headers=key)).json()["role"])
        assert roles == ["admin", "recruiter", "viewer"]
        async with database.transaction() as tx:
            await persons.deactivate(tx, owner.email)
        assert (await client.get("/api/session", headers=key)).status_code == 401
        # Restoring the person's access does not restore the key.
        async with database.transaction() as tx:
            await persons.add(tx, "Ada", owner.email, "admin", PASSWORD)
        assert (await client.get("/api/session", headers=key)).status_code == 401


async def test_a_metrics_key_reads_metrics_and_nothing_else(database: Database) -> None:
    key = await make_key(database, "metrics")
    async with site_with(database) as client:
        assert (await client.get("/metrics", headers=key)).status_code == 200
        for path in ("/", "/api/jobs", "/api/session", "/metrics/", "/people", "/hiring"):
            assert (await client.get(path, headers=key)).status_code in (403, 404, 307), path


async def test_a_key_page_shows_owner_scope_and_expiry(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    form = await look(boss, "/people/keys/new")
    owner = attribute(form, "[name=owner] option[selected]", "value")
    wish = {"name": "weekly report", "scope": "hiring", "owner": owner, "days": "30"}
    assert (await post(boss, "/people/keys", wish)).status_code == 200
    [row] = texts(await look(boss, "/people"), "[aria-labelledby=keys] tbody tr")
    assert row.startswith("weekly report Hiring Ada never 20")
    person = await look(boss, f"/people/{owner}")
    assert "weekly report" in text(person)
    assert "weekly report" in text(await look(boss, f"/people/{owner}/end"), ".confirmation")
    async with database.transaction() as tx:
        await tx.execute("UPDATE people.api_key SET expires_at = now()")
    assert "1 revoked or expired key" in text(await look(boss, "/people"), "summary")


@pytest.mark.parametrize(("hours", "status"), [(1, 200), (3, 401)])
async def test_an_idle_session_ends(database: Database, hours: float, status: int) -> None:
    await make_person(database, EMAIL, "admin")
    settings = SiteSettings(session_idle=dt.timedelta(hours=2))
    async with site_with(database, site_settings=settings) as client:
        await sign_in(client)
        await age_sessions(database, hours)
        assert (await client.get("/api/session")).status_code == status


async def test_only_a_persons_own_requests_keep_a_session_alive(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    async def is_fresh() -> bool | None:
        async with database.transaction() as tx:
            return await fetch_value(
                tx, bool, "SELECT used_at > now() - interval '1 hour' FROM people.session"
            )

    await age_sessions(database, 5)
    await boss.get("/activity", headers=HTML | {"HX-Request": "true"})
    async with boss.stream("GET", "/live?topic=queue", headers={"Accept": "text/event-stream"}):
        pass
    assert await is_fresh() is False
    await look(boss, "/account")
    assert await is_fresh() is True


async def test_devices_are_listed_and_signed_out_one_by_one(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    await make_person(database, "eve@example.org", "viewer")
    async with site_with(database) as phone, site_with(database) as eve:
        phone.headers["User-Agent"] = FIREFOX
        await sign_in(phone)
        await sign_in(eve, "eve@example.org")
        page = await look(boss, "/account")
        assert "Firefox on Linux" in text(page, ".devices")
        assert "127.0.0.1" in text(page, ".devices")
        [path] = [form.attributes["action"] or "" for form in page.css(".devices form")]
        # Other people cannot end it.
        assert (await post(eve, path)).status_code == 303
        assert (await phone.get("/api/session")).status_code == 200
        assert (await post(boss, path)).headers["location"] == "/account?did=session"
        assert (await phone.get("/api/session")).status_code == 401
        assert (await boss.get("/api/session")).status_code == 200


@pytest.mark.parametrize(
    ("header", "device"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("curl/8.5.0", "curl"),
        ("", ""),
    ],
)  # fmt: skip
def test_devices_are_named(header: str, device: str) -> None:
    assert describe_device(header) == device


async def test_every_change_of_access_asks_for_the_password_again(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    bo = await make_person(database, "bo@example.org", "viewer")
    job = await make_job(boss)
    [application] = await fill(boss, job, "Ada")
    await age_sessions(database, 0.2)
    for path in (
        f"/hiring/{job}/people/{application}/erase",
        "/settings/model-key",
        "/settings/model-key/remove",
        "/people",
        "/people/keys",
        f"/people/{bo.id}/role",
        f"/people/{bo.id}/password",
        f"/people/{bo.id}/end",
    ):
        answer = await post(boss, path, {"role": "admin", "name": "<b>", "scope": "admin"})
        assert answer.status_code == 403, path
        page = Html(answer.text)
        assert attribute(page, "main form", "action") == path
        assert attribute(page, "[name=role][type=hidden]", "value") == "admin"
        assert answer.headers["cache-control"] == "no-store"
    async with database.transaction() as tx:
        assert await persons.get(tx, bo.id) == bo
        assert await keys.find_all(tx) == []
        assert (await applicants.get(tx, 1)).erased_at is None


async def test_settings_that_change_access_ask_for_the_password_again(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    await age_sessions(database, 0.2)
    for name, value in (("public_url", "https://evil.example"), ("session_idle_hours", "999")):
        assert (await post(boss, "/settings/basics", {name: value})).status_code == 403
    harmless = await post(boss, "/settings/basics", {"processors": "4"})
    assert harmless.headers["location"] == "/settings?did=saved#basics"
    form = {"session_idle_hours": "9", "confirm_password": PASSWORD}
    assert (await post(boss, "/settings/basics", form)).status_code == 303
    async with database.transaction() as tx:
        stored = await stored_settings.read_all(tx)
    assert stored == {"processors": "4", "session_idle_hours": "9"}


async def test_the_form_continues_after_the_password(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    bo = await make_person(database, "bo@example.org", "viewer")
    await age_sessions(database, 0.2)
    path = f"/people/{bo.id}/role"
    wrong = await post(boss, path, {"role": "recruiter", "confirm_password": "wrong"})
    assert wrong.status_code == 403
    assert "not your password" in text(Html(wrong.text), "[role=alert]")
    right = await post(boss, path, {"role": "recruiter", "confirm_password": PASSWORD})
    assert right.headers["location"] == f"/people/{bo.id}?did=role"
    # Not asked again for some minutes.
    assert (await post(boss, path, {"role": "admin"})).status_code == 303


async def test_guessing_the_password_again_is_limited(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    await age_sessions(database, 0.2)
    guesses = [
        (await post(boss, "/people/keys", {"confirm_password": f"guess {n}"})).status_code
        for n in range(6)
    ]
    assert guesses == [*[403] * 5, 429]


async def test_erasing_an_applicant_asks_for_the_password_again(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    first, _ = await make_applicant(database)
    second, _ = await make_applicant(database, "cy@example.org")
    await age_sessions(database, 0.2)
    refused = await boss.post(f"/api/applicants/{first}/erase")
    assert status_and_code(refused) == (403, "PASSWORD_NEEDED")
    wrong = await boss.post("/api/session/confirm", json={"password": "wrong"})
    assert status_and_code(wrong) == (403, "PASSWORD_NEEDED")
    right = await boss.post("/api/session/confirm", json={"password": PASSWORD})
    assert right.status_code == 204
    assert (await boss.post(f"/api/applicants/{first}/erase")).status_code == 200
    # A key with the scope for it has no password to enter.
    admin = await bearer(database, "admin")
    boss.cookies.clear()
    answer = await boss.post(f"/api/applicants/{second}/erase", headers=admin)
    assert answer.status_code == 200


class SlowChange:
    """A route that stops before and inside its transaction."""

    def __init__(self) -> None:
        self.arrived, self.begun = asyncio.Event(), asyncio.Event()
        self.may_begin, self.may_end = asyncio.Event(), asyncio.Event()
        self.router = APIRouter()

        @self.router.post("/api/slow")
        async def change(visitor: Recruiter, db: Db) -> None:
            self.arrived.set()
            await self.may_begin.wait()
            async with db.transaction(time_limit=60) as tx:
                await blocklist.add(tx, "eve@example.org", "sends too much")
                self.begun.set()
                await self.may_end.wait()


Revoke = Callable[[Database], Awaitable[None]]


async def revoke_key(database: Database) -> None:
    async with database.transaction() as tx:
        await keys.revoke(tx, 1)


async def remove_owner(database: Database) -> None:
    async with database.transaction() as tx:
        await persons.deactivate(tx, EMAIL)


async def is_waiting_for_a_lock(database: Database) -> None:
    while True:
        async with database.transaction() as tx:
            if await fetch_value(
                tx,
                bool,
                "SELECT true FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
            ):
                return
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("how", "revoke"), [("key", revoke_key), ("key", remove_owner), ("session", remove_owner)]
)
async def test_revoking_waits_for_a_running_change_and_stops_the_next(
    database: Database, how: str, revoke: Revoke
) -> None:
    owner = await make_person(database, EMAIL, "admin")
    key = await make_key(database, "hiring", owner.id)
    for is_late in (False, True):
        slow = SlowChange()
        async with asyncio.timeout(60), site_with(database, slow.router) as client:
            if is_late:
                async with database.transaction() as tx:
                    await tx.execute("DELETE FROM hiring.blocklist")
                    await tx.execute("UPDATE people.api_key SET ended_at = NULL")
                    await tx.execute("UPDATE people.person SET ended_at = NULL")
            if how == "session":
                await sign_in(client)
            headers = key if how == "key" else {}
            change = asyncio.create_task(client.post("/api/slow", headers=headers))
            await slow.arrived.wait()
            if is_late:
                await revoke(database)
                slow.may_end.set()
                slow.may_begin.set()
                assert status_and_code(await change) == (401, "UNAUTHENTICATED")
            else:
                slow.may_begin.set()
                await slow.begun.wait()
                revoking = asyncio.create_task(revoke(database))
                await is_waiting_for_a_lock(database)
                assert not revoking.done()
                slow.may_end.set()
                assert (await change).status_code == 200
                await revoking
        async with database.transaction() as tx:
            count = await fetch_value(tx, int, "SELECT count(*) FROM hiring.blocklist")
        assert count == (0 if is_late else 1)

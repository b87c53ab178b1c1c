"""/people: people and API keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, Tx
from jobmill.errors import NotFound
from jobmill.people import changes, keys, passwords, persons, sessions
from jobmill.people.persons import LastAdmin, Person
from jobmill.web.auth import SESSION_COOKIE
from tests.people.helpers import PASSWORD, make_person
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, attribute, look, post, text, texts

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{7*7}}",
    "\u202egnp.exe",
)
KEY = {"name": "weekly report", "scope": "read", "owner": "", "days": "90"}
BO = {"name": "Bo", "email": "bo@example.org", "role": "recruiter"}


@pytest.fixture
async def boss(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    """An admin, signed in on another machine."""
    await make_person(database, "boss@example.org", "admin")
    async with site_with(database) as client:
        await enter(client, "boss@example.org")
        yield client


async def enter(
    client: httpx2.AsyncClient, email: str, password: str = PASSWORD
) -> httpx2.Response:
    return await post(client, "/sign-in", {"email": email, "password": password})


async def find(database: Database, email: str) -> Person:
    async with database.transaction() as tx:
        return next(person for person in await persons.find_all(tx) if person.email == email)


async def test_a_person_is_added_with_a_password_that_is_shown_once(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    answer = await post(boss, "/people", BO | {"how": "generate"})
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    page = Html(answer.text)
    password = attribute(page, "#secret", "value")
    assert attribute(page, "[data-copy]", "data-copy") == "secret"
    assert len(password) == 23
    async with site_with(database) as client:
        assert (await enter(client, BO["email"], password)).status_code == 303
        assert (await client.get("/api/session")).json()["role"] == "recruiter"
    assert password not in (await boss.get("/people", headers=HTML)).text


async def test_a_person_is_added_with_a_password_that_was_typed(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    typed = BO | {"how": "type", "password": PASSWORD, "again": PASSWORD}
    answer = await post(boss, "/people", typed)
    assert (answer.status_code, answer.headers["location"]) == (303, "/people?did=added")
    page = await look(boss, "/people?did=added")
    assert "can sign in now" in text(page, "[role=status]")
    assert texts(page, "[aria-labelledby=people] tbody th") == ["Ada", "Bo"]
    async with site_with(database) as client:
        assert (await enter(client, BO["email"])).status_code == 303


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"email": "boss@example.org"}, 409, "already"),
        ({"email": "none"}, 400, "not an email address"),
        ({"name": " "}, 400, "name"),
        ({"name": "x" * 201}, 400, "200"),
        ({"role": "king"}, 400, "Choose a role"),
        ({"again": "another password"}, 400, "do not match"),
        ({"password": "short", "again": "short"}, 400, "10 to 1,000"),
    ],
)
async def test_an_invalid_person_is_refused_and_the_form_keeps_all_but_passwords(
    boss: httpx2.AsyncClient, change: dict[str, str], status: int, words: str
) -> None:
    typed = BO | {"how": "type", "password": PASSWORD, "again": PASSWORD} | change
    answer = await post(boss, "/people", typed)
    page = Html(answer.text)
    assert answer.status_code == status
    assert words in text(page, "[role=alert]")
    assert attribute(page, "[name=email]", "value") == typed["email"]
    assert attribute(page, "[name=name]", "value") == typed["name"]
    assert page.css("[name=how][value=type][checked]")
    assert PASSWORD not in answer.text


async def test_a_new_role_applies_immediately(boss: httpx2.AsyncClient, database: Database) -> None:
    bo = await make_person(database, BO["email"], "viewer")
    async with site_with(database) as client:
        await enter(client, bo.email)
        assert (await client.get("/people", headers=HTML)).status_code == 403
        answer = await post(boss, f"/people/{bo.id}/role", {"role": "admin"})
        assert answer.headers["location"] == f"/people/{bo.id}?did=role"
        assert (await client.get("/people", headers=HTML)).status_code == 200
    page = await look(boss, f"/people/{bo.id}?did=role")
    assert attribute(page, "option[selected]", "value") == "admin"


async def test_a_new_password_signs_the_person_out(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    bo = await make_person(database, BO["email"], "viewer")
    async with site_with(database) as client:
        await enter(client, bo.email)
        made = await post(boss, f"/people/{bo.id}/password", {"how": "generate"})
        password = attribute(Html(made.text), "#secret", "value")
        assert (await client.get("/api/session")).status_code == 401
        assert (await enter(client, bo.email, password)).status_code == 303
        typed = {"how": "type", "password": "tuba lemon orbit", "again": "tuba lemon orbit"}
        answer = await post(boss, f"/people/{bo.id}/password", typed)
        assert answer.headers["location"] == f"/people/{bo.id}?did=password"
        assert (await enter(client, bo.email, "tuba lemon orbit")).status_code == 303


async def test_sessions_are_listed_and_can_be_ended(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    bo = await make_person(database, BO["email"], "viewer")
    async with site_with(database) as first, site_with(database) as two:
        await enter(first, bo.email)
        await enter(two, bo.email)
        assert len((await look(boss, f"/people/{bo.id}")).css(".events li")) == 2
        assert "2 sessions" in text(await look(boss, "/people"), "tbody")
        assert (await post(boss, f"/people/{bo.id}/sessions/end")).status_code == 303
        assert [(await each.get("/api/session")).status_code for each in (first, two)] == [401, 401]
    assert "Not signed in anywhere" in text(await look(boss, f"/people/{bo.id}"))
    assert (await boss.get("/people", headers=HTML)).status_code == 200


async def test_removing_access_asks_for_confirmation(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    bo = await make_person(database, BO["email"], "viewer")
    async with site_with(database) as client:
        await enter(client, bo.email)
        page = await look(boss, f"/people/{bo.id}/end")
        assert "1 session ends" in text(page, ".confirmation")
        assert (await client.get("/api/session")).status_code == 200
        answer = await post(boss, f"/people/{bo.id}/end")
        assert answer.headers["location"] == "/people?did=ended"
        assert (await client.get("/api/session")).status_code == 401
        assert (await enter(client, bo.email)).status_code == 401
    assert "1 person without access" in text(await look(boss, "/people"), "summary")
    assert "no longer sign in" in text(await look(boss, f"/people/{bo.id}"))
    for path in ("end", "role", "password"):
        again = await post(boss, f"/people/{bo.id}/{path}", {"role": "viewer", "how": "generate"})
        assert again.status_code == 409


@pytest.mark.parametrize(("path", "form"), [("end", {}), ("role", {"role": "viewer"})])
async def test_the_last_admin_cannot_be_removed(
    boss: httpx2.AsyncClient, database: Database, path: str, form: dict[str, str]
) -> None:
    me = await find(database, "boss@example.org")
    refused = await post(boss, f"/people/{me.id}/{path}", form)
    assert refused.status_code == 409
    assert "This is the last admin." in text(Html(refused.text), "[role=alert]")
    assert (await find(database, me.email)) == me
    await make_person(database, "other@example.org", "admin")
    done = await post(boss, f"/people/{me.id}/{path}", form)
    assert done.status_code == 303
    after = await boss.get(done.headers["location"], headers=HTML)
    # Without access the sign-in page follows; a viewer still sees the account page.
    assert after.status_code == (303 if path == "end" else 200)


async def test_of_two_admins_removed_concurrently_one_stays(database: Database) -> None:
    two = [await make_person(database, f"{name}@example.org", "admin") for name in ("a", "b")]

    async def leave(person: Person) -> bool:
        try:
            async with database.transaction() as tx:
                await persons.require_other_admin(tx, person.id)
                await asyncio.sleep(0.05)
                await persons.deactivate(tx, person.email)
        except LastAdmin:
            return False
        return True

    assert sorted(await asyncio.gather(*map(leave, two))) == [False, True]


async def test_a_key_is_shown_once_works_and_can_be_revoked(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    answer = await post(boss, "/people/keys", KEY)
    assert answer.headers["cache-control"] == "no-store"
    key = attribute(Html(answer.text), "#secret", "value")
    async with site_with(database) as client:
        bearer = {"Authorization": f"Bearer {key}"}
        assert (await client.get("/metrics", headers=bearer)).status_code == 200
        page = await look(boss, "/people")
        [row] = texts(page, "[aria-labelledby=keys] tbody tr")
        assert row.startswith("weekly report Read")
        assert "never" not in row
        assert key not in (page.html or "")
        ask = attribute(page, "[aria-labelledby=keys] tbody a", "href")
        assert "Revoke this key?" in text(await look(boss, ask))
        assert (await client.get("/metrics", headers=bearer)).status_code == 200
        assert (await post(boss, ask)).headers["location"] == "/people?did=key-ended"
        assert (await client.get("/metrics", headers=bearer)).status_code == 401
    assert "1 revoked or expired key" in text(await look(boss, "/people"), "summary")


async def test_a_key_with_a_wrong_value_is_refused(boss: httpx2.AsyncClient) -> None:
    for wrong in (
        {"name": ""},
        {"scope": "root"},
        {"days": "9999"},
        {"owner": "ada"},
        {"owner": "999999"},
    ):
        answer = await post(boss, "/people/keys", KEY | wrong)
        assert answer.status_code in (400, 404)
        assert text(Html(answer.text), "[role=alert]")


async def test_unknown_people_and_keys_are_404(boss: httpx2.AsyncClient) -> None:
    for path in ("/people/999999", "/people/999999/end", "/people/keys/999999/end"):
        await look(boss, path, 404)
    for path in ("/people/999999/end", "/people/keys/999999/end", "/people/999999/role"):
        assert (await post(boss, path, {"role": "viewer"})).status_code == 404


async def test_names_are_escaped(site: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        for n, name in enumerate(HOSTILE):
            await persons.add(tx, name, f"{n}@example.org", "viewer", PASSWORD)
            await keys.add(tx, name, "read")
    page = await look(site, "/people")
    assert texts(page, "[aria-labelledby=people] tbody th") == list(HOSTILE)
    assert texts(page, "[aria-labelledby=keys] tbody th") == list(HOSTILE)
    assert not page.css("main script, main img, [onerror]")
    for link in page.css("tbody a"):
        await look(site, link.attributes["href"] or "")


async def test_the_empty_page_says_what_to_do(site: httpx2.AsyncClient) -> None:
    page = await look(site, "/people?did=%3Cb%3E")
    assert "No people yet." in text(page)
    assert "No API keys yet." in text(page)
    assert not page.css("[role=status].message")


async def test_the_pages_have_no_inline_scripts_or_styles(
    site: httpx2.AsyncClient, database: Database
) -> None:
    person = await make_person(database)
    for path in ("/people", "/people/new", "/people/keys/new", f"/people/{person.id}"):
        answer = await site.get(path, headers=HTML)
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        page = Html(answer.text)
        assert not page.css("[style], [onclick], script:not([src])")
        assert all(field.attributes.get("name") for field in page.css("main input"))


async def test_a_session_that_expired_is_not_listed(tx: Tx) -> None:
    await persons.add(tx, "Ada", "a@b", "viewer", PASSWORD)
    ada = await persons.find_credentials(tx, "a@b")
    assert ada
    current_key = await sessions.create(tx, ada)
    await sessions.create(tx, ada)
    assert [
        session.is_current for session in await sessions.find_open(tx, ada.id, current_key)
    ].count(True) == 1
    await tx.execute("UPDATE people.session SET expires_at = now()")
    assert await sessions.find_open(tx, ada.id) == []
    with pytest.raises(NotFound):
        await persons.get(tx, ada.id + 999)
    with pytest.raises(NotFound):
        await keys.get(tx, 999_999)


def test_a_generated_password_is_easy_to_type() -> None:
    made = {passwords.generate() for _ in range(50)}
    assert len(made) == 50
    assert all(set(password) <= {*passwords.ALPHABET, "-"} for password in made)
    assert not set("ilo01") & set(passwords.ALPHABET)


async def test_the_menu_shows_the_signed_in_person(boss: httpx2.AsyncClient) -> None:
    page = await look(boss, "/people")
    assert "Ada admin" in text(page, ".signed-in-as")
    assert attribute(page, ".signed-in-as form", "action") == "/sign-out"
    cookie = boss.cookies[SESSION_COOKIE]
    assert cookie not in (page.html or "")


async def test_changes_are_listed_with_their_author(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    await post(boss, "/people", BO | {"name": HOSTILE[1], "how": "generate"})
    bo = await find(database, "bo@example.org")
    await post(boss, f"/people/{bo.id}/role", {"role": "viewer"})
    await post(boss, "/people/keys", KEY | {"name": "reports"})
    beside = await look(boss, "/people")
    assert len(texts(beside, "section[aria-labelledby=changes] li")) == 4
    page = await look(boss, "/people/changes")
    lines = [" ".join(line.split()) for line in texts(page, "ul.events li")]
    assert lines[0].startswith("Key reports added name: reports; scope: read; expires at: ")
    assert lines[1].startswith(f"Person {HOSTILE[1]} changed role: recruiter → viewer by Ada")
    assert lines[2].startswith(f"Person {HOSTILE[1]} added")
    assert "password: …" in lines[2]
    assert "on this machine" in lines[3]


async def test_changes_are_paged(boss: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        for n in range(60):
            await keys.add(tx, f"reports-{n:02}", "read")
    first = await look(boss, "/people/changes")
    older = await look(boss, attribute(first, "a[rel=next]", "href"))
    lines = [*texts(first, "ul.events li span"), *texts(older, "ul.events li span")]
    keys_told = [line.split()[1] for line in lines if line.startswith("Key")]
    assert keys_told == [f"reports-{n:02}" for n in reversed(range(60))]
    assert attribute(older, ".paging a", "href") == "/people/changes"


async def test_a_person_who_changes_their_password_is_named_as_author(
    boss: httpx2.AsyncClient, database: Database
) -> None:
    new = "another long password"
    await post(boss, "/account/password", {"old": PASSWORD, "new": new, "again": new})
    async with database.transaction() as tx:
        [last] = await changes.find_recent(tx, limit=1)
    assert (last.subject, last.details, last.by) == ("Ada", ["password: … → …"], "Ada")

"""/account/two-factor, and signing in with a second step."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.people import changes, persons, second_factors, totp
from jobmill.people.persons import Person
from jobmill.web.auth import SESSION_COOKIE
from tests.people.helpers import PASSWORD, make_person
from tests.people.test_second_factors import turn_on
from tests.web.helpers import site_with, status_and_code
from tests.web.hiring_helpers import HTML, attribute, look, post, text, texts

RIGHT = {"email": "ada@example.org", "password": PASSWORD}


class Protected(NamedTuple):
    """A person with a second factor, and a browser that is not signed in."""

    client: httpx2.AsyncClient
    person: Person
    codes: list[str]


@pytest.fixture
async def ada(database: Database) -> AsyncIterator[Protected]:
    person = await make_person(database, role="admin")
    async with database.transaction() as tx:
        _, codes = await turn_on(tx, person.id)
    async with site_with(database) as client:
        yield Protected(client, person, codes)


async def test_a_person_turns_the_second_step_on_and_signs_in_with_it(database: Database) -> None:
    await make_person(database, role="viewer")
    async with site_with(database) as client:
        await post(client, "/sign-in", RIGHT)
        assert "off" in text(await look(client, "/account"), ".badge")
        shown = await post(client, "/account/two-factor/app")
        assert shown.headers["cache-control"] == "no-store"
        page = Html(shown.text)
        assert page.css("svg.qr")
        seed = text(page, "code.wrap")
        wrong = await post(client, "/account/two-factor/app/confirm", {"code": "x"})
        assert wrong.status_code == 400
        assert seed in wrong.text
        done = await post(client, "/account/two-factor/app/confirm", {"code": _code(seed)})
        codes = texts(Html(done.text), ".codes code")
        assert len(codes) == 10
        assert seed not in text(await look(client, "/account/two-factor"), "body")
        await post(client, "/sign-out")
        await post(client, "/sign-in", RIGHT)
        assert SESSION_COOKIE not in client.cookies
        answer = await post(client, "/sign-in/code", {"code": codes[0], "next": "/account"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/account")
        assert (await client.get("/api/session")).status_code == 200


def _code(seed: str) -> str:
    return totp.code_at(base64.b32decode(seed.replace(" ", "")), int(time.time() // 30))


async def test_the_password_alone_opens_nothing(ada: Protected) -> None:
    client = ada.client
    answer = await post(client, "/sign-in", RIGHT | {"next": "/people"})
    assert answer.headers["location"] == "/sign-in/code?next=%2Fpeople"
    assert SESSION_COOKIE not in client.cookies
    assert (await client.get("/api/session")).status_code == 401
    assert (await client.get("/people", headers=HTML)).status_code == 303
    page = await look(client, "/sign-in/code?next=%2Fpeople")
    assert attribute(page, "[name=next]", "value") == "/people"
    assert attribute(page, "[name=code]", "autocomplete") == "one-time-code"


async def test_the_second_step_needs_the_first(ada: Protected, database: Database) -> None:
    client = ada.client
    form = await client.get("/sign-in/code", headers=HTML)
    assert (form.status_code, form.headers["location"]) == (303, "/sign-in")
    assert (await post(client, "/sign-in/code", {"code": ada.codes[0]})).status_code == 401
    await post(client, "/sign-in", RIGHT)
    # A new password ends sign-ins that have begun.
    async with database.transaction() as tx:
        await persons.set_password(tx, ada.person.email, "another password")
    assert (await post(client, "/sign-in/code", {"code": ada.codes[0]})).status_code == 401
    async with database.transaction() as tx:
        assert (await second_factors.find(tx, ada.person.id)).recovery_codes == 10


async def test_the_api_asks_for_the_code(ada: Protected) -> None:
    refused = await ada.client.post("/api/session", json=RIGHT)
    assert status_and_code(refused) == (401, "SECOND_FACTOR_NEEDED")
    body = RIGHT | {"code": ada.codes[0]}
    assert (await ada.client.post("/api/session", json=body)).status_code == 200
    # A recovery code works once.
    again = await ada.client.post("/api/session", json=body)
    assert status_and_code(again) == (401, "UNAUTHENTICATED")


async def test_guessing_codes_is_limited_and_logged(
    ada: Protected, caplog: pytest.LogCaptureFixture
) -> None:
    await post(ada.client, "/sign-in", RIGHT)
    guesses = [
        (await post(ada.client, "/sign-in/code", {"code": f"00000{n}"})).status_code
        for n in range(6)
    ]
    assert guesses == [*[401] * 5, 429]
    failures = [record for record in caplog.records if record.message == "failed sign-in"]
    assert len(failures) == 5
    assert vars(failures[0])["address"] == "127.0.0.1"


async def test_an_admin_resets_the_second_factor(ada: Protected, database: Database) -> None:
    await make_person(database, "boss@example.org", "admin")
    async with site_with(database) as boss:
        await post(boss, "/sign-in", {"email": "boss@example.org", "password": PASSWORD})
        path = f"/people/{ada.person.id}"
        assert "on" in text(await look(boss, path), ".badge")
        answer = await post(boss, f"{path}/two-factor/reset")
        assert answer.headers["location"] == f"{path}?did=two-factor"
    assert (await post(ada.client, "/sign-in", RIGHT)).headers["location"] == "/"
    async with database.transaction() as tx:
        [last] = await changes.find_recent(tx, limit=1)
    assert (last.noun, last.what) == ("authenticator app of person", "removed")


async def test_the_use_of_a_recovery_code_is_recorded(ada: Protected, database: Database) -> None:
    await ada.client.post("/api/session", json=RIGHT | {"code": ada.codes[0]})
    async with database.transaction() as tx:
        [last] = await changes.find_recent(tx, limit=1)
    assert (last.noun, last.by) == ("recovery code of person", "Ada")
    assert re.match("used at: none → 20", last.details[0])


async def test_changing_the_second_factor_asks_for_the_password_again(
    ada: Protected, database: Database
) -> None:
    await ada.client.post("/api/session", json=RIGHT | {"code": ada.codes[0]})
    async with database.transaction() as tx:
        await tx.execute("UPDATE people.session SET authenticated_at = now() - interval '11 min'")
    for path in ("app", "app/remove", "recovery-codes"):
        answer = await post(ada.client, f"/account/two-factor/{path}")
        assert answer.status_code == 403, path
        assert Html(answer.text).css("[name=confirm_password]")
    async with database.transaction() as tx:
        assert (await second_factors.find(tx, ada.person.id)).is_on

"""/sign-in, /sign-out and /account."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import APIRouter
from selectolax.lexbor import LexborHTMLParser as Html
from starlette.exceptions import HTTPException

from jobmill.db import Database
from jobmill.outside import budget_ledger
from jobmill.outside.budget_ledger import BudgetShare
from jobmill.people import persons, sessions, sign_in_tokens
from jobmill.people.secrets import get_signing_key
from jobmill.web import html_errors
from jobmill.web.auth import SESSION_COOKIE
from jobmill.web.sign_in import BROWSER_COOKIE
from tests.people.helpers import PASSWORD, bearer, make_applicant, make_person
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, attribute, look, post, text

RIGHT = {"email": "ada@example.org", "password": PASSWORD}
NEW = "a longer new password"


async def sign_in(client: httpx2.AsyncClient, **fields: str) -> httpx2.Response:
    return await post(client, "/sign-in", RIGHT | fields)


async def test_signing_in_continues_to_the_requested_page(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        sent = await client.get("/hiring/applicants?q=rust", headers=HTML)
        assert sent.status_code == 303
        form = await look(client, sent.headers["location"])
        goes_on = attribute(form, "[name=next]", "value")
        answer = await sign_in(client, next=goes_on)
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            "/hiring/applicants?q=rust",
        )
        page = await look(client, "/hiring/applicants?q=rust")
        assert "Ada" in text(page, ".signed-in-as")


async def test_signing_out_invalidates_copies_of_the_cookie(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        await sign_in(client)
        cookie = {"Cookie": f"{SESSION_COOKIE}={client.cookies[SESSION_COOKIE]}"}
        answer = await post(client, "/sign-out")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
        assert SESSION_COOKIE not in client.cookies
        assert (await client.get("/api/session", headers=cookie)).status_code == 401


@pytest.mark.parametrize(("proto", "secure"), [("https", True), ("http", False)])
async def test_the_cookies_are_http_only_and_same_site(
    database: Database, proto: str, secure: bool
) -> None:
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:
        headers = HTML | {"X-Forwarded-Proto": proto}
        answer = await client.post("/sign-in", data=RIGHT, headers=headers)
    for name, header in zip(
        (SESSION_COOKIE, BROWSER_COOKIE), answer.headers.get_list("set-cookie"), strict=True
    ):
        cookie = SimpleCookie(header)[f"__Host-{name}" if secure else name]
        assert cookie["httponly"]
        assert cookie["samesite"].lower() == "lax"
        assert (cookie["path"], cookie["domain"]) == ("/", "")
        assert bool(cookie["secure"]) is secure
    assert answer.headers["cache-control"] == "no-store"


async def test_wrong_credentials_keep_the_email_but_not_the_password(database: Database) -> None:
    await make_person(database)
    await make_person(database, "eve@example.org")
    async with database.transaction() as tx:
        await persons.deactivate(tx, "eve@example.org")
    async with site_with(database) as client:
        tries = [
            await sign_in(client, password="wrong horse", next="/activity"),
            await sign_in(client, email="nobody@example.org", next="/activity"),
            await sign_in(client, email="eve@example.org", next="/activity"),
        ]
    pages = [Html(response.text) for response in tries]
    assert [response.status_code for response in tries] == [401] * 3
    assert len({text(page, "[role=alert]") for page in pages}) == 1
    assert attribute(pages[0], "[name=email]", "value") == RIGHT["email"]
    assert attribute(pages[0], "[name=next]", "value") == "/activity"
    assert "value" not in pages[0].css_first("[name=password]").attributes
    assert not any(
        "wrong horse" in response.text or "set-cookie" in response.headers for response in tries
    )


@pytest.mark.parametrize(
    "fields",
    [{"email": "no address"}, {"email": "x" * 300 + "@b"}, {"password": "x" * 1001}, {"email": ""}],
)
async def test_overlong_credentials_are_refused_in_the_form(
    database: Database, fields: dict[str, str]
) -> None:
    async with site_with(database) as client:
        answer = await sign_in(client, **fields)
        assert answer.status_code == 400
        assert text(Html(answer.text), "[role=alert]")


async def test_the_page_and_the_api_share_the_sign_in_limit(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        for n in range(3):
            assert (await sign_in(client, password=f"wrong {n}")).status_code == 401
        for n in range(2):
            body = RIGHT | {"password": f"wrong {n}"}
            assert (await client.post("/api/session", json=body)).status_code == 401
        refused = await sign_in(client)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 12
        assert attribute(Html(refused.text), "[name=email]", "value") == RIGHT["email"]


async def test_strangers_who_guess_do_not_lock_out_a_browser_that_signed_in_before(
    database: Database,
) -> None:
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:
        await sign_in(client)
        token = client.cookies[BROWSER_COOKIE]
        client.cookies.clear()
        guess = RIGHT | {"password": "wrong"}
        addresses = iter([f"198.51.{n // 250}.{n % 250}" for n in range(5_000)])
        status = 401
        while status == 401:
            headers = HTML | {"X-Forwarded-For": next(addresses)}
            status = (await client.post("/sign-in", data=guess, headers=headers)).status_code
        assert status == 429
        client.cookies.set(BROWSER_COOKIE, token)
        assert (await sign_in(client)).status_code == 303


async def test_a_remembered_browser_is_of_one_person_and_one_password(database: Database) -> None:
    ada = await make_person(database)
    eve = await make_person(database, "eve@example.org")
    async with database.transaction() as tx:
        credentials = await persons.find_credentials(tx, ada.email)
        assert credentials
        key = await get_signing_key(tx)
        token = sign_in_tokens.create_browser_token(key, credentials)
        assert sign_in_tokens.is_browser_remembered(key, credentials, token)
        other = await persons.find_credentials(tx, eve.email)
        assert other
        assert not sign_in_tokens.is_browser_remembered(key, other, token)
        assert not sign_in_tokens.is_browser_remembered(key, credentials, "ü")
        changed = dataclasses.replace(credentials, password="another hash")
        assert not sign_in_tokens.is_browser_remembered(key, changed, token)


async def test_a_network_is_limited_and_others_still_sign_in(database: Database) -> None:
    """Also if a dual-stack socket shows IPv4 addresses as IPv6."""
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:
        for _ in range(6):
            guess = RIGHT | {"password": "wrong"}
            headers = HTML | {"X-Forwarded-For": "::ffff:203.0.113.1"}
            refused = await client.post("/sign-in", data=guess, headers=headers)
        assert refused.status_code == 429
        headers = HTML | {"X-Forwarded-For": "::ffff:203.0.113.2"}
        assert (await client.post("/sign-in", data=RIGHT, headers=headers)).status_code == 303


async def test_a_failed_sign_in_is_logged_with_its_address(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await make_person(database)
    async with site_with(database, proxies=["127.0.0.1"]) as client:
        headers = HTML | {"X-Forwarded-For": "203.0.113.9"}
        await client.post("/sign-in", data=RIGHT | {"password": "wrong"}, headers=headers)
    [record] = [record for record in caplog.records if record.message == "failed sign-in"]
    assert vars(record)["address"] == "203.0.113.9"
    assert "wrong" not in str(vars(record))


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "/\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "/a\nb",
        "/\t/evil.example",
        "evil",
        "/sign-out",
        "",
    ],
)
async def test_sign_in_never_redirects_to_another_site(database: Database, path: str) -> None:
    await make_person(database)
    async with site_with(database) as client:
        shown = await client.get("/sign-in", params={"next": path}, headers=HTML)
        assert attribute(Html(shown.text), "[name=next]", "value") == "/"
        assert (await sign_in(client, next=path)).headers["location"] == "/"


async def test_an_htmx_request_without_session_redirects_the_whole_page(database: Database) -> None:
    async with site_with(database) as client:
        headers = HTML | {
            "HX-Request": "true",
            "HX-Current-URL": str(client.base_url) + "/activity?kind=tea",
        }
        answer = await client.get("/activity", headers=headers)
        assert answer.status_code == 401
        to = urlsplit(answer.headers["hx-redirect"])
        assert (to.path, parse_qs(to.query)) == ("/sign-in", {"next": ["/activity?kind=tea"]})
        headers["HX-Current-URL"] = "//evil"
        assert (await client.get("/activity", headers=headers)).headers["hx-redirect"] == "/sign-in"


async def test_only_get_requests_redirect_to_sign_in(database: Database) -> None:
    """Forms are not resubmitted after sign-in, and programs receive a 401."""
    async with site_with(database) as client:
        refused = await post(client, "/people", {"name": "x"})
        assert refused.status_code == 401
        assert 'href="/sign-in"' in refused.text
        assert (await client.get("/people")).json() == {
            "error": "Sign in first, or send an API key."
        }
        bad_key = await client.get("/people", headers=HTML | {"Authorization": "Bearer jm_x"})
        assert bad_key.status_code == 401
        bad_link = await client.get("/my/nothing", headers=HTML)
        assert bad_link.status_code in (400, 401)


async def test_a_forbidden_page_does_not_redirect_to_sign_in(database: Database) -> None:
    await make_person(database, role="viewer")
    async with site_with(database) as client:
        await sign_in(client)
        answer = await client.get("/people", headers=HTML | {"X-Request-ID": "r-9"})
        assert answer.status_code == 403
        assert "r-9" in answer.text
        assert 'href="/sign-in"' in answer.text
        form = await look(client, "/sign-in")
        assert "signed in as Ada" in text(form)


async def test_other_sites_cannot_sign_people_in_or_out(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        for path in ("/sign-in", "/sign-out", "/account/password", "/people"):
            for foreign in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
                answer = await client.post(path, data=RIGHT, headers=HTML | foreign)
                assert answer.status_code == 403
                assert "set-cookie" not in answer.headers


async def test_the_sign_in_pages_have_the_security_headers(database: Database) -> None:
    async with site_with(database) as client:
        answer = await client.get("/sign-in", headers=HTML)
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert "form-action 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert "style=" not in answer.text
        assert "<script" not in answer.text


async def test_changing_the_password_keeps_this_session_and_ends_others(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client, site_with(database) as other:
        await sign_in(client)
        await sign_in(other)
        before = client.cookies[SESSION_COOKIE]
        wish = {"old": PASSWORD, "new": NEW, "again": NEW}
        answer = await post(client, "/account/password", wish)
        assert (answer.status_code, answer.headers["location"]) == (303, "/account?did=password")
        assert "Password changed" in text(
            await look(client, "/account?did=password"), "[role=status]"
        )
        assert client.cookies[SESSION_COOKIE] != before
        assert (await other.get("/api/session")).status_code == 401
        cookie = {"Cookie": f"{SESSION_COOKIE}={before}"}
        assert (await other.get("/api/session", headers=cookie)).status_code == 401
        assert (await sign_in(other)).status_code == 401
        assert (await sign_in(other, password=NEW)).status_code == 303


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"old": "wrong"}, "not your current password"),
        ({"again": "another one"}, "do not match"),
        ({"new": "short", "again": "short"}, "10 to 1,000"),
    ],
)
async def test_an_invalid_password_is_refused_and_nothing_changes(
    database: Database, fields: dict[str, str], words: str
) -> None:
    await make_person(database)
    async with site_with(database) as client:
        await sign_in(client)
        wish = {"old": PASSWORD, "new": NEW, "again": NEW} | fields
        answer = await post(client, "/account/password", wish)
        assert answer.status_code == 400
        assert words in text(Html(answer.text), "[role=alert]")
        assert NEW not in answer.text
        assert (await client.get("/api/session")).status_code == 200
        assert (await sign_in(client)).status_code == 303


async def test_guessing_the_current_password_is_rate_limited(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        await sign_in(client)
        wish = {"old": "wrong", "new": NEW, "again": NEW}
        tried = [(await post(client, "/account/password", wish)).status_code for _ in range(6)]
        assert tried == [*[400] * 5, 429]


async def test_other_sessions_can_be_ended(database: Database) -> None:
    person = await make_person(database)
    async with site_with(database) as client, site_with(database) as other:
        await sign_in(client)
        await sign_in(other)
        page = await look(client, "/account")
        assert "Budget share" not in text(page)
        assert len(page.css(".events li")) == 2
        assert len(page.css(".events .badge")) == 1
        assert (await post(client, "/account/sessions/end")).status_code == 303
        assert (await other.get("/api/session")).status_code == 401
        async with database.transaction() as tx:
            assert [session.person_id for session in await sessions.find_open(tx)] == [person.id]


async def test_people_see_what_their_budget_share_has_left(database: Database) -> None:
    person = await make_person(database, role="seeker")
    other = await make_person(database, "bo@example.org", "seeker")
    async with database.transaction() as tx:
        await budget_ledger.set_share(tx, person.id, BudgetShare(Decimal("0.50"), "usd"))
        await tx.execute(
            """
            INSERT INTO budget.call (ends_at, settled_at, model, tier, purpose, prompt_version,
                                     person_id, reserved, cost, outcome)
            SELECT now(), now(), 'm', 'cheap', 'review', '1', id, 0, 0.2, 'answered'
              FROM people.person
            """
        )
    async with site_with(database) as client:
        await sign_in(client)
        shown = text(await look(client, "/account"))
        assert "Language models have cost $0.20 of your $0.50 for today" in shown
        await sign_in(client, email=other.email)
        assert "Budget share" not in text(await look(client, "/account"))


async def test_signing_in_again_replaces_the_old_session(database: Database) -> None:
    await make_person(database)
    async with site_with(database) as client:
        await sign_in(client)
        await sign_in(client)
    async with database.transaction() as tx:
        assert len(await sessions.find_open(tx)) == 1


async def test_local_visitors_have_no_account(site: httpx2.AsyncClient, database: Database) -> None:
    assert "Signed in on this machine" in text(await look(site, "/matches"), ".signed-in-as")
    assert "you don't need an account" in text(await look(site, "/account"))
    assert "You are signed in on this machine" in text(await look(site, "/sign-in"))
    for path in ("/account/password", "/account/sessions/end"):
        assert (await post(site, path)).status_code == 409
    key = await site.get("/account", headers=HTML | await bearer(database, "viewer"))
    assert "an API key, not a personal account" in key.text


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (401, "sign in"), (403, "another role"), (404, "may be wrong"), (409, "Go back, reload the page, then try again."), (410, "not come back"),
        (429, "Wait"), (500, "below to an admin"), (503, "automatically"),
    ],
)  # fmt: skip
async def test_every_error_says_what_to_do_next(
    empty_database: Database, code: int, words: str
) -> None:
    router = APIRouter()

    @router.get("/broken")
    async def broken() -> None:
        raise HTTPException(code)

    async with site_with(empty_database, router) as client:
        answer = await client.get("/broken", headers=HTML | {"X-Request-ID": "r-1"})
        page = Html(answer.text)
        assert answer.status_code == code
        assert words in text(page)
        assert text(page, "main code") == "r-1"
        assert "Request number r-1" in text(page, "main")
        assert len(page.css("h1")) == 1
        assert bool(page.css("meta[http-equiv=refresh]")) is (code == 503)


def test_only_local_paths_are_accepted_after_sign_in() -> None:
    assert (
        html_errors.sign_in_url("/activity?a=b&c=d") == "/sign-in?next=%2Factivity%3Fa%3Db%26c%3Dd"
    )
    assert html_errors.sign_in_url("/") == html_errors.sign_in_url("/sign-in?next=/x") == "/sign-in"


async def test_a_personal_link_does_not_open_staff_pages(database: Database) -> None:
    _, token = await make_applicant(database)
    async with site_with(database) as client:
        answer = await client.get("/people", params={"key": token}, headers=HTML)
        assert answer.status_code == 403

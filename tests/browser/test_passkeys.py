"""Two-factor authentication in a real browser, with Chromium's virtual authenticator."""

from __future__ import annotations

from urllib.parse import parse_qs

import httpx2
from playwright.async_api import Browser, Page, Request

from jobmill.db import Database
from jobmill.people import passkeys
from tests.browser import axe
from tests.browser.helpers import Window, window
from tests.browser.world import extra_router
from tests.people.helpers import PASSWORD, make_person
from tests.web.helpers import site_with

RIGHT = {"email": "ada@example.org", "password": PASSWORD}


async def sign_in(page: Page) -> None:
    await page.goto("/sign-in")
    await page.fill("[name=email]", RIGHT["email"])
    await page.fill("[name=password]", RIGHT["password"])
    await page.click("main button")


async def add_authenticator(page: Page) -> None:
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})


async def check_page(shown: Window) -> None:
    """Readable in both themes, and not wider than a phone."""
    assert await axe.faults(shown) == []
    assert await shown.overflow() == []


async def test_a_person_adds_a_passkey_and_signs_in_with_it(
    browser: Browser, database: Database
) -> None:
    person = await make_person(database)
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/sign-in/code") and request.method == "POST":
            sent.append(request.post_data or "")

    async with site_with(database, extra_router) as client:
        # Passkeys belong to a name, not to an address.
        origin = str(client.base_url).rstrip("/").replace("127.0.0.1", "localhost")
        async with window(browser, origin, "phone") as shown:
            page = shown.page
            page.on("request", note)
            await add_authenticator(page)
            await sign_in(page)
            await page.goto("/account")
            await check_page(shown)
            await page.goto("/account/two-factor")
            await check_page(shown)
            await page.click("text=Add passkey")
            await page.wait_for_selector("form[data-passkey]")
            await check_page(shown)
            await page.click("text=Create passkey")
            await page.wait_for_selector(".codes")
            assert await page.locator(".codes code").count() == 10
            await check_page(shown)
            await page.context.clear_cookies()
            await sign_in(page)
            await page.wait_for_selector("text=Use passkey")
            await check_page(shown)
            await page.click("text=Use passkey")
            await page.wait_for_url(f"{origin}/hiring")
        credential = parse_qs(sent[-1])["credential"][0]
        async with database.transaction() as tx:
            [stored] = await passkeys.find_all(tx, person.id)
            assert stored.used_at
        # What the passkey signed is accepted once.
        async with httpx2.AsyncClient(base_url=origin) as thief:
            await thief.post("/sign-in", data=RIGHT)
            again = await thief.post("/sign-in/code", data={"credential": credential})
            assert again.status_code == 401
            assert (await thief.get("/api/session")).status_code == 401

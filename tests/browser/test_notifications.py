"""Set up a digest, receive it, land on the match, and unsubscribe."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from playwright.async_api import Browser, expect

from jobmill.db import Database
from jobmill.matching import matches
from jobmill.web import site
from jobmill.web.site_settings import SiteSettings
from tests.browser.helpers import Size, window
from tests.browser.world import ServedSite
from tests.matching import judged
from tests.notifications.helpers import Notifier
from tests.outside.mailbox import open_mailbox
from tests.web.conftest import served

HOME = "/account/notifications"
REGISTER = """
async () => {
  const registration = await navigator.serviceWorker.register("/static/push_worker.js");
  while (registration.active?.state !== "activated") await new Promise(done => setTimeout(done, 50));
}
"""
SHOWN_UP_TO_LAST = """
async () => {
  const registration = await navigator.serviceWorker.getRegistration("/static/");
  for (let tries = 0; tries < 60; tries++) {
    const titles = (await registration.getNotifications()).map(shown => shown.title);
    if (titles.includes("Last")) return titles.sort();
    await new Promise(done => setTimeout(done, 50));
  }
  return null;
}
"""


async def test_a_digest_is_set_up_received_opened_and_unsubscribed(
    browser: Browser, database: Database
) -> None:
    async with open_mailbox() as mailbox:
        settings = SiteSettings.from_settings(mailbox.settings())
        app = site.create_app(
            database, local=True, public_per_minute=100_000, site_settings=settings
        )
        async with served(app) as client:
            origin = str(client.base_url).rstrip("/")
            notifier = Notifier(database, mailbox.settings(public_url=origin))
            async with window(browser, origin) as wide:
                page = await wide.go(HOME)
                # A new schedule starts with the time zone of the browser.
                await expect(page.get_by_label("Time zone")).not_to_have_value("")
                await page.locator("summary", has_text="Email").click()
                await page.get_by_label("Email address").fill("ada@example.org")
                await page.get_by_role("button", name="Add Email").click()
                await expect(page.get_by_role("status")).to_contain_text("Channel added")
                await page.get_by_label("New high-priority matches").select_option("Daily digest")
                await page.get_by_label("Time", exact=True).fill("07:15")
                await page.get_by_role("button", name="Save").click()
                await expect(page.get_by_role("status")).to_contain_text("Notifications saved")
                await expect(page.get_by_label("Time", exact=True)).to_have_value("07:15")

                async with database.transaction() as tx:
                    place = await judged.make(tx)
                    id = await matches.save_verdict(tx, place.word(95))
                await notifier.send()
                assert mailbox.letters == []
                await notifier.make_due()
                await notifier.send()
                [letter] = mailbox.letters
                html = letter.get_body(("html",))
                assert html
                content = str(html.get_content())
                await page.goto(f"{HOME}#log")
                await expect(page.locator("#log")).to_contain_text("Delivered")
                await wide.shoot("notifications")
            async with window(browser, origin, "phone", "dark") as phone:
                await phone.go(HOME)
                assert await phone.overflow() == []
                await phone.shoot("notifications")

            links = await read_letter(browser, content, "phone")
            assert f"{origin}/matches/{id}" in links
            async with window(browser, origin) as opened:
                page = await opened.go(f"/matches/{id}")
                await expect(page.get_by_role("heading", level=1)).to_contain_text("Pump Engineer")
                [link] = [url for url in links if "/unsubscribe/" in url]
                await page.goto(link)
                await page.get_by_role("button", name="Unsubscribe").click()
                await expect(page.get_by_role("status")).to_contain_text(
                    "ada@example.org receives no more notifications"
                )
                await opened.shoot("unsubscribed")
                page = await opened.go(HOME)
                await expect(page.locator("#channels")).to_contain_text(
                    "You unsubscribed with the link"
                )


async def test_a_push_message_is_shown_once_however_often_it_arrives(
    browser: Browser, new_place: ServedSite
) -> None:
    message = {"title": "Alert: deep", "body": "12 items", "url": "/activity", "tag": "n-1"}
    async with window(browser, new_place.origin) as opened:
        context = opened.page.context
        await context.grant_permissions(["notifications"], origin=new_place.origin)
        page = await opened.go(HOME)
        await expect(page.get_by_role("button", name="Notify me in this browser")).to_be_visible()
        session = await context.new_cdp_session(page)
        ids: asyncio.Queue[str] = asyncio.Queue()

        def keep_id(event: dict[str, Any]) -> None:
            for registration in event["registrations"]:
                ids.put_nowait(registration["registrationId"])

        session.on("ServiceWorker.workerRegistrationUpdated", keep_id)
        await session.send("ServiceWorker.enable")
        await page.evaluate(REGISTER)
        id = await ids.get()
        shown: list[str] | None = None
        # A busy browser can lose a simulated message: all are sent again until the last one is shown.
        for _ in range(20):
            # The browser shows messages in order: with the last one, both copies were handled.
            for data in (message, message, {**message, "title": "Last", "tag": "n-2"}):
                await session.send(
                    "ServiceWorker.deliverPushMessage",
                    {
                        "origin": new_place.origin,
                        "registrationId": id,
                        "data": json.dumps(data),
                    },
                )
            if shown := await page.evaluate(SHOWN_UP_TO_LAST):
                break
        assert shown == ["Alert: deep", "Last"]


async def read_letter(browser: Browser, content: str, size: Size) -> list[str]:
    """The links of a letter, as a mail program on a phone shows it in both themes."""
    async with window(browser, "about:blank", size) as client:
        await client.page.set_content(content)
        assert await client.overflow() == []
        for theme in ("light", "dark"):
            await client.turn(theme)
            await client.shoot("digest-letter")
        hrefs = await client.page.locator("a").evaluate_all("links => links.map(link => link.href)")
        return [url for url in hrefs if re.match("https?:", url)]

"""The keyboard: skip link, phone menu, and focus across live updates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from jobmill.db.live_channel import announce_change
from tests.browser import axe
from tests.browser.helpers import format_faults, window
from tests.browser.world import ServedSite


@pytest.mark.parametrize("url", ["/matches", "/openings"])
async def test_the_first_tab_stop_skips_to_the_content(
    browser: Browser, place: ServedSite, url: str
) -> None:
    async with window(browser, place.origin) as view:
        page = await view.go(url)
        await page.keyboard.press("Tab")
        await expect(page.locator("a.skip")).to_be_focused()
        await expect(page.locator("a.skip")).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("Boolean(document.activeElement.closest('main'))")


async def test_the_phone_menu_opens_and_closes_with_the_keyboard(
    browser: Browser, place: ServedSite
) -> None:
    async with window(browser, place.origin, "phone") as view:
        page = await view.go("/matches")
        menu, opener = page.locator("nav.menu"), page.locator(".thumb button.opener")
        await expect(menu).to_be_hidden()
        await opener.focus()
        await page.keyboard.press("Enter")
        await expect(menu).to_be_visible()
        await view.shoot("menu", full_page=False)
        faults = await axe.faults(view)
        assert not faults, format_faults(faults)
        await page.keyboard.press("Tab")
        assert await page.evaluate("Boolean(document.activeElement.closest('nav.menu'))")
        await page.keyboard.press("Escape")
        await expect(menu).to_be_hidden()
        await expect(opener).to_be_focused()


async def hear_news(page: Page, place: ServedSite, topic: str, part: str) -> None:
    """Wait until a live update has replaced a part of the page."""
    async with replaced(page, part), place.database.transaction() as tx:
        await announce_change(tx, topic)


@asynccontextmanager
async def replaced(page: Page, part: str) -> AsyncIterator[None]:
    """Wait until something that the block starts has replaced a part of the page."""
    await page.evaluate("where => { document.querySelector(where).old = true; }", part)
    yield
    await page.wait_for_function("where => !document.querySelector(where).old", arg=part)


async def test_live_updates_keep_the_focus_and_typed_text(
    browser: Browser, place: ServedSite
) -> None:
    async with window(browser, place.origin) as view:
        for topic, part in {
            "matches": "#tabs a",
            "sources": "#sources table a",
            "companies": "#companies table a",
        }.items():
            async with view.page.expect_response("**/live?*"):
                page = await view.go(f"/{topic}")
            words = page.get_by_role("searchbox")
            # The filter applies while typing, which changes the links, too.
            async with replaced(page, part):
                await words.press_sequentially("e")
                await page.wait_for_url("**q=e*")
            await hear_news(page, place, topic, part)
            await expect(words).to_be_focused()
            async with replaced(page, part):
                await page.keyboard.type("r")
                await page.wait_for_url("**q=er*")
            await expect(words).to_have_value("er")

            link = page.locator(part).nth(1)
            goal = await link.get_attribute("href") or ""
            await link.focus()
            await hear_news(page, place, topic, part)
            await expect(page.locator(f'a[href="{goal}"]:focus')).to_have_count(1)


OVERLAPPING_SWAPS = """
() => {
  const fire = name => document.dispatchEvent(new CustomEvent(name));
  const link = document.querySelector("#companies table a");
  const copy = link.cloneNode(true);
  link.focus();
  fire("htmx:before:swap");
  link.replaceWith(copy);
  fire("htmx:before:swap");
  fire("htmx:after:swap");
  return copy === document.activeElement;
}
"""
LATER_SWAP = """
() => {
  document.dispatchEvent(new CustomEvent("htmx:before:swap"));
  document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  return document.activeElement === document.body;
}
"""


async def test_the_focus_on_a_link_survives_swaps_that_overlap(
    browser: Browser, place: ServedSite
) -> None:
    async with window(browser, place.origin, still=True) as view:
        page = await view.go("/companies")
        assert await page.evaluate(OVERLAPPING_SWAPS)
        await page.locator("h1").click()
        assert await page.evaluate(LATER_SWAP), "the focus came back after a click"

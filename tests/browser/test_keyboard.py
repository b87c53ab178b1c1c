"""Every page can be used with the keyboard alone."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.browser import keyboard
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.kit import listed, window
from tests.browser.world import Place

pytestmark = pytest.mark.timeout(300)


async def test_tab_reaches_all_there_is_in_its_order_and_one_sees_where(
    browser: Browser, tour: Tour
) -> None:
    faults: list[str] = []
    async with window(browser, tour.place.origin, still=True, expected=ERRORS) as one:
        for url in tour.pages:
            await one.go(url)
            faults += [f"{url}: {said}" for said in await keyboard.faults(one.page)]
    assert not faults, listed(faults)


@pytest.mark.parametrize("url", ["/matches", "/openings"])
async def test_the_first_stop_leads_past_the_menu(browser: Browser, place: Place, url: str) -> None:
    async with window(browser, place.origin) as one:
        page = await one.go(url)
        await page.keyboard.press("Tab")
        await expect(page.locator("a.skip")).to_be_focused()
        await expect(page.locator("a.skip")).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("Boolean(document.activeElement.closest('main'))")


async def test_the_menu_of_a_phone_opens_and_closes_by_keys(browser: Browser, place: Place) -> None:
    async with window(browser, place.origin, "phone") as one:
        page = await one.go("/matches")
        menu, opener = page.locator("nav.menu"), page.locator("button.opener")
        await expect(menu).to_be_hidden()
        await opener.focus()
        await page.keyboard.press("Enter")
        await expect(menu).to_be_visible()
        await one.shoot("menu", whole=False)
        await page.keyboard.press("Tab")
        assert await page.evaluate("Boolean(document.activeElement.closest('nav.menu'))")
        await page.keyboard.press("Escape")
        await expect(menu).to_be_hidden()
        await expect(opener).to_be_focused()

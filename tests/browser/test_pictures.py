"""Every page at both sizes, for people to look at; on a phone nothing is wider than it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from tests.browser import every_page
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.kit import Size, Theme, listed, window

pytestmark = pytest.mark.timeout(300)

WIDTHS = "[document.scrollingElement.scrollWidth, innerWidth]"
WIDEST = """
() => [...document.querySelectorAll("main *, header *, footer *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".wide"))
  .map(one => `${one.localName}${one.id && "#" + one.id}.${one.className}`).slice(0, 3).join(", ")
"""


@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("phone", "dark")])
async def test_every_page_fits_and_is_pictured(
    browser: Browser, tour: Tour, size: Size, theme: Theme
) -> None:
    faults: list[str] = []
    async with window(browser, tour.place.origin, size, theme, still=True, expected=ERRORS) as one:
        for url in tour.pages:
            page = await one.go(url)
            width, room = await page.evaluate(WIDTHS)
            if width > room:
                faults.append(f"{url}: {width} > {room}: {await page.evaluate(WIDEST)}")
            await one.shoot(f"{every_page.name(url)}{'-new' if tour.name == 'new' else ''}")
    assert not faults, listed(faults)

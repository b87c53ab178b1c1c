"""Every page at both sizes, for people to look at; on a phone nothing is wider than it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from tests.browser import every_page
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.kit import SIZES, Size, Theme, listed, window

pytestmark = pytest.mark.timeout(300)

WIDTH = "document.scrollingElement.scrollWidth"
WIDEST = """
room => [...document.querySelectorAll("main *, header *, footer *")]
  .filter(one => one.getBoundingClientRect().right > room + 1 && !one.closest(".wide"))
  .map(one => `${one.localName}${one.id && "#" + one.id}.${one.className}`).slice(0, 3).join(", ")
"""


@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("phone", "dark")])
async def test_every_page_fits_and_is_pictured(
    browser: Browser, tour: Tour, size: Size, theme: Theme
) -> None:
    faults: list[str] = []
    room = SIZES[size]["viewport"]["width"]
    async with window(browser, tour.place.origin, size, theme, still=True, expected=ERRORS) as one:
        for url in tour.pages:
            page = await one.go(url)
            # Not innerWidth: a phone zooms out until what is too wide fits.
            width = await page.evaluate(WIDTH)
            if width > room:
                faults.append(f"{url}: {width} > {room}: {await page.evaluate(WIDEST, room)}")
            await one.shoot(f"{every_page.name(url)}{'-new' if tour.name == 'new' else ''}")
    assert not faults, listed(faults)

"""Screenshots of every page, on a phone and wide: `make screenshots`. Nothing is checked here."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from tests.browser import every_page
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.helpers import Size, Theme, window


@pytest.mark.parametrize(("size", "theme"), [("phone", "dark"), ("wide", "light")])
async def test_every_page_is_pictured(
    browser: Browser, tour: Tour, size: Size, theme: Theme
) -> None:
    async with window(browser, tour.place.origin, size, theme, still=True, expected=ERRORS) as view:
        for url in tour.distinct:
            await view.go(url)
            await view.shoot(f"{every_page.name(url)}{'-new' if tour.name == 'new' else ''}")

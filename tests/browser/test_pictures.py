"""Every page on a phone, and optional screenshots in both sizes."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

from tests.browser import every_page
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.helpers import PICTURED, Size, Theme, format_faults, window

pytestmark = pytest.mark.timeout(300)

SEEN: list[tuple[Size, Theme]] = [("phone", "dark"), *([("wide", "light")] if PICTURED else [])]
"""test_every_page.py checks wide pages; here they are only for screenshots."""


@pytest.mark.parametrize(("size", "theme"), SEEN)
async def test_every_page_fits_every_window(
    browser: Browser, tour: Tour, size: Size, theme: Theme
) -> None:
    faults: list[str] = []
    async with window(browser, tour.place.origin, size, theme, still=True, expected=ERRORS) as view:
        for url in tour.distinct:
            await view.go(url)
            await view.shoot(f"{every_page.name(url)}{'-new' if tour.name == 'new' else ''}")
            faults += [f"{url}: {problem}" for problem in await view.overflow()]
    assert not faults, format_faults(faults)

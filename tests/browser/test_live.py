"""Live updates work in whatever order the scripts load."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Route

from tests.browser.helpers import window
from tests.browser.world import ServedSite


@pytest.mark.parametrize("script", ["hx-sse.min.js", "app.js", "app.css"])
async def test_a_page_receives_live_updates_although_a_part_loads_late(
    browser: Browser, new_place: ServedSite, script: str
) -> None:
    async def dawdle(route: Route) -> None:
        # Long enough for all other scripts to start first.
        await asyncio.sleep(0.5)
        await route.continue_()

    async with window(browser, new_place.origin) as view:
        await view.page.route(f"**/{script}", dawdle)
        async with view.page.expect_request("**/live?*", timeout=20_000):
            await view.page.goto("/today")

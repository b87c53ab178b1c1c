"""Every page has valid HTML and links, and fits small windows and slow connections."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Request

from jobmill.web.dependencies import WEB_DIR
from tests.browser import validity
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.helpers import Window, format_faults, window

pytestmark = pytest.mark.timeout(300)

MOST_BYTES = 150_000


async def test_every_link_leads_to_a_page(tour: Tour) -> None:
    assert not tour.broken, format_faults(tour.broken)


async def test_every_page_is_valid_html(tour: Tour) -> None:
    faults = [
        f"{url}: {problem}" for url, text in tour.pages.items() for problem in validity.faults(text)
    ]
    assert not faults, format_faults(faults)


async def weigh(view: Window, url: str) -> int:
    """Bytes transferred until the page is loaded."""
    ended: list[Request] = []

    def note(request: Request) -> None:
        ended.append(request)

    view.page.on("requestfinished", note)
    await view.go(url)
    view.page.remove_listener("requestfinished", note)
    sizes = await asyncio.gather(*(request.sizes() for request in ended))
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


async def test_no_page_overflows_the_window_or_is_too_heavy_for_a_slow_connection(
    browser: Browser, tour: Tour
) -> None:
    faults: list[str] = []
    weights: list[int] = []
    # This window has no cache, so every page loads in full.
    async with window(browser, tour.place.origin, still=True, expected=ERRORS) as view:
        for url in tour.distinct:
            weights.append(await weigh(view, url))
            heavy = [f"{weights[-1]:,} bytes"] if weights[-1] > MOST_BYTES else []
            faults += [f"{url}: {problem}" for problem in (*heavy, *await view.overflow())]
    style = (WEB_DIR / "static" / "app.css").stat().st_size
    assert min(weights) > style / 10, "the style sheet came from a cache"
    assert not faults, format_faults(faults)

"""Every page is valid, light, leads somewhere, and fits into a hand."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Request

from tests.browser import every_page, validity
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.kit import Window, listed, window

pytestmark = pytest.mark.timeout(300)

MOST_BYTES = 150_000


async def test_every_link_leads_to_a_page(tour: Tour) -> None:
    assert not tour.broken, listed(tour.broken)


async def test_every_page_is_valid_html(tour: Tour) -> None:
    faults = [
        f"{url}: {one}"
        for url in tour.pages
        for one in validity.faults(await every_page.read(tour.place, url))
    ]
    assert not faults, listed(faults)


async def weigh(one: Window, url: str) -> int:
    """What comes over the wire until the page is there."""
    ended: list[Request] = []
    one.page.on("requestfinished", lambda request: ended.append(request))
    await one.go(url)
    assert len(ended) > 1
    sizes = [await request.sizes() for request in ended]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


async def test_no_page_weighs_more_than_a_slow_line_can_bear(browser: Browser, tour: Tour) -> None:
    heavy: list[str] = []
    for url in tour.pages:
        # A window of its own: nothing is in its cache.
        async with window(browser, tour.place.origin, still=True, expected=ERRORS) as one:
            weight = await weigh(one, url)
            if weight > MOST_BYTES:
                heavy.append(f"{url}: {weight:,} bytes")
    assert not heavy, listed(heavy)

"""Every page is valid, light, leads somewhere, and fits into a hand."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Request

from jobmill.web.view import HERE
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

    def note(request: Request) -> None:
        ended.append(request)

    one.page.on("requestfinished", note)
    await one.go(url)
    one.page.remove_listener("requestfinished", note)
    sizes = [await request.sizes() for request in ended]
    return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)


async def test_no_page_weighs_more_than_a_slow_line_can_bear(browser: Browser, tour: Tour) -> None:
    # A window that is still keeps no cache: every page comes as to somebody new.
    async with window(browser, tour.place.origin, still=True, expected=ERRORS) as one:
        weights = {url: await weigh(one, url) for url in tour.pages}
    style = (HERE / "static" / "app.css").stat().st_size
    assert min(weights.values()) > style / 10, "the style sheet came from a cache"
    heavy = [f"{url}: {weight:,} bytes" for url, weight in weights.items() if weight > MOST_BYTES]
    assert not heavy, listed(heavy)

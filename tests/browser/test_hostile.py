"""External text stays text in the browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from playwright.async_api import Browser

from jobmill.db import connect
from tests.browser import every_page
from tests.browser.helpers import format_faults, window
from tests.browser.hostile import TEXTS, spoil
from tests.browser.world import ServedSite, serve
from tests.conftest import clone

ASKED = [
    f"{path}?q={quote(text)}" for path in ("/matches", "/jobs", "/sources") for text in TEXTS[:3]
]
LOST = [f"/{quote(text, safe='')}" for text in TEXTS[:3]]
RUNS = """
() => [...document.querySelectorAll("*")].filter(one =>
  [...one.attributes].some(attribute => attribute.name.startsWith("on")
    || attribute.name === "srcdoc"
    || attribute.name === "style" && attribute.value.includes("__xss")
    || ["href", "src", "action", "formaction", "xlink:href"].includes(attribute.name)
      && /^\\s*(javascript|data|vbscript):/i.test(attribute.value.replace(/[\\s\\0]/g, ""))
    || attribute.name.startsWith("hx-") && attribute.value.includes("evil.example"))
  || (["iframe", "base", "object", "embed"].includes(one.localName)
      // The preview of our own openings on the page about embedding them.
      && !one.matches('iframe.embed-preview[src="/openings/embed"]:not([srcdoc])'))
).map(one => one.outerHTML.slice(0, 120))
"""


@pytest.fixture(scope="module")
async def spoilt(server: str, lived_in: str) -> AsyncIterator[ServedSite]:
    with clone(server, lived_in) as url:
        async with connect(url) as database:
            await spoil(database)
            async with serve(database) as place:
                yield place


async def test_no_page_runs_or_loads_hostile_content(browser: Browser, spoilt: ServedSite) -> None:
    walk = await every_page.find(spoilt)
    assert not walk.broken, format_faults(walk.broken)
    pages = every_page.one_per_route(walk.pages)
    faults: list[str] = []
    carrying = 0
    async with window(browser, spoilt.origin, still=True, expected=LOST) as view:
        for url in (*pages, *ASKED, *LOST):
            page = await view.visit(url)
            if await page.evaluate("window.__xss !== undefined"):
                faults.append(f"{url}: a script ran")
            faults += [f"{url}: {element}" for element in await page.evaluate(RUNS)]
            text = await page.evaluate("document.querySelector('main').innerText")
            carrying += "__xss" in text
            if "49${" in text:
                faults.append(f"{url}: a template evaluated external text")
    assert not faults, format_faults(faults)
    # The attacks must be on the pages, or this test proves nothing.
    assert carrying > len(pages) / 3

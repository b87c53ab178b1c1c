"""Screenshots of the twelve main screens for the documentation; `make screenshots-docs` runs it.

Not collected with the tests: it checks nothing, and its pictures are committed.
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from jobmill.queue.leases import register_worker
from jobmill.queue.ticks import record_tick
from tests.browser.helpers import SIZES, Size, Theme, window
from tests.browser.world import ServedSite
from tests.web.conftest import signed_in

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SCREENS = {
    "today": "/today",
    "matches": "/matches",
    "match": "/matches/{match}",
    "applications": "/applications",
    "jobs": "/jobs",
    "profile": "/profile/edit",
    "setup": "/setup/companies",
    "openings": "/hiring",
    "opening": "/hiring/{opening}",
    "health": "/health",
    "sources": "/sources",
    "settings": "/settings",
}
STATUSES = ("offer", "interviewing", "applied", "applied", "saved")
ENCODE = """
async (png) => {
  const picture = new Image();
  picture.src = `data:image/png;base64,${png}`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.82 });
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
"""


async def _first_id(place: ServedSite, page: str, pattern: str) -> str:
    async with signed_in(place.origin, follow_redirects=True) as client:
        found = re.search(pattern, (await client.get(page)).text)
    assert found, f"{page} links to no {pattern}"
    return found[1]


async def _save(page: Page, encoder: Page, file: Path) -> None:
    """As WebP, which the browser itself encodes."""
    png = await page.screenshot(scale="css")
    encoded = await encoder.evaluate(ENCODE, base64.b64encode(png).decode())
    file.write_bytes(base64.b64decode(encoded))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
async def test_the_main_screens_are_pictured(
    browser: Browser, own_place: ServedSite, size: Size, theme: Theme
) -> None:
    FOLDER.mkdir(exist_ok=True)
    # No worker runs here, which every picture would show as a problem.
    async with own_place.database.transaction() as tx:
        await register_worker(tx, "worker", dt.timedelta(hours=1))
        for name in ("deadlines", "scheduler"):
            await record_tick(tx, name)
    ids = {
        "match": await _first_id(own_place, "/matches", r'href="/matches/(\d+)'),
        "opening": await _first_id(own_place, "/hiring", r'href="/hiring/(\d+)'),
    }
    async with signed_in(own_place.origin) as client:
        listed = re.findall(r'id="match-(\d+)"', (await client.get("/matches")).text)
        # The last ones of the list, so that the best stay in the inbox.
        for id, status in zip(reversed(listed), STATUSES, strict=False):
            await client.post(f"/applications/{id}/move", data={"column": "applied"})
            await client.post(f"/applications/{id}/move", data={"column": status})
    encoder = await browser.new_page()
    async with window(browser, own_place.origin, size, theme, still=True) as view:
        for name, path in SCREENS.items():
            await view.go(path.format(**ids))
            await view.page.wait_for_load_state("networkidle")
            await _save(view.page, encoder, FOLDER / f"{name}-{size}-{theme}.webp")
    await encoder.close()

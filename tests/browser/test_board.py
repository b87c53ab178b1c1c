"""The board of matches fits the window, scrolls, or becomes one column."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from jobmill.db import Database
from jobmill.matching import matches
from jobmill.web import site as pages
from tests.catalog import helpers
from tests.matching import judged
from tests.web.conftest import local_cookies, served

MEASURED = """
() => {
  const board = document.querySelector(".kanban");
  const columns = [...board.children].map(one => one.getBoundingClientRect());
  return {
    beyond: document.scrollingElement.scrollWidth - innerWidth,
    scrolls: board.scrollWidth > board.clientWidth,
    stacked: columns.every((one, at) => !at || one.top >= columns[at - 1].bottom),
    least: Math.min(...columns.map(one => one.width)),
    spills: [...board.querySelectorAll("li")].some(one => one.scrollWidth > one.clientWidth + 1),
  };
}
"""


@pytest.fixture
async def address(database: Database) -> AsyncIterator[str]:
    async with database.transaction() as tx:
        title = "Senior Infrastructure Representative"
        postings = [
            helpers.posting(n, title, location="Remote, United States") for n in range(1, 5)
        ]
        place = await judged.make(tx, postings=postings)
        for listing, status in zip(
            place.listings, ("new", "applied", "interviewing", "offer"), strict=True
        ):
            id = await matches.save_verdict(tx, place.word(91, listing))
            await matches.set_status(tx, id or 0, status)
    async with served(pages.create_app(database, local=True)) as client:
        yield str(client.base_url).rstrip("/")


@pytest.mark.parametrize(
    ("width", "scrolls", "stacked"),
    [(1600, False, False), (1280, False, False), (1180, False, False), (1000, True, False),
     (700, True, False), (390, False, True)],
)  # fmt: skip
async def test_the_board_fits_or_scrolls_inside_the_page(
    browser: Browser, address: str, width: int, scrolls: bool, stacked: bool
) -> None:
    page = await browser.new_page(viewport={"width": width, "height": 900})
    await page.context.add_cookies(
        [
            {"name": name, "value": value, "url": address}
            for name, value in local_cookies(address).items()
        ]
    )
    await page.goto(f"{address}/matches/board")
    sizes = await page.evaluate(MEASURED)
    await page.close()
    assert sizes["beyond"] <= 0
    assert (sizes["scrolls"], sizes["stacked"]) == (scrolls, stacked)
    assert sizes["least"] >= 140
    assert not sizes["spills"]

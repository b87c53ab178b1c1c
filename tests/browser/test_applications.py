"""The board of applications: moved by mouse, keyboard and touch, at every width."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, FloatRect, Page, expect

from jobmill.db import Database
from jobmill.matching import matches
from jobmill.matching.job_applications import custom_statuses
from jobmill.matching.matches import MatchId
from tests.browser import axe
from tests.browser.helpers import format_faults, window
from tests.browser.world import ServedSite, serve
from tests.catalog import helpers
from tests.matching import judged

TITLE = "Senior Infrastructure Representative"
COLUMNS = ["saved", "applied", "interviewing", "offer", "rejected"]
MEASURED = """
() => {
  const board = document.querySelector(".kanban");
  const columns = [...board.children].map(column => column.getBoundingClientRect());
  return {
    beyond: document.scrollingElement.scrollWidth - innerWidth,
    scrolls: board.scrollWidth > board.clientWidth,
    stacked: columns.every((column, at) => !at || column.top >= columns[at - 1].bottom),
    least: Math.min(...columns.map(column => column.width)),
    spills: [...board.querySelectorAll("li")].some(card => card.scrollWidth > card.clientWidth + 1),
  };
}
"""


@pytest.fixture
async def tracked(database: Database) -> AsyncIterator[tuple[ServedSite, list[MatchId]]]:
    """A site with three saved applications."""
    made: list[MatchId] = []
    async with database.transaction() as tx:
        postings = [
            helpers.posting(n, f"{TITLE} {n}", location="Remote, United States")
            for n in range(1, 4)
        ]
        place = await judged.make(tx, listings=3, postings=postings)
        for listing in place.listings:
            id = await matches.save_verdict(tx, place.word(91, listing))
            assert id is not None
            await matches.set_status(tx, id, "saved")
            made.append(id)
    async with serve(database) as site:
        yield site, made


async def expect_in(page: Page, site: ServedSite, id: int, column: str) -> None:
    """The card is in a column, on the page and in the database."""
    await expect(page.locator(f'[data-column="{column}"] #application-{id}')).to_be_visible()
    await expect(page.locator("#toast")).to_contain_text(column.capitalize())
    async with site.database.transaction() as tx:
        assert await custom_statuses.find_key(tx, id) == column


async def find_box(page: Page, selector: str) -> FloatRect:
    """Where an element is; a live update may replace the board at any moment."""
    while not (box := await page.locator(selector).bounding_box()):
        pass
    return box


async def drag_by_mouse(page: Page, id: int, column: str) -> None:
    card = await find_box(page, f"#application-{id}")
    target = await find_box(page, f'[data-column="{column}"] h2')
    await page.mouse.move(card["x"] + 20, card["y"] + card["height"] / 2)
    await page.mouse.down()
    await page.mouse.move(target["x"] + 30, target["y"] + 20, steps=5)
    await page.mouse.up()


async def drag_by_touch(page: Page, id: int, column: str) -> None:
    """With real touch events of the browser, on the card's button and the bar of statuses."""
    handle = page.locator(f"#application-{id} [data-move]")
    # In the middle: bars cover the edges of a phone's screen.
    await handle.evaluate("handle => handle.scrollIntoView({ block: 'center' })")
    start = await find_box(page, f"#application-{id} [data-move]")
    client = await page.context.new_cdp_session(page)

    async def send(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        await client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    x, y = start["x"] + 10, start["y"] + 10
    await send("touchStart", (x, y))
    await send("touchMove", (x + 15, y + 15))
    target = page.locator(f'[data-target="{column}"]')
    await expect(target).to_be_visible()
    box = await target.bounding_box()
    assert box
    await send("touchMove", (box["x"] + 10, box["y"] + 10))
    await send("touchEnd")


async def test_applications_move_through_all_statuses_by_mouse_keyboard_and_touch(
    browser: Browser, tracked: tuple[ServedSite, list[MatchId]]
) -> None:
    site, [by_mouse, by_key, by_touch] = tracked
    async with window(browser, site.origin, still=True) as view:
        page = await view.go("/applications")
        for column in [*COLUMNS[1:], "saved"]:
            await drag_by_mouse(page, by_mouse, column)
            await expect_in(page, site, by_mouse, column)
        await page.locator(f"#application-{by_key} h3 a").focus()
        for column in COLUMNS[1:]:
            await page.keyboard.press("m")
            await expect(page.locator("#move-title")).to_contain_text("Enter moves")
            await page.keyboard.press("l")
            await page.keyboard.press("ArrowRight")
            await page.keyboard.press("h")
            await page.keyboard.press("Enter")
            await expect_in(page, site, by_key, column)
            await expect(page.locator(f"#application-{by_key} h3 a")).to_be_focused()
        await page.keyboard.press("u")
        await expect_in(page, site, by_key, "offer")
        await page.keyboard.press("m")
        await expect(page.locator("#move-bar")).to_be_visible()
        faults = await axe.faults(view)
        assert not faults, format_faults(faults)
        await page.keyboard.press("Escape")
        await expect(page.locator("#move-bar")).to_be_hidden()
        assert page.url.partition("?")[0].endswith("/applications")
    async with window(browser, site.origin, "phone", still=True) as view:
        page = await view.go("/applications")
        for column in COLUMNS[1:]:
            await drag_by_touch(page, by_touch, column)
            await expect_in(page, site, by_touch, column)
        assert not await view.overflow()


async def test_one_dismissed_by_mistake_is_restored_and_a_conflict_is_shown(
    browser: Browser, tracked: tuple[ServedSite, list[MatchId]]
) -> None:
    site, [first, second, _] = tracked
    async with window(
        browser, site.origin, still=True, expected=[f"/applications/{second}/move"]
    ) as view:
        page = await view.go("/applications")
        await page.locator(f"#application-{first} [data-move]").click()
        target = await find_box(page, '[data-target="dismissed"]')
        x, y = target["x"] + target["width"] / 2, target["y"] + target["height"] / 2
        await page.mouse.click(x, y)
        await expect(page.locator("#toast")).to_contain_text("Dismissed")
        is_covered = "([x, y]) => !!document.elementFromPoint(x, y).closest('#toast')"
        assert not await page.evaluate(is_covered, [x, y])
        await expect(page.locator(f"#application-{first}")).to_have_count(0)
        page = await view.go("/applications")
        await page.get_by_text("Dismissed recently").click()
        await page.get_by_role("button", name=f"Restore {TITLE} 1").click()
        await expect_in(page, site, first, "saved")
        async with site.database.transaction() as tx:
            await matches.set_status(tx, second, "offer")
        await drag_by_mouse(page, second, "rejected")
        await expect(page.get_by_role("alert")).to_contain_text("was moved in the meantime")
        await expect(page.locator(f'[data-column="offer"] #application-{second}')).to_be_visible()


async def test_without_scripts_a_select_moves_a_card(
    browser: Browser, tracked: tuple[ServedSite, list[MatchId]]
) -> None:
    site, [first, *_] = tracked
    async with window(browser, site.origin, scripts=False) as view:
        page = await view.go("/applications")
        card = page.locator(f"#application-{first}")
        await card.get_by_role("combobox").select_option("interviewing")
        await card.get_by_role("button").click()
        await expect_in(page, site, first, "interviewing")
        await page.get_by_role("button", name="Undo").click()
        await expect_in(page, site, first, "saved")


async def test_the_board_fits_or_scrolls_inside_the_page(
    browser: Browser, tracked: tuple[ServedSite, list[MatchId]]
) -> None:
    site, _ = tracked
    async with window(browser, site.origin) as view:
        page = await view.go("/applications")
        for width, scrolls, stacked in (
            (1600, False, False),
            (1180, False, False),
            (700, True, False),
            (390, False, True),
        ):
            await page.set_viewport_size({"width": width, "height": 900})
            sizes = await page.evaluate(MEASURED)
            assert sizes["beyond"] <= 0, width
            assert (sizes["scrolls"], sizes["stacked"]) == (scrolls, stacked), width
            assert sizes["least"] >= 140
            assert not sizes["spills"]

"""Triage of matches with keys, pointer and touch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, Route, expect

from jobmill.catalog import companies
from jobmill.catalog.posting import Salary
from jobmill.db import Database
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from jobmill.web.pages.sources import list_page
from tests.browser import axe
from tests.browser.helpers import format_faults, window
from tests.browser.world import ServedSite, serve
from tests.catalog import helpers
from tests.matching import judged

SCORES = range(99, 87, -1)
"""Of twelve matches, best first."""
TEXT = "You keep the pumps of the town running. " * 60


@pytest.fixture
async def inbox(database: Database) -> AsyncIterator[tuple[ServedSite, list[MatchId]]]:
    """A site with twelve new matches, best first."""
    postings = [
        helpers.posting(
            n,
            f"Pump Engineer {n}",
            location="Porto",
            description=TEXT,
            salary=Salary(60_000 + n, 75_000, "EUR", "year", "structured"),
        )
        for n in range(1, len(SCORES) + 1)
    ]
    made: list[MatchId] = []
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=len(SCORES), postings=postings)
        for listing, score in zip(place.listings, SCORES, strict=True):
            id = await matches.save_verdict(tx, place.word(score, listing))
            assert id is not None
            made.append(id)
    async with serve(database) as site:
        yield site, made


async def read_statuses(database: Database, ids: Sequence[int]) -> list[str]:
    async with database.transaction() as tx:
        return [(await matches.get(tx, id)).status for id in ids]


async def expect_selected(page: Page, title: str) -> None:
    await expect(page.locator("#panel-title")).to_have_text(title)
    await expect(page.locator("[data-panel][aria-current]")).to_have_text(title)


async def test_ten_matches_take_ten_keys_and_the_inbox_empties(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, ids = inbox
    async with window(browser, site.origin) as view:
        page = await view.go("/matches")
        await expect_selected(page, "Pump Engineer 1")
        assert await page.locator("ol.matches > li:below(h1)").count() == len(ids)
        for key in "sdasdasdsd":
            await page.keyboard.press(key)
        await expect_selected(page, "Pump Engineer 11")
        await expect(page.locator("#toast")).to_contain_text("Pump Engineer 10")
        decided = {"s": "saved", "d": "dismissed", "a": "applied"}
        assert await read_statuses(site.database, ids[:10]) == [
            decided[key] for key in "sdasdasdsd"
        ]
        await page.keyboard.press("s")
        await page.keyboard.press("s")
        await expect(page.locator(".empty")).to_contain_text("Your inbox is empty")
        faults = await axe.faults(view)
        assert not faults, format_faults(faults)


async def test_decisions_are_undone_in_order_and_a_dismissal_has_a_reason(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, ids = inbox
    async with window(browser, site.origin) as view:
        page = await view.go("/matches")
        await page.keyboard.press("j")
        await expect_selected(page, "Pump Engineer 2")
        await page.keyboard.press("k")
        await expect_selected(page, "Pump Engineer 1")
        await page.keyboard.press("s")
        await page.keyboard.press("d")
        await expect(page.locator("#toast")).to_contain_text("Dismissed: Pump Engineer 2")
        await page.keyboard.press("1")
        await expect(page.locator("#toast")).to_contain_text("(Pay)")
        await expect_selected(page, "Pump Engineer 3")
        async with site.database.transaction() as tx:
            assert (await matches.get(tx, ids[1])).dismiss_reason == "pay"
        await page.keyboard.press("u")
        await expect_selected(page, "Pump Engineer 2")
        await page.keyboard.press("u")
        await expect_selected(page, "Pump Engineer 1")
        await expect(page.locator("#toast")).to_contain_text("New: Pump Engineer 1")
        assert await read_statuses(site.database, ids[:3]) == ["new"] * 3
        titles = await page.locator("ol.matches h2").all_inner_texts()
        assert titles == [f"Pump Engineer {n}" for n in range(1, len(ids) + 1)]


async def test_fast_keys_are_for_the_last_decision(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, ids = inbox
    async with window(browser, site.origin) as view:
        page = await view.go("/matches")
        toast = page.locator("#toast")
        await page.keyboard.press("d")
        await expect(toast).to_contain_text("Dismissed: Pump Engineer 1")
        async with held(page, "**/status"):
            await page.keyboard.press("d")
            await expect_selected(page, "Pump Engineer 3")
            await page.keyboard.press("1")
        await expect(toast).to_contain_text("Dismissed: Pump Engineer 2 (Pay)")
        async with held(page, "**/status"):
            await page.keyboard.press("s")
            await expect_selected(page, "Pump Engineer 4")
            await page.keyboard.press("u")
        await expect(toast).to_contain_text("New: Pump Engineer 3")
        await expect_selected(page, "Pump Engineer 3")
        assert await read_statuses(site.database, ids[:3]) == ["dismissed", "dismissed", "new"]
        async with held(page, "**/status"):
            for key in "sua":
                await page.keyboard.press(key)
        await expect(toast).to_contain_text("Applied: Pump Engineer 3")
        await expect_selected(page, "Pump Engineer 4")
        async with site.database.transaction() as tx:
            reasons = [(await matches.get(tx, id)).dismiss_reason for id in ids[:2]]
        assert reasons == [None, "pay"]


@asynccontextmanager
async def held(page: Page, urls: str) -> AsyncIterator[None]:
    """Requests of these URLs reach the server at the end."""
    is_released = asyncio.Event()

    async def wait(route: Route) -> None:
        await is_released.wait()
        await route.continue_()

    await page.route(urls, wait)
    yield
    is_released.set()
    await page.unroute_all(behavior="wait")


async def test_a_match_loads_answers_what_if_and_opens_its_posting(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, _ = inbox
    async with site.database.transaction() as tx:
        await tx.execute("UPDATE catalog.listing SET url = %s || id", [f"{site.origin}/openings?"])
    async with window(browser, site.origin) as view:
        page = await view.go("/matches")
        async with held(page, "**/panel?*"):
            await page.keyboard.press("j")
            await expect(page.locator("#panel .skeleton i").first).to_be_visible()
        await expect_selected(page, "Pump Engineer 2")
        await page.get_by_label("What if you had").fill("Go")
        await page.get_by_role("button", name="Calculate score").click()
        await expect(page.locator("#what-if")).to_contain_text("→")
        assert page.url.endswith("/matches")
        url = await page.get_by_role("link", name="Open posting").get_attribute("href")
        async with page.expect_popup() as popup:
            await page.keyboard.press("o")
        assert (await popup.value).url == url
        await page.keyboard.press("?")
        shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
        await expect(shortcuts).to_be_visible()
        await page.keyboard.press("s")
        await page.keyboard.press("Escape")
        await expect(shortcuts).to_be_hidden()
        await expect_selected(page, "Pump Engineer 2")


async def test_the_screen_holds_eight_rows_and_the_actions_stay_in_view(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, _ = inbox
    async with window(browser, site.origin) as view:
        page = await view.go("/matches")
        heights = await page.locator("ol.matches > li").evaluate_all(
            "rows => rows.map(row => [row.offsetHeight, row.getBoundingClientRect().bottom <= innerHeight])"
        )
        assert len({height for height, _ in heights}) == 1
        assert sum(is_seen for _, is_seen in heights) >= 8
        await page.locator("#panel").evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
        await expect(page.locator(".panel-actions button").first).to_be_in_viewport()
        for theme in ("light", "dark"):
            await view.turn(theme)
            faults = await axe.faults(view)
            assert not faults, format_faults(faults)


async def test_filters_apply_while_typing_and_without_scripts(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, ids = inbox
    async with site.database.transaction() as tx:
        for name in ("Umbervale Energy", "Orrery and Finch"):
            await companies.get_or_create(tx, name)
        for number in range(list_page.PAGE_SIZE + 1):
            await helpers.make_source(tx, token=f"quill{number}")
    lists = [
        ("/matches", "engineer 12"),
        ("/jobs", "engineer 12"),
        ("/companies", "orrery"),
        ("/sources", "quill12"),
    ]
    rows = "ol.matches > li, #companies tbody tr, #sources tbody tr"
    async with window(browser, site.origin) as view:
        for path, words in lists:
            page = await view.go(path)
            await expect(page.locator(rows).nth(1)).to_be_visible()
            history = await page.evaluate("history.length")
            await page.get_by_role("searchbox").press_sequentially(words)
            await expect(page.locator(rows)).to_have_count(1)
            assert f"{path}?" in page.url
            assert f"q={words.partition(' ')[0]}" in page.url
            await expect(page.get_by_role("searchbox")).to_be_focused()
            await expect(page.get_by_role("link", name="Next page")).to_have_count(0)
            assert await page.evaluate("history.length") == history
        page = await view.go("/matches")
        await page.keyboard.press("s")
        await expect(page.locator("#toast")).to_contain_text("Saved: Pump Engineer 1")
        # A match that was loading when the list changed is not shown beside the new list.
        async with held(page, "**/panel?*"):
            await page.locator(rows).nth(8).click()
            await page.get_by_role("searchbox").press_sequentially("engineer 12")
            await expect(page.locator(rows)).to_have_count(1)
        await page.evaluate("async () => { await Promise.all(panels.values()) }")
        await expect_selected(page, "Pump Engineer 12")
        assert "q=engineer" in (await page.locator("#tabs a").last.get_attribute("href") or "")
        # The undone match does not belong into the filtered list, which loads again.
        async with page.expect_event("load"):
            await page.get_by_role("button", name="Undo").click()
        await expect_selected(page, "Pump Engineer 12")
        assert await read_statuses(site.database, ids[:1]) == ["new"]
    async with window(browser, site.origin, scripts=False) as view:
        for path, words in lists:
            page = await view.go(path)
            await page.get_by_role("searchbox").fill(words)
            await page.get_by_role("button", name="Apply filters").click()
            await expect(page.locator(rows)).to_have_count(1)


async def test_on_a_phone_one_match_at_a_time_is_swiped(
    browser: Browser, inbox: tuple[ServedSite, list[MatchId]]
) -> None:
    site, ids = inbox
    async with site.database.transaction() as tx:
        # As in the demo: a banner, and tabs of several profiles.
        await tx.execute("INSERT INTO demo.world (seed, day) VALUES (7, '2 minutes')")
        await profiles.save(tx, "second", Profile())
    async with window(browser, site.origin, "phone") as view:
        page = await view.go("/matches")
        for selector in (".demo", "nav[aria-label=Profiles]"):
            await expect(page.locator(selector)).to_be_visible()
        top = await page.locator("#panel-title").evaluate(
            "title => title.getBoundingClientRect().top"
        )
        assert top <= 300
        await expect(page.get_by_role("searchbox")).to_be_hidden()
        for direction in (1, -1):
            # As after reading the description: the next match is shown from its title.
            await page.locator("#panel .text").evaluate("text => text.scrollIntoView()")
            await swipe(page, direction)
            await expect(page.locator("#panel-title")).to_be_in_viewport(ratio=1)
            await expect(page.locator("#toast")).to_contain_text("Pump")
            assert await is_uncovered(page, "#panel-title")
        await expect_selected(page, "Pump Engineer 3")
        await page.get_by_role("button", name="Applied", exact=True).tap()
        await expect_selected(page, "Pump Engineer 4")
        await expect(page.locator("#toast")).to_contain_text("Applied: Pump Engineer 3")
        assert await read_statuses(site.database, ids[:3]) == ["saved", "dismissed", "applied"]
        assert not await view.overflow()
        faults = await axe.faults(view)
        assert not faults, format_faults(faults)


async def is_uncovered(page: Page, selector: str) -> bool:
    """Whether a pointer in the middle of an element is on the element."""
    return await page.locator(selector).evaluate(
        """
        element => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }
        """
    )


async def swipe(page: Page, direction: int) -> None:
    """Swipe over the match by real touch; the direction is 1 for right and -1 for left."""
    before = await page.locator("#panel-title").inner_text()
    client = await page.context.new_cdp_session(page)
    for kind, by in (("touchStart", 0), ("touchMove", 60), ("touchMove", 120), ("touchEnd", None)):
        points = [] if by is None else [{"x": 195 + by * direction, "y": 400}]
        await client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await expect(page.locator("#panel-title")).not_to_have_text(before)

"""Main user journeys, wide and light as well as narrow and dark."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from playwright.async_api import Browser, expect

from jobmill import app
from jobmill.db import Database, connect
from jobmill.demo import session, setup
from jobmill.demo.companies import companies_on
from jobmill.demo.server import open_server
from jobmill.demo.state import World
from jobmill.outside.fetch import open_fetch
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.browser.helpers import Size, Theme, window
from tests.browser.world import ServedSite, serve
from tests.conftest import clone
from tests.demo.helpers import begin, running

LOOKS: tuple[tuple[Size, Theme], ...] = (("wide", "light"), ("phone", "dark"))
both_looks = pytest.mark.parametrize(("size", "theme"), LOOKS)

PATIENCE = 60_000
"""Milliseconds to wait for live changes."""
expect.set_options(timeout=20_000)


@pytest.fixture
async def first_run(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    """The demo right after its start, with a worker.

    With the companies of one vendor: their jobs suffice for matches, and reading all takes three times as long.
    """
    with clone(server, template) as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "COMPANIES", companies_on("ashby"))
        async with connect(url) as database:
            await begin(database)
            async with serve(database) as place, running(database):
                yield place


async def test_the_first_screen_says_what_it_is_and_fills_with_matches(
    browser: Browser, first_run: ServedSite
) -> None:
    # At the same time, because the first matches arrive only once.
    async with asyncio.TaskGroup() as group:
        for look in LOOKS:
            group.create_task(watch_first_run(browser, first_run, *look))


async def watch_first_run(
    browser: Browser, first_run: ServedSite, size: Size, theme: Theme
) -> None:
    async with window(browser, first_run.origin, size, theme) as view:
        page = await view.go("/")
        await page.evaluate("window.unmoved = true")
        await expect(page.locator(".intro")).to_contain_text(
            "scores every job against your profile"
        )
        await expect(page.locator(".tour li")).to_have_count(3)
        await view.shoot("journey-first-run-1")
        await expect(page.locator("ol.top-matches > li").first).to_be_visible(timeout=PATIENCE)
        await expect(page.get_by_role("link", name="Review matches")).to_be_visible()
        assert await page.evaluate("window.unmoved"), "the page was reloaded"
        await view.shoot("journey-first-run-2")


@asynccontextmanager
async def at_work(database: Database) -> AsyncIterator[None]:
    """A worker that reads the demo sites, even if the database holds no demo."""
    hour = dt.timedelta(hours=1)
    world = World(7, dt.datetime.now(dt.UTC) - hour, hour)
    async with open_server(world) as sites:
        settings = session.demo_settings(Settings(host_interval_seconds=0.001), sites.port)
        async with open_fetch(database, settings) as fetch:
            worker = app.build_worker(Tools(database, fetch), settings)

            async def run() -> None:
                # As a supervisor would: the pool may hand out a connection that its server has closed.
                try:
                    await worker.run()
                except psycopg.OperationalError:
                    await worker.run()

            task = asyncio.create_task(run())
            yield
            worker.stop()
            await task


@both_looks
async def test_ending_the_demo_and_setting_up_leads_to_a_first_match(
    browser: Browser, own_place: ServedSite, size: Size, theme: Theme
) -> None:
    boards = [
        f"{vendor}/{view.slug}"
        for vendor in ("greenhouse", "lever")
        for view in companies_on(vendor)
    ]
    skills = ("Python", "PostgreSQL", "Docker")
    async with (
        window(browser, own_place.origin, size, theme) as view,
        at_work(own_place.database),
    ):
        page = await view.go("/demo")
        await view.shoot("journey-own-1")
        await page.get_by_role("button", name="End demo").click()
        await expect(page).to_have_url(re.compile("/setup$"))
        await expect(page.locator("p.demo")).to_have_count(0)
        await view.shoot("journey-own-2")
        await page.goto("/setup/profile")
        await page.get_by_label("Add a title").fill("Senior Backend Engineer")
        await page.get_by_label("Add a title").press("Enter")
        await page.get_by_label("Home city").fill("Portland, OR")
        await page.get_by_label("Time zone").fill("America/Los_Angeles")
        for skill in skills:
            await page.get_by_label("Add a skill").fill(skill)
            await page.get_by_label("Add a skill").press("Enter")
        await page.get_by_label("Years of experience").fill("9")
        await page.get_by_label("Remote", exact=True).check()
        await view.shoot("journey-own-3")
        await page.locator(".actions").get_by_role("button", name="Save and continue").click()
        await expect(page).to_have_url(re.compile("/setup/companies$"))
        await page.get_by_label(re.compile("addresses of job boards")).fill("\n".join(boards))
        await view.shoot("journey-own-4", full_page=False)
        await page.get_by_role("button", name="Add and continue").click()
        await page.get_by_role("link", name="Continue", exact=True).click()
        await expect(page.locator("ol.matches > li").first).to_be_visible(timeout=PATIENCE)
        await view.shoot("journey-own-5")


@both_looks
async def test_a_source_that_waits_is_approved(
    browser: Browser, own_place: ServedSite, size: Size, theme: Theme
) -> None:
    async with window(browser, own_place.origin, size, theme) as view:
        page = await view.go("/today")
        await page.get_by_role("link", name="Review", exact=True).first.click()
        waiting = page.locator("ul.waiting > li")
        await expect(waiting.first).to_be_visible()
        many = await waiting.count()
        name = await waiting.first.locator("h2 a").inner_text()
        await view.shoot("journey-approve-1")
        await waiting.first.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("status")).to_contain_text(f"{name} approved.")
        await expect(waiting).to_have_count(many - 1)
        await view.shoot("journey-approve-2")


@both_looks
async def test_the_replay_of_an_opening_works_with_arrow_keys(
    browser: Browser, own_place: ServedSite, size: Size, theme: Theme
) -> None:
    async with window(browser, own_place.origin, size, theme) as view:
        page = await view.go("/hiring")
        await page.get_by_role("link", name="Pump Engineer").click()
        await page.get_by_role("link", name="Replay").first.click()
        slider = page.get_by_role("slider")
        last = int(await slider.get_attribute("max") or "")
        moment = page.locator("#past .moment strong")
        await expect(moment).to_have_text(f"{last:,}")
        await view.shoot("journey-replay-1")
        await slider.focus()
        await page.keyboard.press("ArrowLeft")
        await expect(moment).to_have_text(f"{last - 1:,}")
        await expect(slider).to_be_focused()
        await page.keyboard.press("Home")
        await expect(moment).to_have_text("0")
        await expect(page.locator("#past")).to_contain_text("did not exist yet")
        await page.keyboard.press("ArrowRight")
        await expect(moment).to_have_text("1")
        assert page.url.endswith("seq=1")
        await view.shoot("journey-replay-2")
        # Plays to the end, at a speed that skips events; the reader hears only where it stopped.
        said = page.locator("#said")
        await page.get_by_label("Events per second").select_option("60")
        await page.get_by_role("heading", level=1).click()
        await page.keyboard.press("Space")
        await expect(page.get_by_role("button", name="Play")).to_be_visible()
        await expect(moment).to_have_text(f"{last:,}")
        await expect(said).to_contain_text(f"Event {last:,} of {last:,}")
        await page.keyboard.press("ArrowLeft")
        await expect(moment).to_have_text(f"{last - 1:,}")
        await page.locator("#timeline svg").click(position={"x": 1, "y": 5})
        await expect(moment).to_have_text("1")
        await page.get_by_role("link", name="Next").click()
        await expect(moment).to_have_text("2")
        await page.get_by_role("link", name="Next").press("Enter")
        await expect(moment).to_have_text("3")
        # The address leads to the same moment.
        await view.go(page.url.removeprefix(own_place.origin))
        await expect(moment).to_have_text("3")
        await view.shoot("journey-replay-3")


@both_looks
async def test_the_company_publishes_a_fairness_proof(
    browser: Browser, own_place: ServedSite, size: Size, theme: Theme
) -> None:
    async with window(browser, own_place.origin, size, theme) as view:
        page = await view.go("/hiring")
        await page.get_by_role("link", name="Pump Engineer").click()
        await page.get_by_role("link", name="Edit").first.click()
        await page.get_by_label("Publish the history of places and offers").check()
        await page.get_by_role("button", name="Save").click()
        await page.get_by_role("link", name="Fairness proof").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Fairness proof")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download history").click()
        assert (await download.value).suggested_filename.endswith(".jsonl")
        await view.shoot("journey-fairness")


@both_looks
async def test_the_switcher_changes_the_workspace_and_is_remembered(
    browser: Browser, place: ServedSite, size: Size, theme: Theme
) -> None:
    expected = ("/hiring/999999999", "/nowhere")
    async with window(browser, place.origin, size, theme, expected=expected) as view:
        page = await view.go("/")
        await expect(page).to_have_url(re.compile("/today$"))
        if size == "phone":
            await page.get_by_role("button", name="Menu").click()
        await page.locator(".workspaces").get_by_role("link", name="Hiring").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Openings")
        await view.go("/")
        await expect(page).to_have_url(re.compile("/hiring$"))
        await view.go("/hiring/999999999")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
        await page.locator("main").get_by_role("link", name="Go to Openings").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Openings")
        # No page scrolls because of the banner above it.
        await view.go("/nowhere" if size == "wide" else "/hiring")
        if size == "wide":
            height = "document.scrollingElement.scrollHeight"
            assert await page.evaluate(height) <= await page.evaluate("innerHeight")

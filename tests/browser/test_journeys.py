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
from jobmill.demo import session
from jobmill.demo.companies import companies_on
from jobmill.demo.server import open_server
from jobmill.demo.state import World
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.outside.fetch import open_fetch
from jobmill.people import secrets
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.browser.helpers import Size, Theme, Window, window
from tests.browser.world import ServedSite, serve
from tests.conftest import clone
from tests.demo.helpers import begin, running
from tests.web.api.helpers import make_job
from tests.web.conftest import signed_in

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("phone", "dark")]),
]

PATIENCE = 60_000
"""Milliseconds to wait for live changes."""
expect.set_options(timeout=20_000)


@pytest.fixture
async def fresh_place(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    with clone(server, template) as url:
        async with connect(url) as database, serve(database) as place:
            yield place


@pytest.fixture
async def first_run(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    """The demo right after its start, with a worker."""
    with clone(server, template) as url:
        async with connect(url) as database:
            await begin(database)
            async with serve(database) as place, running(database):
                yield place


async def test_the_first_screen_says_what_it_is_and_fills_with_matches(
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


async def my_link(database: Database, email: str) -> str:
    """The personal link that an email would contain."""
    async with database.transaction() as tx:
        cursor = await tx.execute(
            "SELECT id, link_version FROM hiring.applicant WHERE email = %s", [email]
        )
        rows = await cursor.fetchall()
        return "/my/" + LinkSigner(await secrets.get_signing_key(tx)).sign_personal(
            *rows[0], dt.datetime.now(dt.UTC)
        )


async def apply(view: Window, opening: int, name: str) -> None:
    page = await view.go(f"/openings/{opening}")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Email").fill(f"{name.lower()}@example.org")
    await view.shoot(f"journey-hiring-{name.lower()}-1")
    await page.get_by_role("button", name="Apply").click()
    await page.wait_for_load_state()
    await view.shoot(f"journey-hiring-{name.lower()}-2")


async def test_a_waiting_applicant_sees_a_free_place_and_accepts_it(
    browser: Browser, fresh_place: ServedSite, size: Size, theme: Theme
) -> None:
    origin, database = fresh_place.origin, fresh_place.database
    async with signed_in(origin) as client:
        opening = await make_job(
            client, title="Ferry Pilot", requireAcknowledgement=True, acknowledgeWindowSeconds=3600
        )
    async with (
        window(browser, origin, size, theme) as ada,
        window(browser, origin, size, theme) as bo,
    ):
        await apply(ada, opening, "Ada")
        await apply(bo, opening, "Bo")
        theirs = await bo.go(await my_link(database, "bo@example.org"))
        accept = theirs.get_by_role("button", name="Accept")
        await expect(accept).to_have_count(0)
        await theirs.evaluate("window.unmoved = true")
        await bo.shoot("journey-hiring-bo-3")

        hers = await ada.go(await my_link(database, "ada@example.org"))
        await hers.get_by_role("link", name="Ferry Pilot").click()
        await hers.get_by_role("button", name=re.compile("Withdraw")).click()
        await expect(hers.get_by_role("heading", name="Ended")).to_be_visible()
        await ada.shoot("journey-hiring-ada-3")

        await theirs.bring_to_front()
        await expect(accept).to_be_visible()
        assert await theirs.evaluate("window.unmoved"), "the page was reloaded"
        await bo.shoot("journey-hiring-bo-4")
        await accept.click()
        await expect(accept).to_have_count(0)
        await expect(theirs.locator("#mine .badge").first).to_be_visible()
        await bo.shoot("journey-hiring-bo-5")
    async with signed_in(origin) as client:
        job = (await client.get(f"/api/jobs/{opening}")).json()
    assert [applicant["status"] for applicant in job["activeApplicants"]] == ["ACTIVE"]


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

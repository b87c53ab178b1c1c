"""A nurse sets up her search without a network, and people find out why a job matches or not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, expect

from jobmill import app
from jobmill.db import Database, connect
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.browser.helpers import window
from tests.browser.world import ServedSite, serve
from tests.conftest import clone
from tests.matching.profession_resumes import NURSE

PATIENCE = 60_000
"""Milliseconds to wait for live changes."""
JOB = """Registered Nurse - ICU
Alder Valley Hospital, Boise, Idaho
Full-time, on site

About the job
We are looking for a registered nurse for our intensive care unit with 24 beds.

Requirements
- Registered Nurse License (Idaho)
- 3 years of experience in critical care
- ACLS and BLS certification
- Patient assessment, ventilator management and medication administration

We pay $38 to $52 per hour.
"""


@asynccontextmanager
async def working_offline(database: Database) -> AsyncIterator[None]:
    """A worker without a network and without a model."""
    worker = app.build_worker(Tools(database), Settings())
    task = asyncio.create_task(worker.run())
    yield
    worker.stop()
    await task


@pytest.fixture
async def empty_place(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    with clone(server, template) as url:
        async with connect(url) as database:
            await app.declare_stages(Tools(database), Settings())
            async with serve(database) as place, working_offline(database):
                yield place


async def test_a_nurse_gets_from_a_pasted_resume_to_a_scored_pasted_job(
    browser: Browser, empty_place: ServedSite
) -> None:
    async with window(browser, empty_place.origin, "phone", "light") as view:
        page = await view.go("/setup/resume")
        await page.get_by_label(re.compile("paste", re.IGNORECASE)).fill(NURSE.resume)
        await page.get_by_role("button", name="Read resume").click()
        await expect(page.locator(".setup-steps li.done")).to_contain_text("Resume read")
        await expect(page.locator(".chip", has_text="Registered Nurse").first).to_be_visible()
        # The jobs that were read can be corrected before anything is saved.
        await expect(page.locator("#entries")).to_contain_text("Alder Valley Hospital")
        await page.get_by_role("button", name="Review and edit entries").click()
        await page.get_by_role("button", name="Add job").click()
        await expect(page.get_by_label("Job title").first).to_be_focused()
        await page.get_by_label("Job title").first.fill("Student Nurse")
        await page.get_by_label("From: year").first.fill("2017")
        await page.get_by_role("button", name="Move down: entry 1").click()
        await page.get_by_role("button", name="Back to the profile").click()
        await expect(page.locator("#entries li").nth(1)).to_contain_text("Student Nurse")
        await page.get_by_label("Home city").fill(NURSE.home_city)
        await page.get_by_label("Onsite").check()
        await page.locator(".actions").get_by_role("button", name="Save and continue").click()
        # No company of the list hires nurses, so searches come first, with the profile's titles and place.
        await expect(page.locator("#no-fit")).to_contain_text("No company in our list")
        await expect(page.locator("#suggested")).to_have_count(0)
        first = page.locator("form fieldset").first
        await expect(first).to_contain_text("Registered Nurse in Boise")
        await page.get_by_role("link", name="Skip this step").click()
        await page.get_by_role("link", name="Continue", exact=True).click()
        await expect(page.get_by_text("Matches appear here as they are found.")).to_be_visible()
        await page.evaluate("window.unmoved = true")
        other = await page.context.new_page()
        await other.goto("/jobs")
        await other.get_by_text("Add a job", exact=True).click()
        await other.get_by_label(re.compile("paste a URL or the text")).fill(JOB)
        await other.get_by_role("button", name="Add", exact=True).click()
        match = page.locator("ol.matches > li").first
        await expect(match).to_contain_text("Registered Nurse", timeout=PATIENCE)
        assert await page.evaluate("window.unmoved"), "the match arrived without a reload"
        await match.get_by_role("link").first.click()
        await expect(page.get_by_text("Registered Nurse License").first).to_be_visible()


async def test_the_effect_of_a_profile_appears_while_typing(
    browser: Browser, own_place: ServedSite
) -> None:
    expected = ["/profile/edit"]  # A wrong time zone is refused.
    async with window(browser, own_place.origin, still=True, expected=expected) as view:
        page = await view.go("/profile/edit")
        panel = page.locator(".side-panel")
        await expect(panel).to_contain_text("No changes.", timeout=PATIENCE)
        await page.get_by_label("Add a skill").fill("Welding")
        await page.get_by_label("Add a skill").press("Enter")
        await expect(panel.locator("ins").first).to_contain_text("Welding", timeout=PATIENCE)
        await panel.get_by_label(re.compile("Note for the history")).fill("I can weld")
        await page.get_by_label("Time zone").fill("Nowhere")
        await expect(panel).to_contain_text("Correct the profile", timeout=PATIENCE)
        await page.get_by_label("Time zone").fill("America/Los_Angeles")
        await expect(panel.get_by_label(re.compile("Note"))).to_have_value(
            "I can weld", timeout=PATIENCE
        )
        await panel.get_by_role("button", name="Save profile").click()
        await expect(page.get_by_role("status")).to_contain_text("Saved as version")
        await expect(page.get_by_text("I can weld").first).to_be_visible()


async def test_a_person_finds_out_why_a_job_matches_or_not(
    browser: Browser, place: ServedSite
) -> None:
    async with window(browser, place.origin, still=True) as view:
        page = await view.go("/today")
        await page.locator("ol.top-matches a").first.click()
        # The score is the sum of its parts, each with the words it rests on.
        await expect(page.locator(".panel-score .reason").first).to_be_visible()
        await expect(page.get_by_text(re.compile(r"needs \d+")).first).to_be_visible()
        page = await view.go("/jobs")
        refused = page.locator("main li", has_text="Filtered out").first
        worst = (await refused.locator(".reason").inner_text()).split("; ")[0]
        await refused.get_by_role("link").first.click()
        await expect(page.get_by_role("heading", name="Why this is not a match")).to_be_visible()
        await expect(page.locator(".reasons")).to_contain_text(worst)
        await expect(page.get_by_role("button", name="Calculate score")).to_be_visible()

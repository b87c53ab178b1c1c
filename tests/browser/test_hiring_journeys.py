"""A company hires without any email: from nothing to a published opening, offers seen live, closing and erasure."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from jobmill.db import Database, connect
from jobmill.hiring import privacy
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.forms import form_versions
from jobmill.hiring.forms.form_fields import ApplicationForm, FormField
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import deadlines
from tests.browser.helpers import Window, window
from tests.browser.world import ServedSite, serve
from tests.conftest import clone
from tests.hiring import change_past
from tests.hiring.forms.documents import GOOD_PDF
from tests.hiring.helpers import let_pass, make_opening
from tests.web.hiring_helpers import the_opening

expect.set_options(timeout=20_000)

HOUR = dt.timedelta(hours=1)
FORM = ApplicationForm(
    fields=(
        FormField(key="cv", type="file", label="CV"),
        FormField(key="nights", type="yes_no", label="Can you work at night?", required=True),
    )
)


@pytest.fixture(scope="module")
async def bakery(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    """A new site that sends no emails; each test has an opening of its own."""
    with clone(server, template) as url:
        async with connect(url) as database, serve(database) as site:
            yield site


async def test_a_company_publishes_its_first_opening_with_a_question(
    browser: Browser, bakery: ServedSite
) -> None:
    async with window(browser, bakery.origin) as view:
        page = await view.go("/today")
        await page.get_by_role("link", name="Start hiring").click()
        await page.get_by_role("link", name="Create an opening").click()
        await page.get_by_label("Company name").fill("Wells Bakery")
        await page.get_by_label("Title").fill("Baker")
        await page.get_by_label("Description").fill("You bake bread at night.")
        await page.get_by_role("button", name="Create opening").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Baker")
        await expect(page.locator("main")).to_contain_text("Emails are off")
        # Nobody has a place yet, so nothing about stages or interviews is in the way.
        await expect(page.get_by_role("link", name="Stages")).to_be_hidden()
        await page.get_by_role("link", name="Application form").click()
        await page.get_by_label("Type of the new question").select_option(label="Yes or no")
        await page.get_by_role("button", name="Add question").click()
        await page.get_by_label("Question", exact=True).fill("Can you work at night?")
        await page.get_by_role("button", name="Save form").last.click()
        await expect(page.get_by_role("status")).to_contain_text("Form saved.")
        await page.get_by_role("link", name="Baker").click()
        await page.get_by_role("link", name="Public page").click()
        await expect(page.locator("header")).to_contain_text("Wells Bakery")
        await expect(page.get_by_text("Can you work at night?")).to_be_visible()
        posting = await page.locator('script[type="application/ld+json"]').inner_text()
        assert '"name":"Wells Bakery"' in posting.replace('": "', '":"')
        await view.shoot("company-first-opening")


async def open_with_form(database: Database, **terms: object) -> Opening:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, description="Bake bread.", **terms)
        await form_versions.save_form(tx, opening.id, FORM, LOCAL)
        return opening


async def apply(view: Window, opening: Opening, name: str, cv: Path | None = None) -> Page:
    """Apply on the public page; returns the personal page, which needs no email."""
    page = await view.go(f"/openings/{opening.id}")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Email").fill(f"{name.lower()}@example.org")
    if cv:
        await page.get_by_label("CV").set_input_files(cv)
    await page.get_by_label("Yes").check()
    await page.get_by_role("button", name="Apply").click()
    await expect(page.get_by_role("heading", name="Save this link")).to_be_visible()
    await expect(page.get_by_role("img", name="QR code")).to_be_visible()
    await expect(page.locator("#link")).to_have_value(page.url)
    await expect(page.locator(".details")).not_to_contain_text("Emails")
    # A page that is loaded again loses this mark.
    await page.evaluate("window.unmoved = true")
    return page


async def expire_offers(database: Database, opening: Opening, span: dt.timedelta) -> None:
    """Let the time pass, and do what a worker does twice a second."""
    async with database.transaction() as tx:
        await let_pass(tx, opening, span)
        await deadlines.expire_due_openings(tx)


async def test_three_people_on_phones_see_offers_live_and_one_accepts(
    browser: Browser, bakery: ServedSite, tmp_path: Path
) -> None:
    opening = await open_with_form(bakery.database, title="Night baker", acknowledge_window=HOUR)
    cv = tmp_path / "Ada.pdf"
    cv.write_bytes(GOOD_PDF)
    async with AsyncExitStack() as stack:
        views = [
            await stack.enter_async_context(window(browser, bakery.origin, "phone", "dark"))
            for _ in range(3)
        ]
        company = await stack.enter_async_context(window(browser, bakery.origin))
        board = await company.go(f"/hiring/{opening.id}")
        ada = await apply(views[0], opening, "Ada", cv)
        await expect(ada.locator(".standing")).to_have_text("You have a place.")
        bo = await apply(views[1], opening, "Bo")
        await expect(bo.locator(".standing")).to_have_text("You are number 1 on the waitlist.")
        cy = await apply(views[2], opening, "Cy")
        await expect(cy.locator(".standing")).to_have_text("You are number 2 on the waitlist.")
        await expect(board.get_by_role("region", name="Waitlist 2")).to_contain_text("Cy")

        await ada.get_by_role("link", name="Night baker").click()
        await expect(ada.get_by_role("link", name="Ada.pdf")).to_be_visible()
        await ada.get_by_role("button", name="Withdraw application").click()
        await expect(ada.get_by_role("heading", name="Ended")).to_be_visible()
        offered = bo.get_by_role("button", name="Accept")
        await expect(offered).to_be_visible()
        await expect(cy.locator(".standing")).to_have_text("You are number 1 on the waitlist.")
        await views[1].shoot("three-offered")

        await expire_offers(bakery.database, opening, HOUR)
        await expect(bo.locator(".missed")).to_contain_text("You missed an offer at")
        await expect(bo.locator(".missed")).to_contain_text("2 more end your application.")
        await expect(offered).to_have_count(0)
        await views[1].shoot("three-missed")
        await cy.get_by_role("button", name="Accept").click()
        await expect(cy.locator(".standing")).to_have_text("You have a place.")
        await expect(bo.locator(".standing")).to_have_text("You are number 1 on the waitlist.")
        await expect(board.get_by_role("region", name="Places")).to_contain_text("Cy")
        await expect(board.get_by_role("region", name="Waitlist 1")).to_contain_text(
            "missed offers: 1"
        )
        for page in (bo, board):
            assert await page.evaluate("window.unmoved ?? true"), "the page was loaded again"
        for view in views:
            assert not await view.overflow()
    after = await the_opening(bakery.database, opening.id)
    assert (after.occupied, after.waiting) == (1, 1)


async def test_closing_tells_those_who_wait_and_retention_erases_them(
    browser: Browser, bakery: ServedSite
) -> None:
    opening = await open_with_form(bakery.database, title="Apprentice", keep_days=30)
    async with (
        window(browser, bakery.origin, "phone", "dark") as first,
        window(browser, bakery.origin, "phone", "dark") as second,
        window(browser, bakery.origin) as company,
    ):
        dee = await apply(first, opening, "Dee")
        eve = await apply(second, opening, "Eve")
        await expect(eve.locator(".details")).to_contain_text("30 days after your last application")
        page = await company.go(f"/hiring/{opening.id}")
        await page.get_by_role("link", name="Close").click()
        await expect(page.locator("main")).to_contain_text("1 person with a place keeps it.")
        await expect(page.get_by_role("group", name="1 person without a place")).to_be_visible()
        await company.shoot("close-and-tell")
        await page.get_by_role("button", name="Close opening").click()
        await expect(page.get_by_role("status")).to_contain_text("Eve did not get a place")
        await expect(eve.get_by_role("heading", name="Ended")).to_be_visible()
        await expect(eve.locator("#mine")).to_contain_text("closed")
        await expect(dee.locator(".standing")).to_have_text("You have a place.")
        await second.shoot("told-of-closing")

        link = eve.url.removeprefix(bakery.origin)
        # An open page would ask for its news with a link that has ended.
        await second.go("/openings")
        await erase_after(bakery.database, opening, dt.timedelta(days=31))
        page = await company.go(f"/hiring/applicants?opening={opening.id}")
        await expect(page.locator("main")).to_contain_text("Dee")
        await expect(page.locator("main")).not_to_contain_text("Eve")
        second.expected = [link]
        await second.go(link)
        await expect(eve.locator("main")).to_contain_text("This link is no longer valid.")


async def erase_after(database: Database, opening: Opening, span: dt.timedelta) -> None:
    """Let the time pass, and do what a worker does once a day."""
    async with database.transaction() as tx:
        await change_past.age(tx, opening.id, span)
        assert await privacy.erase_expired(tx) == 1

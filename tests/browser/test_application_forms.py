"""A company builds an application form, and a person on a phone without scripts applies with a CV."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from jobmill.db import Database
from tests.browser import axe
from tests.browser.helpers import Theme, Window, format_faults, window
from tests.browser.world import serve
from tests.hiring.forms.documents import GOOD_PDF
from tests.hiring.helpers import make_opening


async def check_looks(view: Window, name: str) -> None:
    """The page is accessible in both themes and fits the window."""
    themes: tuple[Theme, ...] = ("light", "dark")
    for theme in themes:
        await view.turn(theme)
        await view.shoot(name)
        faults = await axe.faults(view) if view.size == "wide" else []
        assert not faults, f"{name}, {theme}: {format_faults(faults)}"
    assert await view.overflow() == []


async def add_question(page: Page, type: str) -> None:
    await page.get_by_label("Type of the new question").select_option(label=type)
    await page.get_by_role("button", name="Add question").click()


async def test_a_form_is_built_and_answered_on_a_phone(
    browser: Browser, database: Database, tmp_path: Path
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, description="Bake bread.")
    async with serve(database) as site:
        async with window(browser, site.origin, "wide", expected=["/form"]) as view:
            page = await view.go(f"/hiring/{opening.id}")
            await page.get_by_role("link", name="Application form").click()
            await add_question(page, "Resume or other file")
            await add_question(page, "Phone number")
            await add_question(page, "One choice")
            await page.get_by_label("Question", exact=True).nth(2).fill("Which shift?")
            await page.get_by_label("Choices, one per line").fill("Day\nNight")
            await page.get_by_text("Knockout answer").click()
            await page.get_by_label("Choices that end it").fill("Night")
            await page.get_by_label("Message (optional)").fill("Thank you! We bake by day.")
            await add_question(page, "Consent")
            await page.get_by_label("Text to accept").fill("We keep your data for 180 days.")
            await page.get_by_role("button", name="Move up question 4").click()
            await page.get_by_role("button", name="Update preview").click()
            await check_looks(view, "form-editor")
            await page.get_by_role("button", name="Save form").last.click()
            await expect(page.get_by_role("status")).to_contain_text("Form saved.")
        cv = tmp_path / "Ada Lovelace.pdf"
        cv.write_bytes(GOOD_PDF)
        here = f"/openings/{opening.id}"
        async with window(browser, site.origin, "phone", scripts=False, expected=[here]) as view:
            page = await view.go(here)
            await check_looks(view, "apply-form")
            await page.get_by_label("Name").fill("Ada Lovelace")
            await page.get_by_label("Email").fill("ada@example.org")
            await page.get_by_label("Resume").set_input_files(cv)
            await page.get_by_label("Phone number").fill("call me")
            await page.get_by_label("Day").check()
            await page.get_by_label("I accept").check()
            await page.get_by_role("button", name="Apply").click()
            await expect(page.get_by_text("Enter a phone number, such as")).to_be_visible()
            await expect(page.get_by_text("Uploaded: Ada Lovelace.pdf.")).to_be_visible()
            await check_looks(view, "apply-form-problem")
            await page.get_by_label("Phone number").fill("+44 20 7946 0018")
            await page.get_by_role("button", name="Apply").click()
            await expect(page.get_by_role("heading", name="My applications")).to_be_visible()
            await page.get_by_role("link", name="Baker").click()
            await expect(page.get_by_role("link", name="Ada Lovelace.pdf")).to_be_visible()
            await check_looks(view, "what-i-sent")
        async with window(browser, site.origin, "wide") as view:
            page = await view.go(f"/hiring/{opening.id}")
            await page.get_by_role("link", name="Ada Lovelace").first.click()
            await expect(page.locator(".answers")).to_contain_text("+44 20 7946 0018")
            await check_looks(view, "applicant-answers")
            async with page.expect_download() as download:
                await page.get_by_role("link", name="Ada Lovelace.pdf").click()
            saved = tmp_path / "saved.pdf"
            await (await download.value).save_as(saved)
            assert saved.read_bytes() == GOOD_PDF

"""Documents in the browser: tailor, edit, download; by keyboard, without scripts and on a phone."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pypdf
from playwright.async_api import Browser, expect

from jobmill.db import Database
from jobmill.matching import matches
from tests.browser import axe
from tests.browser.helpers import format_faults, window
from tests.browser.world import serve
from tests.catalog import helpers
from tests.documents.samples import ASSISTED, POSTING, TRAINED, make_profile
from tests.matching import judged

PICTURES = os.environ.get("JOBMILL_DOCUMENT_PICTURES")
KEY = "resume.experience.0.highlights.2"


async def test_a_resume_is_tailored_edited_and_downloaded(
    browser: Browser, database: Database
) -> None:
    async with database.transaction() as tx:
        posting = helpers.posting(1, POSTING.title, description=POSTING.description)
        place = await judged.make(tx, postings=[posting], profile=make_profile())
        match_id = await matches.save_verdict(tx, place.word(90, place.listing))
    async with serve(database) as site:
        async with window(browser, site.origin, still=True) as view:
            page = await view.go(f"/matches/{match_id}")
            await page.get_by_role("button", name="Write resume").click()
            await expect(page.locator("h1")).to_have_text("Resume")
            preview = page.locator("#preview")
            await expect(preview).to_contain_text(ASSISTED)
            # The preview follows the form; nothing is saved yet.
            await page.locator(f'input[name="on"][value="{KEY}"]').press("Space")
            await expect(preview).not_to_contain_text(ASSISTED)
            await page.locator('[name="text.summary"]').fill("Calm and careful nurse.")
            await expect(preview).to_contain_text("Calm and careful nurse.")
            await page.get_by_role("button", name="Save").first.click()
            await expect(page.get_by_role("status").first).to_contain_text("Saved as version 2.")
            await expect(page.locator("#line-summary").first).to_contain_text("Summary")
            await page.get_by_role("button", name=f"Move down: {TRAINED}").press("Enter")
            await expect(page.get_by_role("status").first).to_contain_text("Saved as version 3.")
            async with page.expect_download() as downloading:
                await page.get_by_role("link", name="Download PDF", exact=True).click()
            path = await (await downloading.value).path()
            text = " ".join(
                part.extract_text()
                for part in pypdf.PdfReader(io.BytesIO(Path(path).read_bytes())).pages
            )
            assert "Calm and careful nurse." in text
            assert ASSISTED not in text
            editor = page.url.partition("?")[0]
            for theme in ("light", "dark"):
                await view.turn(theme)
                faults = await axe.faults(view)
                assert not faults, format_faults(faults)
                if PICTURES:
                    await page.screenshot(path=f"{PICTURES}/editor-{theme}.png", full_page=True)
            page = await view.go("/documents")
            faults = await axe.faults(view)
            assert not faults, format_faults(faults)
            if PICTURES:
                await page.screenshot(path=f"{PICTURES}/list.png", full_page=True)
        async with window(browser, site.origin, "phone", still=True) as view:
            page = await view.go(editor.removeprefix(site.origin))
            if PICTURES:
                await page.screenshot(path=f"{PICTURES}/phone.png", full_page=True, scale="css")
            assert not await view.overflow()

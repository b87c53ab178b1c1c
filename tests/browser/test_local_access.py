"""A browser that `jobmill open` starts is signed in; others see how to get there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from jobmill.cli.servers import open_pages
from jobmill.db import Database
from jobmill.web import site
from jobmill.web.local_access import LocalAccess, create_link
from tests.web.conftest import served


async def test_the_page_of_jobmill_open_leads_to_the_home_page(
    browser: Browser, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")
    access = LocalAccess()
    async with served(site.create_app(database, local=True, local_access=access)) as client:
        origin = str(client.base_url).rstrip("/")
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{origin}/queue")
        await expect(page).to_have_url(re.compile("/sign-in"))
        await expect(page.locator("main code")).to_have_text("jobmill open")
        file = tmp_path / "open.html"
        open_pages.open_in_browser(file, create_link(origin, access.link_key))
        await page.goto(file.as_uri())
        await expect(page).to_have_url(f"{origin}/today")
        await expect(page.locator(".signed-in-as")).to_contain_text("Signed in on this machine")
        await page.reload()
        await expect(page).to_have_url(f"{origin}/today")
        await context.close()

"""Every page is accessible, in both themes, with and without scripts."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser
from selectolax.lexbor import LexborHTMLParser as Html

from tests.browser import axe
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS
from tests.browser.helpers import format_faults, window

pytestmark = pytest.mark.timeout(300)


async def test_no_page_breaks_a_rule_of_accessibility_in_either_theme(
    browser: Browser, tour: Tour
) -> None:
    faults: list[str] = []
    async with window(browser, tour.place.origin, still=True, expected=ERRORS) as view:
        for url, text in tour.distinct.items():
            await view.go(url)
            violations = await axe.faults(view)
            violations += await axe.faults_of_dialogs(view) if "<dialog" in text else []
            faults += [f"{url}: {violation}" for violation in violations]
    assert not faults, format_faults(faults)


async def test_every_page_shows_its_content_without_scripts(browser: Browser, tour: Tour) -> None:
    faults: list[str] = []
    async with window(
        browser, tour.place.origin, "phone", scripts=False, still=True, expected=ERRORS
    ) as view:
        for url in tour.distinct:
            page = await view.go(url)
            if not await page.locator("main h1").is_visible():
                faults.append(f"{url}: no h1 is seen")
            if len(await page.locator("main").inner_text()) < 40:
                faults.append(f"{url}: main is empty")
    assert not faults, format_faults(faults)


async def test_every_form_and_button_works_without_scripts(tour: Tour) -> None:
    faults: list[str] = []
    for url, text in tour.pages.items():
        page = Html(text)
        for form in page.css("form[hx-post]:not([method=post]), form:not([method])"):
            faults.append(f"{url}: form {form.attributes} has no method")
        for lone in page.css("button[hx-post], button[hx-get], a[hx-get]:not([href])"):
            faults.append(f"{url}: {lone.tag} {lone.attributes} needs a script")
    assert not faults, format_faults(faults)

"""A website report in a browser: created by the form, written over real HTTP, read down to its evidence."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from playwright.async_api import Browser

from jobmill.db import Database
from jobmill.outside.fetch import open_fetch
from jobmill.outside.rate_limits import HostRateLimit
from jobmill.settings import Settings
from tests.browser import axe
from tests.browser.helpers import window
from tests.browser.world import serve
from tests.outside.site import open_site, reply
from tests.reports.helpers import ABOUT, HOME, Assistant, ReportBed

QUICK = HostRateLimit(timedelta(milliseconds=1), max_concurrent=20)
SCRIPTED = b"""<html><body><p>Careers</p><script>
document.body.append("We offer 30 days of paid vacation and a pension, and you can work from home.".repeat(5));
</script></body></html>"""
TEXT = "Tidewater and Aquaflow Ltd (https://www.aquaflow.example) are good. Tidewater was founded in 1950."


async def test_a_report_is_created_written_and_read_down_to_its_evidence(
    browser: Browser, executable: str, database: Database
) -> None:
    async with open_site() as site, serve(database) as place:
        for path, body in (
            ("/", HOME.encode()),
            ("/about", ABOUT.encode()),
            ("/careers", SCRIPTED),
        ):
            site.on(path, reply(body))
        settings = Settings(private_hosts=site.place, chromium=Path(executable))
        async with (
            open_fetch(database, settings, rate_limit=QUICK) as fetch,
            window(browser, place.origin) as view,
        ):
            page = view.page
            bed = ReportBed(database, fetch=fetch, assistant=Assistant(text=TEXT))
            await bed.declare()
            await page.goto("/reports")
            await page.get_by_label("Website", exact=True).fill(site.url("/"))
            await page.get_by_role("button", name="Create report").click()
            await page.wait_for_url("**/reports/1")
            steps = page.locator(".steps li")
            assert await steps.count() == 3
            for number in range(3):
                await bed.scan()
                await page.reload()
                classes = [await steps.nth(step).get_attribute("class") for step in range(3)]
                assert classes == ["done"] * number + ["now"] + ["to-come"] * (2 - number)
                await bed.drain()
            await page.reload()
            assert await steps.count() == 0
            # A page that needs scripts was also read in a real browser.
            findings = (await bed.read(1)).findings
            assert findings is not None
            [careers] = [each for each in findings.readability if each.url.endswith("/careers")]
            assert careers.rendered_characters is not None, findings.crawl_notes
            assert careers.rendered_characters > 300 > careers.raw_characters
            # From a score to its answers, and from a claim to the sentence of the site.
            await page.locator("#scores dl a").last.click()
            assert page.url.endswith("#claims")
            row = page.locator("#claim-list tr", has_text="founded in 1950").first
            assert "contradicted" in await row.inner_text()
            evidence = row.get_by_role("link", name="Founded in 2009")
            assert await evidence.get_attribute("href") == site.url("/")
            await row.locator('a[href="#texts"]').click()
            assert page.url.endswith("#texts")
            await page.locator("#texts summary").first.click()
            assert await page.locator("#texts details[open]").get_by_text(TEXT).is_visible()
            assert await page.get_by_label("Aquaflow").is_visible()
            assert await axe.faults(view) == []
            assert await view.overflow() == []
            await view.shoot("report")

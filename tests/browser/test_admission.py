"""A reviewer decides, draws and moves people between stages, on a wide screen and on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.admission import decisions
from jobmill.hiring.applications import offers
from tests.browser.helpers import Size, Theme, window
from tests.browser.world import serve
from tests.hiring.helpers import apply, make_applicant, make_opening


@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("phone", "dark")])
async def test_review_lottery_and_stages(
    browser: Browser, database: Database, size: Size, theme: Theme
) -> None:
    async with database.transaction() as tx:
        reviewed = await make_opening(tx, 2, title="Baker", admission="review")
        drawn = await make_opening(tx, 1, title="Apprentice", admission="lottery")
        ids: list[int] = []
        for name in ("Ada", "Ben", "Cy", "Di"):
            person = (await make_applicant(tx, name)).id
            ids.append((await apply(tx, reviewed, person)).application.id)
            await apply(tx, drawn, person)
        await decisions.score(tx, ids[1], 90, LOCAL)
        await decisions.accept(tx, ids[3], LOCAL)
        await offers.acknowledge(tx, ids[3], LOCAL)
    async with serve(database) as site, window(browser, site.origin, size, theme) as view:
        page = await view.go(f"/hiring/{reviewed.id}")
        await view.shoot("admission-opening")
        await page.get_by_role("link", name="Review applications").click()
        await page.get_by_label("Select Ada").check()
        await page.get_by_label("Select Cy").check()
        await view.shoot("admission-review")
        await page.get_by_role("button", name="Accept").click()
        await expect(page.get_by_role("status")).to_contain_text("Ada was offered a place.")
        await page.get_by_role("link", name="Ben").click()
        await view.shoot("admission-person")
        await page.get_by_label("Reason (optional, kept in the history)").fill("Too far away")
        await page.get_by_role("button", name="Reject").click()
        await expect(page.locator("main")).to_contain_text("No applications need a decision.")
        assert not await view.overflow()

        page = await view.go(f"/hiring/{drawn.id}/review")
        await view.shoot("admission-entries")
        await page.get_by_label("I understand that the draw is final").check()
        await page.get_by_role("button", name="Draw now").click()
        await page.get_by_role("link", name="See the draw").click()
        await expect(page.locator("main")).to_contain_text("The order of 4 entries was drawn")
        await view.shoot("admission-draw")
        assert not await view.overflow()

        page = await view.go(f"/hiring/{reviewed.id}/stages")
        await view.shoot("admission-stages")
        await page.get_by_role("button", name="Move").click()
        await expect(page.get_by_role("region", name="Interview 1")).to_contain_text("Di")
        assert not await view.overflow()
        await view.go(f"/hiring/{reviewed.id}/stages/edit")
        await view.shoot("admission-stages-edit")
        assert not await view.overflow()
        await view.go(f"/hiring/{reviewed.id}/edit")
        await view.shoot("admission-terms")

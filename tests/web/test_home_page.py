"""The home page and the demo page."""

from __future__ import annotations

import datetime as dt

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.catalog import source_health, sources
from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import withdrawals
from jobmill.matching import matches
from jobmill.people.persons import Role
from jobmill.queue import alerts
from tests.catalog.helpers import make_source
from tests.demo import helpers as demo
from tests.hiring.helpers import apply, make_opening
from tests.matching import judged
from tests.people.helpers import bearer
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, look, part, post, text, texts

EVIL = '"><script>alert(1)</script>'


async def test_an_empty_database_links_to_the_setup(site: httpx2.AsyncClient) -> None:
    page = await look(site, "/")
    assert part(page, "#home .button").attributes["href"] == "/setup"
    assert texts(page, ".flow b") == ["0", "0", "0", "0"]
    assert page.css(".demo") == []


async def test_items_that_need_attention_are_listed_with_links(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=2)
        for listing in place.listings:
            await matches.save_verdict(tx, place.word(80, listing))
        await make_source(tx, token="waits", enabled=False)
        off = await make_source(tx, token="off")
        await sources.disable(tx, off, "it failed")
        await source_health.record_problem(
            tx, await make_source(tx, token="ill"), "server", "it said 500"
        )
        await alerts.raise_alert(tx, "same key", "tea", f"the same again {EVIL}")
    page = await look(site, "/")
    links = [link.attributes["href"] for link in page.css(".needs a")]
    assert links == [
        "/queue",
        "/queue",
        "/sources?show=disabled",
        "/sources?show=troubled",
        "/sources?show=waiting",
        "/matches?status=new",
    ]
    assert "2 new matches" in text(page, ".needs")
    assert "the same again" in text(page, ".needs .bad")
    assert [link.text() for link in page.css("script") if link.text()] == []
    assert len(page.css(".bests li")) == 2


async def test_offers_are_listed_by_deadline_with_a_countdown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        for title, hours in (("late", 9), ("soon", 1)):
            window = dt.timedelta(hours=hours)
            opening = await make_opening(
                tx, title=title, require_acknowledgement=True, acknowledge_window=window
            )
            first = await apply(tx, opening)
            await apply(tx, opening)
            await withdrawals.withdraw(tx, first.application.id, LOCAL)
    page = await look(site, "/")
    assert texts(page, ".offers a") == ["soon", "late"]
    assert len(page.css(".offers [data-until]")) == 2


async def test_demo_pages_show_a_banner_and_an_admin_can_end_the_demo(database: Database) -> None:
    await demo.begin(database)
    async with site_with(database, local=True) as site:
        for path in ("/", "/matches", "/openings"):
            assert "fiction" in text(await look(site, path), ".demo"), path
        page = await look(site, "/demo")
        assert "25" in texts(page, ".figures dd")
        unsure = await post(site, "/demo/end")
        assert unsure.status_code == 400
        ended = await post(site, "/demo/end", {"sure": "yes"})
        assert (ended.status_code, ended.headers["location"]) == (303, "/setup")
        page = await look(site, "/")
        assert page.css(".demo") == []
        assert texts(page, ".flow b") == ["0", "0", "0", "0"]
        assert "The demo is not running" in text(await look(site, "/demo"))


async def test_only_an_admin_can_end_the_demo(database: Database) -> None:
    await demo.begin(database)
    roles: tuple[Role, ...] = ("viewer", "recruiter")
    async with site_with(database) as site:
        for role in roles:
            headers = {**HTML, **await bearer(database, role)}
            page = Html((await site.get("/", headers=headers)).text)
            assert page.css(".demo a") == []
            sent = await site.post("/demo/end", data={"sure": "yes"}, headers=headers)
            assert sent.status_code == 403
    async with site_with(database, local=True) as site:
        assert "fiction" in text(await look(site, "/"), ".demo")


async def test_ending_the_demo_never_deletes_real_data(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await judged.make(tx, listings=1)
    sent = await post(site, "/demo/end", {"sure": "yes"})
    assert sent.status_code == 409
    assert texts(await look(site, "/"), ".flow b")[2] == "1"

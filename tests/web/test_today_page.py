"""Today, the start page and the demo page."""

from __future__ import annotations

import datetime as dt

import httpx2
from psycopg.sql import SQL, Identifier
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, Tx
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import withdrawals
from jobmill.matching import matches, profiles
from jobmill.matching.job_applications import details, entries
from jobmill.matching.job_applications.details import ApplicationDetails
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profile import ProfilePerson
from jobmill.people.persons import Role
from jobmill.queue import alerts
from jobmill.time_zones import format_local_time
from tests.catalog.helpers import make_source
from tests.demo import helpers as demo
from tests.hiring.helpers import apply, make_opening
from tests.matching import judged
from tests.people.helpers import bearer
from tests.pipelines.test_listing import PROFILE
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, look, part, post, text, texts

EVIL = '"><script>alert(1)</script>'


async def test_an_empty_database_links_to_the_setup(site: httpx2.AsyncClient) -> None:
    page = await look(site, "/today")
    assert part(page, "#today .button").attributes["href"] == "/setup"
    assert page.css(".top-matches, .bar-groups, .demo") == []


async def test_without_job_boards_today_says_so_and_leads_to_companies(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "main", PROFILE)
    page = await look(site, "/today")
    assert "there are no job boards to read" in text(page, "#today")
    assert part(page, "#today .empty .button").attributes["href"] == "/setup/companies"
    assert page.css(".bar-groups") == []
    async with database.transaction() as tx:
        await make_source(tx)
    shown = text(await look(site, "/today"), "#today")
    assert "No matches yet. New ones appear here" in shown
    assert "You have seen every match" not in shown


async def make_older(tx: Tx, *ids: int) -> None:
    """Let everything about these matches have happened 20 days ago."""
    for table, column, time in (("match", "id", "status_at"), ("event", "match_id", "at")):
        await tx.execute(
            SQL("UPDATE matching.{} SET {} = now() - interval '20 days' WHERE {} = ANY(%s)").format(
                Identifier(table), Identifier(time), Identifier(column)
            ),
            [list(ids)],
        )


async def test_items_that_need_attention_are_listed_with_links(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        place = await judged.make(tx, listings=4)
        for listing in place.listings:
            await matches.save_verdict(tx, place.word(80, listing))
        [offered, silent, planned, *_] = await matches.find(tx, MatchQuery(place.profile))
        await matches.set_status(tx, offered.id, "offer")
        await matches.set_status(tx, silent.id, "applied")
        await matches.set_status(tx, planned.id, "saved")
        step = ApplicationDetails(next_step="Call Ana", next_step_on=dt.date(2026, 1, 5))
        await details.save(tx, planned.id, step)
        await make_older(tx, silent.id)
        source = await make_source(tx, token="waits", enabled=False)
        await alerts.raise_alert(tx, "same key", "tea", f"the same again {EVIL}")
    page = await look(site, "/today")
    links = [link.attributes["href"] for link in page.css(".needs a")]
    assert links == [
        f"/applications/{planned.id}",
        f"/applications/{offered.id}",
        f"/applications/{silent.id}",
        f"/sources?show=waiting#waits-source-{source}",
        "/activity",
        "/activity",
    ]
    assert "1 new match" in text(page, "#today")
    assert "Call Ana: Pump Engineer" in text(page, ".needs")
    assert "the same again" in text(page, "#today")
    assert "no news for 20 days" in text(page, ".needs")
    assert [link.text() for link in page.css("script") if link.text()] == []
    assert len(page.css(".top-matches .pro")) == len(page.css(".top-matches .con")) == 1
    bars = texts(page, ".bar-groups li .hide")
    assert bars[-1].endswith("4 New matches, 1 Applied"), bars


async def test_today_tells_what_applications_wait_for_and_how_many_more_there_are(
    site: httpx2.AsyncClient, database: Database
) -> None:
    now = dt.datetime.now(dt.UTC)
    soon, later = now + dt.timedelta(days=1), now.date() + dt.timedelta(days=3)
    async with database.transaction() as tx:
        tokyo = PROFILE.model_copy(update={"person": ProfilePerson(timezone="Asia/Tokyo")})
        place = await judged.make(tx, listings=9, profile=tokyo)
        # The default profile is another one.
        await profiles.save(tx, "other", PROFILE)
        await profiles.set_default(tx, "other")
        for listing in place.listings:
            await matches.save_verdict(tx, place.word(80, listing))
        ids = sorted(match.id for match in await matches.find(tx, MatchQuery(place.profile)))
        [planned, noted, invited, offered, *silent] = ids
        for id in ids:
            await matches.set_status(tx, id, "offer" if id == offered else "applied")
        await details.save(tx, planned, ApplicationDetails(next_step="Ask", next_step_on=later))
        await details.save(tx, invited, ApplicationDetails(interview_at=soon))
        await details.save(tx, offered, ApplicationDetails(offer_deadline=later))
        await make_older(tx, *ids)
        await entries.add_note(tx, noted, "Bea called back")
    page = await look(site, "/today")
    links = [link.attributes["href"] for link in page.css("#today .needs a")]
    shown = [f"/applications/{id}" for id in (invited, offered, silent[0])]
    assert links[:4] == [*shown, "/applications"]
    needs = text(page, "#today .needs")
    assert format_local_time(soon, "Asia/Tokyo") in needs
    assert f"Answer by {later.isoformat()}" in needs
    assert f"{len(silent) - 1} more applications need your attention" in needs

    async with database.transaction() as tx:
        for id in silent:
            step = ApplicationDetails(next_step="Call", next_step_on=now.date())
            await details.save(tx, id, step)
    needs = text(await look(site, "/today"), "#today .needs")
    assert "Follow up" not in needs
    assert "2 more next steps are due" in needs


async def test_the_start_page_opens_the_workspace_that_was_used_last(
    site: httpx2.AsyncClient, database: Database
) -> None:
    assert (await site.get("/", headers=HTML)).headers["location"] == "/today"
    for path, first in (
        ("/budget", "/health"),
        ("/hiring/messages", "/hiring"),
        ("/account", "/hiring"),
        ("/nowhere", "/hiring"),
        ("/jobs", "/today"),
    ):
        await site.get(path, headers=HTML)
        assert (await site.get("/", headers=HTML)).headers["location"] == first, path
    async with site_with(database) as public:
        headers = {**HTML, **await bearer(database, "viewer")}
        cookies = {"cookie": "jobmill_workspace=system"}
        answer = await public.get("/", headers=headers | cookies)
        assert answer.headers["location"] == "/today"


async def test_the_introduction_stays_away_once_dismissed(site: httpx2.AsyncClient) -> None:
    assert "scores every job" in text(await look(site, "/today"), ".intro")
    assert (await post(site, "/today/intro")).headers["location"] == "/today"
    assert (await look(site, "/today")).css(".intro") == []


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
    page = await look(site, "/hiring")
    assert texts(page, ".offers small") == ["soon", "late"]
    assert len(page.css(".offers [data-until]")) == 2


async def test_demo_pages_show_a_banner_and_an_admin_can_end_the_demo(database: Database) -> None:
    await demo.begin(database)
    async with site_with(database, local=True) as site:
        for path in ("/today", "/matches", "/openings"):
            page = await look(site, path)
            assert "fiction" in text(page, ".demo"), path
            # The demo has openings and sends no email on purpose.
            assert "Emails to applicants are off" not in text(page), path
        page = await look(site, "/demo")
        assert "25" in texts(page, ".figures dd")
        unsure = await post(site, "/demo/end")
        assert unsure.status_code == 400
        ended = await post(site, "/demo/end", {"confirmed": "yes"})
        assert (ended.status_code, ended.headers["location"]) == (303, "/setup")
        page = await look(site, "/today")
        assert page.css(".demo") == []
        assert part(page, "#today .button").attributes["href"] == "/setup"
        assert "The demo is not running" in text(await look(site, "/demo"))


async def test_only_an_admin_can_end_the_demo(database: Database) -> None:
    await demo.begin(database)
    roles: tuple[Role, ...] = ("viewer", "recruiter")
    async with site_with(database) as site:
        for role in roles:
            headers = {**HTML, **await bearer(database, role)}
            page = Html((await site.get("/today", headers=headers)).text)
            assert page.css(".demo a") == []
            sent = await site.post("/demo/end", data={"confirmed": "yes"}, headers=headers)
            assert sent.status_code == 403
    async with site_with(database, local=True) as site:
        assert "fiction" in text(await look(site, "/today"), ".demo")


async def test_ending_the_demo_never_deletes_real_data(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await judged.make(tx, listings=1)
    sent = await post(site, "/demo/end", {"confirmed": "yes"})
    assert sent.status_code == 409
    assert "1 day" not in text(await look(site, "/today"))

"""The health model: every condition is shown alike on all pages, in the metrics and by `jobmill doctor`."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.catalog import source_health, sources
from jobmill.cli import doctor
from jobmill.db import Database, Tx
from jobmill.outside import connectivity
from jobmill.outside.connectivity import Offline
from jobmill.queue import alerts
from jobmill.queue.inspect import NamedCount
from jobmill.web import system_health
from jobmill.web.system_health import AREAS, CODES, GB, HealthFacts, assess, read_facts
from tests.catalog.helpers import make_source
from tests.hiring.helpers import apply, make_opening
from tests.people.helpers import bearer
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, look, text

NOW = dt.datetime(2026, 11, 17, tzinfo=dt.UTC)
LATE_MATCHES = "New matches may be late. An admin can see why."
ALERT = alerts.Alert(1, "deep", "x", "9 items", NOW, NOW)
SHOWN = {
    "migrations_pending": HealthFacts(pending_migrations=["0099_later.sql"]),
    "migrations_newer": HealthFacts(newer_migrations=["0099_later.sql"]),
    "disk_space": HealthFacts(free_space=2 * GB),
    "offline": HealthFacts(offline=Offline(NOW, NOW)),
    "no_worker": HealthFacts(workers=2, silent_workers=2),
    "silent_worker": HealthFacts(workers=2, silent_workers=1),
    "scheduler_silent": HealthFacts(silent_tasks=["scheduler"]),
    "deadlines_silent": HealthFacts(silent_tasks=["deadlines"]),
    "alert": HealthFacts(alerts=[ALERT]),
    "paused": HealthFacts(paused=1),
    "blocked": HealthFacts(blocked=[NamedCount("a key", 3)]),
    "sources_disabled": HealthFacts(sources=replace(system_health.NO_TROUBLE, given_up=2)),
    "sources_failing": HealthFacts(sources=replace(system_health.NO_TROUBLE, troubled=1)),
    "mail_off": HealthFacts(
        outbox=replace(system_health.EMPTY_OUTBOX, live_openings=True), sends_mail=False
    ),
    "mail_failed": HealthFacts(outbox=replace(system_health.EMPTY_OUTBOX, failed=1)),
}


def test_facts_without_trouble_show_no_condition() -> None:
    assert assess(HealthFacts()).conditions == []
    assert (assess(HealthFacts()).color, assess(HealthFacts()).summary) == ("good", "All working")
    assert set(SHOWN) == set(CODES)


@pytest.mark.parametrize("code", SHOWN)
def test_each_fact_shows_one_condition_that_leads_on(code: str) -> None:
    health = assess(SHOWN[code])
    [condition] = health.conditions
    assert condition.code == code
    assert condition.area in AREAS
    assert condition.path.startswith("/")
    assert condition.action or condition.path == "/health"
    assert health.color == ("bad" if condition.severity == "problem" else "calm")
    check = doctor.describe_health(health)
    assert (check.result, condition.sentence in check.finding) == ("warn", True)


def test_problems_come_first_and_stale_alerts_are_left_out() -> None:
    stale = replace(ALERT, rule="scheduler")
    facts = HealthFacts(paused=1, alerts=[stale, ALERT], workers=0)
    health = assess(facts)
    assert [condition.code for condition in health.conditions] == ["no_worker", "alert", "paused"]
    assert health.summary == "2 problems"


def test_an_alert_about_a_source_belongs_to_the_sources_and_leads_to_it() -> None:
    alert = alerts.Alert(1, "source gone silent", "source 21", "Tea Co found none", NOW, NOW)
    [condition] = assess(HealthFacts(alerts=[alert])).conditions
    assert (condition.area, condition.path) == ("sources", "/sources/21")
    assert condition.sentence == "Tea Co found none"
    assert assess(HealthFacts(alerts=[alert])).of("queue", code="alert").problems == 1


async def trouble(tx: Tx) -> None:
    """One of each that the database can show."""
    off = await make_source(tx, token="off")
    await sources.disable(tx, off, "by hand")
    await source_health.record_problem(
        tx, await make_source(tx, token="ill"), "server", "it said 500"
    )
    await alerts.raise_alert(tx, "deep", "tea", "9 items")
    await tx.execute(
        "INSERT INTO queue.pause (kind, stage, reason) VALUES ('tea', 'run', 'guests')"
    )

    await connectivity.save_offline(tx)
    opening = await make_opening(tx, title="Miller")
    await apply(tx, opening)
    await tx.execute("UPDATE hiring.notice SET state = 'failed', ended_at = now()")


async def test_all_surfaces_agree(site: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        await trouble(tx)
        health = assess(await read_facts(tx, sends_mail=False))
    codes = {condition.code for condition in health.conditions}
    assert codes == {
        "offline", "no_worker", "alert", "mail_failed", "paused", "sources_failing", "mail_off",
    }  # fmt: skip
    for path in ("/today", "/health", "/sources", "/activity", "/hiring", "/hiring/messages"):
        page = await look(site, path)
        assert text(page, "#health-chip").endswith(health.summary), path
    for path, areas in (
        ("/today", AREAS),
        ("/health", AREAS),
        ("/sources", ("sources", "queue", "schedules", "network")),
        ("/activity", ("queue", "schedules", "network")),
        ("/hiring", ("mail",)),
        ("/hiring/messages", ("mail",)),
    ):
        shown = text(await look(site, path), "main")
        for condition in health.conditions:
            # Activity lists each alert with its details.
            sentence = condition.sentence.removeprefix("Work queue alert: ")
            assert (sentence in shown) == (condition.area in areas), (path, condition.code)
    areas = text(await look(site, "/health"), ".areas")
    assert "Whether schedules and deadlines are checked in time Not checked" in areas
    metrics = (await site.get("/metrics")).text
    counted = re.findall(r'jobmill_health_conditions\{condition="(\w+)"\} 1\.0', metrics)
    assert set(counted) == codes

    async with database.transaction() as tx:
        await tx.execute("DELETE FROM queue.pause")
        await tx.execute("DELETE FROM queue.alert")
        await tx.execute("DELETE FROM outside.offline")
        await tx.execute("INSERT INTO queue.worker (name, lease) VALUES ('here:1', '1 hour')")
    page = await look(site, "/activity")
    assert text(page, "#health-chip").endswith("1 problem")
    assert text(page, ".verdict") == "Queue: all working"


async def test_a_page_about_health_never_shows_an_old_chip(
    site: httpx2.AsyncClient, database: Database
) -> None:
    before = text(await look(site, "/health"), "#health-chip")
    async with database.transaction() as tx:
        await alerts.raise_alert(tx, "deep", "tea", "9 items")
    page = await look(site, "/health")
    assert text(page, "#health-chip") != before
    assert "Work queue alert: 9 items" in text(page, "main")


async def test_visitors_without_the_workspace_see_the_state_but_no_link(database: Database) -> None:
    async with site_with(database) as public:
        headers = {**HTML, **await bearer(database, "viewer")}
        page = Html((await public.get("/hiring", headers=headers)).text)
        assert not page.css("a#health-chip")
        # There is no worker. They are told what it means to them, not how many problems there are.
        assert text(page, "span#health-chip") == f"Health: {LATE_MATCHES}"


def test_people_are_told_only_of_problems_that_they_notice() -> None:
    mail, offline = assess(SHOWN["mail_failed"]), assess(SHOWN["offline"])
    assert offline.describe_effect(on_search=True) == LATE_MATCHES
    assert mail.describe_effect(on_search=False) == "Messages may be late. An admin can see why."
    assert mail.describe_effect(on_search=True) == ""
    assert assess(SHOWN["paused"]).describe_effect(on_search=True) == ""

from __future__ import annotations

import datetime as dt
import html
import re
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill import app
from jobmill.catalog import companies, company_list, sources
from jobmill.catalog.company_list import CompanyFilter
from jobmill.db import Database, Tx
from jobmill.matching import company_tiers, profiles
from jobmill.matching.profile import Profile
from jobmill.settings import Settings
from jobmill.tools import Tools
from jobmill.web.pages.companies import list_page
from tests.catalog import helpers
from tests.people.helpers import bearer
from tests.web.helpers import site_with

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(1)>{{7*7}}\u202e'
TAG = re.compile(r"<script(?! src=\"/static/)|<img src=x", re.IGNORECASE)


async def make(tx: Tx, name: str, website: str | None = None, **facts: Any) -> int:
    id = await companies.get_or_create(tx, name, website)
    for column, value in facts.items():
        # Column names are constants of this test, not input.
        await tx.execute(f"UPDATE catalog.company SET {column} = %s WHERE id = %s", [value, id])  # pyright: ignore[reportArgumentType, reportCallIssue]
    return id


async def declare(database: Database) -> None:
    await app.declare_stages(Tools(database), Settings())


def names(page: httpx2.Response) -> list[str]:
    return [link.text(strip=True) for link in Html(page.text).css("tbody th a")]


async def test_companies_are_listed_best_first_and_page_by_page(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        for n in range(list_page.PAGE_SIZE + 2):
            await make(tx, f"Well {n:02}", priority_score=n if n % 2 else None)
    page = await site.get("/companies")
    first = names(page)
    more = Html(page.text).css_first("a[rel=next]").attributes["href"]
    rest = names(await site.get(more or ""))
    odd = [f"Well {n:02}" for n in range(list_page.PAGE_SIZE + 1, 0, -2)]
    even = [f"Well {n:02}" for n in range(list_page.PAGE_SIZE, -1, -2)]
    assert first + rest == odd + even
    assert len(first) == list_page.PAGE_SIZE


async def test_filters_are_query_parameters(site: httpx2.AsyncClient, database: Database) -> None:
    async with database.transaction() as tx:
        await make(tx, "Alpha Wells", tier="S", priority_score=160)
        await make(tx, "Beta Wells", tier="D", priority_score=3)
        await make(tx, "Gamma", "https://gamma.example", about="x" * 101, culture="y" * 51)
        board = {"job_board_url": "https://g.example/jobs", "job_board_confidence": "low"}
        await make(tx, "Delta", **board)
    assert names(await site.get("/companies?q=WELLS")) == ["Alpha Wells", "Beta Wells"]
    assert names(await site.get("/companies?tier=D&q=")) == ["Beta Wells"]
    assert names(await site.get("/companies?data=good")) == ["Gamma"]
    assert names(await site.get("/companies?waiting=true")) == ["Delta"]
    assert "No companies match these filters" in (await site.get("/companies?q=nobody")).text


@pytest.mark.parametrize("website", [None, "https://w.example"])
@pytest.mark.parametrize("about", [0, 50, 51, 100, 101])
@pytest.mark.parametrize("culture", [0, 25, 26, 50, 51])
async def test_the_completeness_filter_agrees_with_the_rule(
    tx: Tx, website: str | None, about: int, culture: int
) -> None:
    id = await make(tx, "Wells", website, about="a" * about or None, culture="c" * culture or None)
    expected = companies.completeness(await companies.get(tx, id))
    for level in ("good", "minimal", "sparse"):
        rows = await company_list.find(tx, CompanyFilter(completeness=level))
        assert [row.id for row in rows] == ([id] if level == expected else [])


async def test_a_company_page_shows_missing_data_and_the_points_of_its_tier(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile())
        id = await make(
            tx, "Wells", "https://wells.example", about="z" * 60, tier="B", priority_score=70
        )
        await tx.execute(
            """
            UPDATE catalog.company SET priority_items =
            '[{"name": "home city office", "points": 50, "most": 50, "why": "in Porto", "words": []}]'
             WHERE id = %s
            """,
            [id],
        )
        company = await companies.get(tx, id)
        score = company_tiers.score_stored(company, Profile())
        source = await helpers.make_source(tx, company_id=companies.CompanyId(id))
        await helpers.run(tx, source, 1, [helpers.posting(1, company="Wells")])
    text = (await site.get(f"/companies/{id}")).text
    assert "partial: 60 characters (needs more than 100)" in text
    assert "Culture: missing" in text
    # The reasons are those of the visitor's own profile: the stored ones may come from another person's.
    assert "in Porto" not in text
    assert all(html.escape(item.why) in text for item in score.items)
    assert "Tier B" in text
    assert f"For your profile, the company is tier {score.tier}, with {score.points} points" in text
    assert f'href="/sources/{source}"' in text
    assert "/jobs?company=Wells" in text
    assert (await site.get("/companies/999999999")).status_code == 404


async def test_an_added_company_is_queued_and_its_progress_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    form = {"name": "Wells & Co", "website": "wells.example"}
    answer = await site.post("/companies/new", data=form)
    assert answer.status_code == 303
    page = await site.get(answer.headers["location"])
    item = answer.headers["location"].partition("item=")[2]
    assert "Waiting for a worker" in page.text
    assert "No worker is running that can process this task" in page.text
    assert f'href="/activity/tasks/{item}"' in page.text
    again = await site.post(page.url.path + "/analyse")
    assert again.headers["location"].endswith(f"item={item}"), "there is one at a time"


async def test_a_complete_and_recent_company_is_analyzed_only_on_request(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    async with database.transaction() as tx:
        id = await make(tx, "Wells", "https://wells.example", about="x" * 101, culture="y" * 51)
    answer = await site.post("/companies/new", data={"name": "wells"})
    assert answer.headers["location"] == f"/companies/{id}?did=known"
    assert (
        "already in the catalog with recent data"
        in (await site.get(answer.headers["location"])).text
    )
    forced = await site.post(f"/companies/{id}/analyse")
    assert f"/companies/{id}?item=" in forced.headers["location"]


@pytest.mark.server_clock(dt.timedelta(hours=-2))
async def test_the_database_clock_decides_what_is_recent(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    async with database.transaction() as tx:
        id = await make(tx, "Wells", "https://wells.example", about="x" * 101, culture="y" * 51)
        await tx.execute(
            "UPDATE catalog.company SET updated_at = now() - %s + interval '1 hour'",
            [companies.REANALYZE_AFTER],
        )
    answer = await site.post("/companies/new", data={"name": "wells"})
    assert answer.headers["location"] == f"/companies/{id}?did=known"


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        ({"name": ""}, 400, "Enter the name of the company"),
        ({"name": "https://wells.example"}, 400, "The name looks like a web address"),
        ({"name": "Wells", "website": "kept.example"}, 503, "No worker for this task has run yet"),
    ],
)
async def test_an_invalid_company_is_refused_and_the_form_keeps_its_values(
    site: httpx2.AsyncClient, form: dict[str, str], status: int, words: str
) -> None:
    page = await site.post("/companies/new", data=form)
    assert (page.status_code, words in page.text) == (status, True)
    for name, typed in form.items():
        assert Html(page.text).css_first(f"[name={name}]").attributes["value"] == typed


async def test_the_item_of_another_company_is_not_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    answer = await site.post("/companies/new", data={"name": "Wells"})
    item = answer.headers["location"].partition("item=")[2]
    async with database.transaction() as tx:
        other = await make(tx, "Pumps")
    assert 'id="progress"' not in (await site.get(f"/companies/{other}?item={item}")).text
    assert (await site.get(f"/companies/{other}?item=987654321")).status_code == 200


async def test_a_job_board_can_be_approved_on_its_company_page(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await declare(database)
    board = {"job_board_url": "https://w.example/jobs", "job_board_confidence": "medium"}
    async with database.transaction() as tx:
        id = await make(tx, "Wells", **board)
    assert "Its job board needs your approval" in (await site.get(f"/companies/{id}")).text
    answer = await site.post(
        f"/sources/approvals/board:{id}/reject", data={"back": f"/companies/{id}"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"/companies/{id}")
    page = await site.get(f"/companies/{id}")
    assert "Its job board needs your approval" not in page.text
    assert "Approve</button>" in page.text


async def test_external_text_is_escaped(site: httpx2.AsyncClient, database: Database) -> None:
    facts = dict.fromkeys(
        ("about", "culture", "mission", "industry", "size", "job_board_evidence"), EVIL
    )
    async with database.transaction() as tx:
        id = await make(
            tx, f"Wells {EVIL}", job_board_url="javascript:alert(1)", domain=EVIL, **facts
        )
    for path in ("/companies", f"/companies/{id}"):
        page = await site.get(path)
        assert page.status_code == 200
        assert not TAG.search(page.text), path
        assert "{{7*7}}" in page.text
        assert 'href="javascript' not in page.text


async def test_a_viewer_can_see_but_not_change(database: Database) -> None:
    async with database.transaction() as tx:
        id = await make(tx, "Wells", "https://wells.example")
    headers = {**await bearer(database, "viewer"), "Accept": "text/html"}
    async with site_with(database) as far:
        assert (await far.get("/companies")).status_code == 401
        page = await far.get(f"/companies/{id}", headers=headers)
        assert page.status_code == 200
        assert "/analyse" not in page.text
        listed = await far.get("/companies", headers=headers)
        assert "/companies/new" not in listed.text
        assert (await far.post(f"/companies/{id}/analyse", headers=headers)).status_code == 403
        assert (await far.post("/companies/new", headers=headers)).status_code == 403


async def test_sources_of_a_company_come_with_their_health(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        id = await make(tx, "Wells")
        source = await helpers.make_source(tx, company_id=companies.CompanyId(id))
        await sources.disable(tx, source, "moved")
    assert "Disabled by a person" in (await site.get(f"/companies/{id}")).text

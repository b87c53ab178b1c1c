"""The pages and the API of website reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jobmill.catalog import companies
from jobmill.db import Database
from jobmill.outside import pdf_printing
from jobmill.settings import Settings
from jobmill.web import site as pages
from jobmill.web.site_settings import SiteSettings
from tests.people.helpers import bearer
from tests.queue.helpers import claim, fetch
from tests.reports.helpers import Assistant, ReportBed
from tests.web.conftest import served


async def _complete(database: Database, **options: object) -> int:
    bed = ReportBed(database)
    id = await bed.create(**options)
    await bed.run()
    return id


async def test_the_empty_list_says_what_to_do(empty_site: httpx2.AsyncClient) -> None:
    page = (await empty_site.get("/reports")).text
    assert "No reports yet." in page
    assert 'action="/reports"' in page


async def test_a_report_is_created_by_the_form_and_shows_its_progress(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await ReportBed(database).declare()
    form = {"url": "tidewater.example", "runs": "2", "prompts": "3", "review": "yes", "days": "7"}
    created = await site.post("/reports", data=form)
    assert (created.status_code, created.headers["location"]) == (303, "/reports/1")
    page = (await site.get("/reports/1")).text
    assert "Queued" in page
    assert "https://tidewater.example/" in page
    bed = ReportBed(database)
    stored = await bed.get(1)
    assert (stored.runs, stored.prompt_count, stored.review) == (2, 3, True)
    assert stored.repeat_every is not None
    assert stored.repeat_every.days == 7
    listed = (await site.get("/reports")).text
    assert 'href="/reports/1"' in listed


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("url", "ftp://example.org", "ftp"),
        ("runs", "many", "Enter the number of runs."),
        ("runs", "51", "runs must be between 1 and 50"),
        ("models", "gpt", "is not a model"),
        ("budget", "free", "Enter the budget in US dollars"),
        ("budget", "NaN", "Enter the budget in US dollars"),
        ("days", "-1", "Enter the number of days."),
    ],
)
async def test_the_form_names_what_is_wrong_and_keeps_the_entries(
    empty_site: httpx2.AsyncClient, field: str, value: str, message: str
) -> None:
    answer = await empty_site.post("/reports", data={"url": "tidewater.example", field: value})
    assert answer.status_code == 400
    assert message in answer.text
    assert f'value="{value}"' in answer.text


async def test_a_completed_report_shows_evidence_answers_and_limits(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await _complete(database)
    page = (await site.get(f"/reports/{id}")).text
    assert "Scores" in page
    assert "https://tidewater.example/" in page
    assert "keeps drinking water safe" in page
    assert "Tidewater is a good place to work." in page
    assert "Limits of this report" in page
    assert "Answers of an API are not what the apps" in page


async def test_questions_are_edited_and_approved_on_the_page(
    site: httpx2.AsyncClient, database: Database
) -> None:
    bed = ReportBed(database)
    id = await bed.create(review=True)
    await bed.run()
    page = (await site.get(f"/reports/{id}")).text
    assert "Review the questions" in page
    key = (await bed.read(id)).prompts[0].prompt.key
    saved = await site.post(
        f"/reports/{id}/prompts", data={"key": key, "text": "Is it calm there?"}
    )
    assert saved.status_code == 303
    refused = await site.post(f"/reports/{id}/prompts", data={"key": key, "text": " "})
    assert refused.status_code == 400
    unknown = await site.post(f"/reports/{id}/prompts", data={"key": "x", "text": "Why?"})
    assert (unknown.status_code, "prompt x does not exist" in unknown.text) == (404, True)
    assert (await site.post(f"/reports/{id}/approve")).status_code == 303
    await bed.run()
    assert "Is it calm there?" in (await site.get(f"/reports/{id}")).text
    assert (await bed.get(id)).status == "completed"
    again = await site.post(f"/reports/{id}/approve")
    assert (again.status_code, "do not wait for approval" in again.text) == (409, True)


async def test_a_phase_is_rerun_and_a_schedule_is_set_on_the_page(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await _complete(database)
    bed = ReportBed(database)
    assert (await site.post(f"/reports/{id}/rerun", data={"phase": "x"})).status_code == 400
    answer = await site.post(f"/reports/{id}/rerun", data={"phase": "website-analysis"})
    assert answer.status_code == 303
    assert (await bed.get(id)).status == "not-started"
    await site.post(f"/reports/{id}/schedule", data={"days": "30"})
    every = (await bed.get(id)).repeat_every
    assert every is not None
    assert every.days == 30
    await site.post(f"/reports/{id}/schedule", data={"days": ""})
    assert (await bed.get(id)).repeat_every is None


async def test_two_reports_are_compared(site: httpx2.AsyncClient, database: Database) -> None:
    first, second = await _complete(database), await _complete(database)
    assert (
        f"/reports/compare?first={first}&amp;second={second}"
        in (await site.get(f"/reports/{second}")).text
    )
    page = await site.get(f"/reports/compare?first={first}&second={second}")
    assert page.status_code == 200
    assert "Stated facts" in page.text
    assert (await site.get(f"/reports/compare?first={first}&second=99")).status_code == 404


async def test_exports_have_their_types_and_load_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await _complete(database)
    exported = await site.get(f"/reports/{id}/export?format=html")
    assert exported.headers["content-disposition"] == f'attachment; filename="report-{id}.html"'
    assert "<script" not in exported.text
    assert "default-src 'none'" in exported.text
    assert json.loads((await site.get(f"/reports/{id}/export?format=json")).text)["scores"]
    assert (await site.get(f"/reports/{id}/export")).text.startswith("# Website report")
    assert (await site.get(f"/reports/{id}/export?format=doc")).status_code == 422


async def test_a_pdf_without_a_browser_says_what_is_missing(database: Database) -> None:
    id = await _complete(database)
    settings = SiteSettings.from_settings(Settings(chromium=Path("/nowhere/chromium")))
    async with served(pages.create_app(database, local=True, site_settings=settings)) as site:
        answer = await site.get(f"/reports/{id}/export?format=pdf")
    assert answer.status_code == 503
    assert "PDF needs a browser" in answer.text


async def test_the_company_page_says_what_it_is_like_there(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        company = await companies.get_or_create(tx, "Tidewater", "https://tidewater.example")
    page = (await site.get(f"/companies/{company}")).text
    assert "No website report yet." in page
    id = await _complete(database)
    page = (await site.get(f"/companies/{company}")).text
    assert "What it's like to work there" in page
    assert "keeps drinking water safe" in page
    assert f'href="/reports/{id}"' in page


async def test_the_company_page_shows_what_assistants_say_beside_the_site(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        company = await companies.get_or_create(tx, "Tidewater", "https://tidewater.example")
    text = "Tidewater was founded in 1950. Tidewater offers 30 days of paid vacation."
    bed = ReportBed(database, assistant=Assistant(text=text))
    await bed.create()
    await bed.run()
    page = (await site.get(f"/companies/{company}")).text
    assert "What AI assistants say" in page
    assert "The site says otherwise" in page
    assert "Tidewater was founded in 1950." in page
    assert "The site says so, too" in page
    assert "Questions that the site answers" in page


async def test_competitors_are_analyzed_once_and_compared(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await companies.get_or_create(tx, "Aquaflow", "https://aquaflow.example")
    text = "Good employers are Tidewater, Aquaflow Ltd and Northwind Ltd (https://www.northwind.example/jobs)."
    bed = ReportBed(database, assistant=Assistant(text=text))
    id = await bed.create()
    await bed.run()
    page = (await site.get(f"/reports/{id}")).text
    assert "Companies named beside it" in page
    assert 'name="aquaflow.example"' in page
    assert 'name="northwind.example"' in page
    form = {"aquaflow.example": "yes", "sites": "https://rival.example"}
    for _ in range(2):
        answer = await site.post(f"/reports/{id}/competitors", data=form)
        assert answer.status_code == 303
    rows = await fetch(
        database, "SELECT site, site_only FROM reports.report WHERE competitor_of = 1 ORDER BY id"
    )
    assert rows == [("https://rival.example/", True), ("https://aquaflow.example/", True)]
    assert (await site.post(f"/reports/{id}/competitors", data={})).status_code == 400
    body = {"sites": ["rival.example", "other.example"]}
    listed = (await site.post(f"/api/reports/{id}/competitors", json=body)).json()["reports"]
    assert [report["site"] for report in listed] == [
        "https://rival.example/", "https://aquaflow.example/", "https://other.example/",
    ]  # fmt: skip
    assert {report["competitorOf"] for report in listed} == {id}


async def test_a_report_is_deleted_after_confirmation_and_its_events_stay(
    site: httpx2.AsyncClient, database: Database
) -> None:
    bed = ReportBed(database)
    id = await _complete(database)
    assert "Its history is kept." in (await site.get(f"/reports/{id}/delete")).text
    assert (await site.post(f"/reports/{id}/delete")).headers["location"] == "/reports"
    assert (await site.get(f"/reports/{id}")).status_code == 404
    for table in ("report", "prompt", "answer"):
        assert await fetch(database, f"SELECT count(*) FROM reports.{table}") == [0]
    assert (await bed.events(id))[-1] == "deleted"
    # A report that waits takes its task along; one that a worker runs stays.
    waiting = await bed.create()
    await bed.scan()
    assert (await site.delete(f"/api/reports/{waiting}")).status_code == 204
    assert await fetch(database, "SELECT count(*) FROM queue.live") == [0]
    running = await bed.create()
    await bed.scan()
    await claim(database, "report", "website-analysis")
    refused = await site.post(f"/reports/{running}/delete")
    assert (refused.status_code, "is in progress" in refused.text) == (409, True)


async def test_viewers_read_reports_and_recruiters_create_them(database: Database) -> None:
    id = await _complete(database)
    async with served(pages.create_app(database)) as site:
        headers = {role: await bearer(database, role) for role in ("viewer", "recruiter")}

        async def send(role: str, method: str, path: str, **options: Any) -> httpx2.Response:
            return await site.request(method, path, headers=headers[role], **options)

        page = (await send("viewer", "GET", f"/reports/{id}")).text
        assert "Export as PDF" in page
        assert "Run step again" not in page
        assert "Delete report" not in page
        listed = (await send("viewer", "GET", "/reports")).text
        assert 'action="/reports"' not in listed
        assert 'href="/reports"' in listed
        page = (await send("recruiter", "GET", f"/reports/{id}")).text
        assert "Run step again" in page
        assert "Delete report" not in page
        form = {"url": "tidewater.example"}
        assert (await send("recruiter", "POST", "/reports", data=form)).status_code == 303
        assert (await send("viewer", "POST", "/reports", data=form)).status_code == 403
        assert (await send("recruiter", "POST", f"/reports/{id}/delete")).status_code == 403


async def test_the_api_creates_shows_reruns_and_compares(
    site: httpx2.AsyncClient, database: Database
) -> None:
    bed = ReportBed(database)
    await bed.declare()
    body = {"url": "https://tidewater.example", "runs": 1, "prompts": 2, "review": True}
    created = await site.post("/api/reports", json=body, headers={"Idempotency-Key": "a"})
    assert created.status_code == 201
    again = await site.post("/api/reports", json=body, headers={"Idempotency-Key": "a"})
    assert again.json() == created.json()
    id = created.json()["id"]
    await bed.run()
    detail = (await site.get(f"/api/reports/{id}")).json()
    assert detail["report"]["awaitsApproval"]
    key = detail["prompts"][0]["prompt"]["key"]
    edited = await site.post(f"/api/reports/{id}/prompts/{key}", json={"text": "Why there?"})
    assert edited.json()["prompts"][0]["prompt"]["text"] == "Why there?"
    assert (await site.post(f"/api/reports/{id}/approve")).status_code == 200
    await bed.run()
    detail = (await site.get(f"/api/reports/{id}")).json()
    assert detail["report"]["status"] == "completed"
    assert detail["findings"]["crawlNotes"] is not None
    assert len(detail["answers"]) == 4
    assert (await site.get(f"/api/reports/{id}/compare?with={id}")).json()["sameSite"]
    rerun = await site.post(f"/api/reports/{id}/rerun", json={"phase": "prompt-forming"})
    assert rerun.json()["status"] == "prompt-forming"
    assert [row["id"] for row in (await site.get("/api/reports")).json()] == [id]
    assert (await site.post("/api/reports", json={"url": "ftp://x.org"})).status_code == 400
    assert (await site.get("/api/reports/99")).status_code == 404


async def test_a_pdf_is_printed_by_the_browser() -> None:
    if pdf_printing.find_browser() is None:
        pytest.skip("no Chromium")
    printed = await pdf_printing.print_pdf("<!doctype html><title>x</title><h1>Website report</h1>")
    assert printed.startswith(b"%PDF-")

from __future__ import annotations

import asyncio

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill import errors
from jobmill.db import Database
from jobmill.queue import Finish, Move, NewItem, Stage, Stages, Work, operator_actions
from jobmill.web import html_errors
from jobmill.web import site as pages
from jobmill.web.pages.probes import check_periodic_task
from tests.queue.helpers import drain, put
from tests.web.conftest import served

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def end(work: Work) -> Move:
    return Finish()


TEA: Stages = {("tea", "boil"): Stage(end), ("tea", "steep"): Stage(end)}


async def test_healthz_does_not_need_the_database(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute("DROP SCHEMA queue CASCADE")
    answer = await site.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert (await site.head("/healthz")).status_code == 200


async def test_readyz_succeeds_when_every_check_does(site: httpx2.AsyncClient) -> None:
    answer = await site.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    assert set(answer.json()["parts"]) == {"database", "migrations", "schedules", "deadlines"}


@pytest.mark.parametrize(
    ("change", "part", "words"),
    [
        (
            "DELETE FROM jobmill_migration WHERE name LIKE '0001%'",
            "migrations",
            "not applied: 0001_queue.sql",
        ),
        (
            "INSERT INTO jobmill_migration VALUES ('9999_later.sql', '')",
            "migrations",
            "applied by a newer Jobmill: 9999_later.sql",
        ),
        (
            "INSERT INTO queue.worker (name, lease) VALUES ('here:1', '20 s')",
            "schedules",
            "no worker has checked them yet",
        ),
        (
            "INSERT INTO queue.worker (name, lease) VALUES ('here:1', '20 s')",
            "deadlines",
            "no worker has checked them yet",
        ),
    ],
)
async def test_readyz_fails_with_a_reason(
    site: httpx2.AsyncClient, database: Database, change: str, part: str, words: str
) -> None:
    async with database.transaction() as tx:
        await tx.execute(change)  # pyright: ignore[reportArgumentType]
    answer = await site.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert answer.json()["parts"][part] == {"ok": False, "detail": words}


@pytest.mark.parametrize(
    ("has_workers", "seconds_ago", "ok"),
    [(False, None, True), (False, 900.0, True), (True, None, False), (True, 29.0, True),
     (True, 31.0, False)],
)  # fmt: skip
def test_periodic_tasks_must_complete_cycles_if_workers_are_registered(
    has_workers: bool, seconds_ago: float | None, ok: bool
) -> None:
    assert check_periodic_task(has_workers=has_workers, seconds_ago=seconds_ago).ok is ok


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.Invalid("x"), 400),
        (errors.Unauthenticated("x"), 401),
        (errors.Forbidden("x"), 403),
        (errors.Gone("x"), 410),
        (errors.RateLimited(5), 429),
        (errors.NotFound("item", 1), 404),
        (errors.Conflict("x"), 409),
        (type("AlreadyThere", (errors.Conflict,), {})("x"), 409),
        (errors.OutsideError("x"), 502),
        (errors.Unavailable("x"), 503),
        (errors.AppError("x"), 500),
        (ValueError("x"), 500),
    ],
)
def test_every_error_has_a_status(error: Exception, status: int) -> None:
    assert html_errors.status_code(error) == status


async def test_errors_are_html_for_browsers_and_json_for_programs(
    site: httpx2.AsyncClient,
) -> None:
    page = await site.get("/nowhere", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "This page does not exist." in page.text
    response = await site.get("/nowhere")
    assert (response.status_code, response.json()) == (
        404,
        {"error": "This page does not exist. Check the address."},
    )
    wrong = await site.delete("/activity")
    assert wrong.status_code == 405
    assert "GET" in wrong.headers["allow"]


async def test_database_errors_are_not_shown_to_visitors(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE queue.phase RENAME TO phases")
    answer = await site.get("/activity", headers=HTML)
    assert answer.status_code == 500
    assert "phase" not in answer.text.lower()
    assert "The server log has the details." in answer.text
    page = Html(answer.text)
    assert page.css("#menu .entries a[href='/sources']")
    ways_on = [link.attributes["href"] for link in page.css("main .button")]
    assert ways_on == ["/health"]


async def test_the_queue_page_shows_pending_paused_and_failing_steps(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await put(database, TEA, NewItem("tea", "boil", "green"))
    await drain(database, TEA)
    await put(database, TEA, *(NewItem("tea", "steep", f"cup {n}") for n in range(3)))
    async with database.transaction() as tx:
        await operator_actions.pause_phase(tx, "tea", "steep", "guests <b>left</b>")
        await tx.execute(
            """
            INSERT INTO queue.alert (rule, subject, detail)
            VALUES ('deep', 'x', '<script>alert(1)</script>')
            """
        )
    page = await site.get("/activity", headers=HTML)
    assert page.status_code == 200
    for words in ("tea/boil", "1,000", "deep", "paused"):
        assert words in page.text
    assert "&lt;script&gt;" in page.text
    assert "<script>" not in page.text
    assert "guests &lt;b&gt;left" in page.text
    # Steps and processors, also idle ones, are for those who open them.
    headings = [heading.text() for heading in Html(page.text).css("main .advanced:not([open]) h2")]
    assert {"Steps", "Processors"} <= set(headings)


async def test_the_empty_queue_page_says_what_to_do(site: httpx2.AsyncClient) -> None:
    page = await site.get("/activity", headers=HTML)
    assert "No steps yet." in page.text
    empty = Html(page.text).css("#queue .empty a")
    assert [link.attributes["href"] for link in empty] == ["/sources", "/activity/tasks"]
    assert "Running now" not in page.text
    assert "No worker is running, so no tasks are processed" in page.text


async def test_a_page_times_out_if_the_database_does_not_respond(database: Database) -> None:
    async with served(pages.create_app(database, database_timeout=0.2, local=True)) as site:
        async with database.transaction() as tx:
            await tx.execute("LOCK TABLE queue.live IN ACCESS EXCLUSIVE MODE")
            answer = await site.get("/activity", headers=HTML)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "The database does not respond" in answer.text
        assert 'http-equiv="refresh"' in answer.text
        # On a busy machine even an unlocked table may take longer than so short a limit.
        async with asyncio.timeout(60):
            while (await site.get("/activity", headers=HTML)).status_code != 200:
                pass

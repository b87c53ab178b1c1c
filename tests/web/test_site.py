from __future__ import annotations

import datetime as dt

import httpx2
import pytest

from jobmill import errors
from jobmill.db import Database
from jobmill.queue import Finish, Move, NewItem, Stage, Stages, Work, operator_actions
from jobmill.queue.alerts import Alert
from jobmill.queue.inspect import PhaseStatus, WorkerStatus
from jobmill.queue.overview import Overview
from jobmill.web import html_errors
from jobmill.web import site as pages
from jobmill.web.pages.health import judge_schedules
from jobmill.web.pages.queue.overview_page import verdict
from tests.queue.helpers import drain, put
from tests.web.conftest import served

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def end(work: Work) -> Move:
    return Finish()


TEA: Stages = {("tea", "boil"): Stage(end), ("tea", "steep"): Stage(end)}


async def test_the_process_is_healthy_without_asking_the_database(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute("DROP SCHEMA queue CASCADE")
    answer = await site.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert (await site.head("/healthz")).status_code == 200


async def test_it_is_ready_when_every_part_is(site: httpx2.AsyncClient) -> None:
    answer = await site.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["ready"] is True
    assert set(answer.json()["parts"]) == {"database", "migrations", "schedules"}


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
            "no worker has looked at them yet",
        ),
    ],
)
async def test_it_is_not_ready_and_says_why(
    site: httpx2.AsyncClient, database: Database, change: str, part: str, words: str
) -> None:
    async with database.transaction() as tx:
        await tx.execute(change)  # pyright: ignore[reportArgumentType]
    answer = await site.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert answer.json()["parts"][part] == {"ok": False, "detail": words}


@pytest.mark.parametrize(
    ("expected", "ticked", "ok"),
    [(False, None, True), (False, 900.0, True), (True, None, False), (True, 29.0, True),
     (True, 31.0, False)],
)  # fmt: skip
def test_schedules_must_be_looked_at_where_a_worker_is_expected(
    expected: bool, ticked: float | None, ok: bool
) -> None:
    assert judge_schedules(expected=expected, ticked=ticked).ok is ok


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


async def test_an_error_is_a_page_for_people_and_json_for_programs(
    site: httpx2.AsyncClient,
) -> None:
    page = await site.get("/nowhere", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "There is no such page." in page.text
    told = await site.get("/nowhere")
    assert (told.status_code, told.json()) == (404, {"error": "There is no such page."})
    wrong = await site.delete("/queue")
    assert wrong.status_code == 405
    assert "GET" in wrong.headers["allow"]


async def test_what_the_database_says_of_a_bug_stays_inside(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE queue.phase RENAME TO phases")
    answer = await site.get("/queue", headers=HTML)
    assert answer.status_code == 500
    assert "phase" not in answer.text.lower()
    assert "The log tells what." in answer.text


async def test_the_page_shows_what_waits_what_is_paused_and_what_is_wrong(
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
    page = await site.get("/queue", headers=HTML)
    assert page.status_code == 200
    for words in ("tea/boil", "1,000", "1 alert stands.", "paused"):
        assert words in page.text
    assert "&lt;script&gt;" in page.text
    assert "<script>" not in page.text
    assert "guests &lt;b&gt;left" in page.text


@pytest.mark.parametrize(
    ("alerts", "workers", "pending", "processing", "words"),
    [
        (2, [True], 0, 1, "2 alerts stand."),
        (0, [True, False], 0, 1, "1 worker is silent."),
        (0, [], 5, 0, "No worker runs, so nothing is worked on."),
        (0, [True], 5, 1, "Work is going on."),
        (0, [True], 5, 0, "5 items wait to be run."),
        (0, [True], 0, 0, "All is well; there is nothing to do."),
    ],
)
def test_the_worst_is_said_first(
    alerts: int, workers: list[bool], pending: int, processing: int, words: str
) -> None:
    now = dt.datetime.now(dt.UTC)
    overview = Overview(
        phases=[PhaseStatus("tea", "boil", pending, 0, processing, 0, None, 9, None)],
        processors=[],
        workers=[WorkerStatus(1, "here:1", now, 1.0, alive) for alive in workers],
        alerts=[Alert(1, "deep", "x", "x", now, now)] * alerts,
        run_counters=[],
        retrying=0,
        ticked_seconds=None,
    )
    assert verdict(overview)[1] == words


async def test_the_page_of_an_empty_queue_says_what_to_do(site: httpx2.AsyncClient) -> None:
    page = await site.get("/queue", headers=HTML)
    assert "No phases are known yet." in page.text
    assert "No worker runs, so nothing is worked on." in page.text


async def test_a_page_that_waits_too_long_for_the_database_says_so(database: Database) -> None:
    async with served(pages.create_app(database, database_timeout=0.2, local=True)) as site:
        async with database.transaction() as tx:
            await tx.execute("LOCK TABLE queue.live IN ACCESS EXCLUSIVE MODE")
            answer = await site.get("/queue", headers=HTML)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "The database does not answer" in answer.text
        assert 'http-equiv="refresh"' in answer.text
        assert (await site.get("/queue", headers=HTML)).status_code == 200
